# What judges learn from, and which files training reads and writes, by the configuration.

TRAINING = list(CONFIG.training)
USED_TRAINING = CONFIG.used_training()


def training_examples(names):
    """Returns the tables of the pairs that judges learn from."""
    return [f"{RESULTS}/training/{name}/examples.parquet" for name in names]


def training_overlap(names):
    """Returns the tables of the dialogues that are left out of training sets."""
    return [f"{RESULTS}/training/{name}/overlap.parquet" for name in names]


def training_dialogues(name):
    """Returns the tables of the dialogues of a training set."""
    return [
        f"{RESULTS}/corpora/{corpus}.parquet"
        for corpus in CONFIG.training[name].corpora()
    ]


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


def training_tables():
    """Returns the tables of training."""
    if not USED_TRAINING:
        return []
    return [f"{RESULTS}/tables/training/data.{suffix}" for suffix in ("parquet", "csv")]
