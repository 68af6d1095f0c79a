"""What a judge learns from described examples.

One sort of classifier tells the kinds of damage, and what is true, from each other: for an utterance given what came
before, and for a whole dialogue, which is described by what the first one thinks of each utterance. What is true is a
person's. scikit-learn is loaded where something is learned: that takes longer than many answers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.damage import KINDS
from dialeval.engines.embedded.features import Described
from dialeval.engines.embedded.statistics import Floats, Integers
from dialeval.engines.embedded.trees import Growth, Trees

CAUTION = 0.02
"""Kept between a probability and 0 or 1 when log-odds are taken."""


class KindClassifier:
    """Tells the kinds of damage, and what is not damaged, from each other.

    Args:
        values: rows by features.
        kind: of each row, its number in `KINDS` counted from 1, and 0 for a true one.
        weight: what each row counts for; true ones weigh half of all, and each kind as much as another.
        growth: of its trees.
        random_seed: of the same.
    """

    def __init__(self, values: Floats, kind: Integers, weight: Floats, growth: Growth, random_seed: int) -> None:
        total = np.bincount(kind, weights=weight, minlength=1 + len(KINDS))
        n_kinds = max(int(np.count_nonzero(total[1:])), 1)
        share = np.where(np.arange(len(total)) == 0, 0.5, 0.5 / n_kinds)
        of_one = share / np.maximum(total, 1e-12)
        self._trees = Trees(values, kind, of_one[kind] * weight * len(weight), growth, random_seed)

    def probabilities(self, values: Floats) -> Floats:
        """Returns how likely each row is true, and of each kind: rows by 1 + kinds."""
        result = np.zeros((len(values), 1 + len(KINDS)))
        result[:, self._trees.classes] = self._trees.vote(values)
        return result


class Lengths:
    """Takes off every feature of a dialogue what its length makes it.

    Longer dialogues have greater extremes, whoever wrote them. What people's dialogues of a length have on average is a
    straight line over the logarithm of the length.

    Args:
        table: people's dialogues by features, as `dialogue_features` gives them.
        n: number of utterances of each dialogue.
    """

    def __init__(self, table: Floats, n: Integers) -> None:
        self._line: Floats = np.linalg.lstsq(np.column_stack([np.ones(len(n)), np.log(n)]), table, rcond=None)[0]

    def corrected(self, table: Floats, n: Integers) -> Floats:
        """Returns the features without what their length alone makes them, and the length."""
        corrected = table - self._line[0] - np.log(n)[:, None] * self._line[1]
        return np.column_stack([corrected, np.log(n)])


class Calibration:
    """Makes probabilities mean what they say: a logistic curve over the log-odds (Platt, 1999).

    Args:
        human: for each dialogue the probability that people alone wrote it, from a classifier that never saw it.
        is_machine: whether a machine took part in it.
        weight: what each counts for; people's and others count the same in all.
    """

    def __init__(self, human: Floats, is_machine: npt.NDArray[np.bool_], weight: Floats) -> None:
        from sklearn.linear_model import LogisticRegression

        curve = LogisticRegression(C=1e6)
        curve.fit(log_odds(human)[:, None], ~is_machine, _balanced(is_machine, weight))
        self._slope, self._shift = float(curve.coef_[0, 0]), float(curve.intercept_[0])

    def __call__(self, human: Floats) -> Floats:
        """Returns the calibrated probabilities."""
        return np.asarray(1.0 / (1.0 + np.exp(-self._shift - self._slope * log_odds(human))), dtype=np.float64)


def dialogue_features(described: Described, machine: Floats) -> tuple[Floats, Integers]:
    """Returns one row for each dialogue, means, extremes and spread over its utterances, and its number of utterances.

    Args:
        described: the utterances.
        machine: for each of its rows the probability that it is a machine's.
    """
    values = np.column_stack([described.values, log_odds(machine)])[described.beginning]
    starts = np.flatnonzero(described.turn[described.beginning] == 0)
    n = np.diff([*starts, len(values)])
    replies = np.maximum(n - 1, 1)[:, None]
    first = values[starts]
    mean = (np.add.reduceat(values, starts) - first) / replies
    square = (np.add.reduceat(values**2, starts) - first**2) / replies
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    least, greatest = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return np.column_stack([mean, least, greatest, spread]), n


def log_odds(probability: Floats) -> Floats:
    """Returns log-odds, which stay finite at 0 and 1."""
    return np.asarray(np.log((probability + CAUTION) / (1 + CAUTION - probability)), dtype=np.float64)


def _balanced(chosen: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """Returns the weights, scaled so that the chosen ones and the others weigh the same."""
    total = np.where(chosen, weight[chosen].sum(), weight[~chosen].sum())
    return np.asarray(weight / total * len(weight) / 2, dtype=np.float64)
