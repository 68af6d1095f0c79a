# Chatbots continue the seeds. A model with `shards` above 1 does so in several jobs, whose parts become one table.

SHARDED = [name for name in CONFIG.chatbots if CONFIG.models[name].shards > 1]


def selfchat_settings(wildcards):
    return settings(
        name=wildcards.chatbot,
        model=CONFIG.models[wildcards.chatbot],
        selfchat=CONFIG.selfchat,
        answering=CONFIG.answering,
        prompts_directory=PROMPTS,
        shard=int(wildcards.get("shard", 1)),
        shards=int(wildcards.get("shards", 1)),
    )


rule generate_dialogues:
    input:
        seeds=SEEDS,
        learned=lambda wildcards: learned(wildcards.chatbot),
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.parquet",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) - set(SHARDED)),
    params:
        settings=selfchat_settings,
        code=code("selfchat"),
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    conda:
        "../envs/core.yaml"
    shell:
        command(
            "selfchat",
            "--seeds {input.seeds:q} --learned {input.learned:q} --store {STORE:q} --generated {output:q}",
        )


use rule generate_dialogues as generate_shard with:
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.shards/{{shard}}-of-{{shards}}.parquet",
    wildcard_constraints:
        chatbot=one_of(SHARDED),
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}-{{shard}}-of-{{shards}}.log",


rule merge_dialogues:
    input:
        seeds=SEEDS,
        parts=lambda wildcards: [
            f"{RESULTS}/dialogues/{wildcards.chatbot}.shards/{shard}-of-{shards}.parquet"
            for shards in [CONFIG.models[wildcards.chatbot].shards]
            for shard in range(1, shards + 1)
        ],
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.parquet",
    wildcard_constraints:
        chatbot=one_of(SHARDED),
    params:
        settings=settings(table="generated"),
        code=code("merge_shards"),
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    conda:
        "../envs/core.yaml"
    shell:
        command("merge_shards", "--seeds {input.seeds:q} --parts {input.parts:q} --merged {output:q}")
