"""Keys of requests stay what they are, so that an answer that was paid for is found again.

A digest in `tests/golden/request_keys.json` stands for the ids and keys of all requests of one protocol to one model,
over bundled dialogues. Where one changes, everything that anyone has asked under that protocol is asked and paid for
once more: the functions below, which get the requests, follow the library; the digests never change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from judged_dialogues import items_of, own_question, planned, shipped_question

from dialeval.config import OpenAIModel, VllmModel
from dialeval.corpora.dialogues import bundled_dialogues, utterance_table
from dialeval.corpora.items import Item, items_of_dialogues
from dialeval.criteria import FAILURES
from dialeval.dialogbench import examination
from dialeval.dialogbench.items import read_bundled
from dialeval.engines.openai_api.wire_format import openai_identity
from dialeval.engines.requests import Dialogue, Message, Request, Sampling, request_key
from dialeval.engines.vllm_engine.model_files import vllm_identity
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.rewriting import plan_rewriting
from dialeval.prompts.rendering import Templates
from dialeval.protocols import annotate, locate, scores, selfchat
from dialeval.protocols.selfchat import Voice
from dialeval.tables.files import HUMAN

N_DIALOGUES = 6
TEMPLATES = Templates()
YES_NO = shipped_question("yes_no")
SAMPLING = Sampling(temperature=0.0, max_tokens=512)
OPENAI = openai_identity(OpenAIModel(engine="openai", model="gpt-4o-2024-11-20"))
VLLM = vllm_identity(
    VllmModel(engine="vllm", model="Qwen/Qwen2.5-7B-Instruct", revision="a09a35458c702b33eeacc393d103063234e8bc28"),
    "none",
)
EMBEDDED = '{"engine":"embedded"}'
GOLDEN = json.loads((Path(__file__).parent / "golden" / "request_keys.json").read_text(encoding="utf-8"))


class Unbounded:
    """A window into which everything fits."""

    context_window = None

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        return sum(len(message.content) for message in messages)


def dialogues() -> dict[str, Dialogue]:
    reading = bundled_dialogues("en")
    return {d.dialogue_id: tuple(u.text for u in d.utterances) for d in reading.dialogues[:N_DIALOGUES]}


def judged() -> dict[str, dict[str, Dialogue]]:
    """The human dialogues, and those of two chatbots that go on with other dialogues' utterances."""
    people = dialogues()
    pool = [text for dialogue in people.values() for text in dialogue]

    def chatbot(step: int) -> dict[str, Dialogue]:
        return {
            seed_id: (*dialogue[:2], *(pool[(step * turn + place) % len(pool)] for turn in range(14)))
            for place, (seed_id, dialogue) in enumerate(people.items())
        }

    return {HUMAN: people, "one": chatbot(3), "two": chatbot(5)}


def botchat() -> Iterator[Request]:
    by_model = judged()
    items = items_of(by_model)
    for protocol in ("unieval", "arena", "gteval"):
        yield from (one.request for one in planned(shipped_question(protocol, needed=4), items))
    system = TEMPLATES.render(selfchat.TEMPLATE)
    chatbot = Voice(Unbounded(), lambda _: system, SAMPLING)
    for seed_id, dialogue in by_model["one"].items():
        for n in range(2, 5):
            yield chatbot.next_request(seed_id, dialogue[:n])[0]


def scored() -> Iterator[Request]:
    items = list(items_of_dialogues(utterance_table("bundled", bundled_dialogues("en"))))[: 2 * N_DIALOGUES]
    for asked in (
        scores.plan_scale(shipped_question("rating", max_tokens=512, repeats=2), items, TEMPLATES),
        scores.plan_probability(YES_NO, items, TEMPLATES),
    ):
        yield from (one.request for one in asked)
    for item in items:
        for strategy in map(find_strategy, STRATEGIES):
            if strategy.by_model and strategy.level == item.level:
                rewriting = plan_rewriting(item, strategy, TEMPLATES, SAMPLING)
                if isinstance(rewriting, Request):
                    yield rewriting


