"""Tables of meta-evaluation: what is scored, what people gave it, what judges give it, and how far they agree."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, FLOAT, INT, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Interval, Table
from dialeval.schemas.words import COMPARED, JUDGED

# fmt: off
ITEMS = Table(
    "items", schema(
        corpus=TEXT, item_id=TEXT, language=TEXT, level=TEXT, cluster=TEXT, speakers=TEXTS, utterances=TEXTS,
        system=TEXT, case_id=TEXT, judged=TEXT
    ),
    row="item to be judged, in one language (`items/<source>`)",
    columns={
        "level": "turn (the last utterance in its context) or dialogue",
        "cluster": "what intervals resample: items of one dialogue",
        "system": "whose it is; empty for plain items",
        "case_id": "what systems met alike, such as a ChatSEED; empty for none",
        "judged": "who of its speakers is judged; empty for all",
    },
)
LEFT_OUT_ITEMS = Table(
    "left_out_items", schema(corpus=TEXT, language=TEXT, item_id=TEXT, reason=TEXT),
    row="item of a rated corpus that was left out when it was read (`left_out/<corpus>`)",
    columns={
        "reason": "such as that nobody rated it; ready scores of such items are passed over",
    },
)
RATINGS = Table(
    "ratings", schema(
        corpus=TEXT, item_id=TEXT, dimension=TEXT, rater_kind=TEXT, rater=TEXT, round=maybe(INT), value=FLOAT,
        n_raters=maybe(INT), scale_min=FLOAT, scale_max=FLOAT
    ),
    row="rating of an item (`ratings/<corpus>`)",
    columns={
        "rater_kind": "human, model, or construction: the reference is known by construction",
        "round": "counts raters or repeats from 0; empty for their mean",
        "value": "on the scale from scale_min to scale_max",
    },
)
AVERAGES = Table(
    "metaeval/averages", schema(
        judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, over=TEXT, language=TEXT, dimension=TEXT, rated=TEXT,
        raters=TEXT,
        pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT), spearman=maybe(FLOAT),
        spearman_low=maybe(FLOAT), spearman_high=maybe(FLOAT), kendall=maybe(FLOAT), kendall_low=maybe(FLOAT),
        kendall_high=maybe(FLOAT), n_averaged=INT, n_filled=maybe(INT), **BEHIND, reason=maybe(TEXT),
        published_pearson=maybe(FLOAT), published_spearman=maybe(FLOAT)
    ),
    row="judge, method, benchmark, level, language, dimension and what is averaged over",
    title="Averages",
    caption=(
        "Correlations are taken within a corpus and then averaged over corpora, dimensions or languages. Intervals "
        "resample dialogues. A paper's number is an average over that paper's own corpora."
    ),
    columns={
        **JUDGED,
        "over": "what the mean is over: corpora, dimensions or languages",
        "raters": "human: people's ratings alone; full: a model's where there are no people's",
        "n_averaged": "how many correlations the mean is of",
        "n_filled": "how many correlations behind it are with ratings that a judge of this run filled in",
        "published_pearson": "comp-analysis' Tables 5 and 6, xDial-Eval's Tables 4, 5 and 15; see published_as",
        "published_spearman": "xDial-Eval's Tables 15, 16 and 17",
        "dimension": (
            "average: mean over dimensions; all: mean over corpora with whatever they are rated on, as xDial-Eval has "
            "it"
        ),
    },
    cells={
        "pearson": Interval("pearson_low", "pearson_high", published="published_pearson"),
        "spearman": Interval("spearman_low", "spearman_high", published="published_spearman"),
        "kendall": Interval("kendall_low", "kendall_high"),
    },
    numbers="correlation",
)
CORRELATIONS = Table(
    "metaeval/correlations", schema(
        judge=TEXT, method=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT,
        rater_kind=TEXT, filled_by=maybe(TEXT),
        pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT), spearman=maybe(FLOAT),
        spearman_low=maybe(FLOAT), spearman_high=maybe(FLOAT), kendall=maybe(FLOAT), kendall_low=maybe(FLOAT),
        kendall_high=maybe(FLOAT), n=INT, n_missing=INT, **BEHIND, reason=maybe(TEXT),
        published_pearson=maybe(FLOAT), published_spearman=maybe(FLOAT)
    ),
    row="judge, method, corpus, language, dimension and kind of rater",
    title="Correlations per corpus",
    caption=(
        "How well each judge's scores go with the ratings of one corpus. Intervals resample dialogues; a missing "
        "score lowers n and is counted."
    ),
    columns={
        **JUDGED,
        "n_missing": "rated items without a score",
        "published_pearson": "xDial-Eval's Table 15, for the natural Chinese corpora that it names",
        "published_spearman": "the same table's",
    },
    cells={
        "pearson": Interval("pearson_low", "pearson_high", published="published_pearson"),
        "spearman": Interval("spearman_low", "spearman_high", published="published_spearman"),
        "kendall": Interval("kendall_low", "kendall_high"),
    },
    numbers="correlation",
)
DIMENSION_ENSEMBLE = Table(
    "metaeval/dimension_ensemble", schema(
        judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, rater_kind=TEXT,
        filled_by=maybe(TEXT),
        ensemble=maybe(FLOAT), ensemble_low=maybe(FLOAT), ensemble_high=maybe(FLOAT), direct=maybe(FLOAT),
        direct_low=maybe(FLOAT), direct_high=maybe(FLOAT), n=INT, **BEHIND, reason=maybe(TEXT),
        published_ensemble=maybe(FLOAT),
        published_direct=maybe(FLOAT)
    ),
    row="judge and corpus",
    title="Ensembles of dimensions",
    caption=(
        "A judge's mean score on all other dimensions, and its own score on overall, both against the overall rating "
        "(as in Table 8 of comp-analysis). Averages over corpora are of those that people rated (human), and of all, "
        "with a model's rating where there is no person's (full, the paper's way)."
    ),
    columns={
        **JUDGED,
        "rater_kind": "who rated overall; of an average human (people's ratings alone) or full (a model's, too)",
        "ensemble": "the mean of the other dimensions",
        "direct": "the score on overall itself",
    },
    cells={
        "ensemble": Interval("ensemble_low", "ensemble_high", published="published_ensemble"),
        "direct": Interval("direct_low", "direct_high", published="published_direct"),
    },
    numbers="correlation",
)
MODEL_ENSEMBLE = Table(
    "metaeval/model_ensemble", schema(
        benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT, raters=TEXT,
        rater_kind=TEXT, filled_by=maybe(TEXT), chosen_on=TEXT,
        members=TEXT, pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT),
        best_member=maybe(FLOAT), n=INT, **BEHIND, reason=maybe(TEXT), published_pearson=maybe(FLOAT)
    ),
    row="corpus and dimension",
    title="Ensembles of judges",
    caption=(
        "The mean score of the best judges, each model once and by its best method; named ensembles are no members. "
        "Chosen on all corpora, the scored one among them, is the paper's way "
        "(Table 9 of comp-analysis) and flatters; chosen on other corpora is what one could know beforehand. The "
        "paper's number stands beside three of its open models."
    ),
    columns={
        **JUDGED,
        "raters": "whose ratings choose and count: people's alone (human), or a model's where there are none (full)",
        "rater_kind": "who rated the corpus; of an average the same as `raters`",
        "chosen_on": "where the best judges were found",
        "members": "the judges of the ensemble; of an average empty where they differ from corpus to corpus",
        "best_member": "the best correlation of one of them alone",
        "published_pearson": "comp-analysis' Table 9, where the members are three of its open models",
    },
    cells={"pearson": Interval("pearson_low", "pearson_high", published="published_pearson")},
    numbers="correlation",
)
RANKING_AGREEMENT = Table(
    "metaeval/ranking_agreement", schema(
        level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT, first_rater=TEXT, second_rater=TEXT,
        spearman=maybe(FLOAT), n_judges=INT, reason=maybe(TEXT), published_spearman=maybe(FLOAT)
    ),
    row="corpus and dimension",
    title="Rankings of judges",
    caption=(
        "Whether people's ratings and a model's rank the judges alike (as in Table 7 of comp-analysis): those of a "
        "model that came with the corpus, or of the judge that fills in what nobody rated. Each model is ranked once, "
        "by the method that goes best with people, and no ensemble among its members."
    ),
    columns={
        **JUDGED,
        "second_rater": "the model, by its name",
        "n_judges": "models that are ranked",
        "published_spearman": "comp-analysis' Table 7, of its 32 models by GPT-4's ratings",
        "spearman": "rank correlation of the two rankings of judges",
    },
    cells={"spearman": Interval(published="published_spearman")},
    numbers="correlation",
)
JUDGE_PAIRS = Table(
    "metaeval/judge_pairs", schema(
        benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT,
        rater_kind=TEXT, filled_by=maybe(TEXT), first=TEXT, first_method=TEXT,
        second=TEXT, second_method=TEXT, first_pearson=maybe(FLOAT), second_pearson=maybe(FLOAT),
        between=maybe(FLOAT), difference=maybe(FLOAT), difference_low=maybe(FLOAT), difference_high=maybe(FLOAT),
        p=maybe(FLOAT), p_holm=maybe(FLOAT), q_bh=maybe(FLOAT), family_size=INT, p_reversed=maybe(FLOAT), n=INT,
        n_clusters=INT, reason=maybe(TEXT), williams_t=maybe(FLOAT), p_williams=maybe(FLOAT),
        williams_note=maybe(TEXT)
    ),
    row="two judges on the items that both scored",
    title="Which judges can be told apart",
    caption=(
        "Pearson correlations of two judges with the ratings, on the items that both scored. The paired bootstrap of "
        "dialogues leads; Williams' test takes items as independent."
    ),
    columns={
        **JUDGED,
        **COMPARED,
        "between": "correlation of the two judges",
        "p": "two-sided, of equal correlations, for this pair alone",
        "p_holm": "corrected for all pairs on this dimension: below 0.05 the two can be told apart",
        "family_size": "pairs on this dimension of this corpus",
        "p_reversed": "share of the resamples in which the other judge is ahead",
        "n": "items that both scored",
        "williams_note": "says so where items are not independent, as Williams' test takes them",
    },
    cells={"difference": Interval("difference_low", "difference_high")},
    numbers="correlation",
)
MATRICES = Table(
    "metaeval/matrices", schema(
        kind=TEXT, level=TEXT, corpus=TEXT, language=maybe(TEXT), scorer=maybe(TEXT), dimension=maybe(TEXT),
        rated=maybe(TEXT), first=TEXT, second=TEXT, pearson=maybe(FLOAT), n=INT
    ),
    row="pair of dimensions (of one scorer), of judges (on a dimension) or of languages",
    title="Correlations between dimensions, between languages and between judges",
    shown=False,
    numbers="correlation",
)
# fmt: on
