# What stages are told of the configuration, each its part.

WRITING_FIELDS = [  # of dialogbench.written, that the stage is told as they are
    "per_cell",
    "languages",
    "max_rounds",
    "temperature",
    "max_tokens",
    "presence_penalty",
    "frequency_penalty",
    "min_turns",
    "max_length_ratio",
    "max_question_share",
    "duplicate_similarity",
]


def selfchat_settings(wildcards):
    return settings(
        name=wildcards.chatbot,
        model=asked_model(wildcards.chatbot),
        selfchat=CONFIG.selfchat,
        partner=asked_model(PARTNER) if PARTNER else None,
        shard=int(wildcards.get("shard", 1)),
        shards=int(wildcards.get("shards", 1)),
    )


def import_settings(wildcards):
    judge = CONFIG.models[wildcards.judge]
    arena = CONFIG.protocols.arena
    return settings(
        protocol=wildcards.protocol,
        judge_column=judge.judge_column,
        names=judge.names,
        arena_lengths=(
            arena.n_utterances if arena and wildcards.protocol == "arena" else []
        ),
    )


def metaeval_settings(*names):
    """Returns how meta-evaluation makes its intervals, and what else a stage of it needs, by the names of settings."""
    section = CONFIG.metaeval
    if section is None:
        return settings()
    known = {
        "benchmarks": {name: one.benchmark for name, one in section.corpora.items()},
        "published_as": CONFIG.published_systems(),
        "ensemble_size": section.ensemble_size,
        "ensemble_pool": pool_of(CONFIG),
        "ensembles": list(ENSEMBLES),
        "models": one_model(CONFIG),
    }
    # what says nothing changes no settings
    if CONFIG.translate:
        known["translated"] = {
            name: {language: asked.by for language in asked.into}
            for name, asked in CONFIG.translate.items()
        }
    if section.fill:
        known |= {"fill": section.fill, "partial": partial_to(CONFIG)}
    if joined_criteria(CONFIG):
        known["joined"] = joined_criteria(CONFIG)
    return settings(
        resamples=section.resamples,
        confidence=section.confidence,
        random_seed=CONFIG.random_seed,
        **{name: known[name] for name in names if name in known},
    )


def score_file_settings(name):
    """Returns what a file of ready scores is, and what of it is compared with ratings on another criterion."""
    section, more = CONFIG.metaeval.score_files[name], {}
    if joined_criteria(CONFIG):
        more["joined"] = joined_criteria(CONFIG)
    return settings(
        name=name, scale_min=section.scale_min, scale_max=section.scale_max, **more
    )


def ladder_settings(name):
    """Returns how the items of a constructed corpus are made."""
    corpus = CONFIG.metaeval.corpora[name]
    return settings(
        name=name,
        languages=corpus.languages,
        strategies=corpus.strategies,
        steps=corpus.steps,
        limit=corpus.kept,
        random_seed=CONFIG.random_seed,
        hurt=CONFIG.hurt(corpus.strategies),
    )


def damage_settings():
    """Returns what is damaged by rule, and how."""
    section = CONFIG.robustness
    if section is None:
        return settings()
    ladders = section.ladders
    return settings(
        strategies=section.strategies,
        limit=section.limit,
        dialogue_draws=section.dialogue_draws,
        turn_draws=section.turn_draws,
        ladder_strategies=ladders.strategies if ladders else [],
        ladder_steps=ladders.steps if ladders else 2,
        ladder_limit=ladders.limit if ladders else None,
        published=(
            str(CONFIG.published_damage()) if CONFIG.published_damage() else None
        ),
        random_seed=CONFIG.random_seed,
        **told(section, "min_quality"),
        **({"wordnet": str(CONFIG.wordnet())} if CONFIG.wordnet() else {}),
    )


