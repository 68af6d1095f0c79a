"""Dialogue-level strategies: the damage is what the name says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from perturbation_items import OTHERS, dialogue, small_pool

from dialeval.corpora.items import Item
from dialeval.perturbations.registry import STRATEGIES, perturb
from dialeval.perturbations.shortening import generic_replies
from dialeval.perturbations.strategy import NotApplicable, Perturbed, Scope, Strategy, chatbot_turns

POOL = small_pool()
TALK = dialogue(
    "Have you been to the lake?",
    "I went there in April with my cousin, because the boats were cheap.",
    "Was it cold?",
    "Yes, it was freezing, and we forgot our gloves in the car. I love winter.",
    "Next time take me along.",
    "Only if you bring the big thermos from your grandmother's kitchen.",
)


def strategy_of(name: str, scope: Scope | None) -> Strategy:
    return replace(STRATEGIES[name], scope=scope) if scope else STRATEGIES[name]


def results(item: Item, name: str, scope: Scope | None = None, n: int = 30) -> list[Perturbed]:
    drawn = [perturb(item, strategy_of(name, scope), POOL, random_seed=seed) for seed in range(n)]
    return [result for result in drawn if isinstance(result, Perturbed)]


def reason(item: Item, name: str, scope: Scope | None = None) -> str:
    result = perturb(item, strategy_of(name, scope), POOL, random_seed=0)
    assert isinstance(result, NotApplicable)
    return result.reason


def test_a_shuffle_moves_at_least_half_and_keeps_the_speakers_in_turn() -> None:
    for result in results(TALK, "order_shuffle"):
        assert len(result.touched) >= 3
        assert result.item.speakers == TALK.speakers
    assert reason(dialogue("Hi.", "Hello."), "order_shuffle") == "fewer than three utterances"
    assert reason(dialogue("Hi.", "Hi.", "Hi."), "order_shuffle") == "the utterances are the same in any order"


def test_replacements_come_from_elsewhere_and_leave_the_opening() -> None:
    elsewhere = {text for texts in OTHERS for text in texts}
    for result in results(TALK, "utterance_replacement_2"):
        assert 0 not in result.touched
        assert {result.item.utterances[place] for place in result.touched} <= elsewhere
    assert reason(dialogue("Hi.", "Hello."), "utterance_replacement_2") == "too few utterances"


def test_the_chatbot_denies_its_own_statement() -> None:
    seen = set()
    for result in results(TALK, "self_contradiction"):
        assert result.item.utterances[:6] == TALK.utterances
        assert result.item.speakers[6:] == ("human", "chatbot")
        seen.add(result.item.response)
    assert seen <= {  # statements in the first person
        "I didn't go there in April with my cousin, because the boats were cheap.",
        "No, it was not freezing, and we forgot our gloves in the car.",
        "I don't love winter.",
    }
    assert len(seen) >= 2


def test_after_the_human_the_chatbot_contradicts_at_once() -> None:
    item = dialogue("Any pets?", "I have a parrot.", "Lovely.")
    for result in results(item, "self_contradiction"):
        assert result.item.utterances == (*item.utterances, "I don't have a parrot.")
        assert result.item.speakers == ("human", "chatbot", "human", "chatbot")
    assert reason(dialogue("Pets?", "Why?"), "self_contradiction") == "no statement that can be negated"


def test_each_chatbot_utterance_ends_with_its_own_end() -> None:
    for result in results(TALK, "utterance_duplication"):
        assert result.touched == (1, 3, 5)
        for place in result.touched:
            before, after = TALK.utterances[place], result.item.utterances[place]
            assert after.startswith(before + " ")
            assert before.endswith(after.removeprefix(before + " "))


def test_each_chatbot_utterance_repeats_the_human() -> None:
    for result in results(TALK, "repeating_others"):
        assert result.touched == (1, 3, 5)
        for place in result.touched:
            own, after = TALK.utterances[place], result.item.utterances[place]
            previous = TALK.utterances[place - 1].rstrip("?.")
            assert own in after
            assert previous.lower() in after.lower()


def test_a_chatbot_that_opens_has_nothing_to_repeat_there() -> None:
    item = Item("c", "d", "en", "dialogue", "d", ("chatbot", "human", "chatbot"), ("Hello.", "I sail.", "Nice."))
    assert {result.touched for result in results(item, "repeating_others")} == {(2,)}


@pytest.mark.parametrize("language", ["en", "zh", "de", "es", "fr", "ja", "ko", "hi", "ar", "ru"])
def test_every_reply_is_generic_and_fits_question_or_statement(language: str) -> None:
    item = dialogue("A?", "b b b", "C.", "d d d", "E?", "f f f", "G.", "h h h", language=language)
    replies = generic_replies()[language]
    for result in results(item, "generic_utterance", n=5):
        assert result.touched == (1, 3, 5, 7)
        after = result.item.utterances
        assert {after[1], after[5]} <= set(replies.to_questions)
        assert {after[3], after[7]} <= set(replies.to_statements)
        assert len({after[1], after[3], after[5], after[7]}) == 4


def test_content_is_reduced_in_every_long_utterance() -> None:
    for result in results(TALK, "content_reduction"):
        assert result.touched == (1, 3, 5)
        for place in result.touched:
            assert len(result.item.utterances[place].split()) <= 0.75 * len(TALK.utterances[place].split())


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("I went there in April with my cousin, because the boats were cheap.", "en", {"I went there."}),
        (
            "Well, she told Tom that the boat had sunk in the lake.",
            "en",
            {"She told someone that the boat had sunk."},
        ),
        ("Do you like the blue coat with the big collar?", "en", {"Do you like the blue coat?"}),
        ("He liked both the food and the band, and he danced.", "en", {"He liked both the food and the band."}),
        ("No sooner had we left than it rained in the valley.", "en", {"No sooner had we left."}),
        ("We have 40 hens, and they lay eggs every day.", "en", {"We have some hens."}),
        ("Ich war gestern am See, weil die Boote billig waren.", "de", {"Ich war gestern am See."}),
        ("我昨天去了湖边，因为船票很便宜。", "zh", {"我昨天去了湖边。"}),
    ],
)
def test_details_are_left_out(text: str, language: str, expected: set[str]) -> None:
    item = dialogue("?", text, language=language)
    assert {result.item.utterances[1] for result in results(item, "content_reduction")} == expected


def test_what_is_short_is_not_reduced() -> None:
    assert reason(dialogue("Hi.", "Hello you."), "content_reduction") == "the utterances are too short to be reduced"
    bare = dialogue("Hi.", "Please hand over the spoon")
    assert reason(bare, "content_reduction") == "the utterances have no detail to leave out"


def test_half_of_the_utterances_must_change() -> None:
    bare = "Please hand over that spoon"
    item = dialogue("?", bare, "?", bare, "?", "I went there, because I wanted to.")
    assert reason(item, "content_reduction").startswith("fewer than half of the utterances would change: ")


@pytest.mark.parametrize(
    ("speakers", "level", "expected"),
    [
        (("human", "chatbot", "human"), "dialogue", (1,)),
        (("human", "model", "human", "model"), "dialogue", (1, 3)),
        (("A", "B", "A"), "dialogue", (1,)),
        (("A", "B", "A"), "turn", (0, 2)),
        (("human", "human", "human"), "dialogue", (1,)),
        (("", "", "", ""), "dialogue", (1, 3)),
        (("", "", ""), "turn", (0, 2)),
        (("chatbot",), "dialogue", ()),
    ],
)
def test_whose_utterances_are_the_chatbots(speakers: tuple[str, ...], level: str, expected: tuple[int, ...]) -> None:
    item = Item("c", "i", "en", level, "i", speakers, tuple("x" for _ in speakers))  # type: ignore[arg-type]
    assert chatbot_turns(item) == expected
