"""Severity ladders: each step builds on the one before and damages something new."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from perturbation_items import dialogue, response, small_pool

from dialeval.perturbations.registry import STRATEGIES, build_ladder
from dialeval.perturbations.strategy import chatbot_turns

POOL = small_pool()
TALK = dialogue(
    "Where do you keep your bicycle?",
    "I keep it in the cellar, because he stole the old one in 2019.",
    "Who is he?",
    "My cousin Tom likes nice bicycles, and I don't trust him with mine.",
    "Did you ask him to bring it back?",
    "She asked him twice in April, but I never got it back from him.",
    "What a family.",
    "We have good days too, and you should meet them on Sunday in Rome.",
)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_step_goes_on_from_the_one_before(name: str) -> None:
    ladder = build_ladder(TALK, STRATEGIES[name], POOL, random_seed=0, n_steps=3)
    assert ladder.original is TALK
    assert [step.severity for step in ladder.steps] == list(range(1, len(ladder.steps) + 1))
    assert len(ladder.steps) == 3 or ladder.reason
    assert ladder.steps
    before = TALK
    for step in ladder.steps:
        item = step.item
        assert item.item_id == f"d1/{name}/0/{step.severity}"
        assert item.level == "dialogue"
        assert item.utterances != before.utterances
        before = item
    touched = [set(step.touched) for step in ladder.steps]
    assert all(first < second for first, second in itertools.pairwise(touched))


@pytest.mark.parametrize("name", ["replace_pronoun", "dullness", "generic_utterance", "content_reduction"])
def test_steps_end_where_nothing_is_left_to_damage(name: str) -> None:
    ladder = build_ladder(TALK, STRATEGIES[name], POOL, random_seed=1, n_steps=20)
    assert len(ladder.steps) == 4
    assert set(ladder.steps[-1].touched) == set(chatbot_turns(TALK))
    assert ladder.reason == "no further utterance to perturb"


def test_a_shuffle_swaps_two_more_each_time() -> None:
    ladder = build_ladder(TALK, STRATEGIES["order_shuffle"], POOL, random_seed=2, n_steps=9)
    assert [len(step.touched) for step in ladder.steps] == [2, 4, 6, 8]
    assert all(Counter(step.item.utterances) == Counter(TALK.utterances) for step in ladder.steps)


def test_three_replaced_at_a_time() -> None:
    ladder = build_ladder(TALK, STRATEGIES["utterance_replacement_3"], POOL, random_seed=2, n_steps=9)
    assert [len(step.touched) for step in ladder.steps] == [3, 6]


def test_a_response_gets_worse_only_where_that_is_possible() -> None:
    item = response("And?", "My mother loves good music and big dogs in the morning.")
    again = build_ladder(item, STRATEGIES["repetition"], POOL, random_seed=0, n_steps=4)
    lengths = [len(step.item.response) for step in again.steps]
    assert lengths == sorted(set(lengths))
    assert len(lengths) == 4
    once = build_ladder(item, STRATEGIES["random_response"], POOL, random_seed=0, n_steps=4)
    assert len(once.steps) == 1
    assert once.reason == "a second application makes the response no worse"
    words = build_ladder(item, STRATEGIES["unnatural_paraphrase"], POOL, random_seed=0, n_steps=9)
    assert 2 <= len(words.steps) < 9
    assert words.reason == "no word with an unnatural synonym"


def test_a_ladder_depends_on_its_seed_alone() -> None:
    strategy = STRATEGIES["utterance_duplication"]
    first = build_ladder(TALK, strategy, POOL, random_seed=0, n_steps=3)
    assert build_ladder(TALK, strategy, POOL, random_seed=0, n_steps=3) == first
    assert build_ladder(TALK, strategy, POOL, random_seed=0, n_steps=2).steps == first.steps[:2]
    assert build_ladder(TALK, strategy, POOL, random_seed=1, n_steps=3).steps != first.steps


def test_the_first_reason_is_given_where_no_step_is_possible() -> None:
    ladder = build_ladder(
        dialogue("Hi.", "Hm.", "So."), STRATEGIES["replace_named_entity"], POOL, random_seed=0, n_steps=2
    )
    assert ladder.steps == ()
    assert ladder.reason == "no named entity or number"


def test_a_response_is_no_dialogue() -> None:
    with pytest.raises(ValueError, match="'order_shuffle' perturbs dialogues, but 't1' is a response"):
        build_ladder(response("Hi.", "Hm."), STRATEGIES["order_shuffle"], POOL, random_seed=0, n_steps=2)
