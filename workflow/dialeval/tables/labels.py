"""Tables of people's labels: draws, labels, corrected numbers, agreement of annotators."""

from __future__ import annotations

from dialeval.tables.schema import BOOL, FLOAT, INT, TEXT, Interval, Table, differences, maybe, schema

_ABOUT = {"protocol": TEXT, "criterion": maybe(TEXT)}
_WHAT = {
    "corpus": maybe(TEXT), "item_id": maybe(TEXT), "case_id": maybe(TEXT), "system": maybe(TEXT),
    "opponent": maybe(TEXT), "n_utterances": maybe(INT),
}  # fmt: skip
_WORDS = {
    "system": "whose dialogue it is; of a pair the first in the alphabet",
    "opponent": "the other system of a pair; empty for a single dialogue",
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
        "level": "what is asked about: turn (the last utterance) or dialogue",
        "draw": "which draw it is of, as the ledger beside the labels says",
        "key": "what stands for it on pages, which tells nobody whose it is",
        "stratum": "part of the draw in which all have one probability",
        "place": "place in the stratum's random order, from 1: more are drawn from where the last draw ended",
        "probability": "with which it was drawn; labels are weighted by `labels/labels`, which counts what has a label",
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
        "simulated": "whether the annotator is a simulation and no person",
        "round": "counts an annotator's labels of the same thing from 0",
        "value": "the label as a number, on the scale from `scale_min` to `scale_max`",
        "choice": "the label in words, where it is no number",
        "outcome": "of a pair: left (system is better), right (opponent is better) or tie",
        "place": "first utterance of an AI, counted from 1",
        "probability": "share of its stratum that has a label on the criterion; empty where no draw is on record",
        "stratum": "part of the draw that it is of",
        "file": "where it was read", "row": "line or record there, from 1",
    },
)
ESTIMATES = Table(
    "labels/estimates", schema(
        protocol=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), answer=maybe(TEXT), measure=TEXT, system=TEXT,
        opponent=maybe(TEXT), judge=TEXT, annotators=TEXT, target=TEXT, estimate=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), se=maybe(FLOAT), df=maybe(FLOAT), weight=maybe(FLOAT), rho_within=maybe(FLOAT),
        n_labelled=INT, n_labelled_seeds=INT, n_total=INT, human_only=maybe(FLOAT), human_only_ci_low=maybe(FLOAT),
        human_only_ci_high=maybe(FLOAT), judge_only=maybe(FLOAT), judge_only_ci_low=maybe(FLOAT),
        judge_only_ci_high=maybe(FLOAT),
        judge_bias=maybe(FLOAT), judge_bias_ci_low=maybe(FLOAT), judge_bias_ci_high=maybe(FLOAT),
        n_effective_labels=maybe(FLOAT),
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
        "opponent": "the system compared with; empty where it is all of them, or none",
        "judge": "whose scores are the proxy; panel: all judges' as one; none: no judge scored anything",
        "annotators": "people, or simulated",
        "target": "what the interval is about: new (what people would say on new cases) or these (of these dialogues)",
        "weight": "how much of the judge's difference is taken (lambda): 0 leaves people alone",
        "rho_within": "correlation of judge and people within a system",
        "n_labelled": "dialogues or comparisons with a label",
        "n_labelled_seeds": "seeds or cases that these are of",
        "n_total": "dialogues or comparisons that the judge scored",
        "human_only": "from the labels alone",
        "judge_only": "from the judge alone",
        "judge_bias": "the judge less people, on what has labels",
        "n_effective_labels": "labels that would say as much without a judge",
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
    title="Which systems people would tell apart",
    caption="Corrected numbers, a protocol's by one judge's scores.",
)
AGREEMENT = Table(
    "labels/agreement", schema(
        **_ABOUT, statistic=TEXT, annotator=maybe(TEXT), other_annotator=maybe(TEXT), estimate=maybe(FLOAT),
        ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), n=INT, n_clusters=maybe(INT), note=maybe(TEXT)
    ),
    row="protocol, criterion and statistic",
    title="How far annotators agree",
    caption=(
        "Krippendorff's alpha of all annotators and, of every two, the same of numbers, and Cohen's kappa and "
        "Gwet's AC1 of choices, on what both labelled; and how often an annotator who saw something twice said the "
        "same again. Intervals resample cases."
    ),
    columns={
        "statistic": "alpha (interval: of numbers; nominal: of choices), kappa, AC1, or same answer again",
        "annotator": "annotator; empty for all", "other_annotator": "annotator",
        "n": "what both, or at least two, labelled",
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
    title="Who differs",
    caption="Each annotator beside the mean of the others, on what both labelled.",
    columns={
        "n": "things labelled", "n_skipped": "skipped", "n_repeated": "labelled a second time",
        "mean": "mean label; of choices the share of Yes, of pairs the share of ties",
        "difference": "the annotator's mean less the others'",
        "agreement": "correlation with the others' mean, or share of equal answers",
        "p_holm": "of no difference, corrected for all annotators",
    },
    cells={"difference": Interval("ci_low", "ci_high")},
)
PLANNING = Table(
    "labels/planning", schema(
        protocol=TEXT, criterion=maybe(TEXT), n_utterances=maybe(INT), judge=TEXT, measure=TEXT, estimand=TEXT,
        n_systems=INT, n_seeds=INT, n_labels=INT, min_detectable_difference=maybe(FLOAT),
        min_detectable_difference_holm=maybe(FLOAT), half_width=maybe(FLOAT),
        seeds_to_halve=maybe(INT), labels_to_halve=maybe(INT), cost_of_seeds=maybe(FLOAT),
        cost_of_labels=maybe(FLOAT), cheaper=maybe(TEXT), basis=TEXT, note=maybe(TEXT)
    ),
    row="protocol, criterion, judge and whose opinion is measured (`snakemake --cores 8 estimate`)",
    title="What this design can show",
    caption=(
        "The smallest difference of two systems that is found in four of five runs, and what would halve the interval."
    ),
    columns={
        "measure": "by what systems are compared: rating, mean, pass_rate, ...",
        "estimand": "judge (the judge's score) or people (the human-corrected estimate)",
        "n_seeds": "configured seeds or cases", "n_labels": "number of human labels",
        "min_detectable_difference": "smallest difference of two systems that a test finds with 80% power at the 5% "
        "level; with few stored cases it allows for the error of their variance",
        "min_detectable_difference_holm": "the same with p adjusted for all pairs of systems (`p_holm`)",
        "half_width": "half the width of the 95% interval of a difference",
        "seeds_to_halve": "seeds or cases more that would halve the interval; empty where none do",
        "labels_to_halve": "labels more that would, in all; empty where none do",
        "cost_of_seeds": "of these, by the prices of the models that are asked about them",
        "cost_of_labels": "of these, by the price of a label",
        "cheaper": "seeds or labels, by the prices that are known",
        "basis": "what it rests on: stored judgements, labels, or assumptions",
    },
)
# fmt: on
