"""Every figure: its name, its tables, and what draws it.

Rules, stages, captions and the report follow from these entries. They name the drawing functions instead of importing
them, as Snakemake reads the entries at its every start, and matplotlib takes longer to import than all the rest. No
stage imports this module: a figure that is added re-draws no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# What a figure's entry is, and the pictures that are drawn of it.


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        name: of its files.
        tables: what it is drawn from, `<folder>/<table>` as under `tables` among the results.
        draw: `<module>.<function>` in this package; the function is given the tables in order.
        title: its heading.
        caption: what it shows, in a sentence or two.
        options: what else the function is given by name, such as `interval`, in words for the axis.
        order: `<module>.<function>` that puts the rows in one order for all figures of a part, from all their tables;
            `draw` is given it as `order`. Empty where a figure has no such rows.
        per: an option, such as `n`, of which every value has a picture of its own; the value stands for `{n}` in name,
            tables, title and caption. Empty where there is one picture.
    """

    name: str
    tables: tuple[str, ...]
    draw: str
    title: str
    caption: str
    options: tuple[str, ...] = ()
    order: str = ""
    per: str = ""

    def drawings(self, options: Mapping[str, Any]) -> list[Drawing]:
        """Returns what is drawn of it: one picture, or one for every value of `per`."""
        given = {name: options[name] for name in self.options}
        values = [{self.per: value} for value in options[self.per]] if self.per else [{}]
        return [
            Drawing(
                self.name.format(**value),
                tuple(table.format(**value) for table in self.tables),
                self.draw,
                self.title.format(**value),
                self.caption.format(**value),
                given | value,
                self.order,
            )
            for value in values
        ]


@dataclass(frozen=True)
class Drawing:
    """One picture of a figure, with the options that its function is given; see `Figure`."""

    name: str
    tables: tuple[str, ...]
    draw: str
    title: str
    caption: str
    options: Mapping[str, Any]
    order: str = ""

    @property
    def modules(self) -> list[str]:
        """The modules whose code draws it and orders its rows."""
        named = [name.partition(".")[0] for name in (self.draw, self.order)]
        return [f"dialeval.figures.{name}" for name in named if name]

    def settings(self) -> dict[str, Any]:
        """Returns what the stage that draws it must know: all but what is said about it."""
        return {
            "name": self.name,
            "tables": self.tables,
            "draw": self.draw,
            "options": dict(self.options),
            "order": self.order,
        }


def drawings(
    figures: Iterable[Figure], options: Mapping[str, Any], tables: Iterable[str] | None = None
) -> list[Drawing]:
    """Returns the pictures of figures, as far as a run has the tables that they are drawn from; None: it has all."""
    found = [one for figure in figures for one in figure.drawings(options)]
    at_hand = None if tables is None else set(tables)
    return [one for one in found if at_hand is None or at_hand.issuperset(one.tables)]


# Every figure: its files' name, the tables that it reads, what draws it, and what is said about it.

_SYSTEMS, _JUDGES = "row_order.best_systems", "row_order.best_judges"
_BIAS = Figure(
    "bias_{protocol}",
    ("{protocol}/bias",),
    "judge_bias.figure_bias",
    "The judges' biases: {protocol}",
    "What the order and length of two dialogues, and kinship with a model, do to a judge's verdicts, and how far "
    "judges agree. Seeds resampled. Where models are held fixed, length is weighed between models of one strength, by "
    "a regression on strength, length and place at once.",
    per="protocol",
)
BOTCHAT = (
    Figure(
        "figure2_seed_lengths",
        ("botchat/seeds",),
        "botchat.figure2_seed_lengths",
        "Human dialogues by length",
        "How many utterances the human dialogues have; the marked ones serve Arena and GTEval (the paper's Figure 2).",
        ("arena_min",),
    ),
    Figure(
        "figure3_utterance_lengths",
        ("botchat/utterance_tokens",),
        "botchat.figure3_utterance_lengths",
        "Utterance lengths",
        "Lengths of the utterances that each chatbot wrote, and of all human ones (Figure 3).",
        order=_SYSTEMS,
    ),
    Figure(
        "figure4_unieval",
        ("unieval/pass_rates",),
        "botchat.figure4_unieval",
        "UniEval pass rate by length",
        "Share of dialogues in which the judge sees no AI utterance up to N (Figure 4). Intervals are clustered by "
        "seed.",
        order=_SYSTEMS,
    ),
    Figure(
        "figure5_arena_n{n}",
        ("arena/win_rates",),
        "botchat.figure5_arena",
        "Arena: who wins against whom, N = {n}",
        "Win and win+tie rates of the row's model against the column's, dialogues cut to {n} utterances (Figure 5).",
        order=_SYSTEMS,
        per="n",
    ),
    Figure(
        "figure6_gteval",
        ("gteval/win_rates",),
        "botchat.figure6_gteval",
        "GTEval: against the human dialogue",
        "How often the judge takes a chatbot's dialogue for the human one (Figure 6). Seeds resampled.",
        order=_SYSTEMS,
    ),
    Figure(
        "figure7_unieval_at_gt_length",
        ("unieval/pass_rates_at_gt_length",),
        "botchat.figure7_unieval_at_gt_length",
        "UniEval pass rate at the human length",
        "The same pass rate, each dialogue cut to the length of the human one on its seed (Figure 7).",
        order=_SYSTEMS,
    ),
    _BIAS,
    Figure(
        "table2_arena_ratings",
        ("arena/ratings",),
        "botchat.figure_arena_ratings",
        "Arena ratings",
        "Bootstrap Elo beside Bradley-Terry and Davidson ratings, with intervals over resampled seeds (Table 2).",
        order=_SYSTEMS,
    ),
)

