"""Tables of meta-evaluation: rated items, judges' scores, raters, correlations, and trust in judges."""

from __future__ import annotations

from dialeval.tables.schema import BEHIND, COMPARED, FLOAT, INT, JUDGED, TEXT, TEXTS, Interval, Table, maybe, schema

# fmt: off
ITEMS = Table(
    "items", schema(
        corpus=TEXT, item_id=TEXT, language=TEXT, level=TEXT, cluster=TEXT, speakers=TEXTS, utterances=TEXTS,
        system=TEXT, case_id=TEXT, judged=TEXT
    ),
    row="item to be judged, in one language (`items/<source>`)",
    columns={
        "level": "turn (the last utterance in its context) or dialogue",
        "cluster": "id of the cluster for intervals, which items of one dialogue share",
        "system": "system; empty for items without one",
        "case_id": "case, such as a ChatSEED; empty for none",
        "judged": "evaluated speaker; empty if all speakers are evaluated",
    },
)
LEFT_OUT_ITEMS = Table(
    "left_out_items", schema(corpus=TEXT, language=TEXT, item_id=TEXT, reason=TEXT),
    row="item of a rated corpus that was left out when it was read (`left_out/<corpus>`)",
    columns={
        "reason": "reason, such as a missing rating. DialEval skips the scores of these items in score files",
    },
)
RATINGS = Table(
    "ratings", schema(
        corpus=TEXT, item_id=TEXT, dimension=TEXT, rater_kind=TEXT, rater=TEXT, round=maybe(INT), value=FLOAT,
        n_raters=maybe(INT), scale_min=FLOAT, scale_max=FLOAT
    ),
    row="rating of an item (`ratings/<corpus>`)",
    columns={
        "rater_kind": "human, model or construction (the rating follows from how the item was made)",
        "round": "number of the rater or repeat, from 0; empty for their mean",
        "value": "rating, on the scale from scale_min to scale_max",
    },
)
AVERAGES = Table(
    "metaeval/averages", schema(
        judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, averaged_over=TEXT, language=TEXT, dimension=TEXT,
        rated=TEXT,
        raters=TEXT,
        pearson=maybe(FLOAT), pearson_ci_low=maybe(FLOAT), pearson_ci_high=maybe(FLOAT), spearman=maybe(FLOAT),
        spearman_ci_low=maybe(FLOAT), spearman_ci_high=maybe(FLOAT), kendall=maybe(FLOAT), kendall_ci_low=maybe(FLOAT),
        kendall_ci_high=maybe(FLOAT), n_averaged=INT, n_imputed=maybe(INT), **BEHIND, reason=maybe(TEXT),
        published_pearson=maybe(FLOAT), published_spearman=maybe(FLOAT)
    ),
    row="judge, method, benchmark, level, language, dimension and kind of average",
    title="Averages",
    caption=(
        "Correlations are computed within a corpus, and averaged over corpora, dimensions or languages. Intervals "
        "resample dialogues. Published values are averages over the paper's corpora."
    ),
    columns={
        **JUDGED,
        "averaged_over": "kind of average: over corpora, dimensions or languages",
        "language": "language of the texts; average: mean over languages",
        "raters": "human: human ratings only; full: also a model's ratings for dimensions without human ratings",
        "n_averaged": "number of correlations; undefined ones count here, but not in the average (see `reason`)",
        "n_imputed": "number of these correlations with imputed ratings",
        "published_pearson": "value in Tables 5 and 6 of comp-analysis or Tables 4, 5 and 15 of xDial-Eval. The "
        "paper's system has the judge's name, or is named under `metaeval.published_as`",
        "published_spearman": "value of xDial-Eval's Tables 15, 16 and 17",
        "dimension": (
            "criterion that the judges scored; average: mean of the dimensions' averages; all: mean over all pairs "
            "of a corpus and a rated criterion, as in xDial-Eval"
        ),
    },
    cells={
        "pearson": Interval("pearson_ci_low", "pearson_ci_high", published="published_pearson"),
        "spearman": Interval("spearman_ci_low", "spearman_ci_high", published="published_spearman"),
        "kendall": Interval("kendall_ci_low", "kendall_ci_high"),
    },
    numbers="correlation",
)
CORRELATIONS = Table(
    "metaeval/correlations", schema(
        judge=TEXT, method=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT,
        rater_kind=TEXT, imputed_by=maybe(TEXT),
        pearson=maybe(FLOAT), pearson_ci_low=maybe(FLOAT), pearson_ci_high=maybe(FLOAT), spearman=maybe(FLOAT),
        spearman_ci_low=maybe(FLOAT), spearman_ci_high=maybe(FLOAT), kendall=maybe(FLOAT), kendall_ci_low=maybe(FLOAT),
        kendall_ci_high=maybe(FLOAT), n=INT, n_missing=INT, **BEHIND, reason=maybe(TEXT),
        published_pearson=maybe(FLOAT), published_spearman=maybe(FLOAT)
    ),
    row="judge, method, corpus, language, dimension and kind of rater",
    title="Correlations per corpus",
    caption=(
        "Correlation of each judge's scores with the ratings of a corpus. Intervals resample dialogues. Items "
        "without a score are left out and counted."
    ),
    columns={
        **JUDGED,
        "n_missing": "number of rated items without a score",
        "published_pearson": "value of xDial-Eval's Table 15, for the corpora written in Chinese",
        "published_spearman": "value of xDial-Eval's Table 15",
    },
    cells={
        "pearson": Interval("pearson_ci_low", "pearson_ci_high", published="published_pearson"),
        "spearman": Interval("spearman_ci_low", "spearman_ci_high", published="published_spearman"),
        "kendall": Interval("kendall_ci_low", "kendall_ci_high"),
    },
    numbers="correlation",
)
DIMENSION_ENSEMBLE = Table(
    "metaeval/dimension_ensemble", schema(
        judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, rater_kind=TEXT,
        imputed_by=maybe(TEXT),
        ensemble=maybe(FLOAT), ensemble_ci_low=maybe(FLOAT), ensemble_ci_high=maybe(FLOAT), direct=maybe(FLOAT),
        direct_ci_low=maybe(FLOAT), direct_ci_high=maybe(FLOAT), n=INT, **BEHIND, reason=maybe(TEXT),
        published_ensemble=maybe(FLOAT),
        published_direct=maybe(FLOAT)
    ),
    row="judge and corpus",
    title="Ensembles of dimensions",
    caption=(
        "Correlations of the overall rating with the judge's mean score on all other dimensions, and with its "
        "score on overall (as in Table 8 of comp-analysis). The paper averages over all corpora, some with a "
        "model's ratings (full)."
    ),
    columns={
        **JUDGED,
        "rater_kind": "source of the overall ratings: human or model; in averages: human (human ratings only) or "
        "full (also a model's ratings)",
        "ensemble": "correlation of the overall rating with the judge's mean score on all other dimensions",
        "direct": "correlation of the overall rating with the judge's score on overall",
    },
    cells={
        "ensemble": Interval("ensemble_ci_low", "ensemble_ci_high", published="published_ensemble"),
        "direct": Interval("direct_ci_low", "direct_ci_high", published="published_direct"),
    },
    numbers="correlation",
)
MODEL_ENSEMBLE = Table(
    "metaeval/model_ensemble", schema(
        benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT, raters=TEXT,
        rater_kind=TEXT, imputed_by=maybe(TEXT), chosen_on=TEXT,
        members=TEXT, pearson=maybe(FLOAT), pearson_ci_low=maybe(FLOAT), pearson_ci_high=maybe(FLOAT),
        best_member=maybe(FLOAT), n=INT, **BEHIND, reason=maybe(TEXT), published_pearson=maybe(FLOAT)
    ),
    row="corpus and dimension",
    title="Ensembles of judges",
    caption=(
        "Correlation of the mean score of the best judges with the ratings. A model can be a member only once, with "
        "its best method. Selection on all corpora, as in the paper (Table 9 of comp-analysis), is optimistic. "
        "Selection on all corpora except the evaluated corpus is not optimistic."
    ),
    columns={
        **JUDGED,
        "dimension": "criterion that the judges scored; average: mean over dimensions",
        "raters": ("ratings that select and evaluate the members: human (human ratings only) or full (also a model's "
        "ratings)"),
        "rater_kind": "source of the ratings of the corpus; in averages, the same as `raters`",
        "chosen_on": "corpora on which the members were selected",
        "members": "judges of the ensemble; empty in averages over corpora with different members",
        "best_member": "best correlation of a single member",
        "published_pearson": "value of comp-analysis' Table 9, with three open models as members",
    },
    cells={"pearson": Interval("pearson_ci_low", "pearson_ci_high", published="published_pearson")},
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
        "Agreement of two rankings of judges: by human ratings and by a model's ratings (as in Table 7 of "
        "comp-analysis). The model's ratings came with the corpus or were imputed. Each model is ranked once, by the "
        "method that "
        "agrees best with human ratings."
    ),
    columns={
        **JUDGED,
        "second_rater": "model or judge whose ratings give the second ranking",
        "n_judges": "number of ranked models",
        "published_spearman": "value of comp-analysis' Table 7 (its 32 models, GPT-4's ratings)",
    },
    cells={"spearman": Interval(published="published_spearman")},
    numbers="correlation",
)
JUDGE_PAIRS = Table(
    "metaeval/judge_pairs", schema(
        benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, rated=TEXT,
        rater_kind=TEXT, imputed_by=maybe(TEXT), judge=TEXT, method=TEXT,
        other_judge=TEXT, other_method=TEXT, pearson=maybe(FLOAT), other_pearson=maybe(FLOAT),
        judge_correlation=maybe(FLOAT), difference=maybe(FLOAT), difference_ci_low=maybe(FLOAT),
        difference_ci_high=maybe(FLOAT),
        p=maybe(FLOAT), p_holm=maybe(FLOAT), q_bh=maybe(FLOAT), family_size=INT, p_reversed=maybe(FLOAT), n=INT,
        n_clusters=INT, reason=maybe(TEXT), williams_t=maybe(FLOAT), p_williams=maybe(FLOAT),
        williams_note=maybe(TEXT)
    ),
    row="pair of judges and dimension of a corpus",
    title="Pairwise tests of judges",
    caption=(
        "Pearson correlations of two judges with the ratings, on the items that both scored. Report the paired "
        "bootstrap of dialogues; Williams' test assumes independent items."
    ),
    columns={
        **JUDGED,
        **COMPARED,
        "difference": "correlation of `judge` minus correlation of `other_judge`, with its confidence interval (95% "
        "unless `confidence` is set)",
        "judge_correlation": "correlation of the two judges' scores",
        "p": "two-sided p-value of equal correlations, unadjusted",
        "p_holm": "Holm-adjusted p-value over all pairs on this dimension; below 0.05 the difference is significant",
        "family_size": "number of pairs on this dimension of this corpus",
        "p_reversed": "share of resamples in which the sign of the difference is reversed",
        "n": "number of items that both judges scored",
        "williams_note": "warning if items are not independent; Williams' test assumes independence",
    },
    cells={"difference": Interval("difference_ci_low", "difference_ci_high")},
    numbers="correlation",
)
MATRICES = Table(
    "metaeval/matrices", schema(
        kind=TEXT, level=TEXT, corpus=TEXT, language=maybe(TEXT), scorer=maybe(TEXT), dimension=maybe(TEXT),
        rated=maybe(TEXT), first=TEXT, second=TEXT, pearson=maybe(FLOAT), n=INT
    ),
    row="pair of dimensions, of judges or of languages",
    title="Correlations between dimensions, between languages and between judges",
    shown=False,
    columns={
        "kind": "variables that are correlated: dimensions, judges or languages",
        "scorer": "judge or rater whose scores are correlated; empty for judges",
        "first": "first dimension, judge or language",
        "second": "second dimension, judge or language",
        "n": "number of items that have both values",
    },
    numbers="correlation",
)
# fmt: on


