"""Keys of requests stay what they are, so that an answer that was paid for is found again.

A digest below stands for the keys of all requests of one protocol to one model, over bundled dialogues. Where one
changes, everything that anyone has asked under that protocol is asked and paid for once more: change it only together
with what is asked.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import pytest

from dialeval.config import OpenAIModel, VllmModel
from dialeval.corpora import bundled
from dialeval.corpora.dialogue_items import items_of_dialogues
from dialeval.corpora.dialogues import utterance_table
from dialeval.dialogbench import bundled as bundled_items
from dialeval.dialogbench import examination
from dialeval.engines.openai_api.identity import openai_identity
from dialeval.engines.request import Dialogue, Message, Request, Sampling, request_key
from dialeval.engines.vllm_engine.identity import vllm_identity
from dialeval.forms import detect, probability, scale
from dialeval.perturbations.registry import STRATEGIES, find_strategy
from dialeval.perturbations.rewriting import plan_rewriting
from dialeval.prompts.rendering import Templates
from dialeval.protocols import arena, gteval, selfchat
from dialeval.tables import HUMAN

N_DIALOGUES = 6
TEMPLATES = Templates()
SAMPLING = Sampling(temperature=0.0, max_tokens=512)
OPENAI = openai_identity(OpenAIModel(engine="openai", model="gpt-4o-2024-11-20"))
VLLM = vllm_identity(
    VllmModel(engine="vllm", model="Qwen/Qwen2.5-7B-Instruct", revision="a09a35458c702b33eeacc393d103063234e8bc28"),
    "none",
)
EMBEDDED = '{"engine":"embedded"}'


class Unbounded:
    """A window into which everything fits."""

    context_window = None

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        return sum(len(message.content) for message in messages)


def dialogues() -> dict[str, Dialogue]:
    reading = bundled.read("en")
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
    bots = {name: by_seed for name, by_seed in by_model.items() if name != HUMAN}
    seeds = [seed_id for seed_id, dialogue in by_model[HUMAN].items() if len(dialogue) >= 4]
    planned = chain(
        detect.plan(by_model, TEMPLATES, SAMPLING),
        arena.plan(bots, seeds, [8, 16], TEMPLATES, SAMPLING, Counter()),
        gteval.plan(by_model, seeds, TEMPLATES, SAMPLING, Counter()),
    )
    yield from (one.request for one in planned)
    system = TEMPLATES.render(selfchat.TEMPLATE)
    for seed_id, dialogue in bots["one"].items():
        for n in range(2, 5):
            yield selfchat.next_request(Unbounded(), seed_id, dialogue[:n], system=system, sampling=SAMPLING)[0]


def scored() -> Iterator[Request]:
    items = list(items_of_dialogues(utterance_table("bundled", bundled.read("en"))))[: 2 * N_DIALOGUES]
    for planned in (scale.plan(items, TEMPLATES, SAMPLING, 2), probability.plan(items, TEMPLATES)):
        yield from (one.request for one in planned)
    for item in items:
        for strategy in map(find_strategy, STRATEGIES):
            if strategy.template is not None and strategy.level == item.level:
                asked = plan_rewriting(item, strategy, TEMPLATES, SAMPLING)
                if isinstance(asked, Request):
                    yield asked


def examined() -> Iterator[Request]:
    for language in ("en", "zh"):
        items = bundled_items.read(language).items
        for method in examination.METHODS:
            yield from (one.request for one in examination.plan(items, method, TEMPLATES))


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
    assert hashlib.sha256(OPENAI.encode()).hexdigest()[:16] == GOLDEN_OPENAI_IDENTITY
    assert hashlib.sha256(VLLM.encode()).hexdigest()[:16] == GOLDEN_VLLM_IDENTITY


@pytest.mark.parametrize(("identity", "reads_subject"), [(OPENAI, False), (VLLM, False), (EMBEDDED, True)])
def test_keys_stay(requests: list[Request], identity: str, reads_subject: bool) -> None:
    name = "embedded" if reads_subject else "vllm" if identity == VLLM else "openai"
    assert digests(requests, identity, reads_subject=reads_subject) == GOLDEN[name]


GOLDEN_OPENAI_IDENTITY = "6c7d70a71b6943fd"
GOLDEN_VLLM_IDENTITY = "9a9467a5f63cb043"
GOLDEN: dict[str, dict[str, str]] = {
    "embedded": {
        "arena/chat": "a75c66b1fc28c7b3",
        "gteval/chat": "16de58a8b0a5f68c",
        "multiple_choice/chat": "e55fc5cf6c6fd390",
        "multiple_choice/choice": "a8ac26c763d33dc4",
        "multiple_choice/loglikelihood": "898f472d92270b5b",
        "perturb/chat": "076d850260d9fe52",
        "rating/chat": "aa8d5be82eb6e128",
        "selfchat/chat": "189078b34d07c27e",
        "unieval/chat": "1412e8a19fee3380",
        "yes_no/choice": "0e23f3d84ac64fab",
    },
    "openai": {
        "arena/chat": "9a26f6c14cef2863",
        "gteval/chat": "8cf806b1dca30ff1",
        "multiple_choice/chat": "7e2f39964bce2dc6",
        "multiple_choice/choice": "bd844344ca09ca42",
        "multiple_choice/loglikelihood": "d78b5a7f2fb719bd",
        "perturb/chat": "59af1ebc110663a3",
        "rating/chat": "c24ffa473a67f67e",
        "selfchat/chat": "eab599ca15cc6b22",
        "unieval/chat": "29c252ee7e68e391",
        "yes_no/choice": "fbfef159558a12a2",
    },
    "vllm": {
        "arena/chat": "e78c8036d3a4a3ac",
        "gteval/chat": "dbcc30c1de8621cf",
        "multiple_choice/chat": "98c1aff9757297aa",
        "multiple_choice/choice": "4df972926c1ab7f9",
        "multiple_choice/loglikelihood": "e547967ca2912d8e",
        "perturb/chat": "f5983138381fa0df",
        "rating/chat": "9a9e7f19a2a9945e",
        "selfchat/chat": "04faccdd1437748d",
        "unieval/chat": "fb4830f7babd3a71",
        "yes_no/choice": "bcdbeb172fceb2e8",
    },
}
