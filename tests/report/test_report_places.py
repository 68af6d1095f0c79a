"""Places on leaderboards: the column, and how the headline tells who may be first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import report_example as example

from dialeval.report.board import Board, Measure, Place, Value
from dialeval.report.leaderboard import build_boards
from dialeval.report.page import build_report
from dialeval.report.summary import summarise
from dialeval.tables.files import to_table
from dialeval.tables.measures import RANKS


def place(system: str, rank: int, low: int, high: int, **other: Any) -> dict[str, Any]:
    row = {"judge": "clerk", "table": "ratings", "measure": "elo", "scope": "N = 4", "system": system}
    row |= {"estimate": 1000.0 - rank, "rank": rank, "rank_ci_low": low, "rank_ci_high": high}
    return {**row, "n_better": low - 1, "n_worse": 2 - high, "n_systems": 2, **other}


def ranked(*rows: dict[str, Any]) -> Any:
    run = example.inputs()
    return example.inputs(tables={**run.tables, "arena/ranks": to_table(RANKS, rows)})


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_places_stand_before_the_measure_that_orders_the_board() -> None:
    inputs = ranked(place("able", 1, 1, 2), place("weak", 2, 1, 2), place("able", 2, 2, 2, measure="bradley_terry"))
    (board,) = build_boards(inputs)
    labels = [plain(measure.label) for measure in board.measures]
    assert labels[2:5] == ["Rank", "Arena Elo at N = 4", "Arena Bradley-Terry at N = 4"]
    assert board.ordered_by == 3
    grid = example.first_grid(inputs)
    rows = {row.model: row.cells[0] for row in grid.rows}
    assert (rows["able"].text, rows["able"].details) == ("1", ("1–2",))
    assert float(rows["able"].sort or "nan") > float(rows["weak"].sort or "nan")  # best first as in other columns
    assert (rows["human"].text, rows["human"].sort) == ("–", None)
    assert "simultaneous confidence set" in grid.columns[1].words
    assert "arena: Rank confidence sets" in build_report(inputs)


def test_other_judges_and_lengths_have_other_places() -> None:
    others = [place("able", 1, 1, 1, judge="else"), place("able", 1, 1, 1, scope="N = 8")]
    (board,) = build_boards(ranked(*others))
    assert "Rank" not in [measure.label for measure in board.measures]


def column(label: str, places: dict[str, tuple[int, int, int]]) -> Measure:
    values = {system: Value(1.0 - rank / 10, 0.0, 1.0) for system, (rank, _, _) in places.items()}
    return Measure(label, "share", True, values, places={system: Place(*three) for system, three in places.items()})


def board_of(*measures: Measure) -> Board:
    systems = tuple(dict.fromkeys(system for measure in measures for system in measure.values))
    return Board("clerk", measures, systems, 0, sources=("selfchat",))


SETTLED = {"a": (1, 1, 1), "b": (2, 2, 3), "c": (3, 2, 3)}
OPEN = {"a": (1, 1, 2), "b": (2, 1, 2)}
SEVEN = {name: (rank, 1, 7) for rank, name in enumerate("abcdefg", start=1)}
UNRANKED = Measure("three", "share", True, {"a": Value(0.9, 0.8, 1.0), "b": Value(0.5, 0.4, 0.85)})
BEST = "a chats best, according to judge clerk: first by"
FIRST = "a comes first, according to judge clerk: first by"


@pytest.mark.parametrize(
    ("measures", "answer"),
    [
        # settled, and settled by all but for one without a rank
        ([column("one", SETTLED)], f"{BEST} one (90.0%). By one, all others are significantly worse."),
        ([column("one", {"a": (1, 1, 1), "b": (2, 2, 2)}), column("two", SETTLED)],
         f"{BEST} one (90.0%) and two (90.0%). By one, all others are significantly worse, except c, whose rank is not "
         "known. By two, all others are significantly worse."),
        # rivals are named, many of them counted
        ([column("one", {"a": (1, 1, 3), "b": (2, 1, 3), "c": (3, 1, 3), "d": (4, 4, 4)})],
         f"{FIRST} one (90.0%). By one, b and c do not differ significantly from a."),
        ([column("one", {"a": (1, 1, 1), **{name: (rank, 2, 7) for rank, name in enumerate("bcdefg", start=2)}}),
          column("two", SEVEN), column("three", SEVEN)],
         f"{BEST} one (90.0%), two (90.0%) and three (90.0%). By one, all others are significantly worse. By two and "
         "three, b, c, d and 3 others do not differ significantly from a."),
        # what holds by every measure is said once
        ([column("one", OPEN), column("two", OPEN)],
         f"{FIRST} one (90.0%) and two (90.0%). By each of these, b does not differ significantly from a."),
        ([column("one", OPEN), column("two", OPEN), UNRANKED],
         f"{FIRST} one (90.0%), two (90.0%) and three (90.0%). By one and two, b does not differ significantly from a. "
         "By three, the order of a and b was not tested."),
        # a first place that is shared is not settled
        ([column("one", {"a": (1, 1, 2), "b": (1, 1, 2), "c": (3, 1, 3)})],
         "Judge clerk has no single winner. First: a and b by one (90.0%). By one, c does not differ significantly "
         "from a and b."),
    ],
)  # fmt: skip
def test_the_answer_says_how_surely_the_first_is_first(measures: list[Measure], answer: str) -> None:
    assert summarise(example.inputs(), board_of(*measures)).answer == answer


def test_the_headline_names_rivals_by_the_primary_measure() -> None:
    headlines = {
        "a chats best, significantly ahead of all others: 90.0% by one.": SETTLED,
        "a comes first, but not significantly before b and c: 90.0% by one.": {name: SEVEN[name] for name in "abc"},
    }
    for headline, places in headlines.items():
        assert summarise(example.inputs(), board_of(column("one", places))).headline == headline


def test_the_headline_states_that_its_number_is_human_corrected() -> None:
    one = column("one", {"a": (1, 1, 1), "b": (2, 2, 2)})
    for annotators, words in (("people", "human-corrected"), ("simulated", "corrected by simulated labels")):
        board = board_of(replace(one, by_people=annotators))
        assert summarise(example.inputs(), board).headline.endswith(f": 90.0% by one, {words}.")
