"""What a leaderboard is: numbers, ranks, and links to the cases behind a number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import quote

from dialeval.figures.metaeval_names import ALL, AVERAGE
from dialeval.report.inputs import SELFCHAT, EvaluatedProtocol, ReportInputs
from dialeval.tables.files import HUMAN
from dialeval.tables.schema import Kind, scope
from dialeval.text import counted


@dataclass(frozen=True)
class Board:
    """The leaderboard of one judge.

    Attributes:
        judge: name of the judge; None if no judge ran.
        measures: the columns.
        models: the rows, best first by the measure at `ordered_by`.
        ordered_by: place in `measures` of the measure that orders the rows, or None.
        unparsed: by model, pairs of a protocol and how many of its verdicts could not be read.
        sources: sources of the dialogues.
        unparsed_by_protocol: pairs of a protocol and its number of unparsed verdicts; one on a pair counts for two
            models, and once here.
    """

    judge: str | None
    measures: tuple[Measure, ...]
    models: tuple[str, ...]
    ordered_by: int | None
    unparsed: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    unparsed_by_protocol: tuple[tuple[str, int], ...] = ()

    @property
    def primary(self) -> Measure | None:
        """The measure that orders the rows."""
        return None if self.ordered_by is None else self.measures[self.ordered_by]

    @property
    def numbers(self) -> dict[str, float]:
        """The available numbers of the primary measure by row, best first."""
        measure = self.primary
        return {name: number for name in self.models if measure and (number := measure.number(name)) is not None}


@dataclass(frozen=True)
class Measure:
    """One column of a leaderboard.

    Attributes:
        label: the column's heading, such as `Arena Elo at N = 16`.
        kind: how its numbers are written.
        decides: whether the headline may rest on it.
        values: by model.
        criterion: which it is about, if it is about one.
        words: what must be known of the whole column.
        compared_as: its table, measure and scope in the tables `differences` and `ranks`; None if they lack it.
        places: ranks by system; empty if systems are not ranked by it.
        low_is_best: whether less is better.
        by_people: annotators of a human-corrected measure, which takes precedence over judges; else empty.
        short: its name in sentences that name the source; empty if that is its label.
        group: columns that open together, such as those of the judge alone; empty for a column that is always shown.
    """

    label: str
    kind: Kind
    decides: bool
    values: dict[str, Value]
    criterion: str = ""
    words: str = ""
    compared_as: tuple[str, str, str] | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    low_is_best: bool = False
    by_people: str = ""
    short: str = ""
    group: str = ""

    @property
    def name(self) -> str:
        """The measure's name in a sentence."""
        return self.short or self.label

    def number(self, model: str) -> float | None:
        """Return the number of a row; None if it is not available."""
        value = self.values.get(model)
        return None if value is None or is_missing(value.value) else value.value

    def written(self, model: str) -> str:
        """Return the number of a row as text."""
        return write_number(self.number(model), self.kind)


class Place(NamedTuple):
    """The place of a system by one measure, 1 being the best, and the best and worst that it can have."""

    rank: int
    ci_low: int
    ci_high: int


@dataclass(frozen=True)
class Value:
    """One measured number of one model; a missing part is None.

    Attributes:
        value: the number, shares as fractions of 1.
        ci_low, ci_high: its interval.
        published: number in the paper for a model of this name.
        n: of how many dialogues or comparisons it is a share.
        note: remark in the table, such as why the number is missing.
        cases: address of its cases; empty without any.
        remark: a few words shown with it; a value with a remark is not compared with others.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    published: float | None = None
    n: int | None = None
    note: str = ""
    cases: str = ""
    remark: str = ""


def chatbots_of(board: Board) -> tuple[str, ...]:
    """Return the rows of a board that are not the human dialogues."""
    return tuple(model for model in board.models if model != HUMAN)


# Numbers as text, and their sort values.

MISSING = "–"


def is_missing(value: object) -> bool:
    """Whether a table's value is null or not a number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def write_number(value: float | int | None, kind: Kind) -> str:
    """Return a number as text; a missing one as a dash.

    Args:
        value: shares as fractions of 1.
        kind: what the number is.
    """
    if value is None or is_missing(value):
        return MISSING
    match kind:
        case "share":
            return f"{100 * value:.1f}%"
        case "rating" | "tokens":
            return f"{value:.1f}"
        case "correlation":
            return f"{value:.3f}"
        case "count":
            return f"{int(value):,}"
        case _:
            return str(value) if isinstance(value, int) else _with_all_digits(value)


def _with_all_digits(value: float) -> str:
    """Return a number with four digits, zeros at its end too, so that the numbers of a column are alike."""
    size = abs(value)
    digits = 3 if size < 10 else 2 if size < 100 else 1
    return f"{value:.4g}" if 0 < size < 0.01 or size >= 1000 else f"{value:.{digits}f}"


