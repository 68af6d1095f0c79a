"""Leaderboards: which columns there are, what they sort by, and what the sentences above them claim."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import report_example as example
import transcripts_report as mine

from dialeval.report.board import Board, Measure, Value, sort_value, write_interval, write_number
from dialeval.report.html_tables import table_grids
from dialeval.report.judgements import comparison_outcomes, single_outcome
from dialeval.report.leaderboard import build_boards
from dialeval.report.page import _notes, build_report
from dialeval.report.summary import summarise
from dialeval.stats.comparisons import start_note, without_start_note
from dialeval.tables.dialogues import JUDGEMENTS, UTTERANCE_LENGTHS
from dialeval.tables.files import empty_table, to_table
from dialeval.tables.measures import PASS_RATES, WIN_RATES
from dialeval.tables.robustness import PAIR_COUNTS


def board_of(*measures: Measure, judge: str | None = "clerk") -> Board:
    models = tuple(dict.fromkeys(model for measure in measures for model in measure.values))
    return Board(judge, measures, models, 0, sources=("selfchat",))


def measure(label: str, **values: tuple[float, float, float]) -> Measure:
    return Measure(label, "share", True, {model: Value(*numbers) for model, numbers in values.items()})


def test_a_board_joins_what_every_protocol_measured() -> None:
    (board,) = build_boards(example.inputs())

    assert [m.label.replace("\N{NO-BREAK SPACE}", " ") for m in board.measures] == [
        "UniEval pass rate at N = 4",
        "UniEval pass rate at N = 16",
        "Arena Elo at N = 4",
        "Arena Bradley-Terry at N = 4",
        "GTEval win or tie",
        "Tokens per utterance",
    ]
    assert board.models == ("able", "weak", "human")  # by Elo; without one, last
    assert board.unparsed["weak"] == (("UniEval", 1), ("Arena", 0), ("GTEval", 2))


def test_cells_keep_the_whole_number_to_sort_by() -> None:
    inputs = example.inputs()
    grid = example.first_grid(inputs)
    rows = {row.model: row for row in grid.rows}

    rate = rows["able"].cells[1]
    assert (rate.text, rate.sort) == ("66.7%", repr(2 / 3))
    assert rate.details == ("61.7–71.7%",)
    assert rate.strip is not None
    assert rate.strip.low < rate.strip.dot < rate.strip.low + rate.strip.width
    assert rows["human"].is_human
    assert rows["weak"].tags == ("embedded",)
    elo_of_people = rows["human"].cells[2]
    assert (elo_of_people.text, elo_of_people.sort) == ("–", None)
    assert [column.sorted_by for column in grid.columns].index(True) == 1  # Elo


def test_published_numbers_stand_beside_ours_and_are_marked_if_the_run_has_other_prompts() -> None:
    lengths = [{**example._length("able", 40.0), "published_mean": 30.5}]
    inputs = example.inputs(tables={"botchat/utterance_lengths": to_table(UTTERANCE_LENGTHS, lengths)})
    others = dataclasses.replace(inputs, other_prompts=True)
    for run, words in ((inputs, "paper"), (others, "paper (other prompts)")):
        (row,) = [row for row in example.first_grid(run).rows if row.model == "able"]
        assert (row.cells[0].text, row.cells[0].details) == ("40.0", (f"{words} 30.5",))
        (grid,) = table_grids(run)
        assert [column.label for column in grid.columns if "published" in column.label] == [
            f"published mean{words.removeprefix('paper')}"
        ]
        page = build_report(run)
        assert "the paper’s number" in page
        assert ("“other prompts”: this run did not use the paper’s prompts" in page) == run.other_prompts
    assert "the paper’s number" not in build_report(mine.inputs())
    counted = dataclasses.replace(others, tables={PAIR_COUNTS.name: empty_table(PAIR_COUNTS)})
    assert "published n" in [column.label for grid in table_grids(counted) for column in grid.columns]  # by no prompt


def test_tables_for_machines_are_not_shown_and_missing_values_sort_last() -> None:
    grids = {grid.title: grid for grid in table_grids(example.inputs())}
    assert set(grids) == {"unieval: Pass rates", "arena: Ratings", "gteval: Win rates", "Utterance lengths"}
    ratings = grids["arena: Ratings"]
    columns = [column.label for column in ratings.columns]
    cell = ratings.rows[0].cells[columns.index("elo sd")]
    assert (cell.text, cell.sort) == ("–", None)
    assert ratings.elsewhere == "As a file: results/tables/arena/ratings.csv"


@pytest.mark.parametrize(
    ("value", "kind", "written"),
    [
        (0.6549, "share", "65.5%"),
        (1167.24, "rating", "1167.2"),
        (80808, "count", "80,808"),
        (0.73219, "number", "0.732"),
        (1.5, "number", "1.500"),
        (-0.25, "number", "-0.250"),
        (0.0, "number", "0.000"),
        (87.5, "number", "87.50"),
        (0.000421, "number", "0.000421"),
        (123456.0, "number", "1.235e+05"),
        (3, "number", "3"),
        (None, "share", "–"),
        (math.nan, "rating", "–"),
    ],
)
def test_numbers_are_written_by_kind(value: float | None, kind: str, written: str) -> None:
    assert write_number(value, kind) == written  # type: ignore[arg-type]


def test_intervals_need_both_ends() -> None:
    assert write_interval(0.1, 0.25, "share") == "10.0–25.0%"
    assert write_interval(None, 0.25, "share") == ""
    assert write_interval(-0.25, -0.125, "correlation") == "-0.250 to -0.125"


def test_what_a_column_sorts_by() -> None:
    assert [sort_value(value) for value in (10, 9.5, None, math.nan, "MT-2", True)] == [
        "10", "9.5", None, None, "MT-2", "1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        (
            {"a": (0.9, 0.85, 0.95), "b": (0.5, 0.4, 0.6)}, {"a": (0.7, 0.6, 0.8), "b": (0.6, 0.5, 0.65)},
            "a chats best, according to judge clerk: first by one (90.0%) and two (70.0%). By one and two, the order "
            "of a and b was not tested.",
        ),
        (
            {"a": (0.9, 0.8, 1), "b": (0.5, 0.4, 0.6)}, {"a": (0.1, 0, 0.2), "b": (0.6, 0.5, 1)},
            "Judge clerk has no single winner. First: a by one (90.0%); b by two (60.0%). By one and two, the order "
            "of a and b was not tested.",
        ),
        (
            {"a": (0.0, 0, 0.1), "b": (0.0, 0, 0.1)}, {},
            "Judge clerk has no single winner. First: a and b by one (0.0%).",
        ),
    ],
    ids=["one leader", "two leaders", "a shared first place"],
)  # fmt: skip
def test_the_answer_names_who_is_first_by_each_measure(one: dict[str, Any], two: dict[str, Any], answer: str) -> None:
    board = board_of(*(measure(label, **values) for label, values in (("one", one), ("two", two)) if values))
    assert summarise(example.inputs(), board).answer == answer


def test_one_chatbot_is_not_ranked_and_people_are_no_rival() -> None:
    board = board_of(measure("one", a=(0.4, 0.3, 0.5), human=(0.9, 0.8, 1)))
    summary = summarise(example.inputs(), board)
    assert summary.answer == "Only a chatted, so there is no ranking: 40.0% by one."
    assert summary.details[0] == "The human dialogues reach 90.0% by one."


def test_embedded_models_are_called_a_baseline() -> None:
    (board,) = build_boards(example.inputs())
    summary = summarise(example.inputs(), board)
    assert summary.details[-1] == "Tokens are counted by: cl100k_base."
    basis = " ".join(summary.basis)
    assert "3 seeds, 2 of them for Arena and GTEval" in basis
    assert "Chatbot weak is an embedded model, a small classical baseline" in basis
    assert "Judge clerk" not in basis
    inputs = example.inputs(embedded=frozenset({"clerk"}))
    assert "Judge clerk is an embedded model. Its verdicts are a baseline" in " ".join(summarise(inputs, board).basis)


def test_unread_verdicts_are_counted() -> None:
    inputs = example.inputs()
    (board,) = build_boards(inputs)
    assert "1 of 11 verdicts of clerk have no parsed answer" in summarise(inputs, board).details[1]
    none = dataclasses.replace(inputs, verdicts=empty_table(JUDGEMENTS))
    assert not [sentence for sentence in summarise(none, board).details if "could be parsed" in sentence]


def test_people_are_named_at_the_greatest_length_they_reach() -> None:
    people = (example._rate("human", 4, 0.9), example._rate("human", 16, None, n=0))
    tables = {"unieval/pass_rates": to_table(PASS_RATES, [example._rate("able", 16, 0.5), *people])}
    (board,) = build_boards(example.inputs(tables=tables))
    sentence = summarise(example.inputs(), board).details[0].replace("\N{NO-BREAK SPACE}", " ")
    assert sentence == "The human dialogues reach 90.0% by UniEval pass rate at N = 4 (3 dialogues)."


def test_a_rate_of_nothing_read_is_no_rate() -> None:
    tables = {
        "unieval/pass_rates": to_table(
            PASS_RATES,
            [example._rate("able", 16, 0.0, n_unparsed=3), example._rate("weak", 16, 0.2, n_unparsed=1)],
        ),
        "gteval/win_rates": to_table(WIN_RATES, [example._against_people("able", 0.0, 1.0)]),
    }
    inputs = example.inputs(tables=tables)
    (board,) = build_boards(inputs)
    rows = {row.model: row for row in example.first_grid(inputs).rows}
    assert [cell.text for cell in rows["able"].cells] == ["–", "–", "7"]
    assert rows["able"].cells[0].note == "none of the verdicts could be parsed, so there is no rate to show"
    assert summarise(inputs, board).answer.startswith("weak chats best")


def test_a_share_of_fewer_dialogues_says_of_how_many() -> None:
    rates = [example._rate("able", 4, 0.5), example._rate("human", 4, 1.0, n=2)]
    inputs = example.inputs(tables={"unieval/pass_rates": to_table(PASS_RATES, rates)})
    rows = {row.model: row for row in example.first_grid(inputs).rows}
    assert rows["human"].cells[0].details[-1] == "of 2 only"
    assert rows["able"].cells[0].details == ("45.0–55.0%",)


def test_a_verdict_has_an_outcome_for_each_dialogue_and_other_values_are_refused() -> None:
    outcomes = {"left": ("won", "lost"), "right": ("lost", "won"), "tie": ("tied", "tied"), None: ("none", "none")}
    assert {winner: comparison_outcomes(winner) for winner in outcomes} == outcomes
    assert [single_outcome(choice) for choice in ("No", "Yes", None)] == ["won", "lost", "none"]
    with pytest.raises(ValueError, match="'able' is none of left, right, tie"):
        comparison_outcomes("able")
    with pytest.raises(ValueError, match="'maybe' is neither Yes nor No"):
        single_outcome("maybe")


def test_a_remark_that_several_systems_share_is_written_once() -> None:
    few = Value(1.0, note="few labels")
    own = {"able": few, "sad": few, "shy": Value(2.0, note="one label")}
    board = Board("clerk", (Measure("score", "number", True, own), Measure("rate", "share", True, {"shy": few})), (), 0)
    assert _notes(board) == ("able and sad: few labels (score)", "shy: one label (score)", "shy: few labels (rate)")


def test_a_remark_about_elo_is_no_remark_about_bradley_terry() -> None:
    assert without_start_note(start_note(79, float("inf"))) == ""
    of_elo = start_note(79, 1154)
    assert without_start_note(of_elo) == ""
    assert without_start_note(f"{of_elo}; not converged") == "not converged"
    assert without_start_note(f"undefeated; {of_elo}; not converged") == "undefeated; not converged"
    assert without_start_note(f"undefeated; {of_elo}") == "undefeated"
    assert without_start_note("undefeated") == "undefeated"
