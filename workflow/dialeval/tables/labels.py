"""Tables of people's labels: draws, labels, corrected numbers, agreement of annotators."""

from __future__ import annotations

from dialeval.tables.schema import BOOL, FLOAT, INT, TEXT, Interval, Table, differences, maybe, schema

_ABOUT = {"protocol": TEXT, "criterion": maybe(TEXT)}
_WHAT = {
    "corpus": maybe(TEXT), "item_id": maybe(TEXT), "case_id": maybe(TEXT), "system": maybe(TEXT),
    "versus": maybe(TEXT), "n_utterances": maybe(INT),
}  # fmt: skip
_WORDS = {
    "system": "system; of a pair the first in the alphabet",
    "versus": "the other system of a pair; empty for a single dialogue",
    "n_utterances": "the length N that dialogues were cut to, or judged at",
}

# fmt: off
DRAW = Table(
    "labels/draw", schema(
        protocol=TEXT, **_WHAT, level=TEXT, draw=TEXT, key=TEXT, stratum=TEXT, place=INT, probability=FLOAT, drawn=BOOL
    ),
    row="dialogue or pair that people could be asked about under a protocol",
    title="What was drawn for people to label",
    shown=False,
    columns={
        **_WORDS,
        "level": "turn (the last utterance) or dialogue",
        "draw": "id of the sample",
        "key": "key on the pages, which does not reveal the system",
        "stratum": "part of the draw in which all have one probability",
        "place": "position in the stratum's random order, from 1; a larger sample continues from there",
        "probability": "inclusion probability; labels are weighted by `labels/labels`, which counts the labelled items",
        "drawn": "whether it was",
    },
)
LABELS = Table(
    "labels/labels", schema(
        **_ABOUT, **_WHAT, annotator=TEXT, simulated=BOOL, round=INT, value=maybe(FLOAT), scale_min=maybe(FLOAT),
        scale_max=maybe(FLOAT), choice=maybe(TEXT), outcome=maybe(TEXT), place=maybe(INT), skipped=BOOL,
        comment=TEXT, probability=maybe(FLOAT), stratum=maybe(TEXT), file=TEXT, row=INT
    ),
    row="label that a person gave (`labels/labels`)",
    title="People's labels",
    shown=False,
    columns={
        **_WORDS,
        "simulated": "whether the annotator is simulated",
        "round": "number of the annotator's label of the same item, from 0",
        "value": "the label as a number, on the scale from `scale_min` to `scale_max`",
        "choice": "the label in words, where it is no number",
        "outcome": "of a pair: left (system is better), right (versus is) or tie",
        "place": "first utterance of an AI, counted from 1",
        "probability": "share of its stratum that has a label on the criterion; empty where no draw is on record",
        "stratum": "part of the draw that it is of",
        "file": "where it was read", "row": "line or record there, from 1",
    },
)
CORRECTED = Table(
    "labels/corrected", schema(
        protocol=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), answer=maybe(TEXT), measure=TEXT, system=TEXT,
        versus=maybe(TEXT), judge=TEXT, annotators=TEXT, target=TEXT, estimate=maybe(FLOAT), low=maybe(FLOAT),
        high=maybe(FLOAT), se=maybe(FLOAT), df=maybe(FLOAT), weight=maybe(FLOAT), rho_within=maybe(FLOAT),
        n_labelled=INT, n_labelled_seeds=INT, n_total=INT, people_only=maybe(FLOAT), people_low=maybe(FLOAT),
        people_high=maybe(FLOAT), judge_only=maybe(FLOAT), judge_low=maybe(FLOAT), judge_high=maybe(FLOAT),
        judge_bias=maybe(FLOAT), bias_low=maybe(FLOAT), bias_high=maybe(FLOAT), effective_labels=maybe(FLOAT),
        note=maybe(TEXT)
    ),
    row="judge and measure of a system, or of two",
    title="What people would say",
    caption=(
        "People's labels of a part of the dialogues, with the judge's scores of all of them (prediction-powered "
        "inference). The interval is honest whatever the judge is worth; the judge alone is not."
    ),
    columns={
        "measure": (
            "mean, rate (of an answer), checklist (share of yes), pass_rate, win_rate (a tie counts half), win_or_tie "
            "or rating (Bradley-Terry); with `difference`, of two systems, the system less the other; with "
            "`self_preference`, of the judge's family, which `judge_bias` alone tells: its bias for these systems less "
            "that for others, and in pairs that for the family's score against others"
        ),
        "answer": "which answer a rate is of",
        "versus": "the system compared with; empty where it is all of them, or none",
        "judge": "judge whose scores are used; panel: all judges combined; none: no judge scored anything",
        "annotators": "people or simulated",
        "target": "estimand of the interval: new (new cases) or these (the given dialogues)",
        "weight": "weight of the judge (lambda); 0: labels alone",
        "rho_within": "correlation of judge and labels within a system",
        "n_labelled": "dialogues or comparisons with a label",
        "n_labelled_seeds": "seeds or cases that these are of",
        "n_total": "dialogues or comparisons that the judge scored",
        "people_only": "from the labels alone",
        "judge_only": "from the judge alone",
        "judge_bias": "judge minus labels, on labelled items",
        "effective_labels": "labels that would say as much without a judge",
    },
    cells={
        "estimate": Interval("low", "high"), "people_only": Interval("people_low", "people_high"),
        "judge_only": Interval("judge_low", "judge_high"), "judge_bias": Interval("bias_low", "bias_high"),
    },
)
DIFFERENCES = differences(
    "labels/differences",
    row="judge, measure and pair of systems",
    title="Which systems people would tell apart",
    caption="Differences of human-corrected estimates, by judge.",
)
AGREEMENT = Table(
    "labels/agreement", schema(
        **_ABOUT, statistic=TEXT, first=maybe(TEXT), second=maybe(TEXT), estimate=maybe(FLOAT), low=maybe(FLOAT),
        high=maybe(FLOAT), n=INT, n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="protocol, criterion and statistic",
    title="How far annotators agree",
    caption=(
        "Krippendorff's alpha of all annotators and of each pair (numbers), Cohen's kappa and Gwet's AC1 of each "
        "pair (choices), and self-agreement on repeated items. Intervals resample cases."
    ),
    columns={
        "statistic": "alpha (interval: of numbers; nominal: of choices), kappa, AC1, or same answer again",
        "first": "annotator; empty for all", "second": "annotator", "n": "items that both, or at least two, labelled",
    },
    cells={"estimate": Interval("low", "high")}, numbers="correlation",
)
ANNOTATORS = Table(
    "labels/annotators", schema(
        **_ABOUT, annotator=TEXT, simulated=BOOL, n=INT, n_skipped=INT, n_repeated=INT, mean=maybe(FLOAT),
        difference=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), p_holm=maybe(FLOAT), agreement=maybe(FLOAT),
        note=maybe(TEXT)
    ),
    row="protocol, criterion and annotator",
    title="Who differs",
    caption="Each annotator and the mean of the others, on common items.",
    columns={
        "n": "labelled items", "n_skipped": "skipped", "n_repeated": "labelled a second time",
        "mean": "mean label; of choices the share of Yes, of pairs the share of ties",
        "difference": "the annotator's mean less the others'",
        "agreement": "correlation with the others' mean, or share of equal answers",
        "p_holm": "of no difference, corrected for all annotators",
    },
    cells={"difference": Interval("low", "high")},
)
PLANNING = Table(
    "labels/planning", schema(
        protocol=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), judge=TEXT, measure=TEXT, what=TEXT,
        n_systems=INT, n_seeds=INT, n_labels=INT, smallest_difference=maybe(FLOAT),
        smallest_difference_holm=maybe(FLOAT), half_width=maybe(FLOAT),
        seeds_to_halve=maybe(INT), labels_to_halve=maybe(INT), cost_of_seeds=maybe(FLOAT),
        cost_of_labels=maybe(FLOAT), cheaper=maybe(TEXT), basis=TEXT, note=maybe(TEXT)
    ),
    row="protocol, criterion, judge and whose opinion is measured (`snakemake --cores 8 estimate`)",
    title="What this design can show",
    caption=(
        "Smallest difference of two systems that is detected with 80% power, and the number of cases or labels that "
        "halves the interval."
    ),
    columns={
        "measure": "measure: rating, mean, pass_rate, ...",
        "what": "estimand: the judge's, or the human-corrected estimate",
        "n_seeds": "seeds or cases that are configured", "n_labels": "number of human labels",
        "smallest_difference": "found with 80% power at the 5% level, of two systems compared by themselves; where few "
        "cases are stored it allows for the error of their spread",
        "smallest_difference_holm": "the same where p is corrected for all pairs of systems (`p_holm`)",
        "half_width": "half the width of the 95% interval of a difference",
        "seeds_to_halve": "seeds or cases more that would halve the interval; empty where none do",
        "labels_to_halve": "labels more that would, in all; empty where none do",
        "cost_of_seeds": "cost of these seeds by the models' prices",
        "cost_of_labels": "of these, by the price of a label",
        "cheaper": "seeds or labels, by the prices that are known",
        "basis": "basis: stored judgements, labels, or assumptions",
    },
)
# fmt: on
