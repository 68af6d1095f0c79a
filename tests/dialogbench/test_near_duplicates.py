"""Near-duplicates: the same pairs as by comparing all with all, and the first one is kept."""

from __future__ import annotations

import pytest
from dialogbench_examples import UTTERANCES, item
from hypothesis import given
from hypothesis import strategies as st

from dialeval.dialogbench.near_duplicates import near_duplicates, shingles, similar_to_earlier


def test_one_changed_word_is_near_and_another_dialogue_is_not() -> None:
    changed = ("The boiler is icy again.", *UTTERANCES[1:])
    other = tuple(reversed(UTTERANCES))
    items = [item(item_id="a"), item(item_id="b", utterances=changed), item(item_id="c", utterances=other)]
    assert near_duplicates(items) == {"b": "a"}


def test_only_items_of_one_task_and_language_are_compared() -> None:
    items = [item(item_id="a"), item("DS", item_id="b"), item(item_id="c", language="zh"), item(item_id="d")]
    assert near_duplicates(items) == {"d": "a"}


def test_case_and_punctuation_do_not_count() -> None:
    loud = tuple(text.upper().replace(".", "!") for text in UTTERANCES)
    assert shingles(loud) == shingles(UTTERANCES)


def test_chinese_is_compared_by_characters() -> None:
    assert shingles(["我明天去北京"]) == {"我 明 天", "明 天 去", "天 去 北", "去 北 京"}


@pytest.mark.parametrize("threshold", [0.0, 1.1])
def test_a_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        near_duplicates([], threshold)


sets_of_words = st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1), max_size=12)


@given(sets_of_words, st.sampled_from([0.2, 0.5, 0.6, 0.7, 1.0]))
def test_it_finds_what_comparing_all_pairs_finds(sets: list[frozenset[str]], threshold: float) -> None:
    expected: dict[int, int] = {}
    for later, one in enumerate(sets):
        for earlier in (e for e in range(later) if e not in expected):
            if len(one & sets[earlier]) / len(one | sets[earlier]) >= threshold:
                expected[later] = earlier
                break
    assert similar_to_earlier(sets, threshold) == expected
