"""Tables of meta-evaluation: what is scored, what people gave it, what judges give it, and how far they agree."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, FLOAT, INT, TEXT, TEXTS, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
ITEMS = Table("items", schema(
    corpus=TEXT, item_id=TEXT, language=TEXT, level=TEXT, cluster=TEXT, speakers=TEXTS, utterances=TEXTS,
    system=TEXT, case_id=TEXT, judged=TEXT
))
LEFT_OUT_ITEMS = Table("left_out_items", schema(corpus=TEXT, language=TEXT, item_id=TEXT, reason=TEXT))
RATINGS = Table("ratings", schema(
    corpus=TEXT, item_id=TEXT, dimension=TEXT, rater_kind=TEXT, rater=TEXT, round=maybe(INT), value=FLOAT,
    n_raters=maybe(INT), scale_min=FLOAT, scale_max=FLOAT
))
SCORES = Table("scores", schema(
    judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, item_id=TEXT, dimension=TEXT, repeat=INT,
    value=maybe(FLOAT), scale_min=FLOAT, scale_max=FLOAT, mass=maybe(FLOAT), status=TEXT
))
RATED_CORPORA = Table("metaeval/corpora", schema(
    corpus=TEXT, level=TEXT, language=TEXT, n_items=INT, n_utterances=FLOAT, words_context=maybe(FLOAT),
    words_response=FLOAT, human_dimensions=TEXT, model_dimensions=TEXT
))
ANNOTATOR_AGREEMENT = Table("metaeval/annotator_agreement", schema(
    corpus=TEXT, dimension=TEXT, rater_kind=TEXT, rater=TEXT, n_rounds=INT, n_items=INT,
    pairwise_pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT),
    krippendorff_alpha=maybe(FLOAT), alpha_low=maybe(FLOAT), alpha_high=maybe(FLOAT), **BEHIND, note=maybe(TEXT)
))
CORRELATIONS = Table("metaeval/correlations", schema(
    judge=TEXT, method=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rater_kind=TEXT,
    pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT), spearman=maybe(FLOAT),
    spearman_low=maybe(FLOAT), spearman_high=maybe(FLOAT), kendall=maybe(FLOAT), kendall_low=maybe(FLOAT),
    kendall_high=maybe(FLOAT), n=INT, n_missing=INT, **BEHIND, reason=maybe(TEXT)
))
AVERAGES = Table("metaeval/averages", schema(
    judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, over=TEXT, language=TEXT, dimension=TEXT, raters=TEXT,
    pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT), spearman=maybe(FLOAT),
    spearman_low=maybe(FLOAT), spearman_high=maybe(FLOAT), kendall=maybe(FLOAT), kendall_low=maybe(FLOAT),
    kendall_high=maybe(FLOAT), n_averaged=INT, **BEHIND, reason=maybe(TEXT),
    published_pearson=maybe(FLOAT)
))
JUDGE_PAIRS = Table("metaeval/judge_pairs", schema(
    level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rater_kind=TEXT, first=TEXT, first_method=TEXT,
    second=TEXT, second_method=TEXT, first_pearson=maybe(FLOAT), second_pearson=maybe(FLOAT),
    between=maybe(FLOAT), difference=maybe(FLOAT), difference_low=maybe(FLOAT), difference_high=maybe(FLOAT),
    p=maybe(FLOAT), p_holm=maybe(FLOAT), q_bh=maybe(FLOAT), family_size=INT, p_reversed=maybe(FLOAT), n=INT,
    n_clusters=INT, reason=maybe(TEXT), williams_t=maybe(FLOAT), p_williams=maybe(FLOAT),
    williams_note=maybe(TEXT)
))
DIMENSION_ENSEMBLE = Table("metaeval/dimension_ensemble", schema(
    judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, rater_kind=TEXT,
    ensemble=maybe(FLOAT), ensemble_low=maybe(FLOAT), ensemble_high=maybe(FLOAT), direct=maybe(FLOAT),
    direct_low=maybe(FLOAT), direct_high=maybe(FLOAT), n=INT, **BEHIND, reason=maybe(TEXT),
    published_ensemble=maybe(FLOAT),
    published_direct=maybe(FLOAT)
))
MODEL_ENSEMBLE = Table("metaeval/model_ensemble", schema(
    benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rater_kind=TEXT, chosen_on=TEXT,
    members=TEXT, pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT),
    best_member=maybe(FLOAT), n=INT, **BEHIND, reason=maybe(TEXT)
))
RANKING_AGREEMENT = Table("metaeval/ranking_agreement", schema(
    level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, first_rater=TEXT, second_rater=TEXT,
    spearman=maybe(FLOAT), n_judges=INT, reason=maybe(TEXT), published_spearman=maybe(FLOAT)
))
MATRICES = Table("metaeval/matrices", schema(
    kind=TEXT, level=TEXT, corpus=TEXT, language=maybe(TEXT), scorer=maybe(TEXT), dimension=maybe(TEXT),
    first=TEXT, second=TEXT, pearson=maybe(FLOAT), n=INT
))
# fmt: on
