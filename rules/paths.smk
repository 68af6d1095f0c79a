# Which files the rules read and write, by the configuration.

HUMAN = f"{RESULTS}/corpora/{CONFIG.seeds.corpus}.parquet"
SEEDS = f"{RESULTS}/seeds.parquet"
TABLES = f"{RESULTS}/tables/botchat"


def learned(name):
    """Returns the files that a model's engine reads: what an embedded model learned."""
    return (
        [f"{RESULTS}/embedded/{name}.learned"]
        if isinstance(CONFIG.models[name], EmbeddedModel)
        else []
    )


def dialogues(names):
    """Returns the dialogue tables of chatbots."""
    return [f"{RESULTS}/dialogues/{name}.parquet" for name in names]


def results_of(protocol):
    """Returns the verdict tables of all judges under a protocol."""
    return [f"{RESULTS}/verdicts/{judge}/{protocol}.parquet" for judge in CONFIG.judges]


def responses(wildcards):
    """Returns a judge's response tables under a protocol, one per shard."""
    shards = CONFIG.models[wildcards.judge].shards
    return [
        f"{RESULTS}/responses/{wildcards.judge}/{wildcards.protocol}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def botchat_tables():
    """Returns the names of the tables that the configured protocols give."""
    names = ["seeds", "utterance_lengths"]
    if CONFIG.judges and CONFIG.protocols.unieval:
        names += ["unieval_pass_rates", "unieval_at_gt_length"]
    if CONFIG.judges and CONFIG.protocols.arena:
        names += ["arena_elo", "arena_win_rates"]
    if CONFIG.judges and CONFIG.protocols.gteval:
        names += ["gteval"]
    return names


def figure_files(suffix):
    return [f"{RESULTS}/figures/botchat/{name}.{suffix}" for name in FIGURES]


def caption(name):
    """Returns the caption of a figure in Snakemake's report; one serves the same figure at every N."""
    return f"captions/{name.split('_n')[0]}.rst"


def report_tables():
    """Returns the tables that the page shows."""
    judges = [
        name for name in CONFIG.judges if isinstance(CONFIG.models[name], EmbeddedModel)
    ]
    return [
        *(f"{TABLES}/{name}.parquet" for name in botchat_tables()),
        *(f"{RESULTS}/tables/embedded/{judge}.parquet" for judge in judges),
    ]
