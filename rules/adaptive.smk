# Pairs are asked about in rounds: those that are still open, until all are settled.


rule answer_adaptively:
    """Asks a judge about pairs in rounds: those that are still open, until all are settled."""
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        learned=lambda wildcards: learned(wildcards.judge),
    output:
        responses=f"{RESULTS}/responses/{{judge}}/{{protocol}}/1-of-1.parquet",
        usage=f"{RESULTS}/usage/{{judge}}/{{protocol}}-1-of-1.json",
        rounds=f"{RESULTS}/rounds/{{judge}}/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/responses/{{judge}}/{{protocol}}-in-rounds.log",
    wildcard_constraints:
        judge=one_of(set(CONFIG.asked_judges()) - set(PUBLISHED)),
        protocol=one_of(ADAPTIVE),
    group:
        grouped(of_answers)
    conda:
        lambda wildcards: environment(wildcards.judge)
    resources:
        **resources_of(lambda wildcards: [wildcards.judge]),
    params:
        settings=adaptive_settings,
        code=lambda wildcards: code("answer_adaptively", wildcards.judge),
        content=lambda wildcards: content_of_models(wildcards.judge),
    shell:
        command(
            "answer_adaptively",
            '--content={params.content:q} --requests {input.requests:q} --learned {input.learned:q} --store="$DIALEVAL_STORE" '
            "--responses {output.responses:q} --usage {output.usage:q} --rounds {output.rounds:q}",
        )


rule tabulate_rounds:
    """Tables the rounds in which the judges of a protocol were asked."""
    input:
        lambda wildcards: rounds_of(wildcards.protocol),
    output:
        table=f"{RESULTS}/tables/{{protocol}}/adaptive_rounds.parquet",
        csv=f"{RESULTS}/tables/{{protocol}}/adaptive_rounds.csv",
    log:
        f"{RESULTS}/logs/tables/{{protocol}}/adaptive_rounds.log",
    wildcard_constraints:
        protocol=one_of(ADAPTIVE),
    group:
        grouped(of_measures)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(protocol=wildcards.protocol),
        code=code("tabulate_rounds"),
    shell:
        command(
            "tabulate_rounds",
            "--rounds {input:q} --table {output.table:q} --csv {output.csv:q}",
        )
