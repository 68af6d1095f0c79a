# How far the judges of one's own protocols can be trusted, by the rated corpora of the same run.


rule tabulate_trust:
    """Tables how far the judges of a protocol can be trusted, by the rated corpora of the run."""
    input:
        f"{METAEVAL}/correlations.parquet" if CONFIG.metaeval else [],
    output:
        table=f"{RESULTS}/tables/{{protocol}}/trust.parquet",
        csv=f"{RESULTS}/tables/{{protocol}}/trust.csv",
    log:
        f"{RESULTS}/logs/tables/{{protocol}}-trust.log",
    wildcard_constraints:
        protocol=one_of(TRUSTED),
    group:
        grouped("report")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(**trust_settings(wildcards.protocol)),
        code=code("tabulate_trust"),
    shell:
        command(
            "tabulate_trust",
            "--correlations {input:q} --table {output.table:q} --csv {output.csv:q}",
        )
