"""Parts of the dialogues: whole clusters, near the shares that are asked for, and where they were when more come."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from training_dialogues import corpora, dialogue, saying

from dialeval.training.pairs.human_dialogues import HumanDialogue
from dialeval.training.pairs.shared_text import passages
from dialeval.training.pairs.splitting import FORMULA, Placed, clusters_of, part_at, split


def parts(dialogues: list[HumanDialogue], seed: int = 0) -> list[Placed]:
    return split(dialogues, development=0.3, held_back=0.3, random_seed=seed)


@settings(max_examples=40)
@given(corpora())
def test_dialogues_that_share_text_or_an_id_never_straddle(dialogues: list[HumanDialogue]) -> None:
    placed = parts(dialogues)
    for one, here in zip(dialogues, placed, strict=True):
        for other, there in zip(dialogues, placed, strict=True):
            shared = set(passages(one.utterances, singles=False)) & set(passages(other.utterances, singles=False))
            if shared or one.name == other.name or one.utterances == other.utterances:
                assert here == there


@settings(max_examples=40)
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


def test_shares_are_near_those_asked_for() -> None:
    dialogues = [dialogue(number) for number in range(2000)]
    counts = Counter(one.part for one in split(dialogues, development=0.1, held_back=0.2, random_seed=3))
    assert abs(counts["development"] - 200) < 60
    assert abs(counts["held_back"] - 400) < 80
    assert (
        split(dialogues, development=0.1, held_back=0.2, random_seed=4)[:50]
        != [*split(dialogues, development=0.1, held_back=0.2, random_seed=3)][:50]
    )


def test_a_larger_share_keeps_what_was_held_back() -> None:
    assert [part_at(drawn, 0.1, 0.2) for drawn in (0.0, 0.19, 0.2, 0.29, 0.31, 0.99)] == [
        "held_back", "held_back", "development", "development", "train", "train",
    ]  # fmt: skip


def test_translations_and_dialogues_told_otherwise_are_one_cluster() -> None:
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
