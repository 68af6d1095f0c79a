"""Trees that are walked here say what scikit-learn's say, to the last bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import ExtraTreeClassifier

from dialeval.engines.embedded.trees import Growth, Trees


def drawn(seed: int, n_classes: int, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(n, 7)), 1)  # many equal ones, some on the very threshold
    return values, rng.integers(n_classes, size=n) * 3, rng.random(n)


def learned(seed: int, n_classes: int, leaf: int) -> Trees:
    return Trees(*drawn(seed, n_classes), Growth(n_trees=5, leaf=leaf, share=0.3), seed)


def scikit_learns(seed: int, n_classes: int, leaf: int) -> list[ExtraTreeClassifier]:
    values, classes, weight = drawn(seed, n_classes)
    random = np.random.RandomState(seed)
    trees = [ExtraTreeClassifier(min_samples_leaf=leaf, max_features=0.3, random_state=random) for _ in range(5)]
    return [tree.fit(values.astype(np.float32), classes, sample_weight=weight) for tree in trees]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 200))
def test_trees_vote_as_scikit_learns(seed: int, n_classes: int, leaf: int) -> None:
    forest, trees, values = scikit_learns(seed, n_classes, leaf), learned(seed, n_classes, leaf), drawn(seed, 1)[0]
    np.testing.assert_array_equal(trees.classes, forest[0].classes_)
    wide = np.concatenate([values, values * 1e30, np.zeros((1, 7)), np.full((1, 7), -np.inf)])
    expected = sum(tree.tree_.predict(wide.astype(np.float32)) for tree in forest)
    np.testing.assert_array_equal(trees.vote(wide), expected / len(forest))


@pytest.mark.parametrize("n", [0, 1, 1023, 1024, 1025, 5000])
def test_any_number_of_rows(n: int) -> None:
    rows = np.resize(drawn(0, 3)[0], (n, 7))
    forest = scikit_learns(0, 3, 2)
    expected = np.mean([tree.predict_proba(rows) for tree in forest], axis=0) if n else np.zeros((0, 3))
    np.testing.assert_allclose(learned(0, 3, 2).vote(rows), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 1e39])
def test_what_is_no_finite_number_is_not_learned_from(spoilt: float) -> None:
    values, classes, weight = drawn(0, 2)
    values[3, 2] = spoilt
    with pytest.raises(ValueError, match="finite"):
        Trees(values, classes, weight, Growth(n_trees=1, leaf=5, share=0.3), random_seed=0)


@pytest.mark.parametrize("spoil", ["circle", "outside", "feature", "root", "length", "shape"])
def test_arrays_that_are_no_trees_are_refused(spoil: str) -> None:
    state = copy.deepcopy(learned(0, 2, 20).__getstate__())
    assert isinstance(state, dict)
    match spoil:
        case "circle":
            state["_children"][0, 0] = 0
        case "outside":
            state["_children"][0, 1] = 10**9
        case "feature":
            state["_feature"][0] = 7
        case "root":
            state["_roots"][0] = -1
        case "length":
            state["_threshold"] = state["_threshold"][:-1]
        case _:
            state["_children"] = state["_children"].T
    with pytest.raises(ValueError, match="the trees"):
        Trees.__new__(Trees).__setstate__(state)
