"""Classifiers of described dialogues: randomised trees, and scores on dimensions.

A classifier separates originals and the kinds of perturbation: for an utterance given the earlier ones, and for a
dialogue, which is described by the first classifier's probabilities for its utterances. scikit-learn grows the trees
(`ExtraTreeClassifier`) and is imported where something is learned only: its import takes longer than most tables of
answers. The trees are kept as arrays, and their probabilities are scikit-learn's to the last bit.

No ratings are learned from. The score on a dimension is the probability of an original, against an original or a
perturbation that the dimension is sensitive to; other perturbations leave it nearly unchanged. The score is mapped to
its quantile among originals and such perturbations, half of them each, from a classifier that never saw them.

The part of an inner fold is the mean of those classifiers that did not learn from this fold (`N_LEFT_OUT`).

If there is a model of true replies (`reply_selection.py`), it decides on relevance and coherence: of an utterance, as
far as it is either an original or unrelated, otherwise the score is one half; of a dialogue, by half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.features import Described
from dialeval.engines.embedded.texts import Floats, Integers, rounded
from dialeval.engines.embedded.training_examples import KINDS, TRUE

CAUTION = 0.02
"""Kept between a probability and 0 or 1 when log-odds are taken."""


class PerturbationClassifier:
    """Separates originals and the kinds of perturbation.

    Args:
        kind: of each row, its number in `KINDS` counted from 1, and 0 for an original.
        weight: of each row; originals weigh half of all, and each kind as much as another.
    """

    def __init__(self, values: Floats, kind: Integers, weight: Floats, growth: Growth, random_seed: int) -> None:
        total = np.bincount(kind, weights=weight, minlength=1 + len(KINDS))
        n_kinds = max(int(np.count_nonzero(total[1:])), 1)
        share = np.where(np.arange(len(total)) == 0, 0.5, 0.5 / n_kinds)
        of_one = share / np.maximum(total, 1e-12)
        self._trees = Trees(values, kind, of_one[kind] * weight * len(weight), growth, random_seed)

    def probabilities(self, values: Floats) -> Floats:
        """Return the probabilities of an original and of each kind: rows by 1 + kinds."""
        result = np.zeros((len(values), 1 + len(KINDS)))
        result[:, self._trees.classes] = self._trees.vote(values)
        return result


class Lengths:
    """Subtracts from every feature of a dialogue its mean at this length.

    Longer dialogues have greater extremes. The mean over human dialogues is modelled as linear in the logarithm of the
    length.

    Args:
        table: human dialogues by features, of `dialogue_features`.
        n: number of utterances of each dialogue.
    """

    def __init__(self, table: Floats, n: Integers) -> None:
        self._line = rounded(np.linalg.lstsq(np.column_stack([np.ones(len(n)), np.log(n)]), table, rcond=None)[0])

    def corrected(self, table: Floats, n: Integers) -> Floats:
        """Return the features less their mean at this length, and the logarithm of the length."""
        corrected = table - self._line[0] - np.log(n)[:, None] * self._line[1]
        return np.column_stack([corrected, np.log(n)])


class Calibration:
    """Calibrates probabilities by a logistic curve over the log-odds (Platt, 1999).

    Args:
        human: for each dialogue the probability of an original, from a classifier that never saw it.
        is_machine: whether it was perturbed.
        weight: of each; originals and others are scaled to the same total.
    """

    def __init__(self, human: Floats, is_machine: npt.NDArray[np.bool_], weight: Floats) -> None:
        from sklearn.linear_model import LogisticRegression

        curve = LogisticRegression(C=1e6)
        curve.fit(log_odds(human)[:, None], ~is_machine, _balanced(is_machine, weight))
        self._slope, self._shift = float(rounded(curve.coef_[0, 0])), float(rounded(curve.intercept_[0]))

    def __call__(self, human: Floats) -> Floats:
        """Return the calibrated probabilities."""
        return np.asarray(1.0 / (1.0 + np.exp(-self._shift - self._slope * log_odds(human))), dtype=np.float64)


def dialogue_features(described: Described, machine: Floats) -> tuple[Floats, Integers]:
    """Return one row for each dialogue, means, extremes and spread over its utterances, and its number of utterances.

    Args:
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
    """Return log-odds, which stay finite at 0 and 1."""
    return np.asarray(np.log((probability + CAUTION) / (1 + CAUTION - probability)), dtype=np.float64)


