# Plan, answer, parse: every judge is asked the same requests, and its answers become judgements.


rule plan:
    """Plans what every judge of a protocol is asked."""
    input:
        item_tables=lambda wildcards: items_about(wildcards.protocol),
        damaged=lambda wildcards: damaged_about(wildcards.protocol, "items"),
        pairs=lambda wildcards: damaged_about(wildcards.protocol, "pairs"),
    output:
        f"{RESULTS}/requests/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/requests/{{protocol}}.log",
    wildcard_constraints:
        protocol=one_of(PROTOCOLS),
    group:
        grouped("asking")
    conda:
        "../envs/core.yaml"
    params:
        stage=lambda wildcards: f"plan_{PROTOCOLS[wildcards.protocol].form}",
        settings=plan_settings,
        code=lambda wildcards: question_code("plan", wildcards.protocol),
    shell:
        command(
            "{params.stage}",
            "--items {input.item_tables:q} --damaged {input.damaged:q} --pairs {input.pairs:q} --requests {output:q}",
        )


rule answer:
    """Asks a judge what a protocol plans, or finds it in the store."""
    input:
        requests=lambda wildcards: requests_to(wildcards.judge, wildcards.protocol),
        learned=lambda wildcards: learned(wildcards.judge),
    output:
        responses=f"{RESULTS}/responses/{{judge}}/{{protocol}}/{{shard}}-of-{{shards}}.parquet",
        usage=f"{RESULTS}/usage/{{judge}}/{{protocol}}-{{shard}}-of-{{shards}}.json",
    log:
        f"{RESULTS}/logs/responses/{{judge}}/{{protocol}}-{{shard}}-of-{{shards}}.log",
    wildcard_constraints:
        judge=one_of({*CONFIG.asked_judges(), *translators()} - set(PUBLISHED)),
        protocol=one_of({*PROTOCOLS, *asked_of_translations()} - {*ADAPTIVE}),
    group:
        grouped(of_answers)
    conda:
        lambda wildcards: environment(wildcards.judge)
    resources:
        **resources_of(lambda wildcards: [wildcards.judge]),
    params:
        stage=lambda wildcards: answer_stage(wildcards.protocol),
        settings=answer_settings,
        code=lambda wildcards: code(answer_stage(wildcards.protocol), wildcards.judge),
        content=lambda wildcards: content_of_models(wildcards.judge),
    shell:
        command(
            "{params.stage}",
            '--content={params.content:q} --requests {input.requests:q} --learned {input.learned:q} --store="$DIALEVAL_STORE" '
            "--responses {output.responses:q} --usage {output.usage:q}",
        )


rule plan_again:
    """Plans one more request for every answer that could not be read."""
    input:
        requests=lambda wildcards: requests_to(wildcards.judge, wildcards.protocol),
        responses=responses,
    output:
        f"{RESULTS}/requests/again/{{judge}}/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/requests/again/{{judge}}/{{protocol}}.log",
    wildcard_constraints:
        protocol=one_of(ASKED_AGAIN),
    group:
        grouped("asking_again")
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            **question(wildcards.protocol), own=own_criteria(wildcards.protocol)
        ),
        code=code("plan_again"),
    shell:
        command(
            "plan_again",
            "--requests {input.requests:q} --responses {input.responses:q} --again {output:q}",
        )


use rule answer as answer_again with:
    """Asks a judge again what could not be read."""
    input:
        requests=f"{RESULTS}/requests/again/{{judge}}/{{protocol}}.parquet",
        learned=lambda wildcards: learned(wildcards.judge),
    output:
        responses=f"{RESULTS}/responses/again/{{judge}}/{{protocol}}.parquet",
        usage=f"{RESULTS}/usage/again/{{judge}}/{{protocol}}.json",
    log:
        f"{RESULTS}/logs/responses/again/{{judge}}/{{protocol}}.log",
    wildcard_constraints:
        judge=one_of(CONFIG.asked_judges()),
        protocol=one_of(ASKED_AGAIN),
    group:
        grouped(of_answers_again)
    params:
        stage="answer",
        settings=again_settings,
        code=lambda wildcards: code("answer", wildcards.judge),
        content=lambda wildcards: content_of_models(wildcards.judge),


rule import_answers:
    """Takes over the answers of a judge that others asked and published."""
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        published=lambda wildcards: CONFIG.published_answers(**wildcards),
    output:
        f"{RESULTS}/responses/{{judge}}/{{protocol}}/1-of-1.parquet",
    log:
        f"{RESULTS}/logs/responses/{{judge}}/{{protocol}}.log",
    wildcard_constraints:
        judge=one_of(set(CONFIG.judges) & set(PUBLISHED)),
    group:
        grouped(of_parsing)
    conda:
        "../envs/core.yaml"
    params:
        settings=import_settings,
        code=code("import_answers"),
        content=lambda wildcards: content(CONFIG.published_answers(**wildcards)),
    shell:
        command(
            "import_answers",
            "--content={params.content:q} --requests {input.requests:q} --published {input.published:q} --answers {output:q}",
        )


rule parse:
    """Reads a judge's answers into judgements."""
    input:
        requests=lambda wildcards: requests_to(wildcards.judge, wildcards.protocol),
        responses=responses,
        again=again,
    output:
        f"{RESULTS}/judgements/{{judge}}/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/judgements/{{judge}}/{{protocol}}.log",
    wildcard_constraints:
        judge=one_of(CONFIG.asked_judges()),
        protocol=one_of(PROTOCOLS),
    group:
        grouped(of_parsing)
    conda:
        "../envs/core.yaml"
    params:
        stage=lambda wildcards: f"parse_{PROTOCOLS[wildcards.protocol].form}",
        settings=parse_settings,
        code=lambda wildcards: question_code("parse", wildcards.protocol),
    shell:
        command(
            "{params.stage}",
            "--requests {input.requests:q} --responses {input.responses:q} --again {input.again:q} --judgements {output:q}",
        )


rule ensemble_judgements:
    """Makes an ensemble's judgements of those of its members."""
    input:
        lambda wildcards: members_scores(wildcards.ensemble, wildcards.method),
    output:
        f"{RESULTS}/judgements/{{ensemble}}/{{method}}.parquet",
    log:
        f"{RESULTS}/logs/judgements/{{ensemble}}/{{method}}.log",
    wildcard_constraints:
        ensemble=one_of(ENSEMBLES),
        method=one_of({method for methods in ENSEMBLES.values() for method in methods}),
    group:
        grouped(of_ensembles)
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            name=wildcards.ensemble,
            method=wildcards.method,
            members=ENSEMBLES[wildcards.ensemble][wildcards.method],
        ),
        code=code("ensemble_judgements"),
    shell:
        command("ensemble_judgements", "--members {input:q} --ensemble {output:q}")
