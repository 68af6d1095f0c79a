"""The running sums of an estimate for one model under one protocol."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dialeval.engines.request import Request, Response
from dialeval.estimation.assumptions import Assumption
from dialeval.estimation.known_models import KnownModel
from dialeval.estimation.ranges import Range

FEW = 10
"""Stored answers whose mean is believed to a factor of two; that of more of them as their spread tells."""
MARGIN = 0.15
"""Share by which the mean of what is still to come may differ besides: later turns, other models' dialogues."""


@dataclass
class Estimate:
    """What one model is still to be asked under one protocol.

    Equal requests are asked once: all but the first count as stored.

    Attributes:
        model: the model.
        protocol: selfchat, unieval, arena or gteval.
        max_tokens: longest answer.
        assumed: an answer's length where none is stored.
        requests: requests in all.
        to_ask: requests that the store has no answer to.
        surely_to_ask: the same without those that may be in the store, which could not be looked up, or may be spared.
        hardly_to_ask: those of them that are likely spared.
        prompts: tokens of the prompts to be asked.
        n_answers: stored answers whose length is known.
        answer_tokens: tokens of these together.
        n_sent: stored answers that say how long their prompt was.
        sent_tokens: tokens of these prompts together.
        notes: what a reader should know.
    """

    model: KnownModel
    protocol: str
    max_tokens: int
    assumed: Assumption
    requests: int = 0
    to_ask: int = 0
    surely_to_ask: float = 0
    hardly_to_ask: float = 0
    prompts: Range = field(default_factory=Range)
    n_answers: int = 0
    answer_tokens: int = 0
    n_sent: int = 0
    sent_tokens: int = 0
    notes: list[str] = field(default_factory=list)
    _squares: int = 0
    _seen: set[bytes] = field(default_factory=set, repr=False)

    def count_planned(self, request: Request, response: Response | None) -> None:
        """Counts a request that is known word for word, with its stored answer."""
        self.requests += 1
        if response is not None:
            self.count_answer(response)
        elif self.is_new(request):
            self.count_unasked(1, self.model.prompt(request.messages), sure=self.model.identity is not None)

    def is_new(self, request: Request) -> bool:
        """Returns whether no equal request has been met, and remembers this one."""
        return self.is_new_key(self.model.key(request))

    def is_new_key(self, key: str) -> bool:
        """Returns the same of a request's key."""
        compact = bytes.fromhex(key)
        new = compact not in self._seen
        self._seen.add(compact)
        return new

    def count_answer(self, response: Response) -> None:
        """Counts the length of a stored answer."""
        if response.completion_tokens is not None:
            self.n_answers += 1
            self.answer_tokens += response.completion_tokens
            self._squares += response.completion_tokens**2
        if response.prompt_tokens is not None:
            self.n_sent += 1
            self.sent_tokens += response.prompt_tokens

    def count_unasked(self, n: int, prompts: Range, *, sure: bool, least: float = 1.0, likely: float = 1.0) -> None:
        """Counts requests that are to be asked, and the tokens of their prompts together.

        Args:
            n: how many, at most.
            prompts: tokens of so many prompts.
            sure: whether it is known that the store has not got them.
            least: share that is asked in any case.
            likely: share that is likely asked.
        """
        self.to_ask += n
        self.surely_to_ask += n * least if sure else 0
        self.hardly_to_ask += n * (1.0 - likely)
        low = prompts.low * least if sure else 0.0
        self.prompts = self.prompts.plus(prompts._replace(low=low, expected=prompts.expected * likely))

    def keep_share(self, share: float, why: str) -> None:
        """Counts a share of the requests alone; which of them it will be only the run can say.

        What is stored is taken to be of that share, as it is after a run.

        Args:
            share: of all requests.
            why: what a reader should know of it.
        """
        stored, missing = self.requests - self.to_ask, self.to_ask
        self.requests = math.floor(share * self.requests + 1e-9)
        self.to_ask = min(missing, max(0, self.requests - stored))
        kept = self.to_ask / missing if missing else 0.0
        self.surely_to_ask *= kept
        self.hardly_to_ask *= kept
        self.prompts = self.prompts.times(kept)
        self.notes.append(why)

    @property
    def prompt(self) -> float | None:
        """Mean length of a prompt, of those to be asked and of the stored ones; None where neither is known."""
        count = self.to_ask + self.n_sent
        return (self.prompts.expected + self.sent_tokens) / count if count else None

    @property
    def answer(self) -> Range:
        """Mean length of the answers that are still to come: as the stored ones of this model, else as assumed."""
        low, expected, high, _ = self.assumed.tokens
        if self.n_answers:
            expected = self.answer_tokens / self.n_answers
            low, high = expected / 2, expected * 2
        if self.n_answers >= FEW:
            spread = math.sqrt(max(self._squares / self.n_answers - expected**2, 0.0))
            half = 2 * spread * math.sqrt(1 / self.n_answers + 1 / max(self.to_ask, 1)) + MARGIN * expected
            low, high = expected - half, expected + half
        if not self.n_answers and high > self.max_tokens:
            low = min(low, self.max_tokens / 4)  # what is cut off there may as well have been shorter
        return Range(max(low, 1.0), expected, high, self.max_tokens).at_most(self.max_tokens)

    @property
    def answers(self) -> Range:
        """Tokens of all answers that are still to come."""
        answer = self.answer
        return answer.times(self.to_ask)._replace(
            low=answer.low * self.surely_to_ask, expected=answer.expected * (self.to_ask - self.hardly_to_ask)
        )
