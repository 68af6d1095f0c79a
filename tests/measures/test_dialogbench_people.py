"""Experts' answers as one, each by himself, and their agreement: by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dialeval.dialogbench.accuracy import accuracy_rows
from dialeval.dialogbench.result_tables import agreement_rows, expert_rows, joint_answers
from dialeval.papers.dialogbench import OVERALL
from dialeval.stats.agreement import NO_VARIATION


def answers(chosen: dict[str, str], task: str = "SF", right: str = "A") -> list[dict[str, Any]]:
    """Return answers of experts, a letter for each of their items, or - for one that they left out."""
    return [
        {"source": "s", "cluster": f"{task}{number}", "item_id": f"{task}{number}", "task": task, "domain": "Film",
         "language": "en", "n_options": 4, "expert": expert, "label": right, "choice": letter}
        for expert, letters in chosen.items()
        for number, letter in enumerate(letters)
        if letter != "-"
    ]  # fmt: skip


THREE = answers({"ann": "AABA", "bo": "AABB", "cy": "ABB-"}) + answers({"ann": "AA", "bo": "AB"}, "OD")


@pytest.mark.parametrize(
    ("at_least", "right"),
    [(None, [True, True, False, False, True, False]), (1, [True, True, False, True, True, True]),
     (3, [True, False, False, False, False, False])],
)  # fmt: skip
def test_enough_experts_must_be_right(at_least: int | None, right: list[bool]) -> None:
    joint = joint_answers(THREE, at_least)
    assert [row["correct"] for row in joint] == right
    assert {(row["model"], row["method"], row["rotation"]) for row in joint} == {("people", "experts", 0)}
    overall = next(row for row in accuracy_rows(joint) if row["name"] == OVERALL)
    assert overall["accuracy"] == pytest.approx((sum(right[:4]) / 4 + sum(right[4:]) / 2) / 2)


def test_each_expert_stands_by_himself() -> None:
    rows = {(row["expert"], row["task"]): row for row in expert_rows(THREE)}
    assert rows["ann", "SF"]["accuracy"] == 0.75
    assert rows["ann", OVERALL]["accuracy"] == pytest.approx((0.75 + 1.0) / 2)
    assert (rows["cy", "SF"]["n"], rows["cy", OVERALL]["accuracy"]) == (3, pytest.approx(1 / 3))


def test_agreement_is_that_of_all_pairs_on_an_item() -> None:
    rows = {row["task"]: row for row in agreement_rows(THREE)}
    assert (rows["SF"]["n"], rows["SF"]["n_pairs"], rows["SF"]["n_experts"]) == (4, 10, 3)
    assert rows["SF"]["agreement"] == pytest.approx(7 / 10)  # 3 of 3, 1 of 3, 3 of 3, 0 of 1
    assert rows[OVERALL]["agreement"] == pytest.approx(8 / 12)
    assert rows["SF"]["ci_low"] < 0.7 < rows["SF"]["ci_high"]
    assert rows["SF"]["alpha"] < 0.7


def test_experts_who_agree_on_every_item_have_an_alpha_without_an_interval() -> None:
    alike = [{**one, "choice": "AB"[int(one["item_id"][-1]) % 2]} for one in THREE]
    (row,) = [row for row in agreement_rows(alike) if row["task"] == OVERALL]
    assert (row["agreement"], row["alpha"], row["note"]) == (1.0, 1.0, NO_VARIATION)
    assert np.isnan(row["alpha_ci_low"])
    assert np.isnan(row["alpha_ci_high"])
    assert row["ci_low"] < 1.0 == row["ci_high"]


def test_one_expert_has_no_agreement_and_simulated_people_are_marked() -> None:
    alone = answers({"ann (simulated)": "AB"})
    assert agreement_rows(alone) == []
    assert {row["model"] for row in joint_answers(alone)} == {"people (simulated)"}
    assert joint_answers([]) == expert_rows([]) == agreement_rows([]) == []
