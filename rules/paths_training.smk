# What judges learn from, and which files training reads and writes, by the configuration.

TRAINING = list(CONFIG.training)
USED_TRAINING = CONFIG.used_training()
MADE_TRAINING = CONFIG.made_training()
TRAINING_TABLES = ("record", "curve", "runs", "samples")


def training_examples(names):
    """Returns the tables of the pairs that judges learn from."""
    return [f"{RESULTS}/training/{name}/examples.parquet" for name in names]


def training_overlap(names):
    """Returns the tables of the dialogues that are left out of training sets."""
    return [f"{RESULTS}/training/{name}/overlap.parquet" for name in names]


def training_dialogues(name):
    """Returns the tables of the dialogues of a training set, and of what is translated of them.

    The originals stand first, whichever languages are asked for: the parts follow from them.
    """
    section = CONFIG.training[name]
    originals = [f"{RESULTS}/corpora/{corpus}.parquet" for corpus in section.corpora()]
    translated = [
        f"{RESULTS}/translations/{corpus}/{language}.parquet"
        for corpus in section.corpora()
        if corpus in CONFIG.translate
        for language in CONFIG.translate[corpus].into
        if section.languages is None or language in section.languages
    ]
    return originals + translated


def learned_around(name):
    """Returns what is left out of a training set; where that is refused, the check only has to have been made."""
    overlap = training_overlap([name])
    leaves_out = CONFIG.training[name].overlap == "leave_out"
    return overlap if leaves_out else [ancient(path) for path in overlap]


def judged_items():
    """Returns the tables of all items that are judged and that people, not chatbots, spoke in."""
    damaged = perturbed("items")[:1]  # a model's rewriting is of the same dialogues
    return [*items_of(RATED), *damaged, *transcript_items()]


def transcript_items():
    """Returns the tables of the items of transcripts."""
    return items_of(CONFIG.transcripts)


def training_settings(name):
    """Returns what a training set is made of."""
    section = CONFIG.training[name]
    return {
        "name": name,
        **section.model_dump(mode="json", exclude={"overlap"}),
        "random_seed": CONFIG.random_seed,
        "hurt": {
            criterion: lowering
            for criterion, lowering in CONFIG.hurt().items()
            if criterion in (section.criteria or ())
        },
    }


def trained_judges():
    """Returns the sets that every model in use learns from, by its name."""
    return {
        name: list(CONFIG.models[name].learns_from)
        for name in CONFIG.models_in_use()
        if name in CONFIG.models and CONFIG.models[name].learns_from
    }


def trained_folders():
    """Returns what the trainings of all judges leave: weights, and what they tell on held-back dialogues."""
    return [f"{RESULTS}/trained/{name}" for name in trained_judges()]


def training_tables():
    """Returns the tables of training: what is learned from, and how that went."""
    if not USED_TRAINING:
        return []
    return tables_in(f"{RESULTS}/tables/training", ("data", *TRAINING_TABLES))


def training_files():
    """Returns all tables and figures of training; where no model learns yet, the data alone."""
    if not USED_TRAINING:
        return tables_in(f"{RESULTS}/tables/training", ["data"] if TRAINING else [])
    return [*training_tables(), *both_figure_files("training")]


def lora_judges():
    """Returns the models that are trained by an adapter."""
    models = {name: CONFIG.models[name] for name in trained_judges()}
    return [name for name, model in models.items() if isinstance(model, VllmModel)]


def lora_settings(name):
    """Returns what a model learns to judge by, and how: of its configuration what can change the weights."""
    model = CONFIG.models[name]
    deciding = {field: getattr(model, field) for field in DECIDES}
    learned = {
        one
        for set_ in model.learns_from
        for one in CONFIG.training[set_].criteria or ()
    }
    return settings(
        name=name,
        model={"engine": model.engine, "revision": model.revision, **deciding},
        criteria=[asdict(one) for one in CONFIG.own_criteria(learned)],
        random_seed=CONFIG.random_seed,
    )


def encoder_judges():
    """Returns the models that are trained as encoders."""
    models = {name: CONFIG.models[name] for name in trained_judges()}
    return [name for name, model in models.items() if isinstance(model, EncoderModel)]


def encoder_settings(name):
    """Returns what an encoder learns from, and how: of its configuration what can change the weights."""
    model = CONFIG.models[name]
    deciding = {field: getattr(model, field) for field in ENCODER_DECIDES}
    return settings(
        name=name,
        model={"engine": model.engine, **deciding},
        random_seed=CONFIG.random_seed,
    )
