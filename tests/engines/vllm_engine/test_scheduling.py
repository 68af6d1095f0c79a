"""What the KV cache has room for, requests and dialogues."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Mapping

from dialeval.engines.vllm_engine.scheduling import (
    BLOCK,
    FIRST_GUESS_OF_ANSWER,
    GUESSES,
    MARKS,
    PART_IN_USE,
    Admission,
    DialogueRoom,
    PrefixRouting,
)


def test_begun_dialogues_go_before_new_ones_and_equals_in_the_order_of_their_prompts() -> None:
    order: list[str] = []

    async def one(admission: Admission, depth: int, prompt: str) -> None:
        async with admission.place(depth, prompt, list(prompt.ljust(60)), 1):
            order.append(prompt)
            await asyncio.sleep(0)

    async def run() -> Admission:
        admission = Admission(capacity=128, block_size=32)
        jobs = [(1, "first"), (1, "second"), (1, "z"), (1, "a"), (5, "deep")]
        await asyncio.gather(*(one(admission, depth, prompt) for depth, prompt in jobs))
        return admission

    admission = asyncio.run(run())
    assert order == ["first", "second", "deep", "a", "z"]
    assert admission.in_hand == 0
    assert admission.most_in_hand == 2


def test_a_request_larger_than_the_cache_is_let_in_alone() -> None:
    async def run() -> None:
        admission = Admission(capacity=10, block_size=1)
        async with admission.place(1, "", range(50), 1):
            waiting = asyncio.create_task(admission.enter(1, "", 1))
            await asyncio.sleep(0)
            assert not waiting.done()
            waiting.cancel()
        await asyncio.sleep(0.01)
        assert admission.in_hand == 0

    asyncio.run(run())


def test_dialogues_fit_if_they_do_at_their_longest() -> None:
    utterance = FIRST_GUESS_OF_ANSWER + MARKS  # nothing is known yet
    five_in_the_end = 5 * 2 * (10 * utterance + 32 / 2)
    admission = Admission(capacity=int(five_in_the_end / PART_IN_USE) + 1, block_size=32)
    assert admission.fits({2: 5}, 10, 1024)
    assert not admission.fits({2: 6}, 10, 1024)
    assert admission.fits({2: 6}, 10, 40)  # utterances of 40 tokens at most


def test_dialogues_that_end_make_room_for_others_in_time() -> None:
    """Five at once fill the cache at their end; when they are long, some new ones are short as long as these live."""
    admission = Admission(capacity=int(5 * 2 * (10 * 69 + 16) / PART_IN_USE) + 1, block_size=32)
    assert not admission.fits({4: 5, 2: 1}, 10, 1024)
    # at the last turn of the five: 5 x 2 x (10 x 69 + 16) = 7060 and nothing beside it
    assert not admission.fits({9: 5, 2: 1}, 10, 1024)
    assert admission.fits({9: 4, 2: 2}, 10, 1024)  # 4 x 1412, and 2 x 2 x (3 x 69 + 16) = 892
    assert admission.fits({9: 4, 2: 3}, 10, 1024)  # 1338 of the 1412 that are left
    assert not admission.fits({9: 4, 2: 4}, 10, 1024)


def test_the_length_of_answers_is_learned_and_the_first_few_say_little() -> None:
    admission = Admission(capacity=7060, block_size=32)
    admission.count_answer(1)
    assert not admission.fits({2: 5}, 10, 1024)
    for _ in range(100):
        admission.count_answer(10)
    mean = (FIRST_GUESS_OF_ANSWER * GUESSES + 1 + 1000) / (GUESSES + 101)
    most = int(7060 * PART_IN_USE / (2 * (10 * (mean + MARKS) + 16)))
    assert most > 5
    assert admission.fits({2: most}, 10, 1024)
    assert not admission.fits({2: most + 1}, 10, 1024)


def test_a_cache_that_holds_many_dialogues_holds_fewer() -> None:
    admission = Admission(capacity=7060, block_size=16)
    for young, middle, old in itertools.product(range(8), repeat=3):
        if admission.fits({2: young, 6: middle, 11: old}, 12, 100):
            assert admission.fits({2: young, 11: old}, 12, 100)
            assert admission.fits({6: middle, 11: old}, 12, 100)


def test_a_dialogue_waits_until_another_has_ended_or_there_is_more_room() -> None:
    async def run() -> None:
        order: list[str] = []
        most = 2
        room = DialogueRoom(lambda lengths: sum(lengths.values()) <= most)
        ends = {name: asyncio.Event() for name in "abcd"}

        async def dialogue(name: str) -> None:
            async with room.dialogue(2):
                order.append(name)
                await ends[name].wait()

        async with asyncio.TaskGroup() as group:
            for name in "abcd":
                group.create_task(dialogue(name))
            await asyncio.sleep(0.1)
            assert order == ["a", "b"]
            ends["b"].set()
            await asyncio.sleep(0.1)
            assert order == ["a", "b", "c"]
            most = 3
            await asyncio.sleep(0.1)
            assert order == ["a", "b", "c", "d"]
            for end in ends.values():
                end.set()
        assert (room.going_on, room.most_going_on) == (0, 3)

    asyncio.run(run())


def test_the_room_knows_how_long_dialogues_have_become() -> None:
    seen: list[dict[int, int]] = []

    def fits(lengths: Mapping[int, int]) -> bool:
        seen.append(dict(lengths))
        return True

    async def run() -> None:
        room = DialogueRoom(fits)
        async with room.dialogue(2) as one, room.dialogue(2) as other:
            one()
            one()
            other()
            async with room.dialogue(2):
                pass
        async with room.dialogue(5):
            pass

    asyncio.run(run())
    assert seen == [{2: 2}, {4: 1, 3: 1, 2: 1}]


def test_one_dialogue_always_has_room() -> None:
    async def run() -> None:
        room = DialogueRoom(lambda _: False)
        async with room.dialogue(2):
            waiting = asyncio.create_task(room.dialogue(2).__aenter__())
            await asyncio.sleep(0.05)
            assert not waiting.done()
            waiting.cancel()
        async with room.dialogue(2):
            pass

    asyncio.run(asyncio.wait_for(run(), 5))


# Copies of a model: prompts that begin alike go to one, and none has much more to do than another.

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
