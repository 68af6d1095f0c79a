# What people's labels say of systems, of judges, and of each other.


rule correct:
    """Corrects what judges say of systems by people's labels."""
    input:
        labels=LABELS_TABLE,
        judgements=labelled_judgements(),
        planned=partly_asked(),
    output:
        table=f"{RESULTS}/tables/labels/corrected.parquet",
        csv=f"{RESULTS}/tables/labels/corrected.csv",
        differences=f"{RESULTS}/tables/labels/differences.parquet",
        differences_csv=f"{RESULTS}/tables/labels/differences.csv",
    log:
        f"{RESULTS}/logs/tables/labels-corrected.log",
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=correction_settings(),
        code=code("correct"),
    shell:
        command(
            "correct",
            "--labels {input.labels:q} --judgements {input.judgements:q} --planned {input.planned:q} "
            "--table {output.table:q} --csv {output.csv:q} "
            "--differences {output.differences:q} --differences-csv {output.differences_csv:q}",
        )


use rule rank_systems as rank_by_labels with:
    """Says which places the systems can have, by people's labels."""
    input:
        rules.correct.output.differences,
    output:
        table=f"{RESULTS}/tables/labels/ranks.parquet",
        csv=f"{RESULTS}/tables/labels/ranks.csv",
    log:
        f"{RESULTS}/logs/tables/labels-ranks.log",
    group:
        grouped("dialogues")
    params:
        settings=settings(
            protocol="labels",
            confidence=CONFIG.labels.confidence if CONFIG.labels else None,
        ),
        code=code("rank_systems"),


rule tabulate_agreement:
    """Tables how far annotators agree."""
    input:
        LABELS_TABLE,
    output:
        table=f"{RESULTS}/tables/labels/agreement.parquet",
        csv=f"{RESULTS}/tables/labels/agreement.csv",
        annotators=f"{RESULTS}/tables/labels/annotators.parquet",
        annotators_csv=f"{RESULTS}/tables/labels/annotators.csv",
    log:
        f"{RESULTS}/logs/tables/labels-agreement.log",
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=agreement_settings(),
        code=code("tabulate_agreement"),
    shell:
        command(
            "tabulate_agreement",
            "--labels {input:q} --table {output.table:q} --csv {output.csv:q} "
            "--annotators-table {output.annotators:q} --annotators-csv {output.annotators_csv:q}",
        )


use rule draw as draw_labels with:
    """Draws the figures of people's labels."""
    input:
        tables=drawn_from("labels"),
    output:
        svg=reported("labels", "Labels"),
        pdf=figure_files("labels", "pdf"),
    log:
        f"{RESULTS}/logs/figures/labels.log",
    group:
        grouped("dialogues")
    params:
        settings=draw_settings(DRAWN["labels"]),
        code=draw_code(DRAWN["labels"]),
        captions=lambda wildcards, output: captions(output),
