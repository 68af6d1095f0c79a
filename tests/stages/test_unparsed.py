"""Whether single answers can be parsed, said while they are asked for, as the stage that reads them says it later."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dialeval.config.protocol_settings import JudgedData, Protocol
from dialeval.config.running import Answering
from dialeval.engines.requests import Request, Response
from dialeval.protocols.item_prompts import QuestionSettings
from dialeval.protocols.planned_requests import request_from_row
from dialeval.provenance.fingerprints import fingerprint
from dialeval.stages import unparsed

ABOUT = {"request_id": "p/1", "protocol": "p", "messages": [], "temperature": 0.0, "top_p": 1.0, "max_tokens": 9}
ABOUT |= {"sampler_seed": None, "stop": [], "presence_penalty": 0.0, "frequency_penalty": 0.0, "continuation": ""}
ABOUT |= {"subject": [], "repeat": 0, "n_utterances": 4, "answer_schema": "", "labels": [], "part": "coherence"}


def status(form: Any, response: Response, kind: str = "chat", labels: tuple[str, ...] = (), **fields: Any) -> str:
    own = Protocol(form=form, data=JudgedData(source=["talks"]), template="t.j2", **fields)
    settings = QuestionSettings(name="p", protocol=own)
    rows = unparsed.PlannedRows()
    row = {**ABOUT, "kind": kind, "labels": list(labels)}
    (request,) = map(request_from_row, rows.noted([row]))
    parsing = unparsed.of_question(settings, (), Answering(), rows)
    assert parsing is not None
    assert parsing.most_unparsed == 20
    return parsing.status_of(request, response)


@pytest.mark.parametrize(
    ("form", "text", "fields", "expected"),
    [
        ("pair", "Choice: A", {}, "ok"),
        ("pair", "I would rather not choose.", {}, "unparsed"),
        ("pair", "Choice: A", {"answers": "structured"}, "unparsed"),
        ("pair", '{"reason": "", "choice": "A"}', {"answers": "structured"}, "ok"),
        ("locate", "Choice: Yes\nIndex: 3", {}, "ok"),
        ("locate", "Maybe.", {}, "unparsed"),
    ],
)
def test_answers_in_words(form: str, text: str, fields: dict[str, Any], expected: str) -> None:
    assert status(form, Response(text), **fields) == expected


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"Yes": 0.6, "No": 0.3}, "ok"),
        ({"Yes": 0.6}, "unparsed"),  # top_logprobs cut short: what `No` has is not known
        ({}, "low_mass"),
        ({"Yes": 1e-6, "No": 1e-6}, "low_mass"),
    ],
)
def test_answers_in_probabilities(seen: dict[str, float], expected: str) -> None:
    shown = {label: math.log(share) for label, share in seen.items()}
    response = Response("Yes", label_logprobs=shown, label_mass=sum(seen.values()))
    assert status("probability", response, "choice", ("Yes", "No")) == expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (Response('{"dialogue": ["Hi.", "Hello."]}'), "ok"),
        (Response("Here is an item."), "unparsed"),
        (Response("I'm sorry, I cannot write that."), "refused"),
        (Response('{"dialogue": ["Hi', finish_reason="length"), "truncated"),
    ],
)
def test_answers_of_a_writer(response: Response, expected: str) -> None:
    parsing = unparsed.of_written(Answering())
    assert parsing is not None
    assert parsing.status_of(Request("w/1", "dialogbench_writing", "chat", ()), response) == expected


def test_letters_and_translations_are_parsed_by_what_their_request_says() -> None:
    parsing = unparsed.of_request(Answering(max_unparsed=5))
    assert parsing is not None
    exam = Request("e/1", "multiple_choice", "chat", (), subject=(("Hi.",), ("one", "two", "three", "four")))
    assert [parsing.status_of(exam, Response(text)) for text in ("B", "None of them.")] == ["ok", "unparsed"]
    talk = Request("t/1", "translate", "chat", (), subject=(("Where is the dog?",), ("en", "de")))
    said = [parsing.status_of(talk, Response(text)) for text in ("Wo ist der Hund?", "Where is the dog?")]
    assert said == ["ok", "unparsed"]
    assert unparsed.of_request(Answering(max_unparsed=None)) is None


def test_parsing_is_no_part_of_the_code_that_sends_requests() -> None:
    from dialeval.provenance.fingerprints import _reach

    reached = {definition.module for definition in _reach("dialeval.stages.answering")[0]}
    assert not {"dialeval.stages.unparsed", "dialeval.protocols.pair", "dialeval.protocols.verdicts"} & reached
    assert fingerprint("dialeval.stages.answering")
