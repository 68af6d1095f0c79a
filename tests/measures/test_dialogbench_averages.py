"""Averages of kinds of models, and the wide table: by hand, and beside the paper's own tables."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

from dialeval.dialogbench.accuracy import accuracy_rows, average_rows
from dialeval.dialogbench.result_tables import overview_rows
from dialeval.dialogbench.tasks import ABBREVIATIONS
from dialeval.papers.dialogbench import AVERAGE, OVERALL, published_average, published_rows

NUMBERS = count()


def answers_of(model: str, right: dict[str, tuple[int, int]], **fields: Any) -> list[dict[str, Any]]:
    """Return answers to so many items of each task, the first of which are right; two models get the same items."""
    return [
        {"model": model, "method": "letter", "language": "en", "item_id": f"{task}{number}",
         "cluster": f"{task}{number}", "task": task, "domain": "Film", "rotation": 0, "n_options": 4,
         "correct": number < n_right, "status": "ok"}
        | fields
        for task, (n_right, n) in right.items()
        for number in range(n)
    ]  # fmt: skip


def named(rows: list[dict[str, Any]], *names: str) -> dict[Any, dict[str, Any]]:
    return {tuple(row[name] for name in names): row for row in rows}


def test_an_average_is_over_the_models_of_a_group_that_answer_alike() -> None:
    answers = answers_of("one", {"SF": (4, 4), "OD": (1, 2)}) + answers_of("two", {"SF": (0, 4), "OD": (1, 2)})
    answers += answers_of("other", {"SF": (0, 4), "OD": (0, 2)})
    answers += answers_of("one", {"SF": (0, 4)}, method="choice")
    rows = named(average_rows(answers, {"chat": ["one", "two"], "tag": ["other"]}), "group", "method", "name")
    assert rows["chat", "letter", "SF"]["accuracy"] == 0.5
    assert rows["chat", "letter", OVERALL]["accuracy"] == 0.5
    assert (rows["chat", "letter", "SF"]["n_models"], rows["chat", "letter", "SF"]["n"]) == (2, 4)
    assert rows["chat", "choice", "SF"]["models"] == "one"
    assert rows["tag", "letter", OVERALL]["accuracy"] == 0.0
    assert rows["chat", "letter", "Film"]["accuracy"] == pytest.approx(6 / 12)
    assert rows["chat", "letter", "daily life"]["scope"] == "domains"


def test_the_interval_is_about_items_and_not_about_models() -> None:
    """Ten models that answer alike are no more than one: what they have in common is the items."""
    one = answers_of("m0", {"SF": (30, 60)})
    ten = [row | {"model": f"m{number}"} for number in range(10) for row in one]
    (alone,) = [row for row in average_rows(one, {"g": ["m0"]}) if row["name"] == "SF"]
    (together,) = [row for row in average_rows(ten, {"g": [f"m{n}" for n in range(10)]}) if row["name"] == "SF"]
    assert together["ci_high"] - together["ci_low"] == pytest.approx(alone["ci_high"] - alone["ci_low"], rel=0.05)


def test_intervals_cover_the_truth_where_models_share_hard_items() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        hardness = rng.beta(2, 2, 60)
        answers = [
            answer | {"correct": bool(rng.random() < hardness[number])}
            for model in "abc"
            for number, answer in enumerate(answers_of(model, {"SF": (0, 60)}))
        ]
        row = average_rows(answers, {"g": list("abc")})[0]
        covered += row["ci_low"] <= 0.5 <= row["ci_high"]
    assert 0.90 <= covered / 200 <= 0.995


@pytest.mark.parametrize(("table", "language"), [("2", "en"), ("3", "zh")])
@pytest.mark.parametrize(
    ("group", "kind", "method"), [("pre-trained", "base", "perplexity"), ("instruction-tuned", "chat", "letter")]
)
def test_the_papers_averages_are_the_means_of_its_rows(
    table: str, language: str, group: str, kind: str, method: str
) -> None:
    """Both tables print means of unrounded numbers: .01 is their rounding."""
    rows = [row for row in published_rows() if (row.table, row.group) == (table, group) and row.model != AVERAGE]
    assert len(rows) == 13
    for column in (*ABBREVIATIONS, OVERALL):
        printed = published_average(kind, method, language, column)
        assert printed is not None
        mean = np.mean([row.values[column] for row in rows])
        assert 100 * printed == pytest.approx(mean, abs=0.0101), (table, group, column)


@pytest.mark.parametrize("group", ["daily life", "professional knowledge"])
def test_the_papers_averages_by_domain_are_the_means_of_its_rows(group: str) -> None:
    rows = [row for row in published_rows() if (row.table, row.group) == ("7", group) and row.model != AVERAGE]
    assert len(rows) == 13
    for column in rows[0].values:
        printed = published_average("chat", "letter", "zh", group if column == AVERAGE else column)
        assert printed is not None
        assert 100 * printed == pytest.approx(np.mean([row.values[column] for row in rows]), abs=0.0101), column


def test_a_published_average_is_of_one_kind_and_its_own_method() -> None:
    assert published_average("chat", "letter", "zh", "Film") == pytest.approx(0.5071)
    assert published_average("chat", "letter", "zh", "professional knowledge") == pytest.approx(0.5607)
    assert published_average("chat", "choice", "zh", OVERALL) is None
    assert published_average("own", "letter", "zh", OVERALL) is None
    assert published_average("base", "perplexity", "zh", "Film") is None


def test_the_wide_table_has_people_first_then_each_kind_with_its_average_below() -> None:
    answers = answers_of("weak", {"SF": (1, 4), "OD": (2, 4)}) + answers_of("strong", {"SF": (4, 4), "OD": (2, 4)})
    answers += answers_of("basic", {"SF": (2, 4), "OD": (0, 4)}, method="perplexity")
    answers += answers_of("unknown", {"SF": (0, 4), "OD": (0, 4)})
    kinds = {"weak": "chat", "strong": "chat", "basic": "base"}
    accuracy = [{**row, "source": "s", "kind": kinds.get(row["model"]), "part": None} for row in accuracy_rows(answers)]
    groups = {"base": ["basic"], "chat": ["weak", "strong"], "tag": ["weak"]}
    averages = [{**row, "source": "s"} for row in average_rows(answers, groups)]
    rows = overview_rows(accuracy, averages)
    assert [(row["type"], row["model"], row["SF"], row["OD"], row["IC"], row["overall"]) for row in rows] == [
        ("base", "basic", 0.5, 0.0, None, 0.25),
        ("base", "average", 0.5, 0.0, None, 0.25),
        ("chat", "strong", 1.0, 0.5, None, 0.75),
        ("chat", "weak", 0.25, 0.5, None, 0.375),
        ("chat", "average", 0.625, 0.5, None, 0.5625),
        ("", "unknown", 0.0, 0.0, None, 0.0),
    ]
    assert all(row["chance"] == 0.25 for row in rows)
