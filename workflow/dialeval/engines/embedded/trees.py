"""Randomised trees as plain arrays: scikit-learn grows each, and they are kept as numbers and walked here.

They are those that its `ExtraTreeClassifier` grows one after the other, and say the same to the last bit: features are
compared as 32-bit floats with thresholds of 64 bits, and the trees are summed up in their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.kneser_ney import Floats, Integers

_ROWS_AT_ONCE = 1024
"""So many rows go down all trees together, which numpy does faster than one tree after the other."""
_LEAF = -1


class Growth(NamedTuple):
    """How trees are grown.

    Attributes:
        n_trees: how many.
        leaf: so many rows must be left on either side of a node.
        share: which part of the features is tried at each node.
    """

    n_trees: int
    leaf: int
    share: float


class Trees:
    """Extremely randomised trees (Geurts et al., 2006), one after the other in each array; nodes are counted over all.

    They are grown one by one, and the data are checked once: a forest copies, names and checks every tree anew, which
    takes as long as a third of the growing where trees are as small as here.

    Args:
        values: rows by features.
        classes: what each row is.
        weight: what each row counts for.
        growth: how many trees, and of what kind.
        random_seed: of everything that is drawn.

    Attributes:
        classes: the classes that they tell apart.
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
        with np.errstate(over="ignore"):  # what is too great is told of below
            narrow = np.ascontiguousarray(values, dtype=np.float32)
        if not np.isfinite(narrow).all() or not np.isfinite(weight).all():
            raise ValueError("trees cannot learn from values or weights that are no finite numbers")
        known, number = np.unique(classes, return_inverse=True)
        number = number.astype(np.min_scalar_type(len(known)))[:, None]  # each fit sorts it, which few bits make quick
        with config_context(assume_finite=True, skip_parameter_validation=True):
            trees = [tree.fit(narrow, number, weight, check_input=False).tree_ for _ in range(growth.n_trees)]
        first = np.cumsum([0, *(tree.node_count for tree in trees)])
        self.classes: Integers = known.astype(np.int64)
        self._n_features = narrow.shape[1]
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
        self._says: Floats = np.where(is_leaf[:, None], says, 0.0)  # nobody stays at the others: zeros keep small

    def vote(self, values: Floats) -> Floats:
        """Returns the mean of what the trees say: rows by classes.

        Args:
            values: rows by features.
        """
        narrow = np.ascontiguousarray(values, dtype=np.float32)
        total = np.zeros((len(narrow), self._says.shape[1]))
        for first in range(0, len(narrow), _ROWS_AT_ONCE):
            part = slice(first, first + _ROWS_AT_ONCE)
            for leaves in self._leaves(narrow[part]):
                total[part] += self._says.take(leaves, axis=0)
        return total / len(self._roots)

    def _leaves(self, values: npt.NDArray[np.float32]) -> Integers:
        """Returns the leaf that each row comes to in each tree: trees by rows."""
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes over arrays that may be from anyone.

        Raises:
            ValueError: they are no trees: a walk down them would not end.
        """
        self.__dict__.update(state)
        n = len(self._feature)
        fits = self._children.shape == (n, 2) and self._threshold.shape == (n,) and self._says.shape[:1] == (n,)
        if not fits or (self._feature >= self._n_features).any() or not 0 <= self._roots.min() <= self._roots.max() < n:
            raise ValueError("the trees do not fit together")
        inner = self._feature >= 0
        children = self._children[inner]
        if (children <= np.flatnonzero(inner)[:, None]).any() or (children >= n).any():
            raise ValueError("the trees lead in circles")
