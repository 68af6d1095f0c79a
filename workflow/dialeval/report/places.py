"""Places on a leaderboard: which of them are settled, as the table `ranks` of a protocol says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dialeval.report.board import Board, Measure, Place, Value, chatbots_of
from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import listed
from dialeval.text.counting import counted

HEADING = "Place"
_MOST_NAMED = 4


def placed(inputs: ReportInputs, folder: str, judge: str | None, measure: Measure) -> Measure:
    """Returns a column with the places that systems can have by it, where they were ranked.

    Args:
        inputs: the run.
        folder: where the table `ranks` lies: the protocol's, or that of labels.
        judge: whose scores.
        measure: the column.
    """
    table = inputs.tables.get(f"{folder}/ranks")
    if table is None or measure.compared_as is None:
        return measure
    found = {
        row["system"]: Place(row["rank"], row["rank_low"], row["rank_high"])
        for row in table.to_pylist()
        if (row["judge"], (row["table"], row["measure"], row["scope"])) == (judge, measure.compared_as)
    }
    return replace(measure, places=found)


def place_column(measure: Measure) -> list[Measure]:
    """Returns the column of places by the measure that orders a leaderboard; none where it ranks nobody."""
    if not measure.places:
        return []
    values = {
        system: Value(place.rank, place.low, place.high, cases=measure.values[system].cases)
        for system, place in measure.places.items()
        if system in measure.values
    }
    words = (
        f"Place by {measure.name}, and under it the places that the system can have: all of them hold together, since "
        "p-values are corrected for all pairs (Holm)"
    )
    return [Measure(HEADING, "count", decides=False, values=values, words=words, low_is_best=True)]


@dataclass(frozen=True)
class First:
    """Who is first by a measure, and who cannot be told apart from the first.

    Attributes:
        label: the measure's.
        leaders: who has the best value.
        rivals: who else may be first, in the order of the places.
        unplaced: who has no place by it.
    """

    label: str
    leaders: tuple[str, ...]
    rivals: tuple[str, ...]
    unplaced: tuple[str, ...] = ()


def first_by(board: Board, measure: Measure) -> First | None:
    """Returns who may be first by a measure; None where nobody was ranked by it."""
    ranked = sorted(
        (place.rank, system) for system in chatbots_of(board) if (place := measure.places.get(system)) is not None
    )
    leaders = tuple(system for rank, system in ranked if rank == 1)
    rivals = tuple(system for rank, system in ranked if rank > 1 and measure.places[system].low == 1)
    unplaced = tuple(system for system in chatbots_of(board) if system not in measure.places)
    return First(measure.name, leaders, rivals, unplaced) if leaders else None


def in_words(firsts: list[First], n_named: int) -> list[str]:
    """Returns a sentence for all measures by which the first place is settled, and one for each set of rivals.

    Args:
        firsts: who may be first, by each measure.
        n_named: how many measures were named before; what holds by all of them is said without their names.
    """

    def by(labels: list[str]) -> str:
        return "By each of these" if len(labels) == n_named > 1 else f"By {listed(labels)}"

    settled: dict[tuple[str, ...], list[str]] = {}
    for first in firsts:
        if len(first.leaders) == 1 and not first.rivals:
            settled.setdefault(first.unplaced, []).append(first.label)
    sentences = [
        f"{by(labels)}, all others are shown to be worse{_except(unplaced)}." for unplaced, labels in settled.items()
    ]
    rivals: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for first in firsts:
        if first.rivals:
            rivals.setdefault((first.leaders, first.rivals), []).append(first.label)
    sentences += [
        f"{by(labels)}, {_named(others)} cannot be told apart from {listed(list(leaders))}."
        for (leaders, others), labels in rivals.items()
    ]
    return sentences


def _except(unplaced: tuple[str, ...]) -> str:
    return f", except {_named(unplaced)}, of which no place is known" if unplaced else ""


def _named(systems: tuple[str, ...]) -> str:
    if len(systems) <= _MOST_NAMED:
        return listed(list(systems))
    return f"{', '.join(systems[: _MOST_NAMED - 1])} and {counted(len(systems) - _MOST_NAMED + 1, 'other')}"
