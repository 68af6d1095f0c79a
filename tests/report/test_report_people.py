"""What people would say, on the page: columns that come first and decide, and a part of its own."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import transcripts_report as mine

from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.leaderboard import build_boards, people_boards
from dialeval.report.page import build_report
from dialeval.report.summary import summarise
from dialeval.tables.files import to_table
from dialeval.tables.labels import ESTIMATES, REPLACEMENT, SELECTIVE, VARIANCE_COMPONENTS
from dialeval.tables.measures import RANKS

Row = dict[str, Any]


def row(system: str, estimate: float | None, **more: Any) -> Row:
    """A row of the table: people would put v1 first, whatever the judge says."""
    value = -1.0 if estimate is None else estimate
    numbers = {
        "ci_low": value - 0.3,
        "ci_high": value + 0.3,
        "human_only": value + 0.1,
        "human_only_ci_low": value - 0.5,
    }
    numbers |= {"human_only_ci_high": value + 0.5, "judge_only": 8.0 - value, "judge_only_ci_low": 7.0 - value}
    about = {
        "protocol": "felt", "criterion": "empathy", "measure": "mean", "system": system, "judge": "clerk",
        "annotators": "people", "target": "new_cases", "estimate": estimate, "judge_only_ci_high": 9.0 - value,
        "judge_bias": 0.5,
        "n_labelled": 30, "n_labelled_seeds": 30, "n_total": 222, **(numbers if estimate is not None else {}),
    }  # fmt: skip
    return about | more


ROWS = [
    row("v1", 5.0, judge_bias=-1.5),
    row("v2", 4.0, n_labelled=28),
    row("v1", 1.0, measure="mean difference", opponent="v2"),
]


def run(rows: list[Row], **more: Any) -> ReportInputs:
    inputs = mine.inputs()
    tables = {**inputs.tables, "labels/estimates": to_table(ESTIMATES, rows)}
    return dataclasses.replace(inputs, tables=tables, **more)


def test_people_decide_who_is_best_and_order_the_board() -> None:
    inputs = run(ROWS)
    (board,) = build_boards(inputs)
    assert [measure.label for measure in board.measures] == [
        "Human-corrected felt (empathy)", "helpful Elo", "helpful Bradley-Terry", "felt (empathy)",
    ]  # fmt: skip

    assert board.ordered_by == 0
    assert board.models == ("v1", "v2")
    said = summarise(inputs, board)
    assert said.answer.startswith(
        "v1 is best, according to human-corrected estimates: first by felt (empathy) (5.000). By felt"
    )
    assert said.headline == "v1 comes first: 5.000 by felt (empathy), human-corrected. The order was not tested."
    assert (
        "felt (empathy): 28 to 30 labelled items per system; bias of judge clerk: -1.500 to +0.500."
    ) in said.details


def test_the_part_on_labels_holds_the_three_side_by_side_and_says_where_the_judge_alone_differs() -> None:
    (one,) = people_boards(run(ROWS))
    assert [measure.label for measure in one.board.measures] == [
        "Human-corrected felt (empathy)", "Labels only: felt (empathy)", "Judge only: felt (empathy)",
    ]  # fmt: skip
    assert one.summary.answer.startswith(
        "v1 is best, according to human-corrected estimates: first by felt (empathy) (5.000). By felt"
    )
    assert one.summary.basis == (
        "According to judge clerk alone, the first is v2 by felt (empathy).",
        "The human-corrected estimates use labels of annotators, and the judge's scores of all dialogues.",
    )
    page = build_report(run(ROWS, figures=(Figure("What people would say", "", "<svg/>", part="labels"),)))
    assert re.findall(r'<section[^>]* id="(labels[^"]*)"', page) == [
        "labels", "labels-leaderboard", "labels-figures", "labels-tables",
    ]  # fmt: skip
    assert "Human-corrected estimates" in page


def test_simulated_annotators_are_called_so_everywhere() -> None:
    inputs = run([one | {"annotators": "simulated"} for one in ROWS])
    (board,) = build_boards(inputs)
    assert board.measures[0].label == "Simulated labels: felt (empathy)"
    said = summarise(inputs, board)
    assert said.answer.startswith("v1 is best, according to estimates corrected by simulated labels")
    assert (
        said.headline
        == "v1 comes first: 5.000 by felt (empathy), corrected by simulated labels. The order was not tested."
    )
    assert "simulated annotators (a program, not people)" in " ".join(said.basis)


def test_labels_of_annotators_and_programs_are_named_together() -> None:
    inputs = run([one | {"annotators": "people and simulated"} for one in ROWS])
    (board,) = build_boards(inputs)
    assert "use labels of annotators and simulated annotators (a program, not people)" in " ".join(
        summarise(inputs, board).basis
    )


def test_the_panel_stands_for_all_judges_and_is_no_leaderboard_of_its_own() -> None:
    rows = [one | {"judge": judge} for judge in ("clerk", "panel") for one in ROWS]
    assert len(build_boards(run(rows))) == 1
    (one,) = people_boards(run(rows))
    assert one.board.measures[2].label == "All judges: felt (empathy)"
    assert one.summary.basis[0] == "According to all judges alone, the first is v2 by felt (empathy)."


def test_an_order_that_nothing_tested_is_left_open_whatever_the_intervals() -> None:
    for value in (4.0, 1.0):
        (one,) = people_boards(run([row("v1", 4.1), row("v2", value)]))
        assert "By felt (empathy), the order of v1 and v2 was not tested." in one.summary.answer


def test_of_several_lengths_the_longest_decides_and_of_pairs_the_rating() -> None:
    rows = [
        row(system, value, protocol="helpful", criterion=None, measure=measure, n_utterances=n, opponent=opponent)
        for system, value in (("v1", 0.6), ("v2", 0.4))
        for measure, n, opponent in (
            ("win_rate", 8, None), ("win_rate", 16, None), ("rating", 16, None), ("win_rate", 16, "v2"),
        )
    ]  # fmt: skip
    (board,) = build_boards(run(rows))
    people = [measure for measure in board.measures if measure.by_people]
    assert [measure.label.replace("\N{NO-BREAK SPACE}", " ") for measure in people] == [
        "Human-corrected helpful rating at N = 16"
    ]
    (one,) = people_boards(run(rows))
    measured = [(measure.name.replace("\N{NO-BREAK SPACE}", " "), measure.decides) for measure in one.board.measures]
    assert [found for found in measured if not found[0].startswith(("Labels", "Judge"))] == [
        ("helpful rating at N = 16", True), ("helpful win rate at N = 8", False), ("helpful win rate at N = 16", False),
    ]  # fmt: skip
    assert board.models == ("v1", "v2")
    assert board.measures[board.ordered_by or 0].kind == "rating"


def test_of_rates_against_the_one_that_all_are_beside_win_or_tie_decides() -> None:
    about = {"protocol": "helpful", "criterion": None, "opponent": "human"}
    (board,) = build_boards(run([row("v1", 0.6, measure=measure, **about) for measure in ("win_rate", "win_or_tie")]))
    assert [one.label for one in board.measures if one.by_people] == ["Human-corrected helpful win or tie"]


def test_a_system_without_a_number_comes_last_and_nothing_breaks() -> None:
    (one,) = people_boards(run([row("v1", None), row("v2", 4.0)]))
    assert one.board.models == ("v2", "v1")
    (nothing,) = people_boards(run([row("v1", None)]))
    assert "v1" in nothing.board.models
    assert people_boards(mine.inputs()) == ()


def test_no_system_is_best_where_only_one_was_labelled() -> None:
    inputs = run([row("v1", 5.0), row("v2", None)])
    (board,) = build_boards(inputs)
    words = "Only v1 was labelled, so there is no ranking: 5.000 by felt (empathy)."
    assert summarise(inputs, board).answer == words
    (one,) = people_boards(inputs)
    assert one.summary.answer == words


def place(system: str, rank: int, low: int, high: int) -> Row:
    about = {"table": "felt", "measure": "mean", "judge": "clerk", "scope": "empathy", "system": system}
    about |= {"estimate": 6.0 - rank, "rank": rank, "rank_ci_low": low, "rank_ci_high": high, "n_systems": 2}
    return about | {"n_better": low - 1, "n_worse": 2 - high}


def test_ranks_by_people_are_shown_where_they_decide() -> None:
    inputs = run(ROWS)
    ranked = to_table(RANKS, [place("v1", 1, 1, 2), place("v2", 2, 1, 2)])
    inputs = dataclasses.replace(inputs, tables={**inputs.tables, "labels/ranks": ranked})
    (board,) = build_boards(inputs)
    assert board.ordered_by is not None
    assert [measure.label for measure in board.measures][board.ordered_by - 1 :][:2] == [
        "Rank", "Human-corrected felt (empathy)",
    ]  # fmt: skip
    words = (
        "v1 comes first, according to human-corrected estimates: first by felt (empathy) (5.000). By felt (empathy), "
        "v2 does not differ significantly from v1."
    )
    assert summarise(inputs, board).answer == words
    (shown,) = people_boards(inputs)
    assert [measure.label for measure in shown.board.measures][:2] == ["Rank", "Human-corrected felt (empathy)"]
    assert shown.summary.answer == words
    assert "labels: Rank confidence sets" in build_report(inputs)


def checked(**more: Any) -> Row:
    """What the labels say of judge clerk on empathy."""
    about = {"protocol": "felt", "criterion": "empathy", "measure": "mean", "judge": "clerk", "annotators": "people"}
    return about | {"n": 60} | more


def test_the_part_on_labels_says_where_their_variance_comes_from() -> None:
    about = {"protocol": "felt", "criterion": "empathy", "statistic": "variance", "n_annotators": 3, "n_repeats": 1.0}
    shares = {
        "system": 0.2,
        "annotator": 0.125,
        "case x annotator": 0.25,
        "system x case x annotator": 0.3,
        "case": 0.125,
    }
    rows = [
        about | {"component": name, "share": share, "ci_low": 0.1, "ci_high": 0.9, "n": 60, "n_clusters": 20}
        for name, share in shares.items()
    ]
    few = [about | {"criterion": "tact", "component": "annotator", "share": 0.5, "n": 6, "n_clusters": 2}]
    inputs = run(ROWS)
    tables = {**inputs.tables, "labels/variance_components": to_table(VARIANCE_COMPONENTS, [*rows, *few])}
    (one,) = people_boards(dataclasses.replace(inputs, tables=tables))
    assert one.summary.details[-1] == (
        "Variance of the labels of empathy: 12.5% is between annotators' means, 55.0% is their disagreement on systems "
        "and dialogues."
    )


def test_the_part_on_labels_says_whether_the_judge_may_replace_annotators_and_when_to_escalate() -> None:
    rates = {"winning_rate_crowd": 0.33, "winning_rate_skilled": 0.67, "winning_rate_expert": 1.0}
    tested = [
        checked(annotator=None, n_annotators=3, n_missing=0, **rates),
        checked(annotator="ann", n_annotators=1, n_missing=0),
        checked(annotator=None, n_annotators=3, n_missing=0, judge="other"),
        checked(annotator=None, n_annotators=1, n_missing=0, criterion="tact", note="the test needs 3 annotators"),
        checked(annotator=None, n_annotators=2, n_missing=0, criterion="wit", note="it needs 30 items; they have 9"),
        checked(annotator=None, n_annotators=2, n_missing=0, criterion="zeal", note="it needs 30 items; they have 8"),
    ]
    sure = checked(agreement=0.8, threshold=0.5, coverage=0.62, at_least=0.81, n_escalated=84)
    unsure = checked(agreement=0.9, note="not shown")
    inputs = run(ROWS)
    tables = {
        "labels/replacement": to_table(REPLACEMENT, tested),
        "labels/selective": to_table(SELECTIVE, [sure, unsure]),
    }
    (one,) = people_boards(dataclasses.replace(inputs, tables={**inputs.tables, **tables}))
    assert one.summary.details[-4:] == (
        "Judge clerk passes the alternative annotator test at the margin 0.15 of skilled annotators (empathy).",
        "Judge clerk: no alternative annotator test (tact): the test needs 3 annotators.",
        "Judge clerk: no alternative annotator test (wit and zeal): it needs 30 items; the annotators have fewer.",
        "Judge clerk agrees with an annotator on at least 80.0% of its most certain items, 62.0% of all (empathy). "
        "Use annotators or a stronger judge for the other 84.",
    )