def _balanced(chosen: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    """Return the weights, scaled so that the chosen ones and the others weigh the same."""
    total = np.where(chosen, weight[chosen].sum(), weight[~chosen].sum())
    return np.asarray(weight / total * len(weight) / 2, dtype=np.float64)


# Randomised trees as plain arrays: scikit-learn grows each, and they are kept as numbers and walked here.

_ROWS_AT_ONCE = 1024
"""Rows that pass all trees together, which numpy does faster than one tree after the other."""
_LEAF = -1


class Growth(NamedTuple):
    """How trees are grown.

    Attributes:
        n_trees: how many.
        leaf: least number of rows on either side of a node.
        share: of the features that each node tries.
    """

    n_trees: int
    leaf: int
    share: float


class Trees:
    """Extremely randomised trees (Geurts et al., 2006), one after the other in each array; nodes are counted over all.

    They are grown one by one, and the data are checked once: a forest copies, names and checks every tree anew, which
    takes as long as a third of the growing where trees are as small as here.

    Attributes:
        classes: the different classes.
    """

    def __init__(
        self,
        values: Floats,
        classes: Integers | npt.NDArray[np.bool_],
        weight: Floats,
        growth: Growth,
        random_seed: int,
    ) -> None:
        from sklearn import config_context
        from sklearn.tree import ExtraTreeClassifier

        drawn = np.random.RandomState(random_seed)
        tree = ExtraTreeClassifier(min_samples_leaf=growth.leaf, max_features=growth.share, random_state=drawn)
        with np.errstate(over="ignore"):
            rows = narrow(values)
        if not np.isfinite(rows).all() or not np.isfinite(weight).all():
            raise ValueError("trees cannot learn from values or weights that are no finite numbers")
        known, number = np.unique(classes, return_inverse=True)
        number = number.astype(np.min_scalar_type(len(known)))[:, None]  # each fit sorts it, which few bits make quick
        with config_context(assume_finite=True, skip_parameter_validation=True):
            trees = [tree.fit(rows, number, weight, check_input=False).tree_ for _ in range(growth.n_trees)]
        first = np.cumsum([0, *(tree.node_count for tree in trees)])
        self.classes: Integers = known.astype(np.int64)
        self._n_features = rows.shape[1]
        self._roots: Integers = first[:-1]
        sides = [
            np.column_stack([tree.children_right, tree.children_left]) + start
            for tree, start in zip(trees, first[:-1], strict=True)
        ]
        is_leaf = np.concatenate([tree.children_left for tree in trees]) < 0
        self._children: Integers = np.where(is_leaf[:, None], _LEAF, np.concatenate(sides))
        self._feature: Integers = np.where(is_leaf, _LEAF, np.concatenate([tree.feature for tree in trees]))
        self._threshold: Floats = np.concatenate([tree.threshold for tree in trees])
        says = np.concatenate([tree.value[:, 0, :] for tree in trees])
        self._leaf_shares: Floats = np.where(
            is_leaf[:, None], says, 0.0
        )  # no row stays at the others: zeros are compressed

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check arrays that may be from a forged file.

        Raises:
            ValueError: they are no trees: a walk down them would not end.
        """
        self.__dict__.update(state)
        n = len(self._feature)
        fits = self._children.shape == (n, 2) and self._threshold.shape == (n,) and self._leaf_shares.shape[:1] == (n,)
        if not fits or (self._feature >= self._n_features).any() or not 0 <= self._roots.min() <= self._roots.max() < n:
            raise ValueError("the arrays of the trees are inconsistent")
        inner = self._feature >= 0
        children = self._children[inner]
        if (children <= np.flatnonzero(inner)[:, None]).any() or (children >= n).any():
            raise ValueError("the trees contain a cycle")

    def vote(self, values: Floats) -> Floats:
        """Return the mean probabilities of the trees: rows by classes."""
        rows = narrow(values)
        total = np.zeros((len(rows), self._leaf_shares.shape[1]))
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(first, first + _ROWS_AT_ONCE)
            for leaves in self._leaves(rows[part]):
                total[part] += self._leaf_shares.take(leaves, axis=0)
        return total / len(self._roots)

    def _leaves(self, values: npt.NDArray[np.float32]) -> Integers:
        """Return the leaf that each row comes to in each tree: trees by rows."""
        n_rows, n_features = values.shape
        flat, children = values.ravel(), self._children.ravel()
        at = np.repeat(self._roots, n_rows)
        going, node = np.arange(len(at)), at
        row = np.tile(np.arange(n_rows) * n_features, len(self._roots))
        while len(going):
            feature = self._feature.take(node)
            inner = np.flatnonzero(feature >= 0)
            if len(inner) < len(going):
                going, node, row, feature = (array.take(inner) for array in (going, node, row, feature))
            is_left = flat.take(row + feature) <= self._threshold.take(node)
            node = children.take(2 * node + is_left)
            at[going] = node
        return at.reshape(len(self._roots), n_rows)


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values as trees compare them, rounded, with 32 bits."""
    return values if values.dtype == np.float32 else np.ascontiguousarray(rounded(values), dtype=np.float32)


# Scores on dimensions: the sensitivity of each dimension, and scores on a scale.

_UNFITTING = {"replaced": 1.0, "strayed": 1.0, "reordered": 1.0}
_EMPTY = {"generic": 1.0, "repeated": 1.0}
_ALL = dict.fromkeys(KINDS, 1.0)
SENSITIVITY: Mapping[Level, Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "turn": {
            "relevance": _UNFITTING,
            "specificity": {"generic": 1.0, "repeated": 0.5},
            "interestingness": _EMPTY,
            "understandability": {"word salad": 1.0},
            "overall": _ALL,
        },
        "dialogue": {
            "coherence": _UNFITTING,
            "engagingness": _EMPTY,
            "diversity": {"repeated": 1.0, "generic": 0.5},
            "informativeness": {"generic": 1.0, "repeated": 0.5},
            "overall": _ALL,
        },
    }
)
"""The sensitivity of each dimension to each perturbation, from 0 to 1. Chosen by the meaning of the words, before any
rating was seen."""

