"""The engine of the embedded models: answers from a request's subject, in the format a language model is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dialeval.engines.embedded import verdicts
from dialeval.engines.embedded.judge import Judge, Judgement
from dialeval.engines.embedded.learning import METHODS, Learned
from dialeval.engines.embedded.tokens import tokens
from dialeval.engines.request import AnswerFailure, Dialogue, Message, Request, Response

_SUBJECTS = {"selfchat": 1, "unieval": 1, "arena": 2, "gteval": 2}
"""How many dialogues a request of each protocol is about."""


class EmbeddedEngine:
    """Answers requests with a learned chatbot or judge.

    Dialogues that are to be judged at the same moment are judged together, and each only once.

    Attributes:
        identity: canonical JSON of everything about the model that can change an answer.
        reads_subject: always true.
        concurrency: how many requests may be in flight at once.
        context_window: always None; there is no limit.
    """

    reads_subject = True
    context_window: int | None = None

    def __init__(self, learned: Learned, *, identity: str, concurrency: int = 256) -> None:
        self.identity = identity
        self.concurrency = concurrency
        self._learned = learned
        self._judged: dict[Dialogue, Judgement] = {}
        self._waiting: dict[Dialogue, asyncio.Future[Judgement]] = {}

    async def answer(self, request: Request) -> Response:
        """Answers, or raises AnswerFailure."""
        self._check(request)
        text = await self._verdict(request) if self._learned.role == "judge" else self._reply(request)
        return Response(
            text=text, prompt_tokens=self.count_tokens(request.messages), completion_tokens=len(tokens(text))
        )

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the number of words, characters and marks of the messages."""
        return sum(len(tokens(message.content)) for message in messages)

    async def close(self) -> None:
        """Forgets what was judged."""
        self._judged.clear()

    def _check(self, request: Request) -> None:
        method, role = self._learned.method, self._learned.role
        if request.kind != "chat":
            raise AnswerFailure(
                "unsupported", f"embedded models answer in text; they have no answer of kind '{request.kind}'"
            )
        if request.protocol not in _SUBJECTS:
            known = ", ".join(_SUBJECTS)
            raise AnswerFailure("unsupported", f"embedded models know nothing of '{request.protocol}'; known: {known}")
        if (request.protocol == "selfchat") != (role == "chatbot"):
            able = ", ".join(name for name, other in METHODS.items() if other.role != role)
            task = "judge" if role == "chatbot" else "chat"
            raise AnswerFailure("unsupported", f"embedded method '{method}' is a {role} and cannot {task}; use: {able}")
        n = _SUBJECTS[request.protocol]
        if len(request.subject) != n or not all(request.subject):
            raise AnswerFailure(
                "unsupported",
                f"request '{request.request_id}' of protocol '{request.protocol}' must be about {n} dialogue(s) with "
                f"at least one utterance; it is about {len(request.subject)}",
            )

    def _reply(self, request: Request) -> str:
        utterances = request.subject[0]
        return self._learned.chatbot_for(utterances).reply(utterances)

    async def _verdict(self, request: Request) -> str:
        judgements = await asyncio.gather(*(self._judgement(dialogue) for dialogue in request.subject))
        judge = self._learned.judge_for(request.subject[0])
        if request.protocol == "unieval":
            return verdicts.unieval_answer(judge, judgements[0])
        return verdicts.comparison_answer(judge, judgements[0], judgements[1], request.protocol)

    async def _judgement(self, dialogue: Dialogue) -> Judgement:
        if dialogue in self._judged:
            return self._judged[dialogue]
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._judge_waiting)
        if dialogue not in self._waiting:
            self._waiting[dialogue] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._waiting[dialogue])

    def _judge_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        try:
            self._judged.update(judge_all(self._learned, list(waiting)))
        except Exception as error:
            for future in waiting.values():
                future.set_exception(error)
            return
        for dialogue, future in waiting.items():
            future.set_result(self._judged[dialogue])


def judge_all(learned: Learned, dialogues: Sequence[Dialogue]) -> dict[Dialogue, Judgement]:
    """Returns the judgement of each dialogue, from the judge that never saw it."""
    by_judge: dict[int, tuple[Judge, list[Dialogue]]] = {}
    for dialogue in dialogues:
        judge = learned.judge_for(dialogue)
        by_judge.setdefault(id(judge), (judge, []))[1].append(dialogue)
    return {
        dialogue: judgement
        for judge, group in by_judge.values()
        for dialogue, judgement in zip(group, judge.judge(group), strict=True)
    }
