from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.embedded.engine import EmbeddedEngine, _n_tokens
from dialeval.engines.embedded.judge import Judge
from dialeval.engines.embedded.learning import Learned
from dialeval.engines.requests import AnswerFailure, Dialogue, Message, Request, Response
from dialeval.text import tokens

UNIEVAL = re.compile(r"Choice: (Yes\nIndex: [1-9][0-9]*|No\nIndex: None)\nReason: \S[^\n]*")
COMPARISON = re.compile(r"Choice: (Conversation 1|Conversation 2|Both|Neither)\nReason: \S[^\n]*")


def _request(protocol: str, *subject: Dialogue) -> Request:
    return Request("r", protocol, "chat", (Message("user", "Is it so?"),), subject=subject)


def _ask(engine: EmbeddedEngine, *requests: Request) -> list[Any]:
    async def table() -> dict[str, Response | AnswerFailure]:
        numbered = ((str(number), request) for number, request in enumerate(requests))
        return {key: outcome async for key, outcome in engine.answer_all(numbered, store)}

    store: Any = None  # which is the caller's
    outcomes = asyncio.run(table())
    assert list(outcomes) == [str(number) for number in range(len(requests))]
    return list(outcomes.values())


def _repetitive(dialogue: Dialogue) -> Dialogue:
    return (*dialogue[:2], *["I would rather talk about the weather in that case."] * (len(dialogue) - 2))


def test_chatbots_chat(chatbots: dict[str, Learned], english: list[Dialogue]) -> None:
    for name, learned in chatbots.items():
        engine = EmbeddedEngine(learned, identity=name)
        (response,) = _ask(engine, _request("selfchat", english[0][:3]))
        assert response.text == learned.model_for(english[0]).reply(english[0][:3])
        assert response.finish_reason == "stop"
        assert response.prompt_tokens == 4
        assert response.completion_tokens


def test_unieval_answers_in_the_grammar(forest: Learned, english: list[Dialogue]) -> None:
    dialogues = [dialogue[:n] for dialogue in english[:20] for n in (1, 2, len(dialogue))]
    dialogues += [_repetitive(dialogue) for dialogue in english[:20]]
    responses = _ask(
        EmbeddedEngine(forest, identity="forest"), *(_request("unieval", dialogue) for dialogue in dialogues)
    )
    for dialogue, response in zip(dialogues, responses, strict=True):
        assert UNIEVAL.fullmatch(response.text)
        index = re.search(r"Index: (\d+)", response.text)
        assert index is None or 1 <= int(index[1]) <= len(dialogue)


def test_unieval_names_the_repetition(forest: Learned, english: list[Dialogue]) -> None:
    engine = EmbeddedEngine(forest, identity="forest")
    dialogues = [_repetitive(dialogue) for dialogue in english[:20] if len(dialogue) >= 6]
    responses = _ask(engine, *(_request("unieval", dialogue) for dialogue in dialogues))
    caught = [response.text for response in responses if response.text.startswith("Choice: Yes")]
    assert len(caught) > len(dialogues) / 2
    assert any("utterance 4 repeats utterance 3" in text for text in caught)


def test_unieval_names_an_utterance_of_the_one_who_is_judged(forest: Learned, english: list[Dialogue]) -> None:
    engine = EmbeddedEngine(forest, identity="forest")
    dialogues = [_repetitive(dialogue) for dialogue in english[:20] if len(dialogue) >= 6]
    places = {parity: tuple(str(n) for n in range(parity, 7, 2)) for parity in (1, 2)}
    for parity, judged in places.items():
        requests = [replace(_request("detect", dialogue), labels=judged) for dialogue in dialogues]
        named = [re.search(r"Index: (\d+)", response.text) for response in _ask(engine, *requests)]
        assert any(named)
        assert all(int(index[1]) % 2 == parity % 2 for index in named if index)


@pytest.mark.parametrize("protocol", ["arena", "gteval"])
def test_comparisons_do_not_depend_on_the_position(forest: Learned, english: list[Dialogue], protocol: str) -> None:
    engine = EmbeddedEngine(forest, identity="forest")
    pairs = [(dialogue, _repetitive(dialogue)) for dialogue in english[:20]]
    there = _ask(engine, *(_request(protocol, first, second) for first, second in pairs))
    back = _ask(engine, *(_request(protocol, second, first) for first, second in pairs))
    exchanged = {"Conversation 1": "Conversation 2", "Conversation 2": "Conversation 1"}
    for one, other in zip(there, back, strict=True):
        choice = COMPARISON.fullmatch(one.text)
        opposite = COMPARISON.fullmatch(other.text)
        assert choice is not None
        assert opposite is not None
        assert opposite[1] == exchanged.get(choice[1], choice[1])
    assert sum("Choice: Conversation 2" in response.text for response in there) > len(pairs) / 2


@pytest.mark.parametrize("protocol", ["arena", "gteval"])
def test_equal_conversations_are_a_tie(forest: Learned, english: list[Dialogue], protocol: str) -> None:
    (response,) = _ask(EmbeddedEngine(forest, identity="x"), _request(protocol, english[0], english[0]))
    assert response.text.startswith(("Choice: Both", "Choice: Neither"))


@given(st.text(alphabet=st.sampled_from("aΣİß'’.-_ \n\r\u2028\t的ก?3\u0301")))
def test_tokens_are_counted_line_by_line_as_in_the_whole(text: str) -> None:
    assert sum(map(_n_tokens, text.split("\n"))) == len(tokens(text))


def test_a_table_is_answered_as_each_request_alone_and_each_dialogue_is_judged_once(
    forest: Learned, english: list[Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [_request("unieval", dialogue) for dialogue in english[:5]] + [_request("selfchat", english[0])]
    engine = EmbeddedEngine(forest, identity="judge")
    *outcomes, refused = _ask(engine, *asked)
    assert outcomes == [asyncio.run(EmbeddedEngine(forest, identity="judge").answer(request)) for request in asked[:-1]]
    assert isinstance(refused, AnswerFailure)
    assert refused.kind == "unsupported"
    monkeypatch.setattr(Judge, "judge", None)
    assert _ask(engine, *asked[:-1], *asked[:-1]) == outcomes * 2
