# The HTML report: one page that works offline, with the dialogues and items behind the numbers.


rule build_report:
    """Builds the HTML report."""
    input:
        seeds=SEEDS if CONFIG.talks() else [],
        human=HUMAN if CONFIG.talks() else [],
        dialogues=dialogues(CONFIG.chatbots),
        verdicts=report_verdicts(),
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED) + filled_ratings(),
        scores=all_scores() if CONFIG.metaeval or CONFIG.robustness else [],
        damaged=damaged_items(),
        pairs=perturbed("pairs"),
        test_items=f"{RESULTS}/dialogbench/items.parquet" if examined() else [],
        test_answers=test_answers(),
        transcripts=items_of(CONFIG.transcripts),
        asides=[f"{RESULTS}/asides/{source}.parquet" for source in CONFIG.transcripts],
        labels=LABELS_TABLE if has_labels() else [],
        tables=report_tables(),
        usage=f"{RESULTS}/tables/usage.parquet" if CONFIG.models else [],
        figures=report_figures(),
        answers=answer_tables(),
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/report.log",
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(**report_settings()),
        code=code("build_report"),
        configuration=f"{RESULTS}/configuration.yaml",
    shell:
        command(
            "build_report",
            "--seeds {input.seeds:q} --human {input.human:q} --dialogues {input.dialogues:q} "
            "--verdicts {input.verdicts:q} --items {input.item_tables:q} --ratings {input.ratings:q} "
            "--scores {input.scores:q} --damaged {input.damaged:q} --pairs {input.pairs:q} "
            "--test-items {input.test_items:q} --test-answers {input.test_answers:q} --transcripts {input.transcripts:q} --asides {input.asides:q} "
            "--labels {input.labels:q} --tables {input.tables:q} --figures {input.figures:q} "
            "--usage {input.usage:q} --configuration {params.configuration:q} --report {output:q}",
        )


rule report:
    """Makes the HTML report with all that it shows."""
    input:
        rules.build_report.output,


rule live:
    """Makes a page of what is there of the report now, with what is missing and what is being answered."""
    log:
        f"{RESULTS}/logs/live.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(**report_settings(), files=report_files()),
        code=code("build_live"),
        configuration=f"{RESULTS}/configuration.yaml",
        page=f"{RESULTS}/report/live.html",
    shell:
        command(
            "build_live",
            "--configuration {params.configuration:q} --report {params.page:q}",
        )
