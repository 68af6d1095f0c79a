# What each protocol reads, and what its stages are told, by the configuration.


def items_about(protocol):
    """Returns the tables of the undamaged items that a protocol is about."""
    sources = {"rated": items_of(CONFIG.metaeval.corpora if CONFIG.metaeval else [])}
    return [
        path
        for source in PROTOCOLS[protocol].of.source
        if source != "damaged"
        for path in sources.get(source, items_of([source]))
    ]


def damaged_about(protocol, kind):
    """Returns the tables of damaged items that a protocol is about, or of the pairs that they make."""
    return perturbed(kind) if "damaged" in PROTOCOLS[protocol].of.source else []


def about_chats(protocol):
    """Returns whether a protocol is about chatbots' dialogues."""
    return "selfchat" in PROTOCOLS[protocol].of.source


def question(protocol):
    """Returns what is asked under a protocol, as its stages are told: without what only others need to know."""
    own = PROTOCOLS[protocol].model_dump(
        mode="json",
        exclude={"judges", "measures", "ask_again", "at", "adaptive", "cascade"},
    )
    return {
        "name": protocol,
        "shipped": protocol in SHIPPED,
        "protocol": own,
        "criteria": [asdict(one) for one in CONFIG.criteria_of(protocol)],
    }


def question_code(step, protocol):
    """Returns the fingerprint of a protocol's plan or parse: of its form, and of the template that it names."""
    templates = templates_of([protocol]) if step == "plan" else []
    return code(f"{step}_{PROTOCOLS[protocol].form}", templates=templates)


def templates_of(protocols):
    """Returns the templates that protocols name; what is asked about items has further ones in code."""
    named = [PROTOCOLS[name].template for name in protocols]
    return sorted({template for template in named if template})


def plan_settings(wildcards):
    protocol, more = wildcards.protocol, {}
    if gives_scores(protocol):
        more = {
            "dimensions": asked_dimensions(CONFIG, PROTOCOLS[protocol]),
            "said_before": 1 if SCENARIOS else 2,
            "own": own_criteria(protocol),
            "hurt": asked_hurt(CONFIG, PROTOCOLS[protocol]),
        }
    if PROTOCOLS[protocol].form == "mark":
        more = {"said_before": SAID_BEFORE}
    return settings(**question(protocol), **more)


def parse_settings(wildcards):
    protocol, more = wildcards.protocol, {}
    if gives_scores(protocol):
        more = {"own": own_criteria(protocol)}
    return settings(**question(protocol), **more, judge=wildcards.judge)


def own_criteria(protocol):
    """Returns the user's criteria that a protocol may ask about."""
    return [asdict(one) for one in CONFIG.asked_criteria(protocol)]


def gives_scores(protocol):
    """Returns whether a protocol scores single items."""
    asked = PROTOCOLS.get(protocol)
    return asked is not None and asked.form in ("scale", "probability")


def answer_stage(protocol):
    """Returns the stage that answers: what is said about items is shortened where it does not fit."""
    return "answer_items" if gives_scores(protocol) else "answer"


def answer_settings(wildcards):
    protocol, more = wildcards.protocol, {}
    if gives_scores(protocol):
        more = {"criteria": own_criteria(protocol)}
        more["template"] = PROTOCOLS[protocol].template
    if protocol in PROTOCOLS:
        more["question"] = question(protocol)
        # what says nothing changes no settings
        more |= {"asks_again": True} if protocol in ASKED_AGAIN else {}
    return settings(
        name=wildcards.judge,
        protocol=protocol,
        **stored_under(protocol),
        model=asked_model(wildcards.judge),
        shard=int(wildcards.shard),
        shards=int(wildcards.shards),
        **more,
    )


def again_settings(wildcards):
    return settings(
        name=wildcards.judge,
        protocol=f"{wildcards.protocol}-again",
        **stored_under(wildcards.protocol, "-again"),
        model=asked_model(wildcards.judge),
    )


def stored_under(protocol, suffix=""):
    """Returns the folder of the store where that does not bear the protocol's name, but that of its form."""
    if protocol in TRANSLATED or protocol in QUALITY:
        return {"folder": QUALITY[protocol][0] if protocol in QUALITY else "translate"}
    own = CONFIG.protocols.own.get(protocol)
    return {"folder": f"{own.form}{suffix}"} if own else {}


def own_results():
    """Returns the judgements of failures and under protocols of the user's own, and what is measured of them."""
    own = WITH_FIGURES
    tables = [name for name in measure_tables() if name.split("/")[0] in own]
    return [path for protocol in own for path in results_of(protocol)] + tables_in(
        f"{RESULTS}/tables", tables
    )
