"""The rules on real dialogues, MuTual's and FED's: how often each applies, and that nothing goes wrong there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from perturbation_items import real_dialogues, real_responses

from dialeval.corpora.items import Item
from dialeval.perturbations.registry import STRATEGIES, perturb
from dialeval.perturbations.strategy import NotApplicable, Perturbed, Pool, build_pool
from dialeval.stats.rates import robustness_ratios

FEWEST = 0.6
"""Share of the eligible items that a strategy must damage."""

INELIGIBLE = {
    "no pronoun that can be replaced",
    "no named entity or number",
    "no word with an unnatural synonym",
    "fewer than three utterances",
    "too few utterances",
    "the utterances are too short to be reduced",
}
"""Reasons for which an item is not eligible: it does not hold what the strategy damages."""


@pytest.fixture(scope="module")
def corpus(real_data: Path) -> tuple[list[Item], list[Item], Pool]:
    for file in ("botchat/MuTual_test.xlsx", "comp-analysis/turn_level_texts/fed-turn_text.txt"):
        if not (real_data / file).exists():
            pytest.skip(f"the public file {file} is not in shared/data")
    responses, dialogues = real_responses(real_data), real_dialogues(real_data)
    return responses, dialogues, build_pool([*responses, *dialogues])


@pytest.mark.parametrize("name", STRATEGIES)
def test_most_eligible_items_are_damaged(name: str, corpus: tuple[list[Item], list[Item], Pool]) -> None:
    responses, dialogues, pool = corpus
    strategy = STRATEGIES[name]
    items = responses if strategy.level == "turn" else dialogues
    drawn = [perturb(item, strategy, pool, random_seed=0) for item in items]
    perturbed = [result for result in drawn if isinstance(result, Perturbed)]
    reasons = Counter(result.reason for result in drawn if isinstance(result, NotApplicable))
    n_eligible = len(items) - sum(count for reason, count in reasons.items() if reason in INELIGIBLE)
    assert len(perturbed) >= FEWEST * n_eligible, reasons
    assert n_eligible > 100
    assert len({result.item.item_id for result in perturbed}) == len(perturbed)
    by_id = {item.item_id: item for item in items}
    for result in perturbed:
        original = by_id[result.original_id]
        assert [text.strip() for text in result.item.utterances] != [text.strip() for text in original.utterances]
        assert result.item.speakers[: len(original.speakers)] == original.speakers


def test_a_judge_of_length_notices_reduction_and_no_shuffle(corpus: tuple[list[Item], list[Item], Pool]) -> None:
    _, dialogues, pool = corpus

    def score(item: Item) -> float:
        return sum(len(text.split()) for text in item.utterances) / 500

    noticed = {}
    for name in ("content_reduction", "order_shuffle"):
        drawn = [(item, perturb(item, STRATEGIES[name], pool, random_seed=0)) for item in dialogues]
        pairs = [(score(item), score(result.item)) for item, result in drawn if isinstance(result, Perturbed)]
        before, after = zip(*pairs, strict=True)
        noticed[name] = robustness_ratios(
            before, after, 0.0, [0] * len(pairs), 1, cluster=range(len(pairs))
        ).ratio.estimate[0]
    assert noticed == {"content_reduction": 1.0, "order_shuffle": 0.0}
