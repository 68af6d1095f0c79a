# Chatbots continue the seeds. A model with `shards` above 1 does so in several jobs, whose parts become one table. A simulated
# user is asked by the same jobs. The dialogues of a published chatbot are read from a file.

SELFCHAT = Selfchat(LAYOUT, SOURCES)
SHARDED = LAYOUT.sharded_chatbots()


use rule stage as generate_dialogues with:
    """Lets a chatbot continue the seeds, talking to itself or with a simulated user."""
    input:
        seeds=paths.seeds,
        scenarios=paths.scenarios,
        learned=learned("chatbot"),
        partner_learned=by_digest(LAYOUT.learned(LAYOUT.partner)),
    output:
        generated=paths.DIALOGUES,
        usage=LAYOUT.chat_usage("{chatbot}", 1, 1),
    pathvars:
        part="dialogues/{chatbot}",
    wildcard_constraints:
        chatbot=one_of(set(CONFIG.chatbots) - set(SHARDED) - PUBLISHED),
    group:
        grouped(GROUPS.selfchat)
    conda:
        environment(SELFCHAT.generate_dialogues)
    resources:
        **resources(SELFCHAT.generate_dialogues),
    params:
        **job(SELFCHAT.generate_dialogues, "content", store=True),


use rule generate_dialogues as generate_shard with:
    """Lets a chatbot continue a part of the seeds, if its work is split."""
    output:
        generated=paths.DIALOGUES_SHARD,
        usage=LAYOUT.chat_usage("{chatbot}", "{shard}", "{shards}"),
    pathvars:
        part="dialogues/{chatbot}-{shard}-of-{shards}",
    wildcard_constraints:
        chatbot=one_of(SHARDED),


use rule stage as import_dialogues with:
    """Imports the published dialogues of a chatbot."""
    input:
        seeds=paths.seeds,
        published=by(SOURCES.dialogues),
    output:
        generated=paths.DIALOGUES,
    pathvars:
        part="dialogues/{chatbot}",
    wildcard_constraints:
        chatbot=one_of(PUBLISHED.intersection(CONFIG.chatbots)),
    group:
        grouped("reading")
    params:
        **job(SELFCHAT.import_dialogues, "content"),


use rule stage as merge_dialogues with:
    """Puts the parts of a chatbot's dialogues into one table."""
    input:
        seeds=paths.seeds,
        parts=paths.dialogue_shards,
    output:
        merged=paths.DIALOGUES,
    pathvars:
        part="dialogues/{chatbot}",
    wildcard_constraints:
        chatbot=one_of(SHARDED),
    group:
        grouped("asking")
    params:
        **job(SELFCHAT.merge_dialogues),


use rule stage as selfchat_items with:
    """Puts human and chatbots' dialogues into one table of items for judges."""
    input:
        human=paths.human,
        seeds=paths.seeds,
        dialogues=paths.dialogues,
    output:
        items_=paths.SELFCHAT_ITEMS,
    pathvars:
        part="items/selfchat",
    group:
        grouped("asking")
    params:
        **job(SELFCHAT.selfchat_items),


use rule stage as choose_tokenizer with:
    """Chooses the unit in which lengths are counted, once for a folder of results."""
    output:
        tokenizer=paths.TOKENIZER,
    pathvars:
        part="tables/tokenizer",
    localrule: True
    params:
        **job(SELFCHAT.choose_tokenizer, always_anew=True),


use rule stage as tabulate_lengths with:
    """Tabulates the lengths of human and chatbots' utterances."""
    input:
        human=paths.human,
        seeds=paths.seeds,
        dialogues=paths.dialogues,
        tokenizer=paths.TOKENIZER,
    output:
        tokens=paths.UTTERANCE_TOKENS,
        table=paths.UTTERANCE_LENGTHS,
        csv=paths.UTTERANCE_LENGTHS_CSV,
    pathvars:
        part="tables/utterance_lengths",
    group:
        grouped("dialogues")
    params:
        **job(SELFCHAT.tabulate_lengths),
