# Chatbots continue the seeds. A model with `shards` above 1 does so in several jobs, whose parts become one table.
# With a partner, which says the other side, the same job asks it too. The dialogues of a published model are taken from a file.

SHARDED = [name for name in CONFIG.chatbots if CONFIG.models[name].shards > 1]


rule generate_dialogues:
    """Lets a chatbot continue the seeds, talking to itself or with a simulated user."""
    input:
        seeds=SEEDS,
        scenarios=SCENARIOS,
        learned=lambda wildcards: learned(wildcards.chatbot),
        partner_learned=learned(PARTNER),
    output:
        generated=f"{RESULTS}/dialogues/{{chatbot}}.parquet",
        usage=talk_usage("{chatbot}", "1", "1"),
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) - set(SHARDED) - set(PUBLISHED)),
    group:
        grouped(of_talks)
    conda:
        lambda wildcards: environment(wildcards.chatbot, PARTNER)
    resources:
        **resources_of(lambda wildcards: [wildcards.chatbot, PARTNER]),
    params:
        settings=selfchat_settings,
        code=lambda wildcards: code("selfchat", wildcards.chatbot, PARTNER),
        content=lambda wildcards: content_of_models(wildcards.chatbot, PARTNER),
    shell:
        command(
            "selfchat",
            "--content={params.content:q} --seeds {input.seeds:q} --scenarios {input.scenarios:q} --learned {input.learned:q} "
            '--partner-learned {input.partner_learned:q} --store="$DIALEVAL_STORE" '
            "--generated {output.generated:q} --usage {output.usage:q}",
        )


use rule generate_dialogues as generate_shard with:
    """Lets a chatbot continue a part of the seeds, where its work is split."""
    output:
        generated=f"{RESULTS}/dialogues/{{chatbot}}.shards/{{shard}}-of-{{shards}}.parquet",
        usage=talk_usage("{chatbot}", "{shard}", "{shards}"),
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}-{{shard}}-of-{{shards}}.log",
    wildcard_constraints:
        chatbot=one_of(SHARDED),


rule import_dialogues:
    """Takes over the dialogues of a chatbot that others published."""
    input:
        seeds=SEEDS,
        published=lambda wildcards: CONFIG.published_dialogues(wildcards.chatbot),
    output:
        f"{RESULTS}/dialogues/{{chatbot}}.parquet",
    log:
        f"{RESULTS}/logs/dialogues/{{chatbot}}.log",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) & set(PUBLISHED)),
    group:
        grouped("reading")
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
        content=lambda wildcards: content(
            [CONFIG.published_dialogues(wildcards.chatbot)]
        ),
    shell:
        command(
            "import_dialogues",
            "--content={params.content:q} --seeds {input.seeds:q} --published {input.published:q} --generated {output:q}",
        )


rule merge_dialogues:
    """Puts the parts of a chatbot's dialogues into one table."""
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
    group:
        grouped("asking")
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
    """Puts the dialogues of people and chatbots into one table of items to be judged."""
    input:
        human=HUMAN,
        seeds=SEEDS,
        generated=dialogues(CONFIG.chatbots),
    output:
        f"{RESULTS}/items/selfchat.parquet",
    log:
        f"{RESULTS}/logs/items/selfchat.log",
    group:
        grouped("asking")
    conda:
        "../envs/core.yaml"
    params:
        settings=settings(partnered=PARTNER is not None),
        code=code("selfchat_items"),
    shell:
        command(
            "selfchat_items",
            "--human {input.human:q} --seeds {input.seeds:q} --dialogues {input.generated:q} --items {output:q}",
        )
