"""What a correction gives: people's numbers from labels of a part and a judge's scores of all, beside either alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.contributions import Contributions, Spans

Target = Literal["new", "these"]

WIDEST = 1.05
"""How much wider than people's alone a corrected interval may be before people's labels stand alone."""

NOT_CORRECTED = "the judge's scores would widen the interval: people's labels stand alone"
ALIKE = "the two were labelled alike throughout, which tells nothing of how far apart others may be"


class Difference(NamedTuple):
    """A difference of two systems, the first less the second; fields as in `Corrected`.

    Attributes:
        p: two-sided, of no difference in what people would say.
        weight: lambda of the two (their mean); 0 where people's labels stand alone.
        n_labelled, n_labelled_clusters: labels of both, and clusters that these are of.
    """

    estimate: float
    low: float
    high: float
    p: float
    se: float
    df: float
    people_only: float
    people_low: float
    people_high: float
    judge_only: float
    judge_low: float
    judge_high: float
    judge_bias: float
    bias_low: float
    bias_high: float
    weight: float
    effective_labels: float
    n_labelled: int
    n_labelled_clusters: int
    note: str


@dataclass(frozen=True)
class Corrected:
    """Numbers of systems as people would give them; arrays have shape [n_systems] in the order of `systems`.

    Attributes:
        systems: the systems, sorted; players are numbers from 0.
        estimate, low, high: what people would say, with its interval; NaN with a note.
        se, df: standard error and degrees of freedom of Student's t.
        people_only, people_low, people_high: from people's labels alone.
        judge_only, judge_low, judge_high: from the judge's scores alone, of all rows that it scored. The interval is
            the usual one, about new cases, and knows nothing of how far the judge is from people.
        judge_bias, bias_low, bias_high: the judge less people, on rows with both.
        weight: lambda, how much of the judge's difference between all and the labelled is taken; 0 leaves people alone.
        rho_within: correlation of judge and people over the labelled rows of each system.
        n, n_scored, n_labelled, n_labelled_clusters: rows, rows with a score, with a label, clusters of the latter.
        effective_labels: labels that would say as much without a judge.
        note: why a number is missing, or what to know of it; mostly empty.
        rho: correlation of judge and people within systems, pooled over them.
        target: new (people on new cases) or these (people on these very rows).
    """

    systems: tuple[object, ...]
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    se: FloatArray
    df: FloatArray
    people_only: FloatArray
    people_low: FloatArray
    people_high: FloatArray
    judge_only: FloatArray
    judge_low: FloatArray
    judge_high: FloatArray
    judge_bias: FloatArray
    bias_low: FloatArray
    bias_high: FloatArray
    weight: FloatArray
    rho_within: FloatArray
    n: IntArray
    n_scored: IntArray
    n_labelled: IntArray
    n_labelled_clusters: IntArray
    effective_labels: FloatArray
    note: tuple[str, ...]
    rho: float
    target: Target
    confidence: float
    corrected: Contributions
    people: Contributions
    judge: Contributions
    bias: Contributions

    def place(self, system: object) -> int:
        """Number of a system: its own, or where its name is.

        Raises:
            ValueError: if there is no such system.
        """
        if isinstance(system, (int, np.integer)):
            if 0 <= system < len(self.systems):
                return int(system)
        elif system in self.systems:
            return self.systems.index(system)
        raise ValueError(f"there is no system {system!r}; there are {len(self.systems)}, numbered from 0")

    def difference(self, i: object, j: object) -> Difference:
        """What people would say of system `i` less what they would say of system `j` (numbers, or names).

        Raises:
            ValueError: if there is no such system.
        """
        (found,) = self.differences(np.array([self.place(i)]), np.array([self.place(j)]))
        return found

    def all_differences(self) -> tuple[IntArray, IntArray, list[Difference]]:
        """Every two systems, the first's with all later ones first: the two numbers, and the differences."""
        first, second = (side.astype(np.int64) for side in np.triu_indices(len(self.systems), 1))
        return first, second, self.differences(first, second)

    def differences(self, first: IntArray, second: IntArray) -> list[Difference]:
        """Differences of pairs of systems, first less second; numbers of shape [n_pairs].

        Where the correction would widen an interval by more than `WIDEST`, people's labels stand alone, as they do for
        single systems: that difference is then people's.
        """
        spans, p = self.corrected.differences(first, second, self.confidence)
        people, people_p = self.people.differences(first, second, self.confidence)
        judge, _ = self.judge.differences(first, second, self.confidence)
        bias, _ = self.bias.differences(first, second, self.confidence)
        with np.errstate(invalid="ignore"):
            alone = spans.width > WIDEST * people.width
        spans = Spans(*(np.where(alone, theirs, ours) for ours, theirs in zip(spans, people, strict=True)))
        p = np.where(alone, people_p, p)
        weight = np.where(alone, 0.0, 0.5 * (self.weight[first] + self.weight[second]))
        labelled = self.n_labelled[first] + self.n_labelled[second]
        clusters = (self.people.told[:, first] | self.people.told[:, second]).sum(axis=0)
        total = self.n[first] + self.n[second]
        effective = effective_labels(spans.se, people.se, labelled, total, self.target)
        columns = (
            spans.estimate, spans.low, spans.high, p, spans.se, spans.df, *people[:3], *judge[:3], *bias[:3], weight,
            effective,
        )  # fmt: skip
        found = []
        for pair, (i, j) in enumerate(zip(first, second, strict=True)):
            words = [*self._notes_of(i, j), NOT_CORRECTED if alone[pair] else ""]
            if not any(words) and np.isnan(spans.low[pair]) and np.isfinite(spans.estimate[pair]):
                words = [ALIKE]
            numbers = zip(Difference._fields, (float(column[pair]) for column in columns), strict=False)
            found.append(
                Difference(
                    **dict(numbers),
                    n_labelled=int(labelled[pair]),
                    n_labelled_clusters=int(clusters[pair]),
                    note="; ".join(dict.fromkeys(part for part in words if part)),
                )
            )
        return found

    def _notes_of(self, i: int, j: int) -> list[str]:
        """What is to be known of two systems; that of one nothing is left to chance says nothing of the other."""
        certain = self.corrected.certain
        both = certain[i] == certain[j]
        return [self.note[k] for k in (i, j) if both or not certain[k]]


def effective_labels(
    error: FloatArray, people_error: FloatArray, labelled: IntArray, total: IntArray, target: Target
) -> FloatArray:
    """Labels that would give people alone the corrected standard error; NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (error / people_error) ** 2
        if target == "new":
            return np.asarray(labelled / ratio, dtype=np.float64)
        # Of these rows, the variance is the one of a draw without replacement: 1 / n less 1 / N.
        return np.asarray(1.0 / (ratio * (1.0 / labelled - 1.0 / total) + 1.0 / total), dtype=np.float64)
