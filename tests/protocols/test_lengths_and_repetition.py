"""Excessive length and repetition, on dialogues whose answer can be counted by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dialeval.protocols.failure_rules import longest_of_people, n_words, repeated, too_long


def test_words_are_counted_in_any_script() -> None:
    assert [n_words(text) for text in ("", "Well... no!", "I don't know.", "你好吗？")] == [0, 2, 3, 3]


def test_the_limit_is_a_length_of_somebody_that_enough_people_keep_to() -> None:
    lengths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 40]
    texts = [("en", " ".join(["word"] * n)) for n in lengths] + [("de", "ja nein")]
    assert longest_of_people(texts, 0.9) == {"en": 9, "de": 2}
    assert longest_of_people(texts, 0.91) == {"en": 40, "de": 2}


@given(st.lists(st.integers(0, 60), min_size=1), st.floats(0.01, 0.99))
def test_at_least_the_share_keeps_to_the_limit_and_no_shorter_one_does(lengths: list[int], share: float) -> None:
    limit = longest_of_people([("en", "a " * n) for n in lengths], share)["en"]
    assert limit in lengths
    assert sum(n <= limit for n in lengths) >= share * len(lengths) - 1e-9
    assert sum(n < limit for n in lengths) < share * len(lengths) + 1e-9


def test_longer_than_the_limit_is_too_long_and_as_long_is_not() -> None:
    assert too_long({3: "one two three", 4: "one two three four", 7: "a b c d e"}, 3) == (4, 7)


def test_only_the_speakers_own_words_repeat() -> None:
    texts = ["I have to go now.", "I have to go now.", "Must you go then, my dear?", "I have to go now."]
    assert repeated(texts, "ABAB", range(1, 5)) == (4,)
    assert repeated(texts, "ABCD", range(1, 5)) == ()
    assert repeated(texts, "AAAA", range(1, 5)) == (2, 4)


def test_half_of_the_runs_is_enough_and_less_is_not() -> None:
    # runs of the second: "we could talk" (new), "glad we could", "i'm glad we": two of three are old
    assert repeated(["I'm glad we could eat.", "I'm glad we could talk."], "AA", [2]) == (2,)
    assert repeated(["I'm glad we ate.", "I'm glad we could talk."], "AA", [2]) == ()  # one of three


def test_what_everybody_says_twice_is_too_short() -> None:
    assert repeated(["Thank you so much!", "Thank you so much!"], "AA", [2]) == (2,)
    assert repeated(["Thank you, Bob.", "Thank you, Bob."], "AA", [2]) == ()


def test_unjudged_utterances_stay_in_the_context() -> None:
    texts = ["What shall we eat tonight?"] * 3
    assert repeated(texts, "AAA", [3]) == (3,)
    assert repeated(texts, "AAA", []) == ()


def test_scripts_without_blanks_have_runs_of_characters() -> None:
    assert repeated(["我今天很高兴认识你", "我今天很高兴见到你", "你家在哪里啊朋友"], "AAA", [2, 3]) == ()
    assert repeated(["我今天很高兴认识你", "我今天很高兴认识她"], "AA", [2]) == (2,)


@given(st.lists(st.text("ab c", max_size=30), max_size=8))
def test_saying_everything_again_repeats_all_that_is_long_enough(texts: list[str]) -> None:
    again = repeated([*texts, *texts], ["A"] * (2 * len(texts)), range(len(texts) + 1, 2 * len(texts) + 1))
    assert again == tuple(len(texts) + place for place, text in enumerate(texts, 1) if n_words(text) >= 4)
