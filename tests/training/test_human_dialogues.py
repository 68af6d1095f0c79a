"""Parts of the dialogues: whole clusters, near the shares that are asked for, and where they were when more come."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training_dialogues import corpora, dialogue, saying

from dialeval.training.human_dialogues import (
    FORMULA,
    HumanDialogue,
    Placed,
    clusters_of,
    judged_passages,
    n_letters,
    part_at,
    passages,
    plain,
    split,
)


def parts(dialogues: list[HumanDialogue], seed: int = 0) -> list[Placed]:
    return split(dialogues, development=0.3, held_out=0.3, random_seed=seed)


@given(corpora())
def test_dialogues_that_share_text_or_an_id_never_straddle(dialogues: list[HumanDialogue]) -> None:
    placed = parts(dialogues)
    for one, here in zip(dialogues, placed, strict=True):
        for other, there in zip(dialogues, placed, strict=True):
            shared = set(passages(one.utterances, singles=False)) & set(passages(other.utterances, singles=False))
            if shared or one.name == other.name or one.utterances == other.utterances:
                assert here == there


@given(corpora(), corpora(), st.integers(0, 3))
def test_more_dialogues_leave_those_before_where_they_were(
    before: list[HumanDialogue], more: list[HumanDialogue], seed: int
) -> None:
    new = [one for one in more if (one.name, one.language) not in {(old.name, old.language) for old in before}]
    clusters, joined = clusters_of(before), clusters_of([*before, *new])
    was, now = parts(before, seed), parts([*before, *new], seed)
    for place, (old, here) in enumerate(zip(was, now, strict=False)):
        if joined[place] == clusters[place]:  # unless a new one joined its cluster to one before
            assert old == here


def test_shares_are_near_those_requested() -> None:
    dialogues = [dialogue(number) for number in range(2000)]
    counts = Counter(one.part for one in split(dialogues, development=0.1, held_out=0.2, random_seed=3))
    assert abs(counts["development"] - 200) < 60
    assert abs(counts["held_out"] - 400) < 80
    assert (
        split(dialogues, development=0.1, held_out=0.2, random_seed=4)[:50]
        != [*split(dialogues, development=0.1, held_out=0.2, random_seed=3)][:50]
    )


def test_a_larger_share_keeps_what_was_held_out() -> None:
    assert [part_at(drawn, 0.1, 0.2) for drawn in (0.0, 0.19, 0.2, 0.29, 0.31, 0.99)] == [
        "held_out", "held_out", "development", "development", "train", "train",
    ]  # fmt: skip


def test_translations_and_rephrased_dialogues_are_one_cluster() -> None:
    told = ["Where did you leave the green ladder?", "Behind the shed, next to the old boat."]
    dialogues = [
        saying(told, "d1"),
        saying(["梯子在哪儿？", "在船旁边。"], "d1", language="zh"),
        saying(["m : " + told[0].lower().replace("?", " ?"), "f : " + told[1].upper()], "x", "away"),
        saying(["Hi.", *told, "Thanks."], "later cut"),
        saying(["Hi.", "Hello!"], "greeting"),
        saying(["Hi.", "Hello!", "So, about that boat of yours, is it for sale?"], "begins alike"),
    ]
    assert clusters_of(dialogues) == [0, 0, 0, 0, 4, 5]


def test_a_formula_makes_no_cluster_and_equal_dialogues_are_one_however_many() -> None:
    greeting = ["Thank you for calling the harbour office, how can I help?", "I have a question about my bill."]
    calls = [saying([*greeting, *dialogue(number).utterances], f"c{number}") for number in range(FORMULA + 1)]
    assert clusters_of(calls) == list(range(FORMULA + 1))
    assert len(set(clusters_of(calls[:FORMULA]))) == 1
    assert len(set(clusters_of([saying(greeting, f"s{number}") for number in range(FORMULA + 5)]))) == 1


# What counts as the same text, and what two dialogues may say alike by chance.

LONG = "I sold the blue accordion to the man who repairs bicycles behind the station."


@pytest.mark.parametrize(
    "other",
    [LONG.lower(), LONG.upper(), LONG.replace(" ", "\t "), LONG.replace(".", " ."), f"m : {LONG}", f"User: {LONG}",
     f"Speaker 2:  {LONG}", f"A： {LONG}", LONG.replace("I", "Ｉ")],
)  # fmt: skip
def test_case_marks_blanks_and_names_make_no_difference(other: str) -> None:
    assert plain(other) == plain(LONG)
    assert judged_passages([other]) == judged_passages([LONG])


def test_a_word_with_a_colon_is_all_that_can_be_cut() -> None:
    assert plain("Yes:") == "yes"
    assert plain("Note: 5") == "5"
    assert plain("at half past: now") == plain("at half past now")


@pytest.mark.parametrize(
    ("utterances", "n"),
    [
        (["Hi.", "Hello!"], 0),
        (["Hi.", "Hello!", "How are you?", "Fine, and you?"], 1),  # as a whole it is no chance
        (["What can I do for you?"], 0),
        ([LONG], 1),
        (["Is it far?", LONG], 3),
        (["你好！", "你好。"], 0),
        (["你这二胡能不能换个时间拉？我家狗一听见就跟着嚎。"], 1),
        (["…", "?!"], 0),
        ([], 0),
    ],
)
def test_the_least_length_of_a_dialogue(utterances: list[str], n: int) -> None:
    assert len(judged_passages(utterances)) == n


def test_what_says_nothing_is_passed_over() -> None:
    assert list(passages([LONG, "…", LONG[::-1]], singles=False)) == list(passages([LONG, LONG[::-1]], singles=False))


def test_characters_of_scripts_without_blanks_say_more() -> None:
    assert n_letters("ladder") == 6
    assert n_letters("梯子a") == 7


@given(st.lists(st.text(max_size=60), max_size=6))
def test_numbers_fit_into_a_column_and_follow_from_the_text(utterances: list[str]) -> None:
    found = judged_passages(utterances)
    assert all(0 <= number < 2**63 for number in found)
    assert found == judged_passages([text + " " for text in utterances])
