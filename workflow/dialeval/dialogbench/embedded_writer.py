"""Writing and filtering of items without a language model.

Items are clozes: the next utterance is hidden (MRG), or the one before a known reply (DI), and utterances of
other dialogues, of about the same length, are the other options. The other tasks cannot be made by rules and
are declined in words. The answers have the form of a language model's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dialeval.corpora.clusters import fold_of
from dialeval.dialogbench import examination, writing
from dialeval.dialogbench.briefs import fields_of
from dialeval.dialogbench.items import LETTERS
from dialeval.dialogbench.tasks import DOMAIN_NAMES, DOMAINS
from dialeval.engines.requests import AnswerFailure, Dialogue, Message, Request, Response
from dialeval.provenance.fingerprints import stored_fingerprint

if TYPE_CHECKING:  # see `engines.embedded.engine`
    from dialeval.engines.requests import Engine

ORIGIN = "embedded"
CLOZE_TASKS = ("MRG", "DI")
"""The tasks that can be made by rule."""
_LEAST = {"MRG": 8, "DI": 10}
"""Utterances that a dialogue needs so that four turns can be shown."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_NEAREST = 12


# Engines that write and filter items without a language model, so that these steps run as they do with one.


class RuleWriter:
    """Writes simple items by rule from dialogues that people wrote.

    Args:
        dialogues: by language.

    Attributes:
        identity, reads_subject, concurrency, context_window: as in every engine.
    """

    reads_subject = True
    concurrency = 64
    context_window: int | None = None

    def __init__(self, dialogues: Mapping[str, Sequence[Dialogue]]) -> None:
        self._dialogues = {language: tuple(found) for language, found in dialogues.items()}
        texts = json.dumps(self._dialogues, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
        content = {
            "engine": "rule",
            "dialogues": hashlib.sha256(texts).hexdigest(),
            "code": stored_fingerprint("dialeval.dialogbench.embedded_writer"),
        }
        self.identity = json.dumps(content, sort_keys=True)

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure."""
        if request.protocol != writing.WRITE_PROTOCOL:
            raise AnswerFailure("unsupported", f"the writer by rule answers only {writing.WRITE_PROTOCOL}")
        dialogues = self._dialogues.get(fields_of(request.subject)["language"], ())
        text = write_embedded(request.subject, dialogues)
        return Response(
            text=text, prompt_tokens=self.count_tokens(request.messages), completion_tokens=len(text.split())
        )

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the number of words between blanks."""
        return sum(len(message.content.split()) for message in messages)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


class FilterByChoice:
    """Filters items with an embedded model: an item is incorrect if the named option is the least likely of all.

    Args:
        engine: the model's engine, which chooses between options.

    Attributes:
        identity, reads_subject, concurrency, context_window: as in every engine.
    """

    reads_subject = True

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        content = {"model": engine.identity, "code": stored_fingerprint("dialeval.dialogbench.embedded_writer")}
        self.identity = json.dumps(content, sort_keys=True)
        self.concurrency = engine.concurrency
        self.context_window = engine.context_window

    async def answer(self, request: Request) -> Response:
        """Answer, or raise AnswerFailure."""
        if request.protocol != writing.FILTER_PROTOCOL:
            raise AnswerFailure("unsupported", f"this filter answers only {writing.FILTER_PROTOCOL}")
        letters = tuple(LETTERS[: len(request.subject[1])])
        chosen = await self._engine.answer(
            replace(request, protocol=examination.PROTOCOL, kind="choice", labels=letters)
        )
        verdict = filter_embedded(request.subject, [(chosen.label_logprobs or {})[letter] for letter in letters])
        return Response(text=verdict, prompt_tokens=chosen.prompt_tokens, completion_tokens=1)

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Return the length of a prompt as the model counts it."""
        return self._engine.count_tokens(messages)

    async def close(self) -> None:
        """Close the model's engine."""
        await self._engine.close()


def write_embedded(subject: Sequence[Dialogue], dialogues: Sequence[Dialogue]) -> str:
    """Return the answer to a writing request: a JSON object, or words where the task cannot be made by rule.

    Every domain has its own dialogues, those that have most words in common with its description; what is left over
    goes where dialogues are wanting, so that the domain of an embedded item is a hint and no more. The number of the
    item and of the repetition pick one of them.

    Args:
        subject: that of the request (`subjects.brief_subject`).
        dialogues: what items are made from, in the language of the request.
    """
    fields = fields_of(subject)
    task = fields["task"]
    if task not in CLOZE_TASKS:
        return f"I am sorry, but I cannot write items for {task}: only {' and '.join(CLOZE_TASKS)} can be made by rule."
    shares = _shares(tuple(tuple(one) for one in dialogues if len(one) >= _LEAST[task]), fields["language"])
    own = shares[fields["domain"]]
    if not own:
        return f"I am sorry, but I cannot write this item: no dialogue is long enough for {task}."
    place = (int(fields["number"]) + 7 * int(fields["repeat"])) % len(own)
    rng = _rng(*(f"{name}={value}" for name, value in sorted(fields.items())))
    return _cloze(task, own[place], dialogues, rng)


def filter_embedded(subject: Sequence[Dialogue], fits: Sequence[float]) -> str:
    """Return the answer to a filter's request: `incorrect` if the named option fits worst of all, else `correct`.

    Args:
        subject: that of the request (`subjects.item_subject` with the answer).
        fits: how well each option fits; higher is better.
    """
    _, _, *pairs = subject
    named = fits[LETTERS.index(fields_of(pairs)["label"])]
    others = sorted(fits)
    worst = named == others[0] and others[0] < others[-1] and fits.count(named) == 1
    return "incorrect" if worst else "correct"


@lru_cache(maxsize=8)
def _shares(dialogues: tuple[Dialogue, ...], language: str) -> dict[str, tuple[Dialogue, ...]]:
    """Return the dialogues of each domain: in turn, each takes the one that has most words of its description."""
    words = [Counter(_WORD.findall(" ".join(dialogue).casefold())) for dialogue in dialogues]
    free = set(range(len(dialogues)))
    shares: dict[str, list[Dialogue]] = {name: [] for name in DOMAIN_NAMES}
    about = {domain.name: set(_WORD.findall(domain.about(language).casefold())) for domain in DOMAINS}
    fit = {
        name: sorted(free, key=lambda one: (-sum(n for word, n in words[one].items() if word in theirs), one))
        for name, theirs in about.items()
    }
    while free:
        for name in DOMAIN_NAMES:
            best = next((one for one in fit[name] if one in free), None)
            if best is not None:
                free.discard(best)
                shares[name].append(dialogues[best])
    # a domain for which none is left shares all, each beginning with another one
    return {
        name: tuple(found) or dialogues[place % max(len(dialogues), 1) :] + dialogues[: place % max(len(dialogues), 1)]
        for place, (name, found) in enumerate(shares.items())
    }


def _rng(*names: str) -> np.random.Generator:
    digest = hashlib.sha256("\0".join(("embedded writer", *names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def _cloze(task: str, dialogue: Dialogue, dialogues: Sequence[Dialogue], rng: np.random.Generator) -> str:
    places = range(7, len(dialogue), 2) if task == "MRG" else range(8, len(dialogue) - 1, 2)
    hidden = places[int(rng.integers(len(places)))]
    right = dialogue[hidden]
    options = [right, *_others(right, dialogue, dialogues, hidden % 2, rng)]
    order = [int(place) for place in rng.permutation(len(options))]
    record: dict[str, object] = {"speaker1 personality": "", "speaker2 personality": ""}
    record["dialogue"] = _turns(dialogue[:hidden])
    if task == "DI":
        record["response"] = dialogue[hidden + 1]
    shown = {LETTERS[place]: options[which] for place, which in enumerate(order)}
    label = LETTERS[order.index(0)]
    analysis = "The right option was said in this dialogue, the others in other dialogues."
    return json.dumps(record | {"option": shown, "analysis": analysis, "label": label}, ensure_ascii=False)


def _others(
    right: str, dialogue: Dialogue, dialogues: Sequence[Dialogue], speaker: int, rng: np.random.Generator
) -> list[str]:
    """Return three utterances of the same speaker in other dialogues, drawn from those nearest in length.

    They come from the dialogue's own fold, if it has enough: an embedded model's items then contain no
    utterance that it learned from, neither the right option nor one that would betray itself by being known.
    """
    fold = _fold(dialogue[0])
    others = [other for other in dialogues if other != dialogue]
    own = {text for other in others if _fold(other[0]) == fold for text in other[speaker::2]} - set(dialogue)
    pool = own if len(own) >= _NEAREST else {text for other in others for text in other[speaker::2]} - set(dialogue)
    nearest = sorted(pool, key=lambda text: (abs(len(text) - len(right)), text))[:_NEAREST]
    return [nearest[int(place)] for place in rng.permutation(len(nearest))[:3]]


@lru_cache(maxsize=100_000)
def _fold(first_utterance: str) -> int:
    return fold_of((first_utterance,))


def _turns(utterances: Dialogue) -> list[dict[str, str]]:
    turns: list[dict[str, str]] = []
    for place, text in enumerate(utterances):
        if place % 2 == 0:
            turns.append({"speaker1": text})
        else:
            turns[-1]["speaker2"] = text
    return turns
