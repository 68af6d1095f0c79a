"""Adaptive comparisons in rounds: the next requests, and sequential tests of each pair.

A pair is two systems under one criterion at one length. The order of cases follows from hashes of their ids and is the
same for all pairs. A pair is tested after each round that adds cases to it. The boundaries of its tests depend on the
numbers of its cases in the plan, not on the verdicts. The same verdicts therefore give the same rounds.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.config.protocol_settings import Adaptive
from dialeval.errors import UserError
from dialeval.measures.design import OUTCOMES
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray, cell_means
from dialeval.stats.significance import (
    confidence_sequence,
    decisions,
    obrien_fleming,
    rounds_of,
    sequential_p_value,
    tie_statistic,
)

COLUMNS = ("case_id", "left", "right", "n_utterances", "part")
"""Columns of the table `requests` that a schedule needs."""
OPEN, ENDED = "open", "ended"
"""Decisions other than the name of the better system: the comparison is open, or ended without a decision."""
_UNSENT, _PARSED, _UNPARSED, _FAILED = range(4)
Row = dict[str, Any]


class Rounds:
    """The comparisons of sequential pairs, round by round, and the decisions so far.

    Repeat until `begin` returns no requests: call `begin`, send its requests, pass every response to `hear`, call
    `end`.

    Args:
        plan: the schedule.
        adaptive: block, error and limits.
    """

    def __init__(self, plan: Schedule, adaptive: Adaptive) -> None:
        self.plan = plan
        self.rows: list[Row] = []
        self._most = adaptive.requests
        self._state = np.zeros(len(plan.pair), dtype=np.int8)
        self._score = np.full(len(plan.pair), np.nan)
        self._open = np.ones(len(plan.pairs), dtype=np.bool_)
        self._counts = plan.counts()
        self._new = np.diff(self._counts, axis=1, prepend=0) > 0
        sizes = plan.families() if adaptive.error_control == "familywise" else [1] * len(plan.pairs)
        self._error = adaptive.error / np.array(sizes, dtype=np.float64)
        self._boundary = _boundaries(self._counts, self._error, adaptive)
        self._full = np.bincount(plan.pair[plan.usable], minlength=len(plan.pairs))
        self._distance = np.zeros(len(plan.pairs))
        self._round = -1

    @property
    def sent(self) -> BoolArray:
        """Return whether each request was sent so far, shape [n]."""
        return np.asarray(self._state != _UNSENT, dtype=np.bool_)

    def may_follow(self, now: IntArray) -> IntArray:
        """Return the indices of the requests that later rounds may send while a round is in progress.

        Args:
            now: the requests of this round.
        """
        waiting = self.plan.usable & self._open[self.plan.pair] & ~self.sent
        waiting[now] = False
        return np.flatnonzero(waiting)

    def begin(self) -> IntArray:
        """Begin the next round that has requests, and return the indices of these requests.

        A failed request is not sent again, since the engine has already retried it.

        Raises:
            UserError: the first round alone is over its limit.
        """
        n_rounds = self._counts.shape[1]
        while self._open.any() and self._round + 1 < n_rounds:
            self._round += 1
            turn = self.plan.usable & self._open[self.plan.pair] & (self.plan.round <= self._round)
            chosen = np.flatnonzero(turn & ~self.sent)
            if self._most is not None and (total := int((self.sent | turn).sum())) > self._most:
                if not self.rows:
                    raise UserError(
                        f"adaptive.requests is {self._most:,}, and the first round needs {total:,}; raise it to at "
                        f"least this number, or lower adaptive.block"
                    )
                break
            if len(chosen):
                return chosen
        self._conclude()
        return np.zeros(0, dtype=np.int64)

    def hear(self, place: int, outcome: str | None, *, failed: bool) -> None:
        """Record a response.

        Args:
            place: of the request.
            outcome: left, right or tie; None if unparsed.
            failed: whether there is no answer at all.
        """
        self._state[place] = _FAILED if failed else _UNPARSED if outcome is None else _PARSED
        score = OUTCOMES[outcome] if outcome is not None else np.nan
        self._score[place] = score if self.plan.system_first[place] else 1.0 - score

    def end(self) -> None:
        """End the round: pairs that passed their boundary are settled.

        A missing verdict must not decide: a pair is settled only if it would be settled whichever system the missing
        verdicts favoured.
        """
        looked = np.flatnonzero(self._open & self._new[:, self._round])
        boundary, error = self._boundary[looked, self._round], self._error[looked]
        tested = tie_statistic(self._scores(looked, np.nan), error)
        self._distance[looked] = tested.cautious
        low, high = (decisions(self._scores(looked, value), boundary, error) for value in (0.0, 1.0))
        better = np.where(low == high, low, 0)
        finished = self._counts[looked, self._round] == self._counts[looked, -1]
        tally = {state: np.bincount(self.plan.pair[self._state == state], minlength=len(self._open)) for state in
                 (_PARSED, _UNPARSED, _FAILED)}  # fmt: skip
        for number, pair in enumerate(looked.tolist()):
            names = self.plan.pairs[pair]
            decision = {1: names.system, -1: names.opponent}.get(
                int(better[number]), ENDED if finished[number] else OPEN
            )
            self.rows.append(
                {
                    **names._asdict(),
                    "round": self._round + 1,
                    "n_seeds": int(self._counts[pair, self._round]),
                    "estimate": float(tested.estimate[number]),
                    "se": float(tested.se[number]),
                    "statistic": float(tested.statistic[number]),
                    "boundary": float(boundary[number]),
                    "p": None,
                    "decision": decision,
                    "n_requests": int(sum(count[pair] for count in tally.values())),
                    "n_requests_full": int(self._full[pair]),
                    "n_unparsed": int(tally[_UNPARSED][pair]),
                    "n_missing": int(tally[_FAILED][pair]),
                }
            )
            self._open[pair] = decision == OPEN

    def progress(self) -> str:
        """Return the progress of the rounds as text."""
        return (
            f"round {self._round + 1} of at most {self._counts.shape[1]}: {int(self._open.sum())} of {len(self._open)} "
            "pairs are open"
        )

    def summary(self) -> str:
        """Return a text with the numbers of requests and of settled pairs."""
        ended = sum(row["decision"] == ENDED for row in self.rows)
        return (
            f"sent {int(self.sent.sum())} of {len(self.sent)} requests; {ended} of {len(self._open)} pairs are not "
            "settled"
        )

    def _scores(self, pairs: IntArray, of_failed: float) -> FloatArray:
        """Return the mean score of some pairs on each case; a request without a response counts as `of_failed`.

        Shape [len(pairs), n_cases]; NaN where no verdict is known.
        """
        n_cases = int(self.plan.case.max(initial=-1)) + 1
        number = np.full(len(self._open), -1, dtype=np.int64)
        number[pairs] = np.arange(len(pairs))
        score = np.where(self._state == _FAILED, of_failed, self._score)
        return cell_means(score, (number[self.plan.pair], self.plan.case), (len(pairs), n_cases))[0]

    def _conclude(self) -> None:
        """Complete the last row of each pair with its p-value, and with the decision `ENDED` if it is open."""
        waiting = {pair: number for number, pair in enumerate(self.plan.pairs)}
        for row in reversed(self.rows):
            number = waiting.pop(Pair(*(row[name] for name in Pair._fields)), None)
            if number is not None:
                new = np.flatnonzero(self._new[number, : row["round"]])
                counts, boundary = self._counts[number, new].tolist(), self._boundary[number, new]
                row["p"] = sequential_p_value(counts, boundary, self._distance[number])
                row["decision"] = ENDED if row["decision"] == OPEN else row["decision"]
        self._open[:] = False


def _boundaries(counts: IntArray, errors: FloatArray, adaptive: Adaptive) -> FloatArray:
    """Return the boundary of each pair after each round; NaN for a round without new cases of the pair."""
    boundary = np.full(counts.shape, np.nan)
    make = obrien_fleming if adaptive.boundary == "obrien_fleming" else confidence_sequence
    made: dict[tuple[tuple[int, ...], float], FloatArray] = {}
    for pair, error in enumerate(errors.tolist()):
        new = np.diff(counts[pair], prepend=0) > 0
        case_counts = tuple(counts[pair][new].tolist())
        if not case_counts:
            continue
        if (case_counts, error) not in made:
            made[case_counts, error] = make(case_counts, error)
        boundary[pair, new] = made[case_counts, error]
    return boundary


def schedule(planned: pa.Table, block: int, reference: str | None = None, usable: BoolArray | None = None) -> Schedule:
    """Return the schedule of a table of requests.

    Args:
        planned: the columns `COLUMNS` of the requests.
        block: cases of each round.
        reference: the system that all others are shown beside, if there is one.
        usable: whether the judge takes each request; None if it takes all.
    """
    frame = planned.select(COLUMNS).to_pandas()
    left, right = frame["left"].astype(str), frame["right"].astype(str)
    first = np.where(right == reference, True, np.where(left == reference, False, left <= right)).astype(np.bool_)
    keys = pd.DataFrame({
        "criterion": frame["part"].fillna(""),
        "n": frame["n_utterances"].fillna(0).astype(int),
        "system": left.where(first, right),
        "opponent": right.where(first, left),
    })  # fmt: skip
    number = keys.groupby(list(keys.columns), sort=False).ngroup()  # in the order in which they come
    pairs = tuple(
        Pair(name or None, n or None, one, other) for name, n, one, other in keys.drop_duplicates().values.tolist()
    )
    cases = sorted(frame["case_id"].unique(), key=lambda case: hashlib.sha256(str(case).encode()).digest())
    place = frame["case_id"].map({case: number for number, case in enumerate(cases)}).to_numpy(dtype=np.int64)
    return Schedule(
        pairs=pairs,
        pair=np.asarray(number, dtype=np.int64),
        case=place,
        round=rounds_of(len(cases), block)[place],
        system_first=first,
        usable=np.ones(len(frame), dtype=np.bool_) if usable is None else usable,
    )


@dataclass(frozen=True)
class Schedule:
    """The pair, the case and the round of each request.

    Attributes:
        pairs: the pairs; a family is those of one criterion and length.
        pair: number of each request's pair, shape [n].
        case: place of each request's case in the order, shape [n].
        round: round of each request, from 0, shape [n].
        system_first: whether the pair's `system` is shown first, shape [n].
        usable: whether the judge takes the request at all, shape [n].
    """

    pairs: tuple[Pair, ...]
    pair: IntArray
    case: IntArray
    round: IntArray
    system_first: BoolArray
    usable: BoolArray

    def counts(self) -> IntArray:
        """Return the cases that each pair has at the end of each round, shape [n_pairs, n_rounds]."""
        n_rounds = int(self.round.max(initial=-1)) + 1
        cells = pd.DataFrame({"pair": self.pair, "case": self.case, "round": self.round})[self.usable].drop_duplicates()
        found = np.zeros((len(self.pairs), n_rounds), dtype=np.int64)
        np.add.at(found, (cells["pair"].to_numpy(), cells["round"].to_numpy()), 1)
        return found.cumsum(axis=1)

    def families(self) -> list[int]:
        """Return the number of pairs in each pair's family."""
        sizes = Counter(pair[:2] for pair in self.pairs)
        return [sizes[pair[:2]] for pair in self.pairs]


class Pair(NamedTuple):
    """Two systems that are compared on one criterion at one length; a common opponent is second."""

    criterion: str | None
    n_utterances: int | None
    system: str
    opponent: str
