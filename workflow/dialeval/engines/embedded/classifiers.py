"""What a judge learns from described examples.

Two classifiers are stacked: one for an utterance given what came before, and one for a whole dialogue. A third sort
tells the kinds of damage apart, for either. scikit-learn is loaded where something is learned: that takes longer than
many answers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.damage import KINDS
from dialeval.engines.embedded.features import Described
from dialeval.engines.embedded.statistics import Floats, Integers
from dialeval.engines.embedded.trees import Trees

UTTERANCE_TREES = 20
DIALOGUE_TREES = 40
KIND_TREES = 10
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
        self._trees = _taught(
            values, is_machine, _balanced(is_machine, weight), UTTERANCE_TREES, UTTERANCE_LEAF, random_seed
        )

    def machine(self, values: Floats) -> Floats:
        """Returns for each utterance the probability that it is a machine's."""
        return self._trees.vote(values)[:, 1]


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
        values, balanced = self.corrected(table, n), _balanced(is_machine, weight)
        self._trees = _taught(values, is_machine, balanced, DIALOGUE_TREES, DIALOGUE_LEAF, random_seed)

    def human(self, table: Floats, n: Integers) -> Floats:
        """Returns for each dialogue the probability that people alone wrote it."""
        return self._trees.vote(self.corrected(table, n))[:, 0]

    def corrected(self, table: Floats, n: Integers) -> Floats:
        """Returns the features without what their length alone makes them, and the length."""
        corrected = table - self._line[0] - np.log(n)[:, None] * self._line[1]
        return np.column_stack([corrected, np.log(n)])


class KindClassifier:
    """Tells the kinds of damage, and what is not damaged, from each other.

    Args:
        values: rows by features.
        kind: of each row, its number in `KINDS` counted from 1, and 0 for a true one.
        weight: what each row counts for; true ones weigh half of all, and each kind as much as another.
    """

    def __init__(self, values: Floats, kind: Integers, weight: Floats, leaf: int, random_seed: int) -> None:
        total = np.bincount(kind, weights=weight, minlength=1 + len(KINDS))
        n_kinds = max(int(np.count_nonzero(total[1:])), 1)
        share = np.where(np.arange(len(total)) == 0, 0.5, 0.5 / n_kinds)
        of_one = share / np.maximum(total, 1e-12)
        self._trees = _taught(values, kind, of_one[kind] * weight * len(weight), KIND_TREES, leaf, random_seed)

    def probabilities(self, values: Floats) -> Floats:
        """Returns how likely each row is true, and of each kind: rows by 1 + kinds."""
        result = np.zeros((len(values), 1 + len(KINDS)))
        result[:, self._trees.classes] = self._trees.vote(values)
        return result


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


def _taught(
    values: Floats,
    classes: Integers | npt.NDArray[np.bool_],
    weight: Floats,
    n_trees: int,
    leaf: int,
    random_seed: int,
) -> Trees:
    return Trees(values, classes, weight, n_trees=n_trees, leaf=leaf, share=0.3, random_seed=random_seed)
