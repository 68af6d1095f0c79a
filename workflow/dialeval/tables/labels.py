"""Tables of human labels: samples, labels, estimates, agreement of annotators."""

from __future__ import annotations

from dialeval.tables.schema import BOOL, FLOAT, INT, TEXT, Interval, Table, differences, maybe, schema

_ABOUT = {"protocol": TEXT, "criterion": maybe(TEXT)}
_WHAT = {
    "corpus": maybe(TEXT), "item_id": maybe(TEXT), "case_id": maybe(TEXT), "system": maybe(TEXT),
    "opponent": maybe(TEXT), "n_utterances": maybe(INT),
}  # fmt: skip
_WORDS = {
    "system": "system that produced the dialogue; of a pair, the first in alphabetical order",
    "opponent": "other system of the pair; empty for a single dialogue",
    "n_utterances": "length N in utterances; empty for complete dialogues",
}

# fmt: off
DRAW = Table(
    "labels/draw", schema(
        protocol=TEXT, **_WHAT, level=TEXT, draw=TEXT, key=TEXT, stratum=TEXT, place=INT, probability=FLOAT, drawn=BOOL
    ),
    row="dialogue or pair in the population of a protocol's sample (`labels/draw/<protocol>`)",
    title="Sample for labelling",
    shown=False,
    columns={
        **_WORDS,
        "level": "unit of the label: turn (the last utterance) or dialogue",
        "draw": "identifier of the sample, as in its record `draw-<protocol>.csv` in the folder of the labels",
        "key": "anonymous identifier on the labelling page",
        "stratum": "stratum of the sampling design. Units of a stratum have equal inclusion probabilities, except "
        "under `active`",
        "place": "position in the stratum's random order, from 1; a larger sample continues this order",
        "probability": "inclusion probability by design. Estimates do not weight labels by it, but by the column "
        "`probability` of `labels/labels`",
        "drawn": "whether the unit is in the sample",
    },
)
LABELS = Table(
    "labels/labels", schema(
        **_ABOUT, **_WHAT, annotator=TEXT, simulated=BOOL, round=INT, value=maybe(FLOAT), scale_min=maybe(FLOAT),
        scale_max=maybe(FLOAT), choice=maybe(TEXT), outcome=maybe(TEXT), place=maybe(INT), skipped=BOOL,
        comment=TEXT, probability=maybe(FLOAT), stratum=maybe(TEXT), file=TEXT, row=INT
    ),
    row="human label (`labels/labels`)",
    title="Human labels",
    shown=False,
    columns={
        **_WORDS,
        "simulated": "whether the annotator is simulated",
        "round": "0 for the annotator's first label of the unit, 1 for the second, and so on",
        "value": "label as a number on the scale from `scale_min` to `scale_max`",
        "choice": "label in words, if it is not a number",
        "outcome": "preference of a pair: left (`system` is better), right (`opponent` is better) or tie",
        "place": "number of the first utterance by an AI, or of the first utterance that shows the criterion, from 1",
        "probability": "inclusion probability; estimates weight the label by its inverse. It is the share of the "
        "stratum's units that have a label on the criterion; under `active` it differs by unit. For units outside a "
        "recorded sample: the value in your file, or empty",
        "stratum": "stratum of the sampling design",
        "file": "file that has the label", "row": "line or record in the file, from 1",
    },
)
ESTIMATES = Table(
    "labels/estimates", schema(
        protocol=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), answer=maybe(TEXT), measure=TEXT, system=TEXT,
        opponent=maybe(TEXT), judge=TEXT, annotators=TEXT, target=TEXT, estimate=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), anytime_ci_low=maybe(FLOAT), anytime_ci_high=maybe(FLOAT), se=maybe(FLOAT),
        df=maybe(FLOAT), weight=maybe(FLOAT), rho_within=maybe(FLOAT), n_labelled=INT,
        n_labelled_seeds=INT, n_total=INT, human_only=maybe(FLOAT), human_only_ci_low=maybe(FLOAT),
        human_only_ci_high=maybe(FLOAT), judge_only=maybe(FLOAT), judge_only_ci_low=maybe(FLOAT),
        judge_only_ci_high=maybe(FLOAT),
        judge_bias=maybe(FLOAT), judge_bias_ci_low=maybe(FLOAT), judge_bias_ci_high=maybe(FLOAT),
        n_effective_labels=maybe(FLOAT),
        note=maybe(TEXT)
    ),
    row="judge and measure of a system or a pair of systems",
    title="Human-corrected estimates",
    caption=(
        "Human-corrected estimates combine human labels of a sample with the judge's scores of all dialogues "
        "(prediction-powered inference). Their intervals are valid for any judge. The intervals of the judge "
        "alone describe the judge's scores, not the labels."
    ),
    columns={
        "measure": (
            "mean, rate (of an answer), checklist (share of yes), pass_rate, win_rate (a tie counts half), "
            "win_or_tie or rating (Bradley-Terry). Rows with the suffix `difference` are about system minus "
            "opponent. Rows with the suffix `self_preference` have the judge's bias for its own family in "
            "`judge_bias` (see docs/labels.md)"
        ),
        "answer": "answer whose rate is estimated",
        "opponent": "other system of the pair; empty for a single system or for all opponents",
        "judge": "judge whose scores are combined with the labels; panel: all judges together; none: no judge has "
        "scores",
        "annotators": "type of the annotators: people, simulated, or people and simulated",
        "target": "population of the interval: new_cases or given_cases (the cases of this run)",
        "anytime_ci_low": "lower limit of the confidence sequence. This interval is valid at every look, so "
        "labelling may stop as soon as it is narrow enough",
        "anytime_ci_high": "upper limit of the confidence sequence",
        "weight": "weight of the judge's scores (lambda); 0: human labels only",
        "rho_within": "correlation of judge and human labels within systems",
        "n_labelled": "number of dialogues or comparisons with a label",
        "n_labelled_seeds": "number of seeds or cases with a label",
        "n_total": "number of judged dialogues or comparisons. It includes those whose response has no score",
        "human_only": "estimate from human labels only",
        "judge_only": "estimate from the judge only",
        "judge_bias": "judge minus human labels, on labelled units",
        "n_effective_labels": "number of labels that would give the same precision without a judge",
    },
    cells={
        "estimate": Interval("ci_low", "ci_high"), "human_only": Interval("human_only_ci_low", "human_only_ci_high"),
        "judge_only": Interval("judge_only_ci_low", "judge_only_ci_high"), "judge_bias": Interval("judge_bias_ci_low",
            "judge_bias_ci_high"),
    },
)
DIFFERENCES = differences(
    "labels/differences",
    row="judge, measure and pair of systems",
    title="Pairwise tests of systems, human-corrected",
    caption="Differences of human-corrected estimates.",
    columns={
        "system_value": "human-corrected estimate of `system`",
        "opponent_value": "human-corrected estimate of `opponent`",
        "n": "number of labelled dialogues or comparisons",
        "n_clusters": "number of seeds or cases that the labels belong to",
    },
)
AGREEMENT = Table(
    "labels/agreement", schema(
        **_ABOUT, statistic=TEXT, annotator=maybe(TEXT), other_annotator=maybe(TEXT), estimate=maybe(FLOAT),
        ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), n=INT, n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="protocol, criterion and statistic",
    title="Annotator agreement",
    caption=(
        "Rows of all annotators have Krippendorff's alpha. Rows of two annotators have alpha for numbers, and "
        "Cohen's kappa and Gwet's AC1 for choices. Rows of one annotator have the share of repeated labels that are "
        "the same. Intervals are clustered by case."
    ),
    columns={
        "statistic": "alpha (for numbers or for choices), kappa, AC1, or same answer again (share of repeated labels "
        "that are the same)",
        "annotator": "annotator; empty for all annotators",
        "other_annotator": "second annotator of a pair",
        "n": "number of units that both annotators (in rows of all annotators, at least two) labelled, or that one "
        "annotator labelled twice",
    },
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="correlation",
)
ANNOTATORS = Table(
    "labels/annotators", schema(
        **_ABOUT, annotator=TEXT, simulated=BOOL, n=INT, n_skipped=INT, n_repeated=INT, mean=maybe(FLOAT),
        difference=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), p_holm=maybe(FLOAT), agreement=maybe(FLOAT),
        note=maybe(TEXT)
    ),
    row="protocol, criterion and annotator",
    title="Annotator bias",
    caption="Each annotator is compared with the mean of the other annotators, on the units that the annotator and at "
    "least one other annotator labelled.",
    columns={
        "n": "number of labelled units", "n_skipped": "number of skipped labels",
        "n_repeated": "number of repeated labels",
        "mean": "mean label; for choices the share of Yes, for pairs the share of ties",
        "difference": "the annotator's mean minus the mean of the other annotators",
        "agreement": "correlation with the mean of the other annotators, or share of equal labels",
        "p_holm": "Holm-adjusted p-value of no difference, over all annotators",
    },
    cells={"difference": Interval("ci_low", "ci_high")},
)
_JUDGED = {
    **_ABOUT, "n_utterances": maybe(INT), "measure": TEXT, "judge": TEXT, "annotators": TEXT,
}  # fmt: skip
_JUDGED_WORDS = {
    "n_utterances": "length N in utterances; empty for complete dialogues",
    "measure": "compared measure: mean (scores), rate (answers), checklist, pass_rate or win_rate (preferences)",
    "judge": "judge; panel: all judges together",
    "annotators": "type of the annotators: people, simulated, or people and simulated",
}
REPLACEMENT = Table(
    "labels/replacement", schema(
        **_JUDGED, annotator=maybe(TEXT), n_annotators=INT, estimate=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), winning_rate_crowd=maybe(FLOAT), winning_rate_skilled=maybe(FLOAT),
        winning_rate_expert=maybe(FLOAT), smallest_epsilon=maybe(FLOAT), decided=maybe(FLOAT), n=INT, n_missing=INT,
        n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="protocol, criterion, length, judge and annotator",
    title="May a judge replace annotators?",
    caption=(
        "The alternative annotator test (Calderon, Reichart and Dror 2025) leaves out each annotator in turn. It "
        "tests whether the judge is closer to the other annotators than the annotator who is left out. A judge "
        "passes if it "
        "wins against at least half of the annotators."
    ),
    columns={
        **_JUDGED_WORDS,
        "annotator": "annotator who is left out; empty for all tested annotators",
        "n_annotators": "number of tested annotators: those with at least 30 items that others labelled too",
        "estimate": "advantage probability (rho): chance that the judge is at least as close to the other annotators "
        "as the annotator who is left out. In the row of all annotators: the mean",
        "winning_rate_crowd": "winning rate (omega): share of annotators that the judge wins against, at the margin "
        "0.1 for crowd workers. The judge passes at 0.5 or more. In the row of an annotator: 1 or 0",
        "winning_rate_skilled": "winning rate at the margin 0.15, for skilled annotators",
        "winning_rate_expert": "winning rate at the margin 0.2, for experts",
        "smallest_epsilon": "smallest margin at which the winning rate is 0.5 or more; empty if no margin up to 0.5 is "
        "enough",
        "decided": "share of items on which the judge and an annotator are not equally close to the others. The "
        "target `estimate` uses it to compute the required number of items",
        "n": "number of items with a score and at least two labels; in the row of all annotators, those of tested "
        "annotators",
        "n_missing": "number of labelled items without a score",
    },
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="correlation",
)
CALIBRATION = Table(
    "labels/calibration", schema(
        **_JUDGED, statistic=TEXT, score_min=maybe(FLOAT), score_max=maybe(FLOAT), score=maybe(FLOAT),
        estimate=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), uncorrected=maybe(FLOAT), n=INT,
        n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="protocol, criterion, length, judge and bin of scores",
    title="Judge calibration",
    caption=(
        "Items are sorted by the judge's score into bins of about equal size. The expected calibration error is the "
        "mean distance between the mean score and the mean label of a bin. The rows `mean label` are the reliability "
        "curve. Numbers are on the scale of the labels."
    ),
    columns={
        **_JUDGED_WORDS,
        "statistic": "calibration error, or mean label (of the items in one bin of scores)",
        "score_min": "lowest score of the bin", "score_max": "highest score of the bin",
        "score": "mean score of the bin",
        "estimate": "expected calibration error, corrected for its bias with few labels; or mean label of the bin",
        "uncorrected": "expected calibration error without the correction; too high with few labels",
        "n": "number of items with a score and a label",
    },
    cells={"estimate": Interval("ci_low", "ci_high")},
)
SELECTIVE = Table(
    "labels/selective", schema(
        **_JUDGED, agreement=maybe(FLOAT), threshold=maybe(FLOAT), coverage=maybe(FLOAT), estimate=maybe(FLOAT),
        ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), at_least=maybe(FLOAT), annotator_agreement=maybe(FLOAT), n=INT,
        n_clusters=maybe(INT), n_escalated=maybe(INT), note=maybe(TEXT)
    ),
    row="protocol, criterion, length, judge and threshold of certainty",
    title="Selective judging",
    caption=(
        "Agreement of judge and annotators on the judge's most certain items, for several shares of the items. Rows "
        "with a required agreement (`agreement`) have the lowest threshold that is shown to reach it, by "
        "fixed-sequence testing. Send the items below this threshold to annotators or a stronger judge."
    ),
    columns={
        **_JUDGED_WORDS,
        "agreement": "required agreement; empty if the coverage determines the threshold",
        "threshold": "lowest certainty of the items, from 0 to 1. The certainty is abs(2p - 1), where p is the "
        "probability of Yes, or the share of repeats and orders that give the answer (a tie counts half)",
        "coverage": "share of the scored items at or above the threshold",
        "estimate": "agreement of the judge with an annotator, on labelled items at or above the threshold",
        "at_least": "one-sided lower limit of the agreement",
        "annotator_agreement": "agreement of two annotators, on all items with two labels",
        "n": "number of labelled items at or above the threshold",
        "n_escalated": "number of scored items below the threshold",
    },
    cells={"estimate": Interval("ci_low", "ci_high")}, numbers="share", formats={"threshold": "number"},
)
VARIANCE_COMPONENTS = Table(
    "labels/variance_components", schema(
        **_ABOUT, statistic=TEXT, component=TEXT, estimate=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT),
        share=maybe(FLOAT), n_levels=maybe(INT), n_annotators=INT, n_repeats=FLOAT, n=INT, n_clusters=INT,
        note=maybe(TEXT)
    ),
    row="protocol, criterion, statistic and component (a source of the variance of labels, or a design)",
    title="Where the uncertainty of labels comes from",
    caption=(
        "The rows `variance` split the variance of a single label by its sources. The rows `generalizability` and "
        "`dependability` show how well the means of the systems generalise to other cases and annotators. The rows "
        "`half-width` have half the width of the interval of a difference from labels alone, for several numbers of "
        "cases or of annotators per dialogue. Intervals resample cases and hold systems and annotators "
        "fixed."
    ),
    columns={
        "statistic": "variance, generalizability (coefficient for differences of systems), dependability "
        "(coefficient for means of systems) or half-width (of the interval of a difference)",
        "component": "source of the variance, or the design",
        "estimate": "variance, coefficient or half-width. A variance is estimated without bias, so it may be negative",
        "share": "component's share of the variance of a single label",
        "n_levels": "number of levels of the component, such as cases, or pairs of system and case",
        "n_annotators": "number of annotators of the design",
        "n_repeats": "number of labels of an annotator on a dialogue; harmonic mean",
        "n": "number of labels",
        "n_clusters": "number of cases; in the row of a component, number of cases that contribute to it",
    },
    cells={"estimate": Interval("ci_low", "ci_high")}, formats={"share": "share"},
)
PLANNING = Table(
    "labels/planning", schema(
        protocol=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), judge=TEXT, measure=TEXT, estimand=TEXT,
        n_systems=INT, n_seeds=INT, n_judges=INT, n_labels=INT, min_detectable_difference=maybe(FLOAT),
        min_detectable_difference_holm=maybe(FLOAT), half_width=maybe(FLOAT),
        seeds_to_halve=maybe(INT), labels_to_halve=maybe(INT), cost_of_seeds=maybe(FLOAT),
        cost_of_labels=maybe(FLOAT), cheaper=maybe(TEXT), cheapest_seeds=maybe(INT), cheapest_judges=maybe(INT),
        cheapest_repeats=maybe(INT), cost_of_cheapest=maybe(FLOAT), target_difference=maybe(FLOAT),
        cheapest_labels=maybe(INT), cheapest_answers=maybe(INT), cheapest_annotators=maybe(INT),
        n_annotators=maybe(INT), basis=TEXT, note=maybe(TEXT)
    ),
    row="protocol, criterion, judge and estimand (target `estimate`)",
    title="Precision of the design",
    caption=(
        "Minimum detectable difference of two systems at 80% power, and the number of cases or labels that halves the "
        "interval."
    ),
    columns={
        "measure": "compared measure: rating, mean, pass_rate, ...",
        "estimand": "estimated quantity: judge (estimate from the judge's scores), judges (over a population of "
        "judges), "
        "people (human-corrected estimate), or annotators (human-corrected estimate over a population of annotators)",
        "n_judges": "number of judges",
        "n_seeds": "configured seeds or cases", "n_labels": "number of human labels",
        "min_detectable_difference": (
            "smallest difference of two systems that a test detects with 80% power at the 5% level"
        ),
        "min_detectable_difference_holm": "minimum detectable difference with a Holm-adjusted p-value (`p_holm`)",
        "half_width": "half the width of the confidence interval of a difference",
        "seeds_to_halve": "number of additional seeds or cases that halves the interval; empty if no number does",
        "labels_to_halve": "number of additional labels that halves the interval; empty if no number does",
        "cost_of_seeds": "cost of the additional seeds or cases, by the models' prices",
        "cost_of_labels": "cost of the additional labels, by the price of a label",
        "cheapest_seeds": "number of seeds or cases in the cheapest design. This design detects `target_difference` "
        "with 80% power or, without a target, halves the interval. Without prices, it is the design with the fewest "
        "model calls of judges or the fewest labels",
        "cheapest_judges": "number of judges in the cheapest design",
        "cheapest_repeats": "number of repeats in the cheapest design",
        "cost_of_cheapest": "total cost of the cheapest design, by the prices of models and labels",
        "target_difference": "difference of two systems under `target_differences`",
        "cheapest_labels": "number of labelled dialogues or pairs of all systems in the cheapest design",
        "cheapest_answers": "number of annotators of each labelled dialogue or pair in the cheapest design",
        "cheapest_annotators": "number of annotators in the cheapest design",
        "n_annotators": "number of annotators; empty unless the row treats annotators as a sample of a population",
        "cheaper": "cheaper option, seeds or labels, by the known prices",
        "basis": "source of the variances: stored judgements, labels, or assumptions",
    },
)
# fmt: on
