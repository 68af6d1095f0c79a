"""The engine of translation models: translates the utterance that a request is about, those of like length together."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from dialeval.config.models import NllbModel
from dialeval.engines.length_batches import by_length
from dialeval.engines.nllb.translator import Translator
from dialeval.engines.request import AnswerFailure, Message, Request, Response
from dialeval.engines.store import ResponseStore
from dialeval.prompts.shown import one_line
from dialeval.translation.languages import LANGUAGES

Outcome = tuple[str, Response | AnswerFailure]


class _Asked(NamedTuple):
    """An utterance to be translated: its key, its tokens and the code of its new language."""

    key: str
    ids: list[int]
    target: str
    max_tokens: int


class NllbEngine:
    """Answers requests `translate`; it reads the utterance alone, without what was said before.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: always true: the prompt is for models that chat.
        concurrency: how many utterances are sorted by length together.
        context_window: always None.
    """

    reads_subject = True
    context_window: int | None = None

    def __init__(self, model: NllbModel, translator: Translator, *, identity: str) -> None:
        self.identity, self.concurrency = identity, model.concurrency
        self._batch_tokens, self._translator = model.batch_tokens, translator

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        ((_, outcome),) = list(self._outcomes([("", request)]))
        if isinstance(outcome, AnswerFailure):
            raise outcome
        return outcome

    async def answer_all(
        self, requests: Iterable[tuple[str, Request]], store: ResponseStore
    ) -> AsyncGenerator[Outcome, None]:
        """Yields key and outcome of every request, each once; see `engines.answering.TableEngine`."""
        waiting = iter(requests)
        while window := list(islice(waiting, self.concurrency)):
            outcomes = self._outcomes(window)
            while (outcome := await asyncio.to_thread(next, outcomes, None)) is not None:
                yield outcome

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns 0: the model reads what a request is about, not its messages."""
        return 0

    async def close(self) -> None:
        """Has nothing to give back."""

    def _outcomes(self, window: Sequence[tuple[str, Request]]) -> Iterator[Outcome]:
        alike: dict[tuple[str, int], list[_Asked]] = defaultdict(list)
        for key, request in window:
            try:
                asked = self._read(key, request)
            except AnswerFailure as failure:
                yield key, failure
            else:
                if len(asked.ids) <= self._translator.window:
                    alike[asked.target, asked.max_tokens].append(asked)
                else:  # to translate a part of it and lose the rest would be worse
                    cut = Response("", finish_reason="length", prompt_tokens=len(asked.ids), completion_tokens=0)
                    yield key, cut
        for (target, max_tokens), group in alike.items():
            for places in by_length([len(asked.ids) for asked in group], self._batch_tokens):
                batch = [group[place] for place in places]
                found = self._translator.translate([asked.ids for asked in batch], target, max_tokens)
                for asked, translation in zip(batch, found, strict=True):
                    yield (
                        asked.key,
                        Response(
                            text=translation.text,
                            finish_reason="stop" if translation.ended else "length",
                            prompt_tokens=len(asked.ids),
                            completion_tokens=translation.n_tokens,
                        ),
                    )

    def _read(self, key: str, request: Request) -> _Asked:
        if request.protocol != "translate" or len(request.subject) != 2:
            raise AnswerFailure(
                "unsupported", f"a translation model cannot answer '{request.protocol}'; it translates and nothing else"
            )
        (text,), (source, target) = request.subject
        for language in (source, target):
            if language not in LANGUAGES or not self._translator.knows(LANGUAGES[language].nllb):
                raise AnswerFailure("unsupported", f"the model knows no language '{language}'")
        ids = self._translator.encode(one_line(text), LANGUAGES[source].nllb)
        return _Asked(key, ids, LANGUAGES[target].nllb, request.sampling.max_tokens)
