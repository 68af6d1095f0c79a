# Plan, answer, parse: every judge is asked the same requests, and its answers become verdicts.


rule plan_unieval:
    input:
        human=HUMAN,
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/requests/unieval.parquet",
    log:
        f"{RESULTS}/logs/requests/unieval.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(**sampling("unieval")),
        code=code("unieval_plan"),
    shell:
        command(
            "unieval_plan",
            "--human {input.human:q} --seeds {input.seeds:q} --dialogues {input.dialogues:q} --requests {output:q}",
        )


rule plan_arena:
    input:
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/requests/arena.parquet",
    log:
        f"{RESULTS}/logs/requests/arena.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(
            **sampling("arena"),
            n_utterances=(
                CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []
            ),
        ),
        code=code("arena_plan"),
    shell:
        command(
            "arena_plan",
            "--seeds {input.seeds:q} --dialogues {input.dialogues:q} --requests {output:q}",
        )


rule plan_gteval:
    input:
        human=HUMAN,
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/requests/gteval.parquet",
    log:
        f"{RESULTS}/logs/requests/gteval.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(**sampling("gteval")),
        code=code("gteval_plan"),
    shell:
        command(
            "gteval_plan",
            "--human {input.human:q} --seeds {input.seeds:q} --dialogues {input.dialogues:q} --requests {output:q}",
        )


rule answer:
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        learned=lambda wildcards: learned(wildcards.judge),
    output:
        responses=f"{RESULTS}/responses/{{judge}}/{{protocol}}/{{shard}}-of-{{shards}}.parquet",
        usage=f"{RESULTS}/usage/{{judge}}/{{protocol}}-{{shard}}-of-{{shards}}.json",
    log:
        f"{RESULTS}/logs/responses/{{judge}}/{{protocol}}-{{shard}}-of-{{shards}}.log",
    wildcard_constraints:
        judge=one_of(set(CONFIG.judges) - set(PUBLISHED)),
        protocol=one_of(PROTOCOLS),
    conda:
        lambda wildcards: environment(wildcards.judge)
    resources:
        gpu=lambda wildcards: gpus(wildcards.judge),
    params:
        stage="answer",
        settings=answer_settings,
        code=lambda wildcards: code("answer", wildcards.judge),
        store=STORE,
    shell:
        command(
            "{params.stage}",
            "--requests {input.requests:q} --learned {input.learned:q} --store {params.store:q} "
            "--responses {output.responses:q} --usage {output.usage:q}",
        )


rule plan_again:
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        responses=responses,
    output:
        f"{RESULTS}/requests/again/{{judge}}/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/requests/again/{{judge}}/{{protocol}}.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(protocol=wildcards.protocol),
        code=code("again_plan"),
    shell:
        command(
            "again_plan",
            "--requests {input.requests:q} --responses {input.responses:q} --again {output:q}",
        )


use rule answer as answer_again with:
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
    params:
        stage="answer",
        settings=again_settings,
        code=lambda wildcards: code("answer", wildcards.judge),
        store=STORE,


rule import_answers:
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        published=lambda wildcards: CONFIG.published_answers(
            wildcards.judge, wildcards.protocol
        ),
    output:
        f"{RESULTS}/responses/{{judge}}/{{protocol}}/1-of-1.parquet",
    log:
        f"{RESULTS}/logs/responses/{{judge}}/{{protocol}}.log",
    wildcard_constraints:
        judge=one_of(set(CONFIG.judges) & set(PUBLISHED)),
    conda:
        "../envs/core.yaml"
    params:
        settings=import_settings,
        code=code("import_answers"),
    shell:
        command(
            "import_answers",
            "--requests {input.requests:q} --published {input.published:q} --answers {output:q}",
        )


rule parse:
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        responses=responses,
        again=again,
    output:
        f"{RESULTS}/judgements/{{judge}}/{{protocol}}.parquet",
    log:
        f"{RESULTS}/logs/judgements/{{judge}}/{{protocol}}.log",
    wildcard_constraints:
        protocol=one_of([*PROTOCOLS, *SCORING]),
    conda:
        "../envs/core.yaml"
    params:
        stage=parse_stage,
        settings=lambda wildcards: settings(judge=wildcards.judge),
        code=lambda wildcards: code(parse_stage(wildcards)),
    shell:
        command(
            "{params.stage}",
            "--requests {input.requests:q} --responses {input.responses:q} --again {input.again:q} --judgements {output:q}",
        )