def write_interval(low: float | None, high: float | None, kind: Kind) -> str:
    """Return an interval, the unit only once; empty if either end is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    between = " to " if low is not None and low < 0 else "–"  # a dash before a minus reads as one mark
    return f"{write_number(low, kind).removesuffix('%')}{between}{write_number(high, kind)}"


def sort_value(value: object) -> str | None:
    """Return a number in full for sorting, or None for a missing one; anything else is sorted by its text."""
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, int | float) else str(value)


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


# Ranks on a leaderboard and their confidence sets, from the table `ranks`.

HEADING = "Rank"
_MOST_NAMED = 4


def placed(inputs: ReportInputs, folder: str, judge: str | None, measure: Measure) -> Measure:
    """Return a column with its ranks and their confidence sets.

    Args:
        inputs: the run.
        folder: folder of the table `ranks`: the protocol, or `labels`.
        judge: whose scores.
        measure: the column.
    """
    found = {
        row["system"]: Place(row["rank"], row["rank_ci_low"], row["rank_ci_high"])
        for row in inputs.rows(f"{folder}/ranks")
        if (row["judge"], (row["table"], row["measure"], row["scope"])) == (judge, measure.compared_as)
    }
    return replace(measure, places=found)


def ordered_board(
    judge: str | None, measures: Sequence[Measure], ordered_by: int | None, systems: Sequence[str] = (), **about: Any
) -> Board:
    """Return the board of some measures: rows best first by one of them, with a column of its ranks before it.

    Args:
        judge: whose scores.
        measures: the columns.
        ordered_by: place of the measure that orders the rows; None to leave them as they are.
        systems: rows without a number too; of equal rows they come first, and the others by name.
        about: further fields of the board.
    """
    rows = [*systems, *sorted({name for measure in measures for name in measure.values}.difference(systems))]
    columns = list(measures)
    if ordered_by is not None:
        primary = measures[ordered_by]
        rows.sort(key=lambda name: math.inf if (number := primary.number(name)) is None else -number)
        ranks = _ranks(primary)
        columns[ordered_by:ordered_by] = ranks
        ordered_by += len(ranks)
    return Board(judge, tuple(columns), tuple(rows), ordered_by, **about)


def _ranks(measure: Measure) -> list[Measure]:
    """Return the column of ranks by a measure; none if it ranks no system."""
    if not measure.places:
        return []
    values = {
        system: Value(place.rank, place.ci_low, place.ci_high, cases=measure.values[system].cases)
        for system, place in measure.places.items()
        if system in measure.values
    }
    words = f"Rank by {measure.name}, with its simultaneous confidence set (Holm over all pairs)"
    return [Measure(HEADING, "count", decides=False, values=values, words=words, low_is_best=True)]


@dataclass(frozen=True)
class First:
    """The leader by a measure, and the systems that do not differ significantly from it.

    Attributes:
        label: the measure's.
        leaders: systems with the best value.
        rivals: other systems whose confidence set has rank 1, in the order of ranks.
        unplaced: systems without a rank.
    """

    label: str
    leaders: tuple[str, ...]
    rivals: tuple[str, ...]
    unplaced: tuple[str, ...] = ()


def first_by(board: Board, measure: Measure) -> First | None:
    """Return the systems that may be first by a measure; None if it ranks no system."""
    ranked = sorted(
        (place.rank, system) for system in chatbots_of(board) if (place := measure.places.get(system)) is not None
    )
    leaders = tuple(system for rank, system in ranked if rank == 1)
    rivals = tuple(system for rank, system in ranked if rank > 1 and measure.places[system].ci_low == 1)
    unplaced = tuple(system for system in chatbots_of(board) if system not in measure.places)
    return First(measure.name, leaders, rivals, unplaced) if leaders else None


def in_words(firsts: list[First], n_named: int) -> list[str]:
    """Return a sentence for all measures by which the first place is settled, and one for each set of rivals.

    Args:
        firsts: the systems that may be first, by each measure.
        n_named: number of measures named before; a sentence on all of them does not repeat their names.
    """

    def by(labels: list[str]) -> str:
        return "By each of these" if len(labels) == n_named > 1 else f"By {listed(labels)}"

    settled: dict[tuple[str, ...], list[str]] = {}
    for first in firsts:
        if len(first.leaders) == 1 and not first.rivals:
            settled.setdefault(first.unplaced, []).append(first.label)
    sentences = [
        f"{by(labels)}, all others are significantly worse{except_for(unplaced)}."
        for unplaced, labels in settled.items()
    ]
    rivals: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for first in firsts:
        if first.rivals:
            rivals.setdefault((first.leaders, first.rivals), []).append(first.label)
    sentences += [
        f"{by(labels)}, {named(others)} {'do' if len(others) > 1 else 'does'} not differ significantly from "
        f"{listed(leaders)}."
        for (leaders, others), labels in rivals.items()
    ]
    return sentences


def except_for(unplaced: tuple[str, ...]) -> str:
    """Return the words on systems without a rank; empty without any."""
    return f", except {named(unplaced)}, whose rank is not known" if unplaced else ""


def named(systems: tuple[str, ...]) -> str:
    """Return the names of systems, of many the first few and a count."""
    if len(systems) <= _MOST_NAMED:
        return listed(systems)
    return f"{', '.join(systems[: _MOST_NAMED - 1])} and {counted(len(systems) - _MOST_NAMED + 1, 'other')}"


# Addresses of the cases of a number in the viewer.

DIALOGUES, RATED, CHOICES, PERTURBED = "dialogues", "rated", "choices", "perturbed"
"""Cases on the page: dialogues, rated items, test items with options, items before and after a perturbation."""
_NO_CRITERION = (ALL, AVERAGE)
_ALL = "all"  # scope of comparisons on all items
_MEAN = "mean"  # of the domains of a group
_PRINTED = "published"  # a paper's numbers, which have no cases


def to_cases(kind: str, group: str = "", case: str = "", **facets: str | tuple[str, ...]) -> str:
    """Return the address of cases, without `#`.

    Args:
        kind: of the cases.
        group: the source, corpus, task or perturbation that they are of; empty for any.
        case: one of them; empty for the first.
        facets: what they must have; several values of one stand beside each other.
    """
    fields = {"cases": kind, "of": group, "case": case, **facets}
    written = {name: (value,) if isinstance(value, str) else value for name, value in fields.items()}
    return "&".join(
        f"{name}={','.join(quote(value, safe='') for value in values)}"
        for name, values in written.items()
        if any(values)
    )


def of_systems(protocol: EvaluatedProtocol, row: Mapping[str, Any]) -> str:
    """Return the address of the dialogues behind a row of a protocol's table; empty if it names no system."""
    judge, system = _text(row, "judge"), _text(row, "system")
    opponent = _text(row, "opponent")
    if not system and not judge:
        return ""
    return to_cases(
        DIALOGUES,
        protocol.sources[0] if len(protocol.sources) == 1 else "",
        _text(row, "case_id"),
        system=system,
        opponent=opponent if protocol.form == "pair" and not {"scope", "target"} & row.keys() else "",
        protocol=_question_name(protocol, row),
        judge=judge,
        models=(system, opponent) if opponent else (),
    )


