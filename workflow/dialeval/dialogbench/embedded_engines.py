"""Engines that write and filter items without a language model, so that these steps run as they do with one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dialeval.corpora.multiple_choice import LETTERS
from dialeval.dialogbench import examination, filtering, writing
from dialeval.dialogbench.embedded_writer import filter_embedded, write_embedded
from dialeval.dialogbench.subjects import fields_of
from dialeval.engines.request import AnswerFailure, Dialogue, Engine, Message, Request, Response
from dialeval.fingerprints.code import fingerprint


class RuleWriter:
    """Writes simple items by rule from dialogues that people wrote.

    Args:
        dialogues: by language.

    Attributes:
        identity, reads_subject, concurrency, context_window: as of every engine.
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
            "code": fingerprint("dialeval.dialogbench.embedded_writer"),
        }
        self.identity = json.dumps(content, sort_keys=True)

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        if request.protocol != writing.PROTOCOL:
            raise AnswerFailure("unsupported", f"the writer by rule answers nothing but {writing.PROTOCOL}")
        dialogues = self._dialogues.get(fields_of(request.subject)["language"], ())
        text = write_embedded(request.subject, dialogues)
        return Response(
            text=text, prompt_tokens=self.count_tokens(request.messages), completion_tokens=len(text.split())
        )

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the number of words between blanks."""
        return sum(len(message.content.split()) for message in messages)

    async def close(self) -> None:
        """Has nothing to give back."""


class FilterByChoice:
    """Filters items with an embedded model: an item is incorrect if the named option is the least likely of all.

    Args:
        engine: the model's engine, which chooses between options.

    Attributes:
        identity, reads_subject, concurrency, context_window: as of every engine.
    """

    reads_subject = True

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        content = {"model": engine.identity, "code": fingerprint("dialeval.dialogbench.embedded_writer")}
        self.identity = json.dumps(content, sort_keys=True)
        self.concurrency = engine.concurrency
        self.context_window = engine.context_window

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        if request.protocol != filtering.PROTOCOL:
            raise AnswerFailure("unsupported", f"this filter answers nothing but {filtering.PROTOCOL}")
        letters = tuple(LETTERS[: len(request.subject[1])])
        chosen = await self._engine.answer(
            replace(request, protocol=examination.PROTOCOL, kind="choice", labels=letters)
        )
        verdict = filter_embedded(request.subject, [(chosen.label_logprobs or {})[letter] for letter in letters])
        return Response(text=verdict, prompt_tokens=chosen.prompt_tokens, completion_tokens=1)

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of a prompt as the model counts it."""
        return self._engine.count_tokens(messages)

    async def close(self) -> None:
        """Closes the model's engine."""
        await self._engine.close()
