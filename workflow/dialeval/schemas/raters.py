"""Tables of meta-evaluation on who rated what, and how far raters and judges agree with themselves."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Interval, Table
from dialeval.schemas.words import JUDGED

# fmt: off
RATED_CORPORA = Table(
    "metaeval/corpora", schema(
        corpus=TEXT, level=TEXT, language=TEXT, translated_by=TEXT, n_items=INT, n_utterances=FLOAT, unit=TEXT,
        words_context=maybe(FLOAT), words_response=FLOAT, words_utterance=FLOAT, n_dimensions=INT,
        agreement_low=maybe(FLOAT), agreement_high=maybe(FLOAT), human_dimensions=TEXT, model_dimensions=TEXT,
        filled_dimensions=maybe(TEXT), published_n_items=maybe(FLOAT), published_n_utterances=maybe(FLOAT),
        published_words_context=maybe(FLOAT), published_words_response=maybe(FLOAT),
        published_words_utterance=maybe(FLOAT), published_n_dimensions=maybe(FLOAT)
    ),
    row="corpus, level and language",
    title="Rated corpora",
    caption=(
        "What was rated (as in Table 1 of comp-analysis and of xDial-Eval). Words are what blanks part; Chinese, "
        "Japanese and others that put none between words are counted in characters. At dialogue level the whole "
        "dialogue counts as the response. Printed numbers stand beside English corpora of the papers' names."
    ),
    columns={
        "translated_by": "model that the run had translate into the language; empty: as it was read",
        "n_utterances": "mean number of utterances of an item",
        "unit": "what lengths are counted in: words, or characters where no blanks part words",
        "words_context": "mean length of the context, in that unit",
        "words_response": "mean length of the response, or of the whole dialogue",
        "words_utterance": "mean length of an item's utterances, averaged over items",
        "n_dimensions": "dimensions that people rated",
        "agreement_low": "lowest mean correlation of two people over dimensions; empty where means alone are known",
        "agreement_high": "the highest",
        "published_n_items": "comp-analysis' Table 1, or xDial-Eval's",
        "published_words_utterance": "xDial-Eval's Table 1",
        "published_n_dimensions": "xDial-Eval's Table 1: all that the corpus' own authors had rated",
        "human_dimensions": "what people rated",
        "model_dimensions": "what a model rated, of which the ratings came with the corpus",
        "filled_dimensions": "what nobody had rated, and a judge of this run filled in (`metaeval.fill`)",
    },
    cells={
        name: Interval(published=f"published_{name}")
        for name in (
            "n_items", "n_utterances", "words_context", "words_response", "words_utterance", "n_dimensions"
        )
    },
    kinds={"agreement_low": "correlation", "agreement_high": "correlation"},
    numbers="rating",
)
ANNOTATOR_AGREEMENT = Table(
    "metaeval/annotator_agreement", schema(
        corpus=TEXT, dimension=TEXT, rater_kind=TEXT, rater=TEXT, n_rounds=INT, n_items=INT,
        pairwise_pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT),
        krippendorff_alpha=maybe(FLOAT), alpha_low=maybe(FLOAT), alpha_high=maybe(FLOAT), **BEHIND, note=maybe(TEXT)
    ),
    row="corpus, dimension and rater",
    title="Agreement of the raters",
    caption=(
        "How far the raters of a corpus, or the rounds of one, agree among themselves: no judge can be expected to "
        "agree much better with them."
    ),
    columns={
        "n_rounds": "raters, or rounds of the same rater",
        "pairwise_pearson": "mean correlation of two rounds",
        "krippendorff_alpha": "agreement beyond chance, for an interval scale",
    },
    cells={
        "pairwise_pearson": Interval("pearson_low", "pearson_high"),
        "krippendorff_alpha": Interval("alpha_low", "alpha_high"),
    },
    numbers="correlation",
)
REPEAT_AGREEMENT = Table(
    "metaeval/repeat_agreement", schema(
        judge=TEXT, method=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, n_rounds=INT, n_items=INT,
        pairwise_pearson=maybe(FLOAT), pearson_low=maybe(FLOAT), pearson_high=maybe(FLOAT),
        krippendorff_alpha=maybe(FLOAT), alpha_low=maybe(FLOAT), alpha_high=maybe(FLOAT), **BEHIND, note=maybe(TEXT)
    ),
    row="judge, method, corpus, language and dimension, where a judge was asked more than once",
    title="Agreement of judges with themselves",
    caption=(
        "How far a judge's own repeats agree (the agreement between rounds of comp-analysis, where GPT-4 exceeds .65 "
        "in general). What differs from one repeat to the next cannot agree with people either. Dialogues resampled."
    ),
    columns={
        "method": JUDGED["method"],
        "level": JUDGED["level"],
        "dimension": "what was asked",
        "n_rounds": "repeats",
        "n_items": "items of which two repeats or more could be read",
        "pairwise_pearson": "mean correlation of two repeats",
        "krippendorff_alpha": "agreement beyond chance, for an interval scale",
    },
    cells={
        "pairwise_pearson": Interval("pearson_low", "pearson_high"),
        "krippendorff_alpha": Interval("alpha_low", "alpha_high"),
    },
    numbers="correlation",
)
CEILINGS = Table(
    "metaeval/ceilings", schema(
        judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT,
        rated=TEXT, rater_kind=TEXT,
        filled_by=maybe(TEXT), n_raters=maybe(FLOAT), icc=maybe(FLOAT), icc_low=maybe(FLOAT), icc_high=maybe(FLOAT),
        reliability=maybe(FLOAT), ceiling=maybe(FLOAT), ceiling_low=maybe(FLOAT), ceiling_high=maybe(FLOAT),
        pearson=maybe(FLOAT), corrected=maybe(FLOAT), corrected_low=maybe(FLOAT), corrected_high=maybe(FLOAT),
        judge_reliability=maybe(FLOAT), n_repeats=maybe(FLOAT), n=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="judge, corpus, language and dimension, where several people rated, or the judge repeated itself",
    title="How high a judge could come",
    caption=(
        "Raters differ, so even a judge that knew what they mean correlates with their mean by no more than the "
        "ceiling; corrected is what the judge's correlation would be with raters who make no errors. Corpora that keep "
        "only the mean of their raters have no ceiling. Dialogues resampled."
    ),
    columns={
        **JUDGED,
        "n_raters": "raters behind each item's mean (the harmonic mean over items); of a model: rounds",
        "icc": (
            "share of the variance of a single rating that is the items': ICC(1), or ICC(2,1) where raters have names"
        ),
        "reliability": "the same of the mean over raters: ICC(1,k), or ICC(3,k)",
        "ceiling": "root of the reliability: the correlation of a perfect judge",
        "pearson": "the judge's correlation with the mean of the raters, as in `metaeval/correlations`",
        "corrected": "that correlation over the ceiling",
        "judge_reliability": "share of the variance of the judge's own mean over repeats that is the items'",
        "n_repeats": "repeats of the judge behind that mean",
        "design_effect": "of the correlation",
        "effective_n": "of the correlation",
    },
    cells={
        "icc": Interval("icc_low", "icc_high"), "ceiling": Interval("ceiling_low", "ceiling_high"),
        "corrected": Interval("corrected_low", "corrected_high"),
    },
    numbers="correlation",
    kinds={"n_raters": "rating", "n_repeats": "rating"},
)
# fmt: on
