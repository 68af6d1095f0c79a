"""The two classifiers that a judge stacks: for an utterance given what came before, and for a whole dialogue."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from dialeval.engines.embedded.features import Described
from dialeval.engines.embedded.statistics import Floats, Integers

UTTERANCE_TREES = 20
DIALOGUE_TREES = 40
UTTERANCE_LEAF = 10
DIALOGUE_LEAF = 6
CAUTION = 0.02
"""Kept between a probability and 0 or 1 when log-odds are taken."""


class UtteranceClassifier:
    """Tells machines' utterances from people's.

    Args:
        values: utterances by features.
        is_machine: whether each is a machine's.
        weight: what each counts for.
    """

    def __init__(self, values: Floats, is_machine: npt.NDArray[np.bool_], weight: Floats, random_seed: int) -> None:
        self._trees = ExtraTreesClassifier(
            UTTERANCE_TREES, min_samples_leaf=UTTERANCE_LEAF, max_features=0.3, random_state=random_seed, n_jobs=1
        )
        self._trees.fit(values, is_machine, _balanced(is_machine, weight))

    def machine(self, values: Floats) -> Floats:
        """Returns for each utterance the probability that it is a machine's."""
        return np.asarray(self._trees.predict_proba(values)[:, 1], dtype=np.float64)


class DialogueClassifier:
    """Tells dialogues with a machine from people's.

    Longer dialogues have greater extremes, whoever wrote them. What people's dialogues of a length have on average is
    therefore taken off every feature: a straight line over the logarithm of the length.

    Args:
        table: dialogues by features, as `dialogue_features` gives them.
        n: number of utterances of each dialogue.
        is_machine: whether a machine took part in each.
        weight: what each counts for.
    """

    def __init__(
        self, table: Floats, n: Integers, is_machine: npt.NDArray[np.bool_], weight: Floats, random_seed: int
    ) -> None:
        design = np.column_stack([np.ones(len(n)), np.log(n)])
        self._line = np.linalg.lstsq(design[~is_machine], table[~is_machine], rcond=None)[0]
        self._trees = ExtraTreesClassifier(
            DIALOGUE_TREES, min_samples_leaf=DIALOGUE_LEAF, max_features=0.3, random_state=random_seed, n_jobs=1
        )
        self._trees.fit(self._corrected(table, n), is_machine, _balanced(is_machine, weight))

    def human(self, table: Floats, n: Integers) -> Floats:
        """Returns for each dialogue the probability that people alone wrote it."""
        return np.asarray(self._trees.predict_proba(self._corrected(table, n))[:, 0], dtype=np.float64)

    def _corrected(self, table: Floats, n: Integers) -> Floats:
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
        machine: for each the probability that it is a machine's.
    """
    starts = np.flatnonzero(described.turn == 0)
    n = np.diff([*starts, len(described.turn)])
    values = np.column_stack([described.values, log_odds(machine)])
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