def of_estimate(inputs: ReportInputs, row: Mapping[str, Any]) -> str:
    """Return the address of the dialogues behind a human-corrected row, judged by any judge."""
    protocol = next((one for one in inputs.protocols if one.name == row.get("protocol")), None)
    return of_systems(protocol, {**row, "judge": ""}) if protocol else ""


def of_chats(row: Mapping[str, Any]) -> str:
    """Return the address of a chatbot's own dialogues; empty for a row about no model."""
    model = _text(row, "model")
    return to_cases(DIALOGUES, SELFCHAT, models=model) if model else ""


def _question_name(protocol: EvaluatedProtocol, row: Mapping[str, Any]) -> str:
    """Return the name of a row's question in the viewer's filter; empty if the row has several."""
    scoped = _text(row, "scope").partition(", ")[0]
    criterion, n = _text(row, "criterion") or ("" if scoped == _ALL else scoped), row.get("n_utterances")
    lengths = (*protocol.lengths, *protocol.at)
    name = f"{protocol.name}: {criterion}" if protocol.form == "annotate" and criterion else protocol.name
    if is_missing(n):  # tables of places and differences say it in words
        n = next((one for one in lengths if _text(row, "scope") == scope({"n_utterances": one})), None)
    if n in lengths:
        return f"{name}/{n}"
    return "" if protocol.lengths else name


def of_unparsed(sources: tuple[str, ...], system: str, judge: str | None) -> str:
    """Return the address of the dialogues of a system about which a verdict could not be read."""
    if not sources:
        return ""
    group = sources[0] if len(sources) == 1 else ""
    return to_cases(DIALOGUES, group, system=system, outcome="none", judge=judge or "")


def of_ratings(row: Mapping[str, Any]) -> str:
    """Return the address of the rated items behind a row about a judge, or two, or a corpus; else nothing."""
    judge = scorer(_text(row, "judge"), _text(row, "method"))
    criterion = _text(row, "dimension")
    if not judge:
        return to_cases(RATED, _text(row, "corpus")) if _text(row, "corpus") else ""
    return to_cases(RATED, _text(row, "corpus"), judge=judge, criterion="" if criterion in _NO_CRITERION else criterion)


def of_perturbation(row: Mapping[str, Any]) -> str:
    """Return the address of the perturbed items behind a row about judges or a perturbation; else nothing."""
    judge = scorer(_text(row, "judge"), _text(row, "method")) or _text(row, "system")
    if not judge:
        return to_cases(PERTURBED, _text(row, "perturbation")) if row.get("n_pairs") else ""
    return to_cases(PERTURBED, _text(row, "perturbation"), judge=judge, criterion=_text(row, "dimension"))


def of_answers(row: Mapping[str, Any]) -> str:
    """Return the address of the test items behind a row about a model, or two; empty for any other row."""
    model = scorer(_text(row, "model"), _text(row, "method")) or _text(row, "system")
    if not model or row.get("method") == _PRINTED:
        return ""
    task = _text(row, "name") if _text(row, "scope") == "task" else ""
    domain = _text(row, "domain")
    return to_cases(CHOICES, task, model=model, domain="" if domain == _MEAN else domain)


def scorer(judge: str, method: str) -> str:
    """Return how a judge, or a model that takes a test, is called together with its method."""
    return f"{judge} ({method})" if judge and method else judge


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""
