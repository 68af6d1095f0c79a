"""What every table of a run shows, in words for its reader, and how its columns are written.

Adding a table to the page is adding an entry here; which part of the page it belongs to, its name says (`parts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa

from dialeval.report.numbers import Kind
from dialeval.report.parts import METAEVAL, part_of


@dataclass(frozen=True)
class Interval:
    """Columns that are written into the cell of another: the ends of its interval, and what a paper prints."""

    low: str = ""
    high: str = ""
    published: str = ""


@dataclass(frozen=True)
class TableDescription:
    """What is said about one table.

    Attributes:
        title: its heading.
        caption: what it shows, in a sentence or two.
        columns: what a column is, by its name, where the name does not say it.
        intervals: columns that have others in their cells.
        shown: whether the page holds its rows; where not, it says where they are.
        numbers: what its fractional numbers are; None where that depends on the column.
    """

    title: str
    caption: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    shown: bool = True
    numbers: Kind | None = None


_CORRELATIONS = MappingProxyType(
    {name: Interval(f"{name}_low", f"{name}_high") for name in ("pearson", "spearman", "kendall")}
)
_BEHIND = MappingProxyType(
    {
        "n_clusters": "seeds, or dialogues, that the number rests on",
        "design_effect": "variance of the number over that of as many independent rows",
        "effective_n": "independent rows that would say as much",
    }
)
_JUDGED = MappingProxyType(
    {
        **_BEHIND,
        "method": "how the judge scored: rating, yes_no, annotation (came with the corpus) or file (ready scores)",
        "level": "whether a response in its context (turn) or a whole dialogue was scored",
        "language": "language of the texts; average: mean over languages",
        "dimension": "what was rated; all: whatever a corpus is rated on; average: mean over dimensions",
        "rater_kind": "who rated: people (human), a model, or nobody, where the reference is known by construction",
        "n": "items with a score and a rating",
        "reason": "why a number is missing",
        "benchmark": "corpora that are averaged together",
    }
)

_DIFFERENCES = MappingProxyType(
    {
        "table": "the table whose numbers are compared",
        "measure": "what is compared",
        "scope": "at what N, on which task, and so on",
        "difference": "first less second, with its interval",
        "p": "two-sided, of no difference, for this pair alone",
        "p_holm": "corrected for all pairs of the family: below 0.05 the two can be told apart",
        "q_bh": "for exploration: of the pairs below 0.05 one in twenty is expected to be a false alarm",
        "family_size": "tests of the family: the rows that share table, measure, judge and scope",
        "n": "items that both have",
        "n_clusters": "seeds or dialogues that these are of",
    }
)


def _differences(title: str, words: str) -> TableDescription:
    return TableDescription(
        title,
        f"Is the first better than the second? {words} Pairs are compared on what both have; intervals and p-values "
        "respect that items of one seed or dialogue depend on each other.",
        _DIFFERENCES,
        {"difference": Interval("low", "high")},
        numbers="number",
    )


DESCRIPTIONS: Mapping[str, TableDescription] = MappingProxyType(
    {
        "botchat/differences": _differences(
            "Which chatbots can be told apart",
            "Pass and win-or-tie rates, the share of comparisons won less that lost (head to head), and ratings.",
        ),
        "botchat/unieval_pass_rates": TableDescription(
            "UniEval pass rates",
            "A dialogue passes at N if the judge sees no AI in it, or sees the first AI utterance after N; it counts "
            "only where it is that long, which few human dialogues are. Intervals are clustered by seed. A verdict "
            "that could not be read counts as not passed.",
        ),
        "botchat/unieval_at_gt_length": TableDescription(
            "UniEval at the human length",
            "The pass rate where every dialogue is taken up to as many utterances as the human dialogue of its seed "
            "has.",
        ),
        "botchat/arena_elo": TableDescription(
            "Arena ratings",
            "Elo is the median over shuffled orders of the comparisons, averaged over repeats; Bradley-Terry and "
            "Davidson (with ties) stand on the same scale. Intervals resample seeds. Verdicts that could not be read "
            "move no rating.",
        ),
        "botchat/arena_win_rates": TableDescription(
            "Arena win rates",
            "Shares of the comparisons of two models on the same seeds, in both orders, from the side of model a.",
        ),
        "botchat/gteval": TableDescription(
            "GTEval",
            "Each model's dialogue against the human one, cut to its length. A model wins where the human dialogue "
            "is called AI. Intervals are clustered by seed.",
        ),
        "botchat/judge_bias": TableDescription(
            "Judge bias",
            "How far a judge's verdicts follow position, length or family instead of the dialogues, and how far "
            "judges agree. Intervals are clustered by seed.",
        ),
        "botchat/utterance_lengths": TableDescription(
            "Utterance lengths", "Length of the generated utterances in tokens, and of the human ones."
        ),
        "botchat/utterance_tokens": TableDescription("Lengths of single utterances", shown=False),
        "botchat/seeds": TableDescription(
            "Length of the human dialogues", "How many human dialogues have so many utterances."
        ),
        "judge_report": TableDescription(
            "Judges on damaged dialogues",
            "How well an embedded judge tells true dialogues, left out of its training, from damaged ones.",
        ),
        "metaeval/averages": TableDescription(
            "Averages",
            "Correlations are taken within a corpus and then averaged over corpora, dimensions or languages. "
            "Intervals resample dialogues. A paper's number is an average over that paper's own corpora.",
            {
                **_JUDGED,
                "over": "what the mean is over: corpora, dimensions or languages",
                "raters": "human: people's ratings alone; full: a model's where there are no people's",
                "n_averaged": "how many correlations the mean is of",
            },
            {**_CORRELATIONS, "pearson": Interval("pearson_low", "pearson_high", "published_pearson")},
        ),
        "metaeval/correlations": TableDescription(
            "Correlations per corpus",
            "How well each judge's scores go with the ratings of one corpus. Intervals resample dialogues; a missing "
            "score lowers n and is counted.",
            {**_JUDGED, "n_missing": "rated items without a score"},
            _CORRELATIONS,
        ),
        "metaeval/corpora": TableDescription(
            "Rated corpora",
            "What was rated (as in Table 1 of comp-analysis). Words are what blanks part, which says little of Chinese "
            "and Japanese; at dialogue level the whole dialogue counts as the response.",
            {
                "n_utterances": "mean number of utterances of an item",
                "human_dimensions": "what people rated",
                "model_dimensions": "what a model rated",
            },
            numbers="rating",
        ),
        "metaeval/annotator_agreement": TableDescription(
            "Agreement of the raters",
            "How far the raters of a corpus, or the rounds of one, agree among themselves: no judge can be expected "
            "to agree much better with them.",
            {
                "n_rounds": "raters, or rounds of the same rater",
                "pairwise_pearson": "mean correlation of two rounds",
                "krippendorff_alpha": "agreement beyond chance, for an interval scale",
            },
            {
                "pairwise_pearson": Interval("pearson_low", "pearson_high"),
                "krippendorff_alpha": Interval("alpha_low", "alpha_high"),
            },
        ),
        "metaeval/dimension_ensemble": TableDescription(
            "Ensembles of dimensions",
            "A judge's mean score on all other dimensions, and its own score on overall, both against the overall "
            "rating (as in Table 8 of comp-analysis).",
            {**_JUDGED, "ensemble": "the mean of the other dimensions", "direct": "the score on overall itself"},
            {
                "ensemble": Interval("ensemble_low", "ensemble_high", "published_ensemble"),
                "direct": Interval("direct_low", "direct_high", "published_direct"),
            },
        ),
        "metaeval/model_ensemble": TableDescription(
            "Ensembles of judges",
            "The mean score of the best judges. Chosen on all corpora, the scored one among them, is the paper's way "
            "(Table 9 of comp-analysis) and flatters; chosen on other corpora is what one could know beforehand.",
            {
                **_JUDGED,
                "chosen_on": "where the best judges were found",
                "members": "the judges of the ensemble",
                "best_member": "the best correlation of one of them alone",
            },
            {"pearson": Interval("pearson_low", "pearson_high")},
        ),
        "metaeval/ranking_agreement": TableDescription(
            "Rankings of judges",
            "Whether people's ratings and a model's rank the judges alike (as in Table 7 of comp-analysis).",
            {**_JUDGED, "spearman": "rank correlation of the two rankings of judges"},
            {"spearman": Interval(published="published_spearman")},
        ),
        "metaeval/judge_pairs": TableDescription(
            "Which judges can be told apart",
            "Pearson correlations of two judges with the ratings, on the items that both scored. The paired bootstrap "
            "of dialogues leads; Williams' test takes items as independent.",
            {
                **_JUDGED,
                "between": "correlation of the two judges",
                "difference": "first less second, with its interval",
                "p": "two-sided, of equal correlations, for this pair alone",
                "p_holm": "corrected for all pairs on this dimension: below 0.05 the two can be told apart",
                "q_bh": "for exploration: of the pairs below 0.05 one in twenty is expected to be a false alarm",
                "family_size": "pairs on this dimension of this corpus",
                "p_reversed": "share of the resamples in which the other judge is ahead",
            },
            {"difference": Interval("difference_low", "difference_high")},
        ),
        "metaeval/matrices": TableDescription(
            "Correlations between dimensions, between languages and between judges", shown=False
        ),
        "robustness/differences": _differences(
            "Which judges can be told apart", "Ratios of noticed damage, by strategy and on average."
        ),
        "robustness/averages": TableDescription(
            "Robustness, on average",
            "Mean ratio of noticed damage over strategies and dimensions.",
            _JUDGED,
            {"average": Interval("low", "high", "published_average")},
        ),
        "robustness/robustness": TableDescription(
            "Robustness by strategy",
            "Share of pairs in which the score falls by more than theta, on scores from 0 to 1. "
            "Intervals are clustered by dialogue, which is damaged several times.",
            {**_JUDGED, "theta": "how far the score must fall", "rises": "share of pairs in which it rises as far"},
            {"ratio": Interval("low", "high", "published_ratio")},
        ),
        "robustness/ladders": TableDescription(
            "Ladders of damage",
            "Whether scores fall step by step as an item is damaged more and more.",
            _JUDGED,
            {
                "falling": Interval("falling_low", "falling_high"),
                "not_rising": Interval("not_rising_low", "not_rising_high"),
            },
        ),
        "robustness/pairs": TableDescription("What was damaged", "Pairs of an item and its damaged form."),
        "robustness/drops": TableDescription("How far scores fall", "Original score less damaged score.", _JUDGED),
        "robustness/thetas": TableDescription("Robustness at every threshold", shown=False),
        "dialogbench/differences": _differences(
            "Which models can be told apart",
            "Accuracies by task, by group of tasks and over all, and of the ablations.",
        ),
        "dialogbench/accuracy": TableDescription(
            "Accuracy",
            "Share of questions answered correctly; one that could not be read counts as wrong.",
            {"scope": "what the share is over: a task, a group of tasks, or all", "name": "which of them"},
            {"accuracy": Interval("low", "high", "published")},
        ),
        "dialogbench/domains": TableDescription(
            "Accuracy by domain", intervals={"accuracy": Interval("low", "high", "published")}
        ),
        "dialogbench/positions": TableDescription(
            "Accuracy by the place of the correct answer", intervals={"accuracy": Interval("low", "high")}
        ),
        "dialogbench/circular": TableDescription(
            "Accuracy over all rotations of the options", intervals={"accuracy": Interval("low", "high")}
        ),
        "dialogbench/ablations": TableDescription(
            "Ablations of the written items", intervals={"accuracy": Interval("low", "high")}
        ),
        "dialogbench/items": TableDescription("Test items", numbers="rating"),
        "dialogbench/styles": TableDescription("Styles of the speakers"),
        "dialogbench/domain_counts": TableDescription("Domains of the written items"),
        "dialogbench/filter_counts": TableDescription("Written items that were left out, and why"),
    }
)
"""By the table's name, in the order in which the page shows them."""

