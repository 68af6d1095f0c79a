# Transcripts of the user's own systems become items to be judged.


rule read_transcripts:
    """Reads transcripts of the user's own systems."""
    input:
        lambda wildcards: transcript_files(wildcards.source),
    output:
        item_table=f"{RESULTS}/items/{{source}}.parquet",
        asides=f"{RESULTS}/asides/{{source}}.parquet",
        left_out=f"{RESULTS}/left_out/{{source}}.parquet",
    log:
        f"{RESULTS}/logs/items/{{source}}.log",
    wildcard_constraints:
        source=one_of(CONFIG.transcripts),
    group:
        grouped("reading")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            name=wildcards.source,
            path=str(CONFIG.transcripts_path(wildcards.source)),
            options=CONFIG.transcripts[wildcards.source].options(),
        ),
        code=code("read_transcripts"),
        content=lambda wildcards: content(transcript_files(wildcards.source)),
    shell:
        command(
            "read_transcripts",
            "--content={params.content:q} --items {output.item_table:q} --asides {output.asides:q} --left-out {output.left_out:q}",
        )
