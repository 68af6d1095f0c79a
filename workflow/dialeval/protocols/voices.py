"""Who speaks in a dialogue, and what each is asked: a chatbot with itself, or in turn with a simulated user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dialeval.engines.request import AnswerFailure, Message, Request, Sampling
from dialeval.engines.system_messages import OPENING_LINE
from dialeval.reasoning_marks import without_marks

SELFCHAT, PARTNER = "selfchat", "partner"
"""Under which an answer is stored: the chatbot's, and the simulated user's."""


class Window(Protocol):
    """What decides how much of a dialogue a prompt holds: an engine, or what is known of one that is not running."""

    @property
    def context_window(self) -> int | None:
        """Tokens of prompt and answer together; None if there is no limit."""
        ...

    def count_tokens(self, messages: tuple[Message, ...]) -> int:
        """Returns the length of the rendered prompt in the model's own tokens."""
        ...


def history(system: str, utterances: Sequence[str]) -> tuple[Message, ...]:
    """Returns the prompt for the next utterance: the one to be answered is the user's, roles alternate back from it.

    Marks of thinking lose their brackets, since chat templates cut earlier answers at them.
    """
    roles = ["user", "assistant"]
    turns = [Message(roles[age % 2], without_marks(text)) for age, text in enumerate(reversed(utterances))]
    return (Message("system", system), *reversed(turns))


def fit_history(
    system: str,
    utterances: Sequence[str],
    engine: Window,
    max_tokens: int,
    shown: Callable[[str, Sequence[str]], tuple[Message, ...]] = history,
) -> tuple[tuple[Message, ...], int]:
    """Returns the longest history that leaves room for the answer, and how many old utterances it leaves out.

    Raises:
        AnswerFailure: not even the last utterance fits.
    """
    window = engine.context_window
    for dropped in range(max(len(utterances), 1)):
        messages = shown(system, utterances[dropped:])
        if window is None or engine.count_tokens(messages) + max_tokens <= window:
            return messages, dropped
    raise AnswerFailure("context", f"the last utterance alone does not fit a window of {window}")


@dataclass(frozen=True)
class Voice:
    """One who speaks.

    Attributes:
        window: the model's.
        told: what the model is told beside the talk, by seed_id.
        sampling: how it is sampled.
        protocol: SELFCHAT or PARTNER.
        end: what the model writes to end the talk; empty where it cannot.
    """

    window: Window
    told: Callable[[str], str]
    sampling: Sampling
    protocol: str = SELFCHAT
    end: str = ""

    def next_request(self, seed_id: str, utterances: Sequence[str]) -> tuple[Request, int]:
        """Returns the request for a dialogue's next utterance, and how many old utterances its prompt leaves out.

        Raises:
            AnswerFailure: not even the last utterance fits the window.
        """
        shown = history if self.protocol == SELFCHAT else _partners_history
        messages, dropped = fit_history(self.told(seed_id), utterances, self.window, self.sampling.max_tokens, shown)
        request = Request(
            request_id=f"{self.protocol}/{seed_id}/{len(utterances)}",
            protocol=SELFCHAT,  # both go on with a dialogue, which is what embedded models know
            kind="chat",
            messages=messages,
            sampling=self.sampling,
            subject=(tuple(utterances),),
        )
        return request, dropped

    def said(self, text: str) -> tuple[str, bool]:
        """Returns the utterance in an answer, and whether it ends the talk."""
        before, end, _ = text.partition(self.end) if self.end else (text, "", "")
        return before.strip(), bool(end)


@dataclass(frozen=True)
class Talk:
    """How dialogues go on.

    Attributes:
        n_utterances: utterances that a dialogue has in the end, or at most where the partner may end it.
        chatbot: the one that is judged.
        partner: the simulated user, who opens the talk and says every other utterance; None where the chatbot says all.
    """

    n_utterances: int
    chatbot: Voice
    partner: Voice | None = None

    @classmethod
    def alone(cls, window: Window, *, n_utterances: int, system: str, sampling: Sampling) -> Talk:
        """Returns how a chatbot talks to itself."""
        return cls(n_utterances, Voice(window, lambda _: system, sampling))

    def voice(self, turn: int) -> Voice:
        """Returns who says an utterance (0-based)."""
        return self.chatbot if self.partner is None or turn % 2 else self.partner


def _partners_history(system: str, utterances: Sequence[str]) -> tuple[Message, ...]:
    """Returns the partner's prompt, which begins with the user's side though the partner may have opened the talk."""
    first, *spoken = history(system, utterances)
    opening = () if spoken and spoken[0].role == "user" else (Message("user", OPENING_LINE),)
    return (first, *opening, *spoken)