def examined() -> Iterator[Request]:
    for language in ("en", "zh"):
        items = read_bundled(language).items
        for method in examination.METHODS:
            yield from (one.request for one in examination.plan(items, method, TEMPLATES))


def transcripts() -> list[Item]:
    """Dialogues whose speakers bear roles and names of their own, and one whose speaker is called as the system is."""
    texts = next(iter(dialogues().values()))[:2]
    return [
        Item("own", str(number), "en", "dialogue", str(number), speakers, texts, system, "", judged)
        for number, (speakers, system, judged) in enumerate(
            [
                (("user", "assistant"), "heron", "assistant"),
                (("human", "gpt"), "gpt-4o", "gpt"),
                (("Customer", "Chatbot"), "chatbot-2", "Chatbot"),
                (("A", "B"), "alpha", ""),
                (("Ann", "Ben"), "heron", ""),
                (("user", "assistant"), "assistant", "assistant"),
                (("Ann", "heron"), "Heron", "heron"),
                (("Heron-7B", "Ann"), "heron-7b", "Heron-7B"),
            ]
        )
    ]


def digests(requests: Sequence[Request], identity: str, *, reads_subject: bool = False) -> dict[str, str]:
    lines: dict[str, list[str]] = {}
    for request in requests:
        protocol = f"{request.protocol}/{request.kind}"
        key = request_key(request, identity, reads_subject=reads_subject)
        lines.setdefault(protocol, []).append(f"{request.request_id} {key}\n")
    return {name: hashlib.sha256("".join(sorted(group)).encode()).hexdigest()[:16] for name, group in lines.items()}


@pytest.fixture(scope="module")
def requests() -> list[Request]:
    return [*botchat(), *scored(), *examined()]


def test_the_identities_of_models_stay() -> None:
    now = {"openai": OPENAI, "vllm": VLLM}
    digests = {name: hashlib.sha256(identity.encode()).hexdigest()[:16] for name, identity in now.items()}
    assert digests == GOLDEN["identities"]


@pytest.mark.parametrize(
    ("engine", "identity", "reads_subject"),
    [("openai", OPENAI, False), ("vllm", VLLM, False), ("embedded", EMBEDDED, True)],
)
def test_ids_and_keys_stay(requests: list[Request], engine: str, identity: str, reads_subject: bool) -> None:
    assert digests(requests, identity, reads_subject=reads_subject) == GOLDEN["requests"][engine]


@pytest.mark.parametrize(("engine", "identity"), [("openai", OPENAI), ("vllm", VLLM)])
def test_keys_about_transcripts_stay(engine: str, identity: str) -> None:
    asked = [
        *scores.plan_scale(shipped_question("rating", max_tokens=512), transcripts(), TEMPLATES),
        *scores.plan_probability(YES_NO, transcripts(), TEMPLATES),
    ]
    assert digests([one.request for one in asked], identity) == GOLDEN["transcripts"][engine]


@pytest.mark.parametrize(
    ("engine", "identity", "reads_subject"),
    [("openai", OPENAI, False), ("vllm", VLLM, False), ("embedded", EMBEDDED, True)],
)
def test_keys_of_own_protocols_stay(engine: str, identity: str, reads_subject: bool) -> None:
    """An embedded model's key has the name of the form, which stays when the form is renamed."""
    criteria = [FAILURES["formal_tone"], FAILURES["excessive_length"]]
    about: dict[str, Any] = {"data": {"source": "own"}, "criteria": [one.name for one in criteria]}
    items = transcripts()[:4]
    asked = [
        *locate.plan(own_question("slips", criteria, form="locate", **about), items, TEMPLATES),
        *locate.plan(own_question("human_like", form="locate", data={"source": "own"}), items, TEMPLATES),
        *annotate.plan(own_question("kinds", criteria, form="annotate", **about), items, TEMPLATES),
    ]
    found = digests([one.request for one in asked], identity, reads_subject=reads_subject)
    assert found == GOLDEN["own_protocols"][engine]
