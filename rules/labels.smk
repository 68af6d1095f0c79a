# What people label is drawn, and pages and sheets are made of it; what they said is read back.


rule label:
    """Makes the pages and sheets on which people label."""
    input:
        sheets_to_label,


rule draw_to_label:
    """Draws what people label under a protocol."""
    input:
        item_tables=lambda wildcards: items_about(wildcards.protocol),
        judgements=lambda wildcards: judgements_to_draw_by(wildcards.protocol),
    output:
        table=f"{RESULTS}/labels/draw/{{protocol}}.parquet",
        ledger=f"{RESULTS}/labels/draw/{{protocol}}.ledger",
    log:
        f"{RESULTS}/logs/labels/draw-{{protocol}}.log",
    wildcard_constraints:
        protocol=one_of(LABELLED),
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: draw_to_label_settings(wildcards.protocol),
        code=code("draw_to_label"),
        folder=LABELS_FOLDER,
    shell:
        command(
            "draw_to_label",
            "--items {input.item_tables:q} --judgements {input.judgements:q} --folder {params.folder:q} "
            "--table {output.table:q} --ledger {output.ledger:q}",
            always_anew=True,
        )


rule labelling_page:
    """Writes one annotator's sheet under a protocol, as a page and as a CSV file."""
    input:
        draw=lambda wildcards: f"{RESULTS}/labels/draw/{SHEETS[wildcards.sheet][0]}.parquet",
        item_tables=lambda wildcards: items_about(SHEETS[wildcards.sheet][0]),
    output:
        page=f"{RESULTS}/labels/pages/{{annotator}}/{{sheet}}-{{annotator}}.html",
        csv=f"{RESULTS}/labels/pages/{{annotator}}/{{sheet}}-{{annotator}}.csv",
    log:
        f"{RESULTS}/logs/labels/{{annotator}}/{{sheet}}.log",
    wildcard_constraints:
        sheet=one_of(SHEETS),
        annotator=one_of(ANNOTATORS),
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: sheet_settings(wildcards.sheet, wildcards.annotator),
        code=code("labelling_page"),
    shell:
        command(
            "labelling_page",
            "--draw {input.draw:q} --items {input.item_tables:q} --page {output.page:q} --csv {output.csv:q}",
        )


rule read_labels:
    """Reads people's labels."""
    input:
        item_tables=labelled_items(),
        files=files_of_labels(),
        ledgers=ledgers(),
    output:
        table=LABELS_TABLE,
        csv=f"{RESULTS}/labels/labels.csv",
    log:
        f"{RESULTS}/logs/labels/labels.log",
    group:
        grouped("dialogues")
    conda:
        "../envs/core.yaml"
    params:
        settings=read_labels_settings(),
        code=code("read_labels"),
        folder=LABELS_FOLDER,
        content=lambda wildcards: content(files_of_labels() + ledgers()),
    shell:
        command(
            "read_labels",
            "--content={params.content:q} --items {input.item_tables:q} --files {input.files:q} --folder {params.folder:q} "
            "--table {output.table:q} --csv {output.csv:q}",
        )
