# Plan, answer, parse: every judge is asked the same requests, and its answers become verdicts.


def responses(wildcards):
    """Returns a judge's response tables under a protocol, one per shard."""
    shards = CONFIG.models[wildcards.judge].shards
    return [
        f"{RESULTS}/responses/{wildcards.judge}/{wildcards.protocol}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def sampling(protocol):
    """Returns how judges are sampled under a protocol, and where prompts lie."""
    section = getattr(CONFIG.protocols, protocol)
    if section is None:
        return {}
    return {"temperature": section.temperature, "max_tokens": section.max_tokens, "prompts_directory": PROMPTS}


rule plan_unieval:
    input:
        human=HUMAN,
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/requests/unieval.parquet",
    params:
        settings=settings(**sampling("unieval")),
        code=code("unieval_plan"),
    log:
        f"{RESULTS}/logs/requests/unieval.log",
    conda:
        "../envs/core.yaml"
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
    params:
        settings=settings(
            **sampling("arena"), n_utterances=CONFIG.protocols.arena.n_utterances if CONFIG.protocols.arena else []
        ),
        code=code("arena_plan"),
    log:
        f"{RESULTS}/logs/requests/arena.log",
    conda:
        "../envs/core.yaml"
    shell:
        command(
            "arena_plan", "--seeds {input.seeds:q} --dialogues {input.dialogues:q} --requests {output:q}"
        )


rule plan_gteval:
    input:
        human=HUMAN,
        seeds=SEEDS,
        dialogues=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/requests/gteval.parquet",
    params:
        settings=settings(**sampling("gteval")),
        code=code("gteval_plan"),
    log:
        f"{RESULTS}/logs/requests/gteval.log",
    conda:
        "../envs/core.yaml"
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
        f"{RESULTS}/responses/{{judge}}/{{protocol}}/{{shard}}-of-{{shards}}.parquet",
    params:
        settings=lambda wildcards: settings(
            name=wildcards.judge,
            protocol=wildcards.protocol,
            model=CONFIG.models[wildcards.judge],
            answering=CONFIG.answering,
            shard=int(wildcards.shard),
            shards=int(wildcards.shards),
        ),
        code=code("answer"),
    log:
        f"{RESULTS}/logs/responses/{{judge}}/{{protocol}}-{{shard}}-of-{{shards}}.log",
    conda:
        "../envs/core.yaml"
    shell:
        command(
            "answer",
            "--requests {input.requests:q} --learned {input.learned:q} --store {STORE:q} --responses {output:q}",
        )


def parse_stage(wildcards):
    """Returns the stage that reads the answers of a protocol."""
    return "unieval_parse" if wildcards.protocol == "unieval" else "pairwise_parse"


rule parse:
    input:
        requests=f"{RESULTS}/requests/{{protocol}}.parquet",
        responses=responses,
    output:
        f"{RESULTS}/verdicts/{{judge}}/{{protocol}}.parquet",
    params:
        stage=parse_stage,
        settings=lambda wildcards: settings(judge=wildcards.judge),
        code=lambda wildcards: code(parse_stage(wildcards)),
    log:
        f"{RESULTS}/logs/verdicts/{{judge}}/{{protocol}}.log",
    conda:
        "../envs/core.yaml"
    shell:
        command(
            "{params.stage}",
            "--requests {input.requests:q} --responses {input.responses:q} --verdicts {output:q}",
        )
