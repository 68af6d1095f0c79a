# Human dialogues, the seeds taken from them, and what embedded models learn from them.


rule read_corpus:
    """Reads a corpus of human dialogues."""
    input:
        lambda wildcards: corpus_files(wildcards.corpus),
    output:
        f"{RESULTS}/corpora/{{corpus}}.parquet",
    log:
        f"{RESULTS}/logs/corpora/{{corpus}}.log",
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            name=wildcards.corpus,
            reader=CONFIG.corpora[wildcards.corpus].reader,
            path=str(CONFIG.corpus_path(wildcards.corpus) or "") or None,
            language=CONFIG.corpora[wildcards.corpus].language,
        ),
        code=code("read_corpus"),
        content=lambda wildcards: content(corpus_files(wildcards.corpus)),
    shell:
        command("read_corpus", "--content={params.content:q} --utterances {output:q}")


rule extract_seeds:
    """Takes from human dialogues the seeds that chatbots continue."""
    input:
        f"{RESULTS}/corpora/{CONFIG.seeds.corpus}.parquet",
    output:
        f"{RESULTS}/seeds.parquet",
    log:
        f"{RESULTS}/logs/seeds.log",
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(**CONFIG.seeds.model_dump()),
        code=code("extract_seeds"),
    shell:
        command("extract_seeds", "--utterances {input:q} --seeds {output:q}")


rule read_scenarios:
    """Reads the scenarios in which chatbots talk with a simulated user."""
    input:
        scenario_files(),
    output:
        scenarios=f"{RESULTS}/scenarios/scenarios.parquet",
        seeds=f"{RESULTS}/scenarios/seeds.parquet",
        people=f"{RESULTS}/scenarios/people.parquet",
    log:
        f"{RESULTS}/logs/scenarios.log",
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            limit=CONFIG.selfchat.scenarios and CONFIG.selfchat.scenarios.limit,
            opened=CONFIG.partner_is_embedded(),
        ),
        code=code("read_scenarios"),
        content=lambda wildcards: content(scenario_files()),
    shell:
        command(
            "read_scenarios",
            "--content={params.content:q} --path {input:q} --scenarios {output.scenarios:q} --seeds {output.seeds:q} --people {output.people:q}",
        )


rule learn_embedded:
    """Lets an embedded model learn from human dialogues."""
    input:
        lambda wildcards: [
            f"{RESULTS}/corpora/{corpus}.parquet"
            for corpus in CONFIG.models[wildcards.model].learn_from
        ],
    output:
        learned=f"{RESULTS}/embedded/{{model}}.learned",
        report=f"{RESULTS}/tables/embedded/{{model}}.parquet",
        report_csv=f"{RESULTS}/tables/embedded/{{model}}.csv",
    log:
        f"{RESULTS}/logs/embedded/{{model}}.log",
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            name=wildcards.model,
            method=CONFIG.models[wildcards.model].method,
            folds=CONFIG.models[wildcards.model].folds,
            random_seed=CONFIG.random_seed,
        ),
        code=lambda wildcards: "-".join(
            [
                code("learn_embedded"),
                fingerprint(CONFIG.models[wildcards.model].learned_by),
            ]
        ),
    shell:
        command(
            "learn_embedded",
            "--corpora {input:q} --learned {output.learned:q} --report {output.report:q} "
            "--report-csv {output.report_csv:q}",
        )
