# DialogBench: test items are written and filtered, or read; models are examined on them.

DIALOGBENCH = f"{RESULTS}/dialogbench"


rule dialogbench:
    """Examines models on multiple-choice tasks about dialogues."""
    input:
        dialogbench_files(),


rule write_items:
    """Has test items written, and checks them by rule."""
    input:
        dialogues=item_dialogues(),
    output:
        written=f"{DIALOGBENCH}/written.parquet",
        usage=item_usage("writing"),
    log:
        f"{RESULTS}/logs/dialogbench/written.log",
    group:
        grouped(of_maker("writing", "reading"))
    conda:
        environment(item_makers()["writing"])
    resources:
        **resources_of(lambda wildcards: [item_makers()["writing"]]),
    params:
        settings=item_writer_settings(),
        code=code("dialogbench_write", item_makers()["writing"]),
        content=lambda wildcards: content_of_models(item_makers()["writing"]),
    shell:
        command(
            "dialogbench_write",
            '--content={params.content:q} --dialogues {input.dialogues:q} --store="$DIALEVAL_STORE" --written {output.written:q} '
            "--usage {output.usage:q}",
        )


rule filter_items:
    """Has a judge say which written items are sound."""
    input:
        written=rules.write_items.output.written,
        learned=learned(item_makers()["filter"]),
    output:
        filtered=f"{DIALOGBENCH}/filtered.parquet",
        usage=item_usage("filter"),
    log:
        f"{RESULTS}/logs/dialogbench/filtered.log",
    group:
        grouped(of_maker("filter", "asking"))
    conda:
        environment(item_makers()["filter"])
    resources:
        **resources_of(lambda wildcards: [item_makers()["filter"]]),
    params:
        settings=item_judge_settings(item_makers()["filter"]),
        code=code("dialogbench_filter", item_makers()["filter"]),
        content=lambda wildcards: content_of_models(item_makers()["filter"]),
    shell:
        command(
            "dialogbench_filter",
            '--content={params.content:q} --written {input.written:q} --learned {input.learned:q} --store="$DIALEVAL_STORE" '
            "--filtered {output.filtered:q} --usage {output.usage:q}",
        )


rule describe_items:
    """Has a judge tell style and domain of written dialogues."""
    input:
        written_items(),
    output:
        descriptions=f"{DIALOGBENCH}/descriptions.parquet",
        usage=item_usage("classification"),
    log:
        f"{RESULTS}/logs/dialogbench/descriptions.log",
    group:
        grouped(of_maker("classification", "examination"))
    conda:
        environment(item_makers()["classification"])
    resources:
        **resources_of(lambda wildcards: [item_makers()["classification"]]),
    params:
        settings=item_judge_settings(item_makers()["classification"]),
        code=code("dialogbench_classify", item_makers()["classification"]),
        content=lambda wildcards: content_of_models(item_makers()["classification"]),
    shell:
        command(
            "dialogbench_classify",
            '--content={params.content:q} --written {input:q} --store="$DIALEVAL_STORE" --descriptions {output.descriptions:q} '
            "--usage {output.usage:q}",
        )


rule read_items:
    """Reads all test items, written and published, into one table."""
    input:
        written=written_items(),
        published=published_item_files(),
    output:
        f"{DIALOGBENCH}/items.parquet",
    log:
        f"{RESULTS}/logs/dialogbench/items.log",
    group:
        grouped("asking")
    conda:
        "../envs/core.yaml"
    params:
        settings=item_settings(),
        code=code("dialogbench_read"),
        content=lambda wildcards: content(published_item_files()),
    shell:
        command(
            "dialogbench_read",
            "--content={params.content:q} --written {input.written:q} --items {output:q}",
        )


rule plan_examination:
    """Plans what models are asked in an examination."""
    input:
        rules.read_items.output,
    output:
        f"{RESULTS}/requests/dialogbench_{{method}}.parquet",
    log:
        f"{RESULTS}/logs/requests/dialogbench_{{method}}.log",
    wildcard_constraints:
        method=one_of(["letter", "choice", "perplexity"]),
    group:
        grouped("asking")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: examination_settings(wildcards.method),
        code=code("dialogbench_plan"),
    shell:
        command("dialogbench_plan", "--items {input:q} --requests {output:q}")


use rule answer as examine with:
    """Asks a model what an examination plans, or finds it in the store."""
    wildcard_constraints:
        judge=one_of({name for name, method in examined()}),
        protocol=one_of({f"dialogbench_{method}" for name, method in examined()}),


rule parse_examination:
    """Reads which options a model chose."""
    input:
        item_table=rules.read_items.output,
        requests=f"{RESULTS}/requests/dialogbench_{{method}}.parquet",
        responses=examination_responses,
    output:
        f"{DIALOGBENCH}/answers/{{model}}/{{method}}.parquet",
    log:
        f"{RESULTS}/logs/dialogbench/answers/{{model}}/{{method}}.log",
    group:
        grouped("examination")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            model=wildcards.model, method=wildcards.method
        ),
        code=code("dialogbench_parse"),
    shell:
        command(
            "dialogbench_parse",
            "--items {input.item_table:q} --requests {input.requests:q} --responses {input.responses:q} "
            "--answers {output:q}",
        )


rule draw_expert_sheet:
    """Draws the items that experts answer, as a sheet to be filled in."""
    input:
        rules.read_items.output,
    output:
        f"{DIALOGBENCH}/experts/sheet.digest",
    log:
        f"{RESULTS}/logs/dialogbench/expert_sheet.log",
    group:
        grouped("asking")
    conda:
        "../envs/core.yaml"
    params:
        settings=expert_sheet_settings(),
        code=code("dialogbench_sheet"),
        # no output of the rule, whose outputs are deleted before it runs again: people write their answers into it
        sheet=f"{DIALOGBENCH}/experts/sheet.csv",
    shell:
        command(
            "dialogbench_sheet",
            "--items {input:q} --sheet-file {params.sheet:q} --digest {output:q}",
            always_anew=True,
        )


rule read_expert_answers:
    """Reads what experts answered."""
    input:
        item_table=rules.read_items.output,
        file=expert_files(),
    output:
        f"{DIALOGBENCH}/experts/answers.parquet",
    log:
        f"{RESULTS}/logs/dialogbench/expert_answers.log",
    group:
        grouped("examination")
    conda:
        "../envs/core.yaml"
    params:
        settings=expert_settings(),
        code=code("dialogbench_experts"),
        content=lambda wildcards: content(expert_files()),
    shell:
        command(
            "dialogbench_experts",
            "--content={params.content:q} --items {input.item_table:q} --file {input.file:q} --answers {output:q}",
        )


rule tabulate_dialogbench:
    """Makes the tables of DialogBench."""
    input:
        item_table=rules.read_items.output,
        answers=test_answers(),
        written=written_items(),
        descriptions=item_descriptions(),
        experts=expert_answers(),
    output:
        tables_in(f"{RESULTS}/tables/dialogbench", DIALOGBENCH_TABLES),
    log:
        f"{RESULTS}/logs/tables/dialogbench.log",
    group:
        grouped("examination")
    conda:
        "../envs/core.yaml"
    params:
        settings=item_table_settings(),
        code=code("dialogbench_tables"),
        folder=folder_of_first,
    shell:
        command(
            "dialogbench_tables",
            "--items {input.item_table:q} --answers {input.answers:q} --written {input.written:q} "
            "--descriptions {input.descriptions:q} --experts {input.experts:q} --folder {params.folder:q}",
        )
