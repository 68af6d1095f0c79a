"""Which items depend on each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora.clusters import (
    context_clusters,
    continuation_clusters,
    dialogue_of_turn,
    fold_of,
    generator_for,
    identical_clusters,
    merged,
    split,
    without,
)

# Which items depend on each other.


def test_responses_to_one_context_and_later_cuts_of_its_dialogue_go_together() -> None:
    items = [
        ("a", "b", "c", "first cut"),
        ("x", "other dialogue"),
        ("a", "b", "c", "another response"),
        ("a", "b", "c", "first cut", "d", "later cut of the same dialogue"),
        ("a", "other beginning", "e", "r"),
        ("x", "y", "z", "shares the context x"),
    ]
    assert context_clusters(items) == [0, 1, 0, 0, 4, 1]


def test_a_response_that_is_anothers_context_joins_them() -> None:
    assert context_clusters([("a", "b", "c"), ("a", "x", "d", "e")]) == [0, 1]
    assert context_clusters([("a", "b"), ("a", "b", "c")]) == [0, 0]


def test_responses_without_context_stand_alone() -> None:
    assert context_clusters([("same",), ("same",), (), ("same", "but in a context")]) == [0, 1, 2, 3]


def test_windows_of_one_dialogue_are_joined_while_the_next_goes_on() -> None:
    items = [
        ("hi", "r1"),
        ("hi", "r1", "u2", "r2"),
        ("r1", "u2", "r2", "u3", "r3")[1:],
        ("hi", "r1"),
        ("hi", "r1", "v2", "s2"),
        ("alone",),
        ("hi", "other"),
    ]
    assert continuation_clusters(items) == [0, 0, 0, 3, 3, 5, 6]


def test_identical_dialogues_go_together() -> None:
    assert identical_clusters([("a", "b"), ("b", "a"), ("a", "b"), ("a b",)]) == [0, 1, 0, 3]


def test_partitions_are_joined_through_each_other() -> None:
    assert merged(["x", "y", "x", "z", "w"], [1, 2, 3, 3, 4]) == [0, 1, 0, 0, 4]


def test_the_dialogue_is_read_from_a_turns_id() -> None:
    assert dialogue_of_turn("CONTURE-000012-0003") == "CONTURE-000012"
    assert dialogue_of_turn("FEDTURN-000012") is None
    assert dialogue_of_turn("SET-10-000012") is None


def naive(items: list[tuple[str, ...]]) -> list[int]:
    """Join pair by pair until nothing changes."""
    group = list(range(len(items)))
    for _ in items:
        for i, one in enumerate(items):
            for j, other in enumerate(items):
                context = one[:-1]
                if context and len(other) > 1 and other[: len(context)] == context:
                    low = min(group[i], group[j])
                    group[i] = group[j] = low
    return group


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=4).map(tuple), max_size=12))
def test_contexts_agree_with_comparing_every_pair(items: list[tuple[str, ...]]) -> None:
    assert context_clusters(items) == naive(items)


def test_the_work_grows_with_the_number_of_utterances_only() -> None:
    """Comparing pairs, or all beginnings of all dialogues, would take minutes here."""
    long_dialogue = tuple(f"u{turn}" for turn in range(20_000))
    cuts = [long_dialogue[:end] for end in range(19_980, 20_000)]
    many = [(f"context {number // 3}", f"response {number}") for number in range(100_000)]
    groups = context_clusters([*cuts, *many])
    assert len(set(groups)) == 1 + 33_334


_UTTERANCES = st.lists(st.text("aZ é?\n\ud800", max_size=20), min_size=1, max_size=4).map(tuple)


@given(_UTTERANCES, _UTTERANCES)
def test_the_first_utterance_decides(dialogue: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert fold_of(dialogue) == fold_of((dialogue[0], *other))


def test_case_blanks_and_marks_do_not_matter() -> None:
    assert fold_of(["How ARE you?"]) == fold_of(["how are you"])


@given(st.lists(_UTTERANCES, max_size=20), st.integers(1, 6))
def test_every_dialogue_is_in_one_fold(dialogues: list[tuple[str, ...]], folds: int) -> None:
    parts = split(dialogues, folds)
    assert sorted(dialogue for part in parts for dialogue in part) == sorted(dialogues)
    for fold in range(folds):
        assert all(fold_of(dialogue, folds) != fold for dialogue in without(parts, fold))


def test_folds_are_about_equally_full() -> None:
    parts = split([(f"utterance {number}", "yes") for number in range(1000)], 5)
    assert all(150 < len(part) < 250 for part in parts)


def test_the_generator_depends_on_seed_and_texts_alone() -> None:
    def draw(random_seed: int, *texts: str) -> float:
        return float(generator_for(random_seed, *texts).random())

    assert draw(1, "a", "b") == draw(1, "a", "b")
    assert len({draw(1, "a", "b"), draw(2, "a", "b"), draw(1, "ab"), draw(1, "b", "a")}) == 4
