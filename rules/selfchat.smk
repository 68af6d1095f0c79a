# Chatbots continue the seeds. A model with `shards` above 1 does so in several jobs, whose parts become one table.
# The dialogues of a published model are taken from a file.

SHARDED = [name for name in CONFIG.chatbots if CONFIG.models[name].shards > 1]


rule generate_dialogues:
    input:
        seeds=SEEDS,
        learned=lambda wildcards: learned(wildcards.chatbot),
    output:
        generated=f"{RESULTS}/dialogues/{{chatbot}}.parquet",
        usage=f"{RESULTS}/usage/{{chatbot}}/selfchat-1-of-1.json",
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) - set(SHARDED) - set(PUBLISHED)),
    conda:
        lambda wildcards: environment(wildcards.chatbot)
    resources:
        gpu=lambda wildcards: gpus(wildcards.chatbot),
    params:
        settings=selfchat_settings,
        code=code("selfchat"),
        store=STORE,
    shell:
        command(
            "selfchat",
            "--seeds {input.seeds:q} --learned {input.learned:q} --store {params.store:q} "
            "--generated {output.generated:q} --usage {output.usage:q}",
        )


use rule generate_dialogues as generate_shard with:
    output:
        generated=f"{RESULTS}/dialogues/{{chatbot}}.shards/{{shard}}-of-{{shards}}.parquet",
        usage=f"{RESULTS}/usage/{{chatbot}}/selfchat-{{shard}}-of-{{shards}}.json",
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}-{{shard}}-of-{{shards}}.log",
    wildcard_constraints:
        chatbot=one_of(SHARDED),


rule import_dialogues:
    input:
        seeds=SEEDS,
        published=lambda wildcards: CONFIG.published_dialogues(wildcards.chatbot),
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.parquet",
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) & set(PUBLISHED)),
    conda:
        "../envs/core.yaml"
    params:
        settings=lambda wildcards: settings(
            name=wildcards.chatbot,
            column=CONFIG.models[wildcards.chatbot].column or wildcards.chatbot,
            n_utterances=CONFIG.selfchat.n_utterances,
            seeds_limit=CONFIG.seeds.limit,
        ),
        code=code("import_dialogues"),
    shell:
        command(
            "import_dialogues",
            "--seeds {input.seeds:q} --published {input.published:q} --generated {output:q}",
        )


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
        settings=settings(),
        code=code("merge_shards"),
    shell:
        command(
            "merge_shards",
            "--seeds {input.seeds:q} --parts {input.parts:q} --merged {output:q}",
        )


rule selfchat_items:
    input:
        human=HUMAN,
        seeds=SEEDS,
        generated=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/items/selfchat.parquet",
    log:
        f"{RESULTS}/logs/items/selfchat.log",
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(),
        code=code("selfchat_items"),
    shell:
        command(
            "selfchat_items",
            "--human {input.human:q} --seeds {input.seeds:q} --dialogues {input.generated:q} --items {output:q}",
        )
