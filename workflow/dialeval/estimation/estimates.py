"""The running sums of an estimate for one model under one protocol."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialeval.engines.request import Request, Response
from dialeval.estimation.known_models import KnownModel
from dialeval.estimation.ranges import Range


@dataclass
class Estimate:
    """What one model is still to be asked under one protocol.

    Equal requests are asked once: all but the first count as stored.

    Attributes:
        model: the model.
        protocol: selfchat, unieval, arena or gteval.
        max_tokens: longest answer.
        requests: requests in all.
        to_ask: requests that the store has no answer to.
        surely_to_ask: the same without those that may be in the store, which could not be looked up.
        prompts: tokens of the prompts to be asked.
        n_answers: stored answers whose length is known.
        answer_tokens: tokens of these together.
        fallback_length: an answer's expected length where none is stored; None if there is no telling.
        notes: what a reader should know.
    """

    model: KnownModel
    protocol: str
    max_tokens: int
    requests: int = 0
    to_ask: int = 0
    surely_to_ask: int = 0
    prompts: Range = field(default_factory=Range)
    n_answers: int = 0
    answer_tokens: int = 0
    fallback_length: float | None = None
    notes: list[str] = field(default_factory=list)
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
        key = bytes.fromhex(self.model.key(request))
        new = key not in self._seen
        self._seen.add(key)
        return new

    def count_answer(self, response: Response) -> None:
        """Counts the length of a stored answer."""
        if response.completion_tokens is not None:
            self.n_answers += 1
            self.answer_tokens += response.completion_tokens

    def count_unasked(self, n: int, prompts: Range, *, sure: bool) -> None:
        """Counts requests that are to be asked, and the tokens of their prompts together."""
        self.to_ask += n
        self.surely_to_ask += n if sure else 0
        self.prompts = self.prompts.plus(prompts if sure else prompts.from_zero())

    @property
    def mean_length(self) -> float | None:
        """Mean length of this model's stored answers, else the fallback."""
        return self.answer_tokens / self.n_answers if self.n_answers else self.fallback_length

    @property
    def expected_output(self) -> float | None:
        """Tokens of the answers that are still to come, as far as there is a way to tell."""
        if not self.to_ask:
            return 0.0
        return None if self.mean_length is None else self.to_ask * self.mean_length
