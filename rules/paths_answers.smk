# What was sent to models and what they answered, as far as the report leads to it.


def answers_shown():
    """Returns, for every model whose answers the page may show, under what it was asked, how, and at what price."""
    asked = {}
    for name, protocol in asked_and_shown():
        asked.setdefault(name, []).append(protocol)
    return {
        "models": {
            name: answering(name, protocols) for name, protocols in asked.items()
        },
        "together": {
            cascade.name: (cascade.then, cascade.first)
            for protocol, cascade in CASCADES.items()
            if protocol in shown_questions()
        },
    }


def shown_questions():
    """Returns the protocols whose answers the page may show: about dialogues of systems, and about single items."""
    about_items = {
        name: protocol
        for name, protocol in PROTOCOLS.items()
        if gives_scores(name) and scores_items(protocol) and CONFIG.judging(name)
    }
    return {**shown_protocols(), **about_items}


def asked_and_shown():
    """Returns every model with what it was asked under, as far as the page may show it."""
    judged = [
        (judge, name) for name in shown_questions() for judge in CONFIG.judges_of(name)
    ]
    return judged + [(name, f"dialogbench_{method}") for name, method in examined()]


def damaged_items():
    """Returns the tables of damaged items and of their originals."""
    return perturbed("items") + (
        source_items_of(CONFIG.damaged_rated()) if perturbed("items") else []
    )


def answering(name, protocols):
    """Returns how a model was asked under some protocols."""
    model = CONFIG.models[name]
    prices = prices_of(model)
    return {
        "shards": {protocol: model.shards for protocol in protocols},
        "again": [
            one for one in protocols if one in ASKED_AGAIN and name not in PUBLISHED
        ],
        "merges": getattr(model, "system_message", "") == "merge",
        "from_texts": isinstance(model, EmbeddedModel),
        "published": name in PUBLISHED,
        "price_input": prices.price_input,
        "price_output": prices.price_output,
    }


def answer_tables():
    """Returns the tables of requests and responses of all that."""
    files = []
    for name, asked in answers_shown()["models"].items():
        files += [
            f"{RESULTS}/requests/{protocol}.parquet" for protocol in asked["shards"]
        ]
        for protocol in asked["again"]:
            files += [
                f"{RESULTS}/{kind}/again/{name}/{protocol}.parquet"
                for kind in ("requests", "responses")
            ]
        files += [
            f"{RESULTS}/responses/{name}/{protocol}/{shard}-of-{shards}.parquet"
            for protocol, shards in asked["shards"].items()
            for shard in range(1, shards + 1)
        ]
    return list(dict.fromkeys(files))
