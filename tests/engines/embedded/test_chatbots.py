from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialeval.corpora.clusters import fold_of
from dialeval.engines.embedded.chatbots import MAX_TOKENS, STOCK, Generic, Ngram, Random, Retrieval
from dialeval.engines.embedded.learning import Learned
from dialeval.engines.requests import Dialogue
from dialeval.text import normalised, script_of, surface_tokens

NAMES = ("retrieval", "ngram", "random", "generic")


def _self_chat(learned: Learned, seed: Dialogue, n: int = 16) -> Dialogue:
    utterances = list(seed)
    while len(utterances) < n:
        utterances.append(learned.model_for(utterances).reply(utterances))
    return tuple(utterances)


@pytest.mark.parametrize("name", NAMES)
def test_replies_depend_on_the_utterances_alone(
    chatbots: dict[str, Learned], english: list[Dialogue], name: str
) -> None:
    places = [dialogue[:n] for dialogue in english[:8] for n in (2, 3, 4)]
    in_order = {place: chatbots[name].model_for(place).reply(place) for place in places}
    random.Random(0).shuffle(places)
    assert all(chatbots[name].model_for(place).reply(place) == in_order[place] for place in places)
    assert all(reply.strip() for reply in in_order.values())


@pytest.mark.parametrize("name", ["retrieval", "random"])
def test_the_humans_own_continuation_is_never_drawn(
    chatbots: dict[str, Learned], english: list[Dialogue], name: str
) -> None:
    often = [normalised(utterance) for dialogue in english for utterance in set(dialogue)]
    for dialogue in english[:40]:
        own = {normalised(utterance) for utterance in dialogue if often.count(normalised(utterance)) == 1}
        generated = _self_chat(chatbots[name], dialogue[:2], n=8)
        assert not own & {normalised(utterance) for utterance in generated[2:]}


@pytest.mark.parametrize("name", NAMES)
@given(number=st.integers(0, 99), n=st.integers(1, 14))
@settings(max_examples=15)
def test_only_the_model_without_the_fold_answers(
    chatbots: dict[str, Learned], english: list[Dialogue], name: str, number: int, n: int
) -> None:
    place = english[number][:n]
    learned = chatbots[name]
    assert learned.model_for(place) is learned.models["spaced", fold_of(english[number])]


def test_retrieval_says_nothing_twice_and_quotes_no_dialogue_twice(
    chatbots: dict[str, Learned], english: list[Dialogue]
) -> None:
    source = {normalised(utterance): number for number, dialogue in enumerate(english) for utterance in dialogue}
    for dialogue in english[:5]:
        generated = [normalised(utterance) for utterance in _self_chat(chatbots["retrieval"], dialogue[:2])]
        assert len(set(generated)) == len(generated)
        assert len({source[utterance] for utterance in generated[2:]}) == len(generated) - 2


def test_retrieval_finds_the_place_that_fits() -> None:
    bot = Retrieval([("Where is my umbrella?", "It is in the hall."), ("I like this soup.", "Thank you, it is leek.")])
    assert bot.reply(["Have you seen my umbrella?"]) == "It is in the hall."
    assert bot.reply(["What a soup!"]) == "Thank you, it is leek."


def test_retrieval_repeats_itself_rather_than_saying_nothing() -> None:
    assert Retrieval([("Hello.", "Hello.")]).reply(["Hello."]) == "Hello."


def test_ngram_takes_up_the_topic_and_ends(english: list[Dialogue]) -> None:
    bot = Ngram(english, random_seed=3)
    replies = [bot.reply(dialogue[:2]) for dialogue in english[:30]]
    assert all(1 <= len(surface_tokens(reply)) <= MAX_TOKENS + 1 for reply in replies)
    assert len(set(replies)) > 25


def test_ngram_depends_on_the_random_seed(english: list[Dialogue]) -> None:
    first, second = Ngram(english, 1), Ngram(english, 2)
    assert any(first.reply(dialogue[:2]) != second.reply(dialogue[:2]) for dialogue in english[:5])


def test_random_draws_from_the_learned_utterances(english: list[Dialogue]) -> None:
    bot = Random(english, 1)
    said = {utterance for dialogue in english for utterance in dialogue}
    replies = {bot.reply(dialogue[:2]) for dialogue in english[:30]}
    assert replies <= said
    assert len(replies) > 20


def test_generic_repeats_itself() -> None:
    utterances = ["It is raining.", "I know."]
    while len(utterances) < 16:
        utterances.append(Generic().reply(utterances))
    assert set(utterances[2:]) == set(STOCK["spaced"].to_statements)
    assert Generic().reply(["Is it raining?"]) in STOCK["spaced"].to_questions
    assert Generic().reply(["下雨了吗？"]) in STOCK["unspaced"].to_questions


@pytest.mark.parametrize("name", NAMES)
def test_chinese_is_answered_in_chinese(chatbots: dict[str, Learned], chinese: list[Dialogue], name: str) -> None:
    generated = _self_chat(chatbots[name], chinese[0][:2], n=8)
    assert script_of(generated[2:]) == "unspaced"
