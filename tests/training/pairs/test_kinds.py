"""Which ways of spoiling stand for which criteria."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialeval.criteria import LEVELS, SHIPPED, Level
from dialeval.errors import UserError
from dialeval.perturbations.registry import STRATEGIES, targets_of
from dialeval.training.pairs.kinds import DEFAULT_CRITERIA, chosen_kinds, kinds_for, kinds_of_level


@pytest.mark.parametrize("level", LEVELS)
def test_kinds_are_of_their_level_and_every_perturbation_has_a_use(level: Level) -> None:
    used = {kind for name in SHIPPED if name != "overall" for kind in kinds_for(name, level)}
    assert used == set(kinds_of_level(level)) == set(kinds_for("overall", level))
    for name, strategy in STRATEGIES.items():
        for target in targets_of(name):
            if strategy.level == level and name != "random_response":
                assert name in kinds_for(target.dimension, level), "what a perturbation is known to lower, it does"


def test_a_users_criterion_is_lowered_by_what_it_says() -> None:
    hurt = {"empathy": ["random_response", "dullness", "order_shuffle"]}
    assert kinds_for("empathy", "turn", hurt) == ("random", "dullness")
    assert kinds_for("empathy", "dialogue", hurt) == ("order_shuffle",)
    assert chosen_kinds(["empathy"], ["dullness"], "turn", hurt) == {"empathy": ("dullness",)}


def test_criteria_that_are_not_named_are_the_papers() -> None:
    assert list(chosen_kinds(None, None, "turn")) == ["relevance"] == list(DEFAULT_CRITERIA["turn"])
    assert list(chosen_kinds(None, None, "dialogue")) == ["coherence", "engagingness", "informativeness"]


@pytest.mark.parametrize(
    ("criteria", "kinds", "level", "words"),
    [
        (None, ["randm"], "turn", "'randm' is no way of spoiling a turn; did you mean 'random'"),
        (None, ["random_response"], "turn", "it is called 'random' here"),
        (None, ["near"], "dialogue", "no way of spoiling a dialogue"),
        (["diversity"], None, "dialogue", "nothing is known to lower 'diversity' of a dialogue"),
        (["empathy"], None, "turn", "criteria.empathy.hurt_by"),
        (["specificity"], ["near"], "turn", "none of the kinds lowers 'specificity'; what does: dullness"),
    ],
)
def test_what_means_nothing_is_refused(
    criteria: list[str] | None, kinds: list[str] | None, level: Level, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        chosen_kinds(criteria, kinds, level)


def test_the_docs_name_the_kinds_of_each_criterion() -> None:
    text = (Path(__file__).parents[3] / "docs" / "training.md").read_text(encoding="utf-8")
    for criterion in ("understandability", "specificity", "coherence", "engagingness", "informativeness"):
        level: Level = "turn" if criterion in ("understandability", "specificity") else "dialogue"
        row = next(line for line in text.splitlines() if line.startswith(f"| `{criterion}`"))
        assert tuple(re.findall(r"`(\w+)`", row.split("|")[2])) == kinds_for(criterion, level)
    assert set(kinds_for("relevance", "turn")) == set(kinds_of_level("turn")) - {"unnatural_paraphrase"}
    for kind in (*kinds_of_level("turn"), *kinds_of_level("dialogue")):
        assert f"`{kind}`" in text
