# The second judge of a cascade is asked a random share, most where the first is least sure; the two are one more judge.


rule choose_unsure:
    """Draws what the second judge of a cascade is asked, half of it where the first is least sure."""
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        judgements=lambda wildcards: judged_by("first", wildcards.protocol),
    output:
        f"{RESULTS}/requests/cascades/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/requests/cascades/{{protocol}}.log",
    wildcard_constraints:
        protocol=one_of(CASCADES),
    group:
        grouped("choosing")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            form=PROTOCOLS[wildcards.protocol].form,
            cascade=CASCADES[wildcards.protocol],
        ),
        code=code("choose_unsure"),
    shell:
        command(
            "choose_unsure",
            "--requests {input.requests:q} --judgements {input.judgements:q} --chosen {output:q}",
        )


rule cascade_judgements:
    """Puts the judgements of a cascade's two judges together."""
    input:
        first=lambda wildcards: judged_by("first", wildcards.protocol),
        then=lambda wildcards: judged_by("then", wildcards.protocol),
    output:
        f"{RESULTS}/judgements/{{cascade}}/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/judgements/{{cascade}}/{{protocol}}.log",
    wildcard_constraints:
        cascade=one_of({cascade.name for cascade in CASCADES.values()}),
        protocol=one_of(CASCADES),
    group:
        grouped(of_measures)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(name=wildcards.cascade),
        code=code("cascade_judgements"),
    shell:
        command(
            "cascade_judgements",
            "--first {input.first:q} --then {input.then:q} --cascade {output:q}",
        )
