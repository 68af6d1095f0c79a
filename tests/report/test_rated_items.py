"""What changed between two texts: the pieces make up both of them, whatever they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.report.rated_cases import GONE, KEPT, NEW, Difference, dialogue_difference, word_difference

TEXTS = st.text(alphabet=st.sampled_from("ab  .,\n你好مر<'"), max_size=25)


def side(difference: Difference | str, mark: str) -> str:
    if isinstance(difference, str):
        return difference
    return "".join(text for one, text in difference if one in (KEPT, mark))


@given(TEXTS, TEXTS)
def test_kept_and_gone_are_the_text_before_and_kept_and_new_the_one_after(before: str, after: str) -> None:
    difference = word_difference(before, after)
    assert (side(difference, GONE), side(difference, NEW)) == (before, after)
    assert (difference == before) == (before == after)


def test_whole_words_change_and_single_characters_of_chinese() -> None:
    assert word_difference("I like cats.", "I like cattle.") == [
        [KEPT, "I like "], [GONE, "cats"], [NEW, "cattle"], [KEPT, "."],
    ]  # fmt: skip
    assert word_difference("你好吗", "你坏吗") == [[KEPT, "你"], [GONE, "好"], [NEW, "坏"], [KEPT, "吗"]]


@given(st.lists(TEXTS.filter(bool), max_size=5), st.lists(TEXTS.filter(bool), max_size=5))
def test_dialogues_are_distinguished_utterance_by_utterance(before: list[str], after: list[str]) -> None:
    speakers, texts = dialogue_difference(before, after, ["A"] * len(before), ["B"] * len(after))
    assert len(speakers) == len(texts)
    sides = [[side(text, mark) for text in texts] for mark in (GONE, NEW)]
    assert [[text for text in texts if text] for texts in sides] == [before, after]


def test_shuffled_and_repeated_utterances_stand_where_they_went() -> None:
    speakers, texts = dialogue_difference(["one", "two", "three"], ["one", "three", "three"], list("ABA"), list("ABA"))
    assert texts == ["one", [[GONE, "two"]], "three", [[NEW, "three"]]]
    assert speakers == ["A", "B", "B", "A"]
    speakers, texts = dialogue_difference(["one", "two"], ["one"], list("AB"), list("A"))
    assert texts == ["one", [[GONE, "two"]]]
    assert speakers == ["A", "B"]