def told(section, *names):
    """Returns those fields of a section that say something: what is null changes no settings."""
    values = {name: getattr(section, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def rewrite_settings(model):
    """Returns what a model damages, and how."""
    section = CONFIG.robustness
    return settings(
        name=model,
        model=asked_model(model),
        strategies=section.strategies,
        limit=section.limit,
        dialogue_draws=section.dialogue_draws,
        turn_draws=section.turn_draws,
        temperature=section.rewriter_temperature,
        random_seed=CONFIG.random_seed,
        **told(section, "min_quality", "rewritten"),
    )


def item_table_settings():
    """Returns what the tables of DialogBench need; nothing where it is not configured."""
    section = CONFIG.dialogbench
    if section is None:
        return settings()
    names = {name for name, method in examined()}
    kind_of = {name: kind for name, kind in kinds(CONFIG).items() if name in names}
    groups = {
        kind: [name for name, own in kind_of.items() if own == kind]
        for kind in ("base", "chat")
    }
    groups |= {
        tag: [name for name in tagged_names if name in names]
        for tag, tagged_names in tagged(CONFIG).items()
        if tag not in groups
    }
    return settings(
        confidence=section.confidence,
        ablations=item_ablations(),
        groups={name: members for name, members in groups.items() if members},
        kinds=kind_of,
        parts=parts_in_items(section, CONFIG.models),
        at_least=section.experts.at_least if section.experts else None,
        random_seed=CONFIG.random_seed,
    )


def expert_sheet_settings():
    """Returns how many items experts are to answer; nothing where there are no experts."""
    experts = CONFIG.dialogbench.experts if CONFIG.dialogbench else None
    if experts is None:
        return settings()
    return settings(per_task=experts.per_task, random_seed=CONFIG.random_seed)


def expert_settings():
    """Returns what is to be known of the experts; nothing where there are none."""
    experts = CONFIG.dialogbench.experts if CONFIG.dialogbench else None
    return settings(simulated=experts.simulated) if experts else settings()


def item_writer_settings():
    """Returns who writes test items, and what."""
    written = CONFIG.dialogbench.written if CONFIG.dialogbench else None
    if written is None:
        return settings()
    by_model = written.writer is not None
    return settings(
        name=written.writer,
        model=asked_model(written.writer) if by_model else None,
        tasks=written.asked_tasks,
        domains=written.domains or DOMAINS,
        procedures=[
            "full",
            *(f"-{name}" for name in written.ablations if name != "filter"),
        ],
        random_seed=CONFIG.random_seed,
        **{name: getattr(written, name) for name in WRITING_FIELDS},
    )


def item_judge_settings(name):
    """Returns the model that filters or describes written items."""
    if name is None:
        return settings()
    return settings(
        name=name,
        model=asked_model(name),
    )


def item_settings():
    """Returns where test items come from."""
    section = CONFIG.dialogbench
    if section is None:
        return settings()
    return settings(
        bundled=section.bundled,
        published={
            name: {
                "path": str(CONFIG.item_path(name)),
                "language": published.language,
                "task": published.task,
            }
            for name, published in section.published.items()
        },
        variants=[
            "full",
            *(f"-{name}" for name in item_ablations() if name != "domains"),
        ],
        limit=section.limit,
        random_seed=CONFIG.random_seed,
    )


def examination_settings(method):
    """Returns how models are asked under a method."""
    section = CONFIG.dialogbench
    return settings(
        method=method,
        circular=section.circular and method != "perplexity",
        presentation=section.presentation,
        max_tokens=section.max_tokens,
        # probabilities are read of one answer's first token, before which nothing was said
        presence_penalty=section.presence_penalty if method == "letter" else 0.0,
        frequency_penalty=section.frequency_penalty if method == "letter" else 0.0,
    )


def askers():
    """Returns the models that are asked what is planned without a look at chatbots, by protocol."""
    found = {
        name: protocol.judges
        for name, protocol in PROTOCOLS.items()
        if not about_chats(name)
    }
    found |= {name: asked_of_translations()[name] for name in TRANSLATED}
    methods = CONFIG.dialogbench.examine.by_method() if CONFIG.dialogbench else {}
    return found | {f"dialogbench_{name}": asked for name, asked in methods.items()}


def own_criteria_of(corpus):
    """Returns the user's criteria that a rated corpus names."""
    section = CONFIG.metaeval.corpora[corpus]
    named = {*(section.asked or ()), *section.asks.values()}
    return [name for name in CONFIG.criteria if name in named]


def read_rated_settings(corpus):
    """Returns what a rated corpus is read from, and what must be in it."""
    section, more = CONFIG.metaeval.corpora[corpus], {}
    if section.asks:
        more["asks"] = section.asks
    if section.kept is not None:
        more |= {"limit": section.kept, "random_seed": CONFIG.random_seed}
    return settings(
        name=corpus,
        reader=section.reader,
        path=str(CONFIG.rated_path(corpus)),
        languages=section.languages,
        own_criteria=own_criteria_of(corpus),
        **more,
    )
