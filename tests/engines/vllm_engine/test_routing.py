"""Copies of a model: prompts that begin alike go to one, and none has much more to do than another."""

from __future__ import annotations

import random
from collections import Counter

from dialeval.engines.vllm_engine.routing import BLOCK, PrefixRouting

HEAD = list(range(2 * BLOCK))


def own(number: int, blocks: int = 3) -> list[int]:
    """Tokens that no other number has."""
    return [1000 + number] * (blocks * BLOCK)


def test_prompts_of_one_dialogue_meet_and_the_head_of_all_says_nothing() -> None:
    routing, in_hand = PrefixRouting(4), [0, 0, 0, 0]
    first: dict[int, int] = {}
    for question in range(3):
        order = list(range(400))
        random.Random(question).shuffle(order)
        for dialogue in order:
            copy = routing.choose([*HEAD, *own(dialogue), question], in_hand)
            in_hand[copy] += 1
            assert max(in_hand) <= 33 + 1.25 * min(in_hand)
            assert first.setdefault(dialogue, copy) == copy or max(in_hand) > 32 + 1.25 * min(in_hand) - 1
    assert min(Counter(first.values()).values()) >= 60


def test_a_growing_dialogue_stays_where_it_began() -> None:
    routing = PrefixRouting(3)
    grown = [routing.choose([*HEAD, *own(7, blocks)], [5, 5, 0 if blocks == 1 else 9]) for blocks in range(1, 6)]
    assert grown == [2] * 5


def test_a_copy_with_too_much_in_hand_gets_none_more() -> None:
    routing = PrefixRouting(2)
    assert routing.choose(own(1), [0, 1]) == 0
    assert routing.choose(own(1), [32, 0]) == 0
    assert routing.choose(own(1), [33, 0]) == 1
    assert routing.choose(own(1), [3, 2]) == 1, "now both have it"


def test_without_anything_in_common_the_least_busy_is_chosen() -> None:
    routing = PrefixRouting(3)
    assert [routing.choose([number], [2, 0, 1]) for number in range(3)] == [1, 1, 1]
