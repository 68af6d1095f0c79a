"""Adaptive comparisons in the report."""

from __future__ import annotations

from typing import Any

import report_example as example

from dialeval.report.leaderboard import build_boards
from dialeval.report.page import build_report
from dialeval.report.summary import summarise
from dialeval.tables.files import to_table
from dialeval.tables.measures import ADAPTIVE_ROUNDS


def row(round: int, system: str, opponent: str, decision: str, n_requests: int, **more: Any) -> dict[str, Any]:
    found = {
        "judge": "clerk", "round": round, "n_seeds": 20 * round, "n_utterances": 4, "system": system,
        "opponent": opponent, "estimate": 0.6, "se": 0.1, "statistic": 1.0, "boundary": 2.0, "decision": decision,
        "n_requests": n_requests, "n_requests_full": 400, "n_unparsed": 0, "n_missing": 0,
    }  # fmt: skip
    return found | more


def summary_of(*rows: dict[str, Any]) -> str:
    run = example.inputs()
    inputs = example.inputs(tables={**run.tables, "arena/adaptive_rounds": to_table(ADAPTIVE_ROUNDS, rows)})
    (board,) = build_boards(inputs)
    assert "Which places" not in build_report(inputs)
    return " ".join(summarise(inputs, board).basis)


def test_the_last_round_of_each_pair_counts() -> None:
    words = summary_of(
        row(1, "able", "weak", "open", 40),
        row(1, "able", "calm", "able", 40),
        row(2, "able", "weak", "ended", 80),
        row(1, "able", "weak", "able", 40, judge="another"),
    )
    assert "Arena (sequential pairs) settled 1 of 2 comparisons with 120 of 800 requests" in words
    assert "Not settled (not shown to be equal): able against weak (N = 4)." in words


def test_where_all_is_settled_nothing_is_named() -> None:
    words = summary_of(row(1, "able", "weak", "weak", 40, n_utterances=None))
    assert "settled 1 of 1 comparison with 40 of 400 requests" in words
    assert "Not settled" not in words


def test_many_that_are_open_are_counted() -> None:
    words = summary_of(*(row(1, "able", f"rival {n}", "ended", 40, criterion="warm") for n in range(9)))
    assert "able against rival 3 (warm, N = 4) and 5 more." in words
    assert "rival 4" not in words


def test_judges_with_all_requests_have_no_note() -> None:
    assert "in rounds" not in summary_of(row(1, "able", "weak", "able", 40, judge="another"))
