"""Verdicts on the same cases: which are the same, which flipped, and what was judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from two_runs import battles, passes, scores, write_items, write_run

from dialeval.report.comparison.runs import open_run
from dialeval.report.comparison.verdicts import compared_verdicts, texts_behind
from dialeval.tables.dialogbench import TEST_ANSWERS
from dialeval.tables.files import to_table, write_table

Row = dict[str, Any]
COUNTS = ("n_both", "n_same", "n_changed", "n_only_a", "n_only_b", "n_lost", "n_gained")


def _compared(tmp_path: Path, first: list[Row], second: list[Row]) -> tuple[list[Row], list[Row]]:
    folders = [write_run(tmp_path / name, rows) for name, rows in (("a", first), ("b", second))]
    return compared_verdicts(*map(open_run, folders))


def _counts(row: Row) -> tuple[int, ...]:
    return tuple(row[name] for name in COUNTS)


def test_every_kind_of_change_is_counted_once(tmp_path: Path) -> None:
    first = {"same": True, "flipped": True, "lost": False, "gained": None, "only a": True}
    second = {"same": True, "flipped": False, "lost": None, "gained": True, "only b": True}
    (row,), flips = _compared(tmp_path, passes("judge", "bot", first), passes("judge", "bot", second))
    assert _counts(row) == (4, 1, 1, 1, 1, 1, 1)
    said = {flip["case_id"]: (flip["verdict_a"], flip["verdict_b"]) for flip in flips}
    assert said == {
        "flipped": ("No", "Yes (utterance 2)"),
        "lost": ("Yes (utterance 2)", "unparsed"),
        "gained": ("unparsed", "No"),
    }


def test_a_pair_flips_to_the_other_system(tmp_path: Path) -> None:
    first = battles("judge", [("c1", "one", "two", "left"), ("c1", "two", "one", "left"), ("c2", "one", "two", "tie")])
    second = battles(
        "judge", [("c1", "one", "two", "right"), ("c1", "two", "one", "left"), ("c2", "one", "two", "left")]
    )
    (row,), flips = _compared(tmp_path, first, second)
    assert _counts(row) == (3, 1, 2, 0, 0, 0, 0)
    assert [(flip["case_id"], flip["left"], flip["verdict_a"], flip["verdict_b"]) for flip in flips] == [
        ("c1", "one", "one", "two"),
        ("c2", "one", "tie", "one"),
    ]


@pytest.mark.parametrize(("moved", "flips"), [(1.0, 0), (1.9, 0), (2.0, 1), (4.0, 1)])
def test_a_score_flips_by_half_its_scale(tmp_path: Path, moved: float, flips: int) -> None:
    (row,), found = _compared(
        tmp_path, scores("judge", "bot", {"c": 1.0, "d": 3.0}), scores("judge", "bot", {"c": 1.0 + moved, "d": 3.0})
    )
    assert _counts(row) == (2, 1, flips, 0, 0, 0, 0)
    assert [flip["size"] for flip in found] == [moved / 4] * flips


def test_the_length_of_a_whole_dialogue_is_no_other_case(tmp_path: Path) -> None:
    first = passes("judge", "bot", {"c": True})
    second = [row | {"n_utterances": 5} for row in first]
    (row,), _ = _compared(tmp_path, first, second)
    assert _counts(row) == (1, 1, 0, 0, 0, 0, 0)


def test_answers_to_test_items_are_right_or_wrong_whatever_the_letter(tmp_path: Path) -> None:
    shown = {"a": [("A", True), ("B", False)], "b": [("C", True), ("A", True)]}
    for name, answers in shown.items():
        rows = [
            {
                "source": "bundled", "variant": "full", "model": "bot", "method": "letter", "item_id": f"i{number}",
                "cluster": f"i{number}", "task": "SF", "domain": "", "language": "en", "rotation": 0, "n_options": 4,
                "label": "A", "choice": letter, "correct": correct, "status": "ok",
            }
            for number, (letter, correct) in enumerate(answers)
        ]  # fmt: skip
        path = tmp_path / name / "dialogbench" / "answers" / "bot" / "letter.parquet"
        write_table(path, TEST_ANSWERS, to_table(TEST_ANSWERS, rows))
        (tmp_path / name / "tables").mkdir()
    (row,), (flip,) = compared_verdicts(open_run(tmp_path / "a"), open_run(tmp_path / "b"))
    assert (row["protocol"], row["judge"], row["criterion"]) == ("dialogbench", "bot (letter)", "SF")
    assert _counts(row) == (2, 1, 1, 0, 0, 0, 0)
    assert (flip["item_id"], flip["verdict_a"], flip["verdict_b"]) == ("i1", "B, wrong", "A, right")


def test_texts_are_those_that_the_judge_saw(tmp_path: Path) -> None:
    rows = {name: [*passes("judge", "bot", {"c": took}), *battles("judge", [("c", "bot", "two", won)])]
            for name, took, won in (("a", True, "left"), ("b", False, "right"))}  # fmt: skip
    folders = [write_run(tmp_path / name, of) for name, of in rows.items()]
    write_items(folders[0], {"c/bot": ["hello", "well"], "c/two": [str(number) for number in range(12)]})
    _, flips = compared_verdicts(*map(open_run, folders))
    pair, single = texts_behind(open_run(folders[0]), flips)
    assert single == (("A: hello", "B: well"),)
    assert [len(lines) for lines in pair] == [2, 8]  # cut to the N of the pair
    assert texts_behind(open_run(folders[1]), flips) == [(), ()]  # which has none
