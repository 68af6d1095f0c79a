# Which files the rules read and write, by the configuration.

HUMAN = f"{RESULTS}/corpora/{CONFIG.seeds.corpus}.parquet"
SEEDS = f"{RESULTS}/seeds.parquet"
TABLES = f"{RESULTS}/tables/botchat"
CORRELATIONS = ["correlations", "averages", "judge_pairs", "ranking_agreement"]
ROBUSTNESS_TABLES = [
    "pairs",
    "robustness",
    "averages",
    "thetas",
    "drops",
    "ladders",
]
ROBUSTNESS_FIGURES = [  # all are always drawn; one without anything to show says why
    "ratios",
    "drops",
    "ladders",
]
ROBUSTNESS_DRAWN_FROM = ["robustness", "drops", "ladders"]
ENSEMBLES = ["dimension_ensemble", "model_ensemble", "matrices"]
METAEVAL_FIGURES = [  # all are always drawn; one without anything to show says why
    "judges",
    "judges_by_corpus",
    "judges_by_language",
    "dimensions",
    "languages",
    "judges_among_themselves",
    "ensembles",
    "annotators",
]
METAEVAL_DRAWN_FROM = [
    "correlations",
    "averages",
    "matrices",
    "model_ensemble",
    "annotator_agreement",
]
DIALOGBENCH_TABLES = [
    "items",
    "accuracy",
    "domains",
    "positions",
    "circular",
    "styles",
    "domain_counts",
    "ablations",
    "filter_counts",
]
DIALOGBENCH_FIGURES = [  # all are always drawn; one without anything to show says why
    "tasks",
    "domains",
    "positions",
    "styles",
    "domain_counts",
]
PAIRWISE = [name for name in ("arena", "gteval") if name in PROTOCOLS]


