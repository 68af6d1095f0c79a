# Meta-evaluation: rated corpora, judges' scores of their items, and how far the two agree.

METAEVAL = f"{RESULTS}/tables/metaeval"
RATED = list(CONFIG.metaeval.corpora) if CONFIG.metaeval else []


rule metaeval:
    """Says how far judges agree with people."""
    input:
        metaeval_files(),


rule download:
    """Fetches public corpora into `data_dir`."""
    log:
        f"{RESULTS}/logs/download.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            corpora=CONFIG.public_corpora,
            data_dir=str(CONFIG.data_dir),
            mirror=CONFIG.mirror and str(CONFIG.mirror),
        ),
        code=code("download"),
    shell:
        command("download", "")


rule read_rated:
    """Reads a rated corpus."""
    input:
        lambda wildcards: rated_files(wildcards.corpus),
    output:
        item_tables=f"{RESULTS}/items/{{corpus}}.parquet",
        ratings=f"{RESULTS}/ratings/{{corpus}}.parquet",
        left_out=f"{RESULTS}/left_out/{{corpus}}.parquet",
    log:
        f"{RESULTS}/logs/items/{{corpus}}.log",
    wildcard_constraints:
        corpus=one_of(rated_corpora("ladder", others=True)),
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: read_rated_settings(wildcards.corpus),
        code=code("read_rated"),
        content=lambda wildcards: content(rated_files(wildcards.corpus)),
    shell:
        command(
            "read_rated",
            "--content={params.content:q} --items {output.item_tables:q} --ratings {output.ratings:q} --left-out {output.left_out:q}",
        )


rule construct_rated:
    """Makes rated items by damaging people's dialogues step by step."""
    input:
        lambda wildcards: f"{RESULTS}/corpora/{CONFIG.metaeval.corpora[wildcards.corpus].dialogues}.parquet",
    output:
        item_table=f"{RESULTS}/items/{{corpus}}.parquet",
        ratings=f"{RESULTS}/ratings/{{corpus}}.parquet",
    log:
        f"{RESULTS}/logs/items/{{corpus}}.log",
    wildcard_constraints:
        corpus=one_of(rated_corpora("ladder")),
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: ladder_settings(wildcards.corpus),
        code=code("construct_rated"),
    shell:
        command(
            "construct_rated",
            "--utterances {input:q} --items {output.item_table:q} --ratings {output.ratings:q}",
        )


rule read_scores:
    """Reads a file of ready scores as the judgements of a judge."""
    input:
        file=lambda wildcards: str(CONFIG.score_path(wildcards.metric)),
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED),
        left_out=left_out_of(rated_corpora("ladder", others=True)),
    output:
        f"{RESULTS}/judgements/{{metric}}/file.parquet",
    log:
        f"{RESULTS}/logs/judgements/{{metric}}/file.log",
    wildcard_constraints:
        metric=one_of(CONFIG.metaeval.score_files if CONFIG.metaeval else []),
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: score_file_settings(wildcards.metric),
        code=code("read_scores"),
        content=lambda wildcards: content([CONFIG.score_path(wildcards.metric)]),
    shell:
        command(
            "read_scores",
            "--content={params.content:q} --file {input.file:q} --items {input.item_tables:q} --ratings {input.ratings:q} "
            "--left-out {input.left_out:q} --judgements {output:q}",
        )


rule fill_ratings:
    """Fills in what nobody rated with a judge's own repeated ratings."""
    input:
        item_tables=source_items_of(rated_corpora("ladder", others=True)),
        ratings=ratings_of(rated_corpora("ladder", others=True)),
        judgements=f"{RESULTS}/judgements/{{judge}}/rating.parquet",
    output:
        f"{RESULTS}/filled/{{judge}}.parquet",
    log:
        f"{RESULTS}/logs/filled/{{judge}}.log",
    wildcard_constraints:
        judge=one_of(
            [CONFIG.metaeval.fill] if CONFIG.metaeval and CONFIG.metaeval.fill else []
        ),
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            judge=wildcards.judge,
            dimensions={
                name: fillable(corpus)
                for name, corpus in CONFIG.metaeval.corpora.items()
                if corpus.asked
            },
        ),
        code=code("fill_ratings"),
    shell:
        command(
            "fill_ratings",
            "--items {input.item_tables:q} --ratings {input.ratings:q} --judgements {input.judgements:q} "
            "--filled {output:q}",
        )