METAEVAL = (
    Figure(
        "judges",
        ("metaeval/averages", "metaeval/correlations"),
        "metaeval_correlations.figure_judges",
        "How well judges agree with the ratings",
        "Mean Pearson correlation over corpora, dimension by dimension; a paper's number beside it where a judge has "
        "a name of the paper's. Dialogues resampled.",
        ("interval",),
        order=_JUDGES,
    ),
    Figure(
        "judges_by_corpus",
        ("metaeval/correlations",),
        "metaeval_heat_maps.figure_judges_by_corpus",
        "Corpus by corpus",
        "Pearson correlation of every judge with the ratings of every corpus, on overall or else what was rated.",
        order=_JUDGES,
    ),
    Figure(
        "judges_by_language",
        ("metaeval/averages",),
        "metaeval_heat_maps.figure_judges_by_language",
        "Language by language",
        "Pearson correlation of every judge in each language, averaged over corpora (xDial-Eval, Table 5).",
        order=_JUDGES,
    ),
    Figure(
        "dimensions",
        ("metaeval/matrices",),
        "metaeval_heat_maps.figure_dimensions",
        "Dimension with dimension",
        "Whether a judge tells dimensions apart as people do (comp-analysis, Figures 1 and 2).",
        order=_JUDGES,
    ),
    Figure(
        "languages",
        ("metaeval/matrices",),
        "metaeval_heat_maps.figure_languages",
        "Language with language",
        "How a judge's scores of the same items agree from language to language (xDial-Eval, Figures 1 and 2).",
        order=_JUDGES,
    ),
    Figure(
        "judges_among_themselves",
        ("metaeval/matrices",),
        "metaeval_heat_maps.figure_judges_among_themselves",
        "Judge with judge",
        "How the scores of judges go with one another's and with people's ratings (xDial-Eval, Figure 3).",
        order=_JUDGES,
    ),
    Figure(
        "ensembles",
        ("metaeval/model_ensemble",),
        "metaeval_ensembles.figure_ensembles",
        "Ensembles of judges",
        "The mean score of the best judges, whose numbers stand below the heading, beside their best member; chosen on "
        "all corpora or on the others alone (comp-analysis, Table 9). Dialogues resampled.",
        ("interval",),
        order=_JUDGES,
    ),
    Figure(
        "dimension_ensembles",
        ("metaeval/dimension_ensemble",),
        "metaeval_ensembles.figure_dimension_ensembles",
        "Other dimensions taken together",
        "The mean of a judge's scores on the other dimensions, beside its own score on overall, each against the "
        "overall rating (comp-analysis, Table 8). Dialogues resampled.",
        ("interval",),
        order=_JUDGES,
    ),
    Figure(
        "rankings",
        ("metaeval/ranking_agreement",),
        "metaeval_ensembles.figure_rankings",
        "Judges ranked by people and by a model",
        "Whether a model's ratings rank the judges as people's do: 1 is the same order (comp-analysis, Table 7).",
    ),
    Figure(
        "annotators",
        ("metaeval/annotator_agreement",),
        "metaeval_ensembles.figure_annotators",
        "How far raters agree",
        "Agreement of the raters of each corpus among themselves. Dialogues resampled.",
        ("interval",),
    ),
    Figure(
        "ceilings",
        ("metaeval/ceilings",),
        "metaeval_correlations.figure_ceilings",
        "How high a judge could come",
        "Raters differ, so no judge can be expected to correlate with their mean beyond the ceiling; what is corrected "
        "for the raters' errors may be compared between corpora. Dialogues resampled.",
        ("interval",),
        order=_JUDGES,
    ),
)

ROBUSTNESS = (
    Figure(
        "ratios",
        ("robustness/robustness",),
        "robustness.figure_ratios",
        "Which damage judges notice",
        "Share of pairs whose score falls by more than theta, beside the share whose score rises by as much, which is "
        "what noise alone gives (comp-analysis, Table 12). Intervals are clustered by dialogue.",
        ("interval",),
    ),
    Figure(
        "drops",
        ("robustness/drops", "robustness/robustness"),
        "robustness.figure_drops",
        "How far scores fall",
        "Original score less damaged score: the middle half and nine tenths of the pairs, and the theta past which "
        "damage counts as noticed.",
    ),
    Figure(
        "ladders",
        ("robustness/ladders", "robustness/robustness"),
        "robustness.figure_ladders",
        "Damage in steps",
        "Share of severity ladders on which the score falls with every step, or never rises. Intervals are clustered "
        "by dialogue.",
        ("interval",),
    ),
)

