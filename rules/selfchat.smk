# Chatbots continue the seeds. A model with `shards` above 1 does so in several jobs, whose parts become one table.

SHARDED = [name for name in CONFIG.chatbots if CONFIG.models[name].shards > 1]


rule generate_dialogues:
    input:
        seeds=SEEDS,
        learned=lambda wildcards: learned(wildcards.chatbot),
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.parquet",
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) - set(SHARDED)),
    conda:
        "../envs/core.yaml"
    params:
        settings=selfchat_settings,
        code=code("selfchat"),
        store=STORE,
    shell:
        command(
            "selfchat",
            "--seeds {input.seeds:q} --learned {input.learned:q} --store {params.store:q} --generated {output:q}",
        )


use rule generate_dialogues as generate_shard with:
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.shards/{{shard}}-of-{{shards}}.parquet",
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}-{{shard}}-of-{{shards}}.log",
    wildcard_constraints:
        chatbot=one_of(SHARDED),


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
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    wildcard_constraints:
        chatbot=one_of(SHARDED),
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(table="generated"),
        code=code("merge_shards"),
    shell:
        command(
            "merge_shards",
            "--seeds {input.seeds:q} --parts {input.parts:q} --merged {output:q}",
        )