# Raters and repeats

# fmt: off
RATED_CORPORA = Table(
    "metaeval/corpora", schema(
        corpus=TEXT, level=TEXT, language=TEXT, translated_by=TEXT, n_items=INT, n_utterances=FLOAT, unit=TEXT,
        words_context=maybe(FLOAT), words_response=FLOAT, words_utterance=FLOAT, n_dimensions=INT,
        agreement_min=maybe(FLOAT), agreement_max=maybe(FLOAT), human_dimensions=TEXT, model_dimensions=TEXT,
        imputed_dimensions=maybe(TEXT), published_n_items=maybe(FLOAT), published_n_utterances=maybe(FLOAT),
        published_words_context=maybe(FLOAT), published_words_response=maybe(FLOAT),
        published_words_utterance=maybe(FLOAT), published_n_dimensions=maybe(FLOAT)
    ),
    row="corpus, level and language",
    title="Rated corpora",
    caption=(
        "Content of the rated corpora (as in Table 1 of comp-analysis and of xDial-Eval). Lengths are in words, or "
        "in characters for languages without blanks between words, such as Chinese and Japanese. At dialogue level "
        "the whole dialogue is the response. English corpora with the papers' names have published values."
    ),
    columns={
        "translated_by": "model that translated the corpus; empty for the original",
        "n_utterances": "mean number of utterances of an item",
        "unit": "unit of lengths: words, or characters in languages without spaces between words",
        "words_context": "mean length of the context, in the unit of the column `unit`",
        "words_response": "mean length of the response (level turn) or of the dialogue (level dialogue), in the unit "
        "of the column `unit`",
        "words_utterance": "mean length of an utterance, averaged over items, in the unit of the column `unit`",
        "n_dimensions": "number of dimensions with human ratings",
        "agreement_min": "agreement of the human raters (mean correlation of two raters) on the dimension with the "
        "lowest agreement; empty if only mean ratings are known",
        "agreement_max": "agreement of the human raters on the dimension with the highest agreement",
        "published_n_items": "number of items in Table 1 of comp-analysis or of xDial-Eval",
        "published_words_utterance": "value of xDial-Eval's Table 1",
        "published_n_dimensions": "value of xDial-Eval's Table 1: number of dimensions with ratings in the original "
        "corpus",
        "human_dimensions": "dimensions with human ratings",
        "model_dimensions": "dimensions with a model's ratings that came with the corpus",
        "imputed_dimensions": "dimensions whose ratings a judge of this run imputed (`metaeval.imputer`)",
    },
    cells={
        name: Interval(published=f"published_{name}")
        for name in (
            "n_items", "n_utterances", "words_context", "words_response", "words_utterance", "n_dimensions"
        )
    },
    formats={"agreement_min": "correlation", "agreement_max": "correlation"},
    numbers="rating",
)
ANNOTATOR_AGREEMENT = Table(
    "metaeval/annotator_agreement", schema(
        corpus=TEXT, dimension=TEXT, rater_kind=TEXT, rater=TEXT, n_rounds=INT, n_items=INT,
        pairwise_pearson=maybe(FLOAT), pearson_ci_low=maybe(FLOAT), pearson_ci_high=maybe(FLOAT),
        krippendorff_alpha=maybe(FLOAT), alpha_ci_low=maybe(FLOAT), alpha_ci_high=maybe(FLOAT), **BEHIND,
        note=maybe(TEXT)
    ),
    row="corpus, dimension and rater",
    title="Agreement of the raters",
    caption=(
        "Agreement between the raters of a corpus, or between the repeats of one rater. A judge rarely agrees better "
        "with the raters than the raters agree with each other."
    ),
    columns={
        "n_rounds": "number of raters, or of rounds of one rater",
        "pairwise_pearson": "mean correlation of two rounds",
        "krippendorff_alpha": "agreement beyond chance, for an interval scale",
    },
    cells={
        "pairwise_pearson": Interval("pearson_ci_low", "pearson_ci_high"),
        "krippendorff_alpha": Interval("alpha_ci_low", "alpha_ci_high"),
    },
    numbers="correlation",
)
REPEAT_AGREEMENT = Table(
    "metaeval/repeat_agreement", schema(
        judge=TEXT, method=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT, n_rounds=INT, n_items=INT,
        pairwise_pearson=maybe(FLOAT), pearson_ci_low=maybe(FLOAT), pearson_ci_high=maybe(FLOAT),
        krippendorff_alpha=maybe(FLOAT), alpha_ci_low=maybe(FLOAT), alpha_ci_high=maybe(FLOAT), **BEHIND,
        note=maybe(TEXT)
    ),
    row="judge, method, corpus, language and dimension, for judges with repeats",
    title="Agreement of judges with themselves",
    caption="Agreement of a judge's repeats with each other. Intervals resample dialogues.",
    columns={
        "method": JUDGED["method"],
        "level": JUDGED["level"],
        "dimension": "criterion that the judge scored",
        "n_rounds": "number of repeats",
        "n_items": "number of items with at least two parsed repeats",
        "pairwise_pearson": "mean correlation of two repeats",
        "krippendorff_alpha": "agreement beyond chance, for an interval scale",
    },
    cells={
        "pairwise_pearson": Interval("pearson_ci_low", "pearson_ci_high"),
        "krippendorff_alpha": Interval("alpha_ci_low", "alpha_ci_high"),
    },
    numbers="correlation",
)
CEILINGS = Table(
    "metaeval/ceilings", schema(
        judge=TEXT, method=TEXT, benchmark=TEXT, level=TEXT, corpus=TEXT, language=TEXT, dimension=TEXT,
        rated=TEXT, rater_kind=TEXT,
        imputed_by=maybe(TEXT), n_raters=maybe(FLOAT), icc=maybe(FLOAT), icc_ci_low=maybe(FLOAT),
        icc_ci_high=maybe(FLOAT),
        reliability=maybe(FLOAT), ceiling=maybe(FLOAT), ceiling_ci_low=maybe(FLOAT), ceiling_ci_high=maybe(FLOAT),
        pearson=maybe(FLOAT), disattenuated=maybe(FLOAT), disattenuated_ci_low=maybe(FLOAT),
        disattenuated_ci_high=maybe(FLOAT),
        judge_reliability=maybe(FLOAT), n_repeats=maybe(FLOAT), n=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="judge, corpus, language and dimension, if the corpus has several raters or the judge several repeats",
    title="Ceilings",
    caption=(
        "Raters differ, so the correlation of a perfect judge with the raters' mean is the ceiling, not 1. The "
        "disattenuated correlation is the judge's correlation with error-free raters. Corpora that contain only the "
        "means of raters have no ceiling. Intervals resample dialogues."
    ),
    columns={
        **JUDGED,
        "n_raters": "number of raters of an item (harmonic mean over items); for a model, number of rounds",
        "icc": (
            "reliability of a single rating, the share of its variance that is due to the items: ICC(1), or ICC(2,1) "
            "for named raters"
        ),
        "reliability": "reliability of the mean over raters, the share of its variance that is due to the items: "
        "ICC(1,k), or ICC(3,k) for named raters",
        "ceiling": "square root of the reliability: the correlation of a perfect judge",
        "pearson": "the judge's correlation with the mean of the raters, as in `metaeval/correlations`",
        "disattenuated": "disattenuated correlation: `pearson` divided by `ceiling`",
        "judge_reliability": (
            "reliability of the judge's mean over repeats: share of the mean's variance that is due to the items"
        ),
        "n_repeats": "number of repeats of the judge",
        "design_effect": "design effect of the correlation `pearson`",
        "n_effective": "effective sample size of the correlation `pearson`",
    },
    cells={
        "icc": Interval("icc_ci_low", "icc_ci_high"), "ceiling": Interval("ceiling_ci_low", "ceiling_ci_high"),
        "disattenuated": Interval("disattenuated_ci_low", "disattenuated_ci_high"),
    },
    numbers="correlation",
    formats={"n_raters": "rating", "n_repeats": "rating"},
)
# fmt: on


# Languages, as in xDial-Eval

# fmt: off
_ABOUT = {
    "statistic": "pearson or spearman",
    "source": "this run, or the table of the paper",
    "judge": "judge of this run, or system of the paper by its printed name",
    "training": "training data of the paper's system; empty for systems without training and for this run",
    "rated": "criterion that humans rated; empty in the paper's rows",
}
BY_LANGUAGE = Table(
    "metaeval/by_language", schema(
        level=TEXT, statistic=TEXT, source=TEXT, benchmark=maybe(TEXT), judge=TEXT, method=maybe(TEXT),
        training=maybe(TEXT), dimension=TEXT, rated=maybe(TEXT), en=maybe(FLOAT), zh=maybe(FLOAT), es=maybe(FLOAT),
        de=maybe(FLOAT), fr=maybe(FLOAT), ja=maybe(FLOAT), ko=maybe(FLOAT), hi=maybe(FLOAT), ar=maybe(FLOAT),
        ru=maybe(FLOAT), average=maybe(FLOAT), n_languages=INT
    ),
    row="level, statistic and judge, or system of the paper",
    title="Judges by language",
    caption=(
        "Correlations with human ratings by language, averaged over corpora, as in Tables 4, 5, 16 and 17 of "
        "xDial-Eval. The paper's rows follow the rows of this run; they use the paper's corpora and prompts. The table "
        "`metaeval/averages` has the intervals."
    ),
    columns={
        **_ABOUT,
        "dimension": "criterion that the judges scored; all: all rated criteria together",
        "average": "mean over languages; empty for one language",
        "n_languages": "number of averaged languages",
    },
    numbers="correlation",
)
NATURAL_CHINESE = Table(
    "metaeval/natural_chinese", schema(
        level=TEXT, statistic=TEXT, source=TEXT, judge=TEXT, method=maybe(TEXT), training=maybe(TEXT), rated=TEXT,
        ecm_turn=maybe(FLOAT), lccc_turn=maybe(FLOAT), hc_turn=maybe(FLOAT), lccc_dial=maybe(FLOAT),
        hc_dial=maybe(FLOAT), average=maybe(FLOAT)
    ),
    row="level, statistic and judge, or system of the paper",
    title="Judges on dialogues written in Chinese",
    caption=(
        "Correlations with human ratings on the corpora written in Chinese, as in Table 15 of xDial-Eval. A column "
        "has values if this run has a corpus of the same name as in the paper."
    ),
    columns={
        **_ABOUT,
        "rated": "scored and rated criterion",
        "average": "mean over the corpora of the level, if this run has all of them",
    },
    numbers="correlation",
)
# fmt: on


# Validity of judges

# fmt: off
JUDGE_VALIDITY = Table(
    "measures/judge_validity", schema(
        judge=TEXT, criterion=TEXT, method=maybe(TEXT), level=maybe(TEXT), rater_kind=maybe(TEXT),
        pearson=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT, corpora=maybe(TEXT), reason=maybe(TEXT)
    ),
    row="judge and criterion",
    title="Judge validity",
    caption=(
        "Pearson correlation of the judge's scores on the criterion with human ratings, averaged over the rated "
        "corpora of this run. The judge scores the rated items under a protocol of the same form. If "
        "`rater_kind` is construction, the correlation shows that the judge detects perturbations, not that it agrees "
        "with humans."
    ),
    columns={
        "method": "protocol of the same form that scored the rated items",
        "level": "level of the rated items: turn or dialogue",
        "rater_kind": "human; without human ratings: construction (the rating follows from how the item was made) "
        "or model",
        "n": "number of rated items",
        "corpora": "rated corpora",
        "reason": "why the estimate is missing",
    },
    cells={"pearson": Interval("ci_low", "ci_high")},
    numbers="correlation",
)
# fmt: on