DIALOGBENCH = (
    Figure(
        "overall",
        ("dialogbench/accuracy",),
        "dialogbench.figure_overall",
        "Accuracy over all tasks",
        "Each model's accuracy with its interval, beside blind guessing and people (DialogBench, Tables 2 and 3).",
        options=("interval",),
    ),
    Figure(
        "tasks",
        ("dialogbench/accuracy",),
        "dialogbench.figure_tasks",
        "Accuracy by task",
        "Share of the test items of each task that a model answers rightly; the average is over tasks, people's "
        "accuracies are published ones (DialogBench, Table 2).",
    ),
    Figure(
        "domains",
        ("dialogbench/domains",),
        "dialogbench.figure_domains",
        "Accuracy by domain",
        "Daily life beside professional knowledge; of fewer than five items only their number is shown (Tables 7 and "
        "8).",
    ),
    Figure(
        "averages",
        ("dialogbench/averages",),
        "dialogbench.figure_averages",
        "Kinds of models by domain",
        "The mean accuracy of the models of each kind, or of a tag, in each domain (Figure 8).",
        options=("interval",),
    ),
    Figure(
        "positions",
        ("dialogbench/positions",),
        "dialogbench.figure_positions",
        "Position bias",
        "How often a model chooses each letter, and how often it is right where the right answer stands there.",
    ),
    Figure(
        "styles",
        ("dialogbench/styles",),
        "dialogbench.figure_styles",
        "Styles of the speakers",
        "Written items before and after their speakers were given characters, as a model sees them (Figure 5).",
    ),
    Figure(
        "domain_counts",
        ("dialogbench/domain_counts",),
        "dialogbench.figure_domain_counts",
        "Domains of the written items",
        "As a model sees them, before and after the domain was given (Figure 6).",
    ),
)

TRAINING = (
    Figure(
        "record",
        ("training/record",),
        "training.figure_record",
        "What judges learned",
        "AUC on dialogues that were held back, before and after the training, by kind of negative; at 50 a judge tells "
        "nothing. Intervals are clustered by dialogue.",
        ("interval",),
    ),
    Figure(
        "curve",
        ("training/curve", "training/runs"),
        "training.figure_curve",
        "How the training went",
        "Loss of what was learned from, and loss and AUC of the development part; where a training may stop early, its "
        "loss chooses the weights that are kept.",
    ),
)

LABELS = (
    Figure(
        "corrected",
        ("labels/corrected",),
        "systems.figure_corrected",
        "What people would say",
        "Each system by the judge alone, by people's labels alone, and by both: the labels say how far the judge is "
        "off, its scores of everything make the interval shorter.",
        ("interval",),
        order=_SYSTEMS,
    ),
)

BATTLES = (
    Figure(
        "{title}",
        ("battles/{title}",),
        "pairwise.figure_battle_ratings",
        "Ratings from the battles '{title}'",
        "Bootstrap Elo beside Bradley-Terry and Davidson ratings, with intervals over resampled clusters.",
        ("interval",),
        per="title",
    ),
)

MEASURES = (
    Figure(
        "means",
        ("{protocol}/means",),
        "systems.figure_means",
        "Means by criterion: {protocol}",
        "Mean judgement of every system on each criterion, on the criterion's own scale. Intervals are clustered by "
        "case.",
        order=_SYSTEMS,
        per="protocol",
    ),
    *(
        Figure(
            name,
            (f"{{protocol}}/{name}",),
            "systems.figure_shares",
            title,
            caption,
            order=_SYSTEMS,
            per="protocol",
        )
        for name, title, caption in (
            (
                "rates",
                "Rates: {protocol}",
                "Share of every system's dialogues of which a judge says what stands above the panel. Intervals are "
                "clustered by case.",
            ),
            (
                "checklist",
                "Checklist: {protocol}",
                "Share of the checklist's questions that a judge answers with yes. Intervals are clustered by case.",
            ),
            (
                "pass_rates",
                "Pass rates: {protocol}",
                "Share of dialogues in which the judge sees nothing up to N. Intervals are clustered by case.",
            ),
        )
    ),
    Figure(
        "win_rates",
        ("{protocol}/win_rates",),
        "pairwise.figure_win_rates",
        "Who wins against whom: {protocol}",
        "Win rates of every system against every other one, or against the one that all are compared with.",
        order=_SYSTEMS,
        per="protocol",
    ),
    Figure(
        "ratings",
        ("{protocol}/ratings",),
        "pairwise.figure_ratings",
        "Ratings: {protocol}",
        "Bootstrap Elo beside Bradley-Terry and Davidson ratings, with intervals over resampled cases.",
        order=_SYSTEMS,
        per="protocol",
    ),
    replace(_BIAS, name="bias"),
)
"""Of any protocol's measures: each is called as its measure."""
