"""What is still to be asked of pairs in rounds: the stored answers say how far the rounds are, the rest is a range."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dialeval.aggregation.rounds import COLUMNS, Rounds, schedule
from dialeval.config.adaptive import Adaptive
from dialeval.config.protocol import EACH_OTHER
from dialeval.engines.request import Response
from dialeval.estimation.estimates import Estimate
from dialeval.estimation.ranges import Range
from dialeval.forms import pair
from dialeval.forms.question import Question
from dialeval.protocols.planning import Planned
from dialeval.schemas.shared import REQUESTS
from dialeval.stats.arrays import BoolArray, IntArray
from dialeval.stats.sequential import rounds_of

LIKELY = {"pair": 0.3, "family": 0.5}
"""Share of what may follow the next round that is likely asked, as on middling ladders in `benchmarks/adaptive.py`."""
LIKELY_WORDS = "a third to a half are likely, the fewer the farther apart the systems are"
_SCHEMA = pa.schema([REQUESTS.schema.field(name) for name in COLUMNS])


@dataclass
class InRounds:
    """Requests of one judge about pairs, in the order of their plan, and what the store has of them.

    Attributes:
        estimate: what is counted.
        question: what is asked.
        adaptive: how it is asked in rounds.
    """

    estimate: Estimate
    question: Question
    adaptive: Adaptive
    _about: list[tuple[object, ...]] = field(default_factory=list)
    _taken: list[bool] = field(default_factory=list)
    _stored: dict[int, tuple[Response, str | None]] = field(default_factory=dict)
    _missing: dict[int, tuple[str, Range]] = field(default_factory=dict)
    _to_come: list[tuple[int, Range]] = field(default_factory=list)

    def planned(self, one: Planned, response: Response | None) -> None:
        """Takes a request that is known word for word, with its stored answer."""
        place, model = len(self._about), self.estimate.model
        self._about.append((one.case_id, one.left, one.right, one.n_utterances, one.part))
        self._taken.append(model.takes(one.request))
        if not self._taken[-1]:
            return
        if response is None:
            self._missing[place] = (model.key(one.request), model.prompt(one.request.messages))
            return
        answer = {"status": "ok", "text": response.text, "finish_reason": response.finish_reason}
        self._stored[place] = (response, pair.parse(self.question, "", {}, answer)["outcome"])

    def to_come(self, n: int, prompts: Range) -> None:
        """Takes requests about dialogues that are not there yet, with the tokens of all their prompts."""
        self._to_come.append((n, prompts))

    def count(self, n_cases: int | None = None, *, sure: bool = True) -> None:
        """Counts what is still to be asked.

        Args:
            n_cases: cases that the rounds share out, where not all of them are planned yet.
            sure: whether it is known what the store has.

        Raises:
            UserError: not even the first round may be asked.
        """
        sure = sure and self.estimate.model.identity is not None
        if self._to_come:
            self._count_unplanned(n_cases or 1, sure=sure)
        else:
            self._count_planned(sure=sure)

    def _count_planned(self, *, sure: bool) -> None:
        rounds, now = self._replayed()
        asked, later = [*np.flatnonzero(rounds.asked).tolist(), *now.tolist()], rounds.may_follow(now).tolist()
        for place in asked:
            if place in self._stored:
                self.estimate.count_answer(self._stored[place][0])
        certain = self._new(asked)
        for prompt in certain:
            self.estimate.count_unasked(1, prompt, sure=sure)
        possible = self._new(later)
        allowed = self._allowed(len(asked), len(later))
        n = math.ceil(allowed * len(possible))
        prompts = Range()
        for prompt in possible:
            prompts = prompts.plus(prompt)
        self.estimate.count_unasked(n, prompts.times(allowed), sure=False, likely=LIKELY[self.adaptive.per])
        self.estimate.requests += len(asked) + math.ceil(allowed * len(later))
        if certain or n:
            self.estimate.notes.append(
                f"asked in rounds: {len(certain):,} for the next, then at most {n:,}, of which {LIKELY_WORDS}"
            )

    def _count_unplanned(self, n_cases: int, *, sure: bool) -> None:
        """Counts where the cases are not known yet: the first round has its share of everything."""
        first = float((rounds_of(n_cases, self.adaptive.block) == 0).mean())
        likely = first + LIKELY[self.adaptive.per] * (1.0 - first)
        unasked = [(1, prompt) for prompt in self._new(range(len(self._about)))] + self._to_come
        total = len(self._stored) + len(self._missing) + sum(n for n, _ in self._to_come)
        allowed = self._allowed(0, total)
        for response, _ in self._stored.values():
            self.estimate.count_answer(response)
        n_unasked = sum(n for n, _ in unasked)
        prompts = Range()
        for _, one in unasked:
            prompts = prompts.plus(one)
        n = math.ceil(allowed * n_unasked)
        self.estimate.requests += total - (n_unasked - n)
        least = min(first, allowed) / allowed
        self.estimate.count_unasked(n, prompts.times(allowed), sure=sure, least=least, likely=max(least, likely))
        self.estimate.notes.append(
            f"asked in rounds: at least the first of them, {first:.0%} of all, at most all; of what follows it "
            f"{LIKELY_WORDS}"
        )

    def _new(self, places: Iterable[int]) -> list[Range]:
        """Returns the prompts of those requests that are not stored, each of equal ones once."""
        missing = [self._missing[place] for place in places if place in self._missing]
        return [prompt for key, prompt in missing if self.estimate.is_new_key(key)]

    def _allowed(self, asked: int, later: int) -> float:
        """Returns the share of further requests that the limit allows."""
        if self.adaptive.requests is None or not later:
            return 1.0
        return min(1.0, max(0, self.adaptive.requests - asked) / later)

    def _replayed(self) -> tuple[Rounds, IntArray]:
        """Returns the rounds as far as they are stored, and the requests of the round that is not, by their places."""
        columns = list(zip(*self._about, strict=True)) or [()] * len(COLUMNS)
        table = pa.table([pa.array(column, kind.type) for column, kind in zip(columns, _SCHEMA, strict=True)], _SCHEMA)
        against = self.question.protocol.of.against
        taken: BoolArray = np.array(self._taken, dtype=np.bool_)
        plan = schedule(table, self.adaptive.block, None if against == EACH_OTHER else against, taken)
        rounds = Rounds(plan, self.adaptive)
        while len(places := rounds.begin()):
            if any(place in self._missing for place in places.tolist()):
                return rounds, places
            for place in places.tolist():
                rounds.hear(place, self._stored[place][1], failed=False)
            rounds.end()
        return rounds, places