NEUTRAL = 0.1
"""Weight of the prior. If an utterance has a perturbation that the dimension is not sensitive to, the two probabilities
that decide are near 0, and the score should be an ordinary one."""
GROWTH: Mapping[Level, Growth] = MappingProxyType(
    {"turn": Growth(n_trees=18, leaf=8, share=0.3), "dialogue": Growth(n_trees=30, leaf=4, share=0.2)}
)
GROWTH_ALONE = Growth(n_trees=3, leaf=14, share=0.5)
"""The trees of utterances without a context, which have few features."""
N_LEFT_OUT = 2
"""Inner folds that each classifier does not learn from, of three or more. The parts of these folds share it: fewer
trees grow, on fewer examples, than if each part had its own."""
_PLACES = np.linspace(0.005, 0.995, 199)
_ENDS = (0.001, 0.999)
"""The scale's values for scores beyond all examples: no answer is certain."""


class Labelled(NamedTuple):
    """Described utterances or dialogues and their perturbation.

    Attributes:
        values: rows by features.
        kind: 0 for an original, else the number in `KINDS` counted from 1.
        weight: of each.
    """

    values: Floats
    kind: Integers
    weight: Floats


class Dimensions:
    """Scores utterances in their context, or dialogues, on the dimensions of their level.

    Args:
        examples: those of the inner fold of each part, for two parts or more.
        growth: of the trees of a part, all its classifiers together.
        selected: whether the last feature is the log-odds of a true reply.
    """

    def __init__(
        self,
        level: Level,
        examples: Sequence[Labelled],
        growth: Growth,
        random_seed: int,
        *,
        selected: bool = False,
    ) -> None:
        self._selected, self._level = selected, level
        self._unfitting = [number for number, harm in enumerate(SENSITIVITY[level].values()) if harm == _UNFITTING]
        self._sensitivity = np.array(
            [
                [0.0, *(SENSITIVITY[level][dimension].get(kind, 0.0) for kind in KINDS)]
                for dimension in DIMENSIONS[level]
            ]
        )
        folds = range(len(examples))
        kept = [*combinations(folds, max(len(folds) - N_LEFT_OUT, 1))]
        narrowed = [one._replace(values=narrow(one.values)) for one in examples]
        taught = [_together([narrowed[fold] for fold in group]) for group in kept]
        self._asked = [[number for number, group in enumerate(kept) if fold not in group] for fold in folds]
        growth = growth._replace(n_trees=ceil(growth.n_trees / len(self._asked[0])))
        self._classifiers = [PerturbationClassifier(*group, growth, random_seed) for group in taught]
        self._n_rows = np.array([float(len(group.values)) for group in taught])

    def learn_scales(self, opinions: Sequence[Floats], held_out: Sequence[Labelled]) -> None:
        """Learn the quantiles of scores; required before `scores`.

        Args:
            opinions: for each part its probabilities for examples that it did not learn from.
            held_out: these examples.
        """
        scores = np.concatenate([self._scores(probabilities) for probabilities in opinions])
        kind = np.concatenate([examples.kind for examples in held_out])
        weight = np.concatenate([examples.weight for examples in held_out])
        self._scales = [
            _scale(scores[:, number], weight * np.where(kind == TRUE, 1.0, harm[kind]), kind == TRUE)
            for number, harm in enumerate(self._sensitivity)
        ]

    def probabilities(self, by_part: Sequence[Floats]) -> list[Floats]:
        """Return each part's probabilities for the rows that it described.

        Returns:
            Rows by 1 + kinds; the probability of a true reply, if there is one, is one more column.
        """
        return [self.opinion(part, values) for part, values in enumerate(by_part)]

    def opinion(self, part: int, values: Floats) -> Floats:
        """Return one part's probabilities for rows."""
        asked = self._asked[part]
        rows = narrow(values)
        by_classifier = [self._classifiers[number].probabilities(rows) for number in asked]
        kinds = np.average(by_classifier, axis=0, weights=self._n_rows[asked])
        return np.column_stack([kinds, 1.0 / (1.0 + np.exp(-values[:, -1]))]) if self._selected else kinds

    def fitting(self, probabilities: Floats) -> Floats:
        """Return relevance or coherence before it is put on its scale."""
        return np.asarray(self._scores(probabilities)[:, self._unfitting[0]], dtype=np.float64)

    def scores(self, probabilities: Sequence[Floats]) -> Floats:
        """Return scores between 0 and 1, rows by dimensions, from each part's probabilities."""
        scores = self._scores(np.mean(probabilities, axis=0))
        return np.column_stack([np.interp(scores[:, number], *scale) for number, scale in enumerate(self._scales)])

    def _scores(self, probabilities: Floats) -> Floats:
        """Return the probability of an original against the perturbations of each dimension: rows by dimensions."""
        prior = np.array([0.5, *[0.5 / len(KINDS)] * len(KINDS)])
        kinds = probabilities[:, : len(prior)]
        cautious = kinds + NEUTRAL * prior
        is_true = cautious[:, [TRUE]]
        scores = np.asarray(
            is_true / (is_true + (cautious[:, None, :] * self._sensitivity).sum(axis=2)), dtype=np.float64
        )
        if self._selected:
            selected = probabilities[:, -1]
            for number in self._unfitting:
                either = kinds[:, TRUE] + (kinds * self._sensitivity[number]).sum(axis=1)
                of_turn, of_dialogue = 0.5 + either * (selected - 0.5), (scores[:, number] + selected) / 2
                scores[:, number] = of_turn if self._level == "turn" else of_dialogue
        return scores


def _together(labelled: Sequence[Labelled]) -> Labelled:
    return Labelled(*(np.concatenate(column) for column in zip(*labelled, strict=True)))


def _scale(scores: Floats, weight: Floats, is_true: Integers) -> tuple[Floats, Floats]:
    """Return scores and their quantiles, for linear interpolation; both rise strictly.

    Args:
        scores: of examples.
        weight: of each; originals and others are scaled to the same total.
        is_true: whether each is an original.
    """
    used = weight > 0
    scores, weight, is_true = scores[used], weight[used], is_true[used]
    total = np.where(is_true, weight[is_true].sum(), weight[~is_true].sum())
    order = np.argsort(scores, kind="stable")
    share = (weight / total)[order]
    below = (np.cumsum(share) - share / 2) / share.sum()
    at, first = np.unique(rounded(np.interp(_PLACES, below, scores[order])), return_index=True)
    last = np.append(first[1:], len(_PLACES)) - 1
    places = (_PLACES[first] + _PLACES[last]) / 2
    if at[0] > 0.0:
        at, places = np.append(0.0, at), np.append(_ENDS[0], places)
    if at[-1] < 1.0:
        at, places = np.append(at, 1.0), np.append(places, _ENDS[1])
    return at, places