rule tabulate_rated:
    """Tables what the rated corpora consist of, and how far their raters agree."""
    input:
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED),
        filled=filled_ratings(),
    output:
        corpora=f"{METAEVAL}/corpora.parquet",
        corpora_csv=f"{METAEVAL}/corpora.csv",
        annotator_agreement=f"{METAEVAL}/annotator_agreement.parquet",
        annotator_agreement_csv=f"{METAEVAL}/annotator_agreement.csv",
    log:
        f"{RESULTS}/logs/tables/metaeval_corpora.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=metaeval_settings("translated"),
        code=code("tabulate_rated"),
    shell:
        command(
            "tabulate_rated",
            "--items {input.item_tables:q} --ratings {input.ratings:q} --filled {input.filled:q} --corpora {output.corpora:q} "
            "--annotator-agreement {output.annotator_agreement:q}",
        )


rule tabulate_repeats:
    """Tables how far judges agree with themselves."""
    input:
        item_tables=items_of(RATED),
        judgements=repeated_scores(),
    output:
        tables_in(METAEVAL, ["repeat_agreement"]),
    log:
        f"{RESULTS}/logs/tables/metaeval_repeats.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=metaeval_settings(),
        code=code("tabulate_repeats"),
        folder=folder_of_first,
    shell:
        command(
            "tabulate_repeats",
            "--items {input.item_tables:q} --judgements {input.judgements:q} --folder {params.folder:q}",
        )


rule correlate:
    """Correlates judges' scores with people's ratings."""
    input:
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED),
        filled=filled_ratings(),
        judgements=all_scores(),
    output:
        tables_in(METAEVAL, CORRELATIONS),
    log:
        f"{RESULTS}/logs/tables/metaeval_correlations.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=metaeval_settings(
            "benchmarks",
            "published_as",
            "ensembles",
            "models",
            "fill",
            "partial",
            "joined",
        ),
        code=code("correlate"),
        folder=folder_of_first,
    shell:
        command(
            "correlate",
            "--items {input.item_tables:q} --ratings {input.ratings:q} --filled {input.filled:q} --judgements {input.judgements:q} "
            "--folder {params.folder:q}",
        )


rule tabulate_by_language:
    """Lays correlations out by language."""
    input:
        averages=f"{METAEVAL}/averages.parquet",
        correlations=f"{METAEVAL}/correlations.parquet",
    output:
        tables_in(METAEVAL, BY_LANGUAGE),
    log:
        f"{RESULTS}/logs/tables/metaeval_by_language.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("tabulate_by_language"),
        folder=folder_of_first,
    shell:
        command(
            "tabulate_by_language",
            "--averages {input.averages:q} --correlations {input.correlations:q} --folder {params.folder:q}",
        )


rule find_ceilings:
    """Finds how high judges could come, given how far the raters agree."""
    input:
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED),
        filled=filled_ratings(),
        judgements=all_scores(),
    output:
        tables_in(METAEVAL, ["ceilings"]),
    log:
        f"{RESULTS}/logs/tables/metaeval_ceilings.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=metaeval_settings("benchmarks", "partial", "joined"),
        code=code("find_ceilings"),
        folder=folder_of_first,
    shell:
        command(
            "find_ceilings",
            "--items {input.item_tables:q} --ratings {input.ratings:q} --filled {input.filled:q} --judgements {input.judgements:q} "
            "--folder {params.folder:q}",
        )


rule ensembles:
    """Compares ensembles of dimensions and of judges with people's ratings."""
    input:
        item_tables=items_of(RATED),
        ratings=ratings_of(RATED),
        filled=filled_ratings(),
        judgements=all_scores(),
    output:
        tables_in(METAEVAL, BEYOND_ONE_JUDGE),
    log:
        f"{RESULTS}/logs/tables/metaeval_ensembles.log",
    group:
        grouped("items")
    conda:
        "../envs/core.yaml"
    params:
        settings=metaeval_settings(
            "benchmarks",
            "published_as",
            "ensemble_size",
            "ensemble_pool",
            "ensembles",
            "models",
            "partial",
            "joined",
        ),
        code=code("ensembles"),
        folder=folder_of_first,
    shell:
        command(
            "ensembles",
            "--items {input.item_tables:q} --ratings {input.ratings:q} --filled {input.filled:q} --judgements {input.judgements:q} "
            "--folder {params.folder:q}",
        )