_SHARES = frozenset(
    {"pass_rate", "win", "tie", "lose", "unparsed", "win_low", "win_high", "win_or_tie", "accuracy"}
    | {"published_pass_rate", "published_win_or_tie", "p_above_next"}
)
_RATINGS = frozenset({"elo", "elo_sd", "published_elo", "mean", "median", "p95", "published_mean"})
_RATED_TABLES = frozenset({"botchat/arena_elo"})
_RATE_TABLES = frozenset({"botchat/unieval_pass_rates", "botchat/unieval_at_gt_length", "botchat/gteval"})
_NUMBERS: Mapping[str, Kind] = MappingProxyType(
    {METAEVAL: "correlation", "robustness": "share", "dialogbench": "share"}
)  # what fractional numbers of a part's tables are, unless a description says otherwise


def describe(name: str) -> TableDescription:
    """Returns what is said about a table; one that is not known here gets its name as title."""
    return DESCRIPTIONS.get(name, TableDescription(name))


def column_kind(table: str, column: str, kind: pa.DataType) -> Kind:
    """Returns how the numbers of a column are written."""
    if pa.types.is_integer(kind):
        return "number" if column == "n" and table.startswith("botchat/") and "lengths" not in table else "count"
    if not pa.types.is_floating(kind):
        return "text"
    if column.endswith(("design_effect", "effective_n")):
        return "rating"
    numbers = describe(table).numbers or _NUMBERS.get(part_of(table) or "")
    if numbers:
        return numbers
    is_end = column in {"low", "high"}
    if column in _SHARES or (is_end and table in _RATE_TABLES):
        return "share"
    if column in _RATINGS or column.startswith(("bradley_terry", "davidson")) or (is_end and table in _RATED_TABLES):
        return "rating"
    return "number"