def learned(name):
    """Returns the files that a model's engine reads: what an embedded model learned."""
    return (
        [f"{RESULTS}/embedded/{name}.learned"]
        if isinstance(CONFIG.models.get(name), EmbeddedModel)
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


def again(wildcards):
    """Returns the responses to what a judge was asked again under a protocol."""
    if wildcards.protocol not in ASKED_AGAIN or wildcards.judge in PUBLISHED:
        return []
    return [f"{RESULTS}/responses/again/{wildcards.judge}/{wildcards.protocol}.parquet"]


def rated_corpora(reader, others=False):
    """Returns the rated corpora of a reader, or those of all the others."""
    corpora = CONFIG.metaeval.corpora if CONFIG.metaeval else {}
    return [
        name for name, corpus in corpora.items() if (corpus.reader == reader) != others
    ]


def items_of(corpora):
    """Returns the item tables of rated corpora."""
    return [f"{RESULTS}/items/{corpus}.parquet" for corpus in corpora]


def ratings_of(corpora):
    """Returns the rating tables of rated corpora."""
    return [f"{RESULTS}/ratings/{corpus}.parquet" for corpus in corpora]


def rewriters():
    """Returns the model that damages items, if there is one."""
    section = CONFIG.robustness
    return [section.rewriter] if section and section.rewriter else []


def perturbed(kind):
    """Returns the tables of damaged items, or of the pairs that they make with their originals."""
    if not CONFIG.robustness:
        return []
    makers = ["rule", *(rewriters() if CONFIG.robustness.corpora else [])]
    return [f"{RESULTS}/perturbed/by_{maker}.{kind}.parquet" for maker in makers]


def published_damage_files():
    """Returns the files of the published damaged sets."""
    folder = CONFIG.published_damage()
    return sorted(map(str, folder.glob("*/*/*.txt"))) if folder else []


def robustness_tables():
    """Returns the tables of robustness."""
    if not CONFIG.robustness:
        return []
    return [
        f"{RESULTS}/tables/robustness/{name}.{suffix}"
        for name in ROBUSTNESS_TABLES
        for suffix in ("parquet", "csv")
    ]


def robustness_figure_files(suffix):
    """Returns the figures of robustness."""
    return [
        f"{RESULTS}/figures/robustness/{name}.{suffix}" for name in ROBUSTNESS_FIGURES
    ]


def robustness_files():
    """Returns the tables and figures of robustness."""
    if not CONFIG.robustness:
        return []
    return [
        *robustness_tables(),
        *robustness_figure_files("svg"),
        *robustness_figure_files("pdf"),
    ]


def item_ablations():
    """Returns the ablations of written test items."""
    section = CONFIG.dialogbench
    return section.written.ablations if section and section.written else []


def item_makers():
    """Returns the models that write, filter and describe test items, by what they do; None where there is none."""
    section = CONFIG.dialogbench
    written = section.written if section else None
    return {
        "writing": written.writer if written else None,
        "filter": written.filter if written else None,
        "classification": section.classifier if section else None,
    }


def item_usage(part):
    """Returns the record of the model that writes, filters or describes test items.

    It has the same name for every model: Snakemake looks for changed settings only where it knows all outputs.
    """
    return f"{RESULTS}/usage/dialogbench/{part}.json"


def written_items():
    """Returns the table of written test items, filtered if there is a filter."""
    if not CONFIG.dialogbench or not CONFIG.dialogbench.written:
        return []
    name = "filtered" if CONFIG.dialogbench.written.filter else "written"
    return [f"{RESULTS}/dialogbench/{name}.parquet"]


def item_descriptions():
    """Returns the table of what written dialogues are like, if a model describes them."""
    described = item_makers()["classification"]
    return [f"{RESULTS}/dialogbench/descriptions.parquet"] if described else []


def item_dialogues():
    """Returns the dialogues that test items are made of by rule."""
    corpora = CONFIG.dialogbench.corpora() if CONFIG.dialogbench else []
    return [f"{RESULTS}/corpora/{corpus}.parquet" for corpus in corpora]


def published_item_files():
    """Returns the files of published test items."""
    published = CONFIG.dialogbench.published if CONFIG.dialogbench else {}
    return [
        str(path) for name in published for path in item_files(CONFIG.item_path(name))
    ]


def examined():
    """Returns every model that takes the test, with the method by which it answers."""
    methods = CONFIG.dialogbench.examine.by_method() if CONFIG.dialogbench else {}
    return [(name, method) for method, names in methods.items() for name in names]


def test_answers():
    """Returns the tables of what models chose."""
    return [
        f"{RESULTS}/dialogbench/answers/{name}/{method}.parquet"
        for name, method in examined()
    ]


def examination_responses(wildcards):
    """Returns a model's response tables under a method, one per shard."""
    shards = CONFIG.models[wildcards.model].shards
    return [
        f"{RESULTS}/responses/{wildcards.model}/dialogbench_{wildcards.method}/{shard}-of-{shards}.parquet"
        for shard in range(1, shards + 1)
    ]


def dialogbench_usage():
    """Returns what every job of DialogBench that asks a model writes about that."""
    return [item_usage(part) for part, name in item_makers().items() if name] + [
        f"{RESULTS}/usage/{name}/dialogbench_{method}-{shard}-of-{shards}.json"
        for name, method in examined()
        for shards in [CONFIG.models[name].shards]
        for shard in range(1, shards + 1)
    ]


def dialogbench_tables():
    """Returns the tables of DialogBench."""
    if not CONFIG.dialogbench:
        return []
    return [
        f"{RESULTS}/tables/dialogbench/{name}.{suffix}"
        for name in DIALOGBENCH_TABLES
        for suffix in ("parquet", "csv")
    ]


def dialogbench_figure_files(suffix):
    """Returns the figures of DialogBench."""
    return [
        f"{RESULTS}/figures/dialogbench/{name}.{suffix}" for name in DIALOGBENCH_FIGURES
    ]


def dialogbench_files():
    """Returns the tables and figures of DialogBench."""
    if not CONFIG.dialogbench:
        return []
    return [
        *dialogbench_tables(),
        *dialogbench_figure_files("svg"),
        *dialogbench_figure_files("pdf"),
    ]


def scored_items():
    """Returns the tables of everything that judges score."""
    rated = items_of(CONFIG.metaeval.corpora if CONFIG.metaeval else [])
    return rated + perturbed("items")


def judged_scores():
    """Returns the score tables of all judges."""
    return [
        f"{RESULTS}/scores/{judge}/{protocol}.parquet"
        for protocol in SCORING
        for judge in CONFIG.judges_of(protocol)
    ]


def all_scores():
    """Returns the score tables of all judges and of the user's own metrics."""
    files = CONFIG.metaeval.score_files if CONFIG.metaeval else {}
    return judged_scores() + [
        f"{RESULTS}/scores/{metric}/file.parquet" for metric in files
    ]


def metaeval_tables():
    """Returns the tables of meta-evaluation."""
    if not CONFIG.metaeval:
        return []
    return [
        f"{RESULTS}/tables/metaeval/{name}.{suffix}"
        for name in ["corpora", "annotator_agreement", *CORRELATIONS, *ENSEMBLES]
        for suffix in ("parquet", "csv")
    ]


def metaeval_files():
    """Returns the tables and figures of meta-evaluation."""
    if not CONFIG.metaeval:
        return []
    return [
        *metaeval_tables(),
        *metaeval_figure_files("svg"),
        *metaeval_figure_files("pdf"),
    ]


def asked_models():
    """Returns the models that chat or judge and are asked, not read from a file."""
    return [
        name
        for name in dict.fromkeys(
            [*CONFIG.chatbots, *CONFIG.judges, *CONFIG.asked_judges()]
        )
        if name not in PUBLISHED
    ]


def usage_records():
    """Returns what every job that asks a model writes about that."""
    jobs = [(name, "selfchat") for name in CONFIG.chatbots]
    jobs += [
        (name, protocol)
        for protocol in [*PROTOCOLS, *SCORING]
        for name in CONFIG.judges_of(protocol)
    ]
    repeated = [
        f"{RESULTS}/usage/again/{name}/{protocol}.json"
        for protocol in ASKED_AGAIN
        for name in CONFIG.judges_of(protocol)
        if name not in PUBLISHED
    ]
    rewriting = [
        f"{RESULTS}/usage/{name}/perturb-1-of-1.json"
        for name in (rewriters() if perturbed("pairs") else [])
    ]
    return (
        dialogbench_usage()
        + repeated
        + rewriting
        + [
            f"{RESULTS}/usage/{name}/{protocol}-{shard}-of-{shards}.json"
            for name, protocol in jobs
            if name not in PUBLISHED
            for shards in [CONFIG.models[name].shards]
            for shard in range(1, shards + 1)
        ]
    )


def botchat_tables():
    """Returns the names of the tables that the configured protocols give."""
    names = ["seeds", "utterance_lengths"]
    if CONFIG.judges and CONFIG.protocols.unieval:
        names += ["unieval_pass_rates", "unieval_at_gt_length"]
    if CONFIG.judges and CONFIG.protocols.arena:
        names += ["arena_elo", "arena_win_rates"]
    if CONFIG.judges and CONFIG.protocols.gteval:
        names += ["gteval"]
    if CONFIG.judges and PAIRWISE:
        names += ["judge_bias"]
    return names


def pairwise_groups():
    """Returns what is said of a judge on its own: each pairwise protocol, and each N that dialogues are cut to."""
    return [
        (protocol, n)
        for protocol in PAIRWISE
        for n in (
            CONFIG.protocols.arena.n_utterances if protocol == "arena" else [None]
        )
    ]


def battle_files():
    """Returns the tables and figures of all configured battles."""
    return [
        f"{RESULTS}/{kind}/battles/{name}.{suffix}"
        for name in CONFIG.battles
        for kind, suffixes in (
            ("tables", ("parquet", "csv")),
            ("figures", ("svg", "pdf")),
        )
        for suffix in suffixes
    ]


def wanted_battles(wildcards):
    """Returns the same for whoever asks for them, and says what to do where none are configured."""
    if not CONFIG.battles:
        raise WorkflowError(
            "the configuration names no battles; add a section such as battles: {mine: {path: mine.csv}}, "
            "see docs/battles.md"
        )
    return battle_files()


def figure_files(suffix):
    return [f"{RESULTS}/figures/botchat/{name}.{suffix}" for name in FIGURES]


def metaeval_figure_files(suffix):
    """Returns the figures of meta-evaluation."""
    return [f"{RESULTS}/figures/metaeval/{name}.{suffix}" for name in METAEVAL_FIGURES]


def caption(name):
    """Returns the caption of a figure in Snakemake's report; one serves the same figure at every N."""
    return f"captions/{name.split('_n')[0]}.rst"


def report_tables():
    """Returns the tables that the page shows, or says where they are."""
    tables = []
    if CONFIG.talks():
        tables += [f"{TABLES}/{name}.parquet" for name in botchat_tables()]
        tables += [
            f"{RESULTS}/tables/embedded/{judge}.parquet"
            for judge in CONFIG.judges
            if isinstance(CONFIG.models[judge], EmbeddedModel)
        ]
    parts = [*metaeval_tables(), *robustness_tables(), *dialogbench_tables()]
    return tables + [path for path in parts if path.endswith(".parquet")]


def report_verdicts():
    """Returns the verdicts on chatbots' dialogues."""
    if not CONFIG.talks():
        return []
    return [path for protocol in PROTOCOLS for path in results_of(protocol)]


def report_figures():
    """Returns the figures that the page shows."""
    figures = figure_files("svg") if CONFIG.talks() else []
    figures += metaeval_figure_files("svg") if CONFIG.metaeval else []
    figures += robustness_figure_files("svg") if CONFIG.robustness else []
    return figures + (dialogbench_figure_files("svg") if CONFIG.dialogbench else [])


def report_title():
    """Returns the heading of the page."""
    parts = {
        "BotChat": CONFIG.talks(),
        "meta-evaluation": CONFIG.metaeval,
        "robustness": CONFIG.robustness,
        "DialogBench": CONFIG.dialogbench,
    }
    shown = [part for part, is_shown in parts.items() if is_shown]
    return f"DialEval: {shown[0]}" if len(shown) == 1 else "DialEval"
