"""Trees that are walked here say what scikit-learn's say, to the last bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import ExtraTreeClassifier

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.classifiers import GROWTH, SENSITIVITY, Dimensions, Growth, Labelled, Trees, _scale
from dialeval.engines.embedded.learning import Learned
from dialeval.engines.embedded.training_examples import KINDS
from dialeval.engines.requests import Dialogue
from embedded_ratings import DimensionRow, held_out_dimensions

# Trees that are walked here say what scikit-learn's say, to the last bit.


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


Rows = dict[tuple[Level, str, str], DimensionRow]


@pytest.fixture(scope="module")
def rows(forest: Learned, english: list[Dialogue]) -> Rows:
    found = held_out_dimensions(forest, english, random_seed=1)
    return {(row.level, row.dimension, row.damage): row for row in found}


def test_every_dimension_is_hurt_by_something_known() -> None:
    assert {level: tuple(harm) for level, harm in SENSITIVITY.items()} == DIMENSIONS
    for harm in (harm for dimensions in SENSITIVITY.values() for harm in dimensions.values()):
        assert set(harm) <= set(KINDS)
        assert max(harm.values()) == 1


@pytest.mark.parametrize(
    ("level", "dimension", "damage", "least"),
    [
        ("turn", "relevance", "replaced", 0.6),
        ("turn", "specificity", "generic", 0.75),
        ("turn", "interestingness", "repeated", 0.9),
        ("turn", "understandability", "word salad", 0.85),
        ("turn", "overall", "over-long", 0.8),
        ("dialogue", "coherence", "replaced", 0.6),
        ("dialogue", "coherence", "reordered", 0.55),
        ("dialogue", "engagingness", "generic", 0.7),
        ("dialogue", "diversity", "repeated", 0.9),
        ("dialogue", "informativeness", "generic", 0.7),
        ("dialogue", "overall", "word salad", 0.75),
    ],
)
def test_damage_is_seen_where_it_hurts(rows: Rows, level: Level, dimension: str, damage: str, least: float) -> None:
    assert rows[level, dimension, damage].n >= 80
    assert rows[level, dimension, damage].auc > least
    assert rows[level, dimension, damage].noticed > least


@pytest.mark.parametrize(
    ("level", "dimension", "damage"),
    [
        ("turn", "relevance", "repeated"),
        ("turn", "relevance", "word salad"),
        ("turn", "understandability", "replaced"),
        ("dialogue", "coherence", "repeated"),
        ("dialogue", "diversity", "over-long"),
    ],
)
def test_damage_is_no_merit_where_it_does_not_hurt(rows: Rows, level: Level, dimension: str, damage: str) -> None:
    """Of classes that exclude each other, being surely of one makes the others unlikely: that must not be a merit."""
    assert rows[level, dimension, damage].auc > 0.35


def test_the_first_part_of_a_dialogue_is_scored_alone(forest: Learned, english: list[Dialogue]) -> None:
    judge = forest.model_for(english[0])
    responses = ["I see.", english[0][0]]
    scores = judge.rate([(response,) for response in responses], "turn")
    assert scores[0, DIMENSIONS["turn"].index("specificity")] < scores[1, DIMENSIONS["turn"].index("specificity")]


def test_a_repetition_is_worse_than_the_same_words_in_their_place(forest: Learned, english: list[Dialogue]) -> None:
    judge = forest.model_for(english[0])
    repeated, fresh = judge.rate([(*english[0][:3], english[0][1]), (*english[0][:1], english[0][1])], "turn")
    hurt = [DIMENSIONS["turn"].index(name) for name in ("specificity", "interestingness", "overall")]
    assert (repeated[hurt] < fresh[hurt]).all()


def test_the_scale_is_the_place_among_true_and_hurt() -> None:
    """Places .125, .375, .625 and .875 for four examples of equal weight; halfway between the groups is .5."""
    scores = np.array([0.9, 0.7, 0.3, 0.1])
    at, places = _scale(scores, np.ones(4), np.array([True, True, False, False]))
    assert np.interp([0.1, 0.3, 0.5, 0.7, 0.9], at, places) == pytest.approx(
        [0.0625, 0.375, 0.5, 0.625, 0.9375], abs=0.003
    )
    assert (np.diff(at) > 0).all()
    assert (np.diff(places) > 0).all()
    assert (at[0], at[-1]) == (0, 1)
    assert 0 < places[0] < places[-1] < 1


def test_true_and_hurt_count_the_same_however_many_they_are() -> None:
    scores = np.array([0.8, *[0.2] * 9])
    at, places = _scale(scores, np.ones(10), scores > 0.5)
    assert np.interp(0.2, at, places) < 0.5 < np.interp(0.8, at, places)


def test_a_kind_that_was_never_met_is_no_trouble() -> None:
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1 + KINDS.index("word salad")], 50)
    examples = Labelled(rng.normal(size=(100, 2)) + kind[:, None], kind, np.ones(100))
    dimensions = Dimensions("turn", [examples, examples], GROWTH["turn"], random_seed=0)
    dimensions.learn_scales(dimensions.probabilities([examples.values] * 2), [examples] * 2)
    scores = dimensions.scores(dimensions.probabilities([np.array([[0.0, 0.0], [6.0, 6.0]])] * 2))
    understandable = DIMENSIONS["turn"].index("understandability")
    assert scores[0, understandable] > 0.6
    assert scores[1, understandable] < 0.4


@pytest.mark.parametrize("n_folds", [2, 3, 4, 5])
def test_no_part_hears_what_learned_from_its_own_fold(n_folds: int) -> None:
    """Other examples of one fold change what the other parts think, and nothing of what its own part does."""
    folds = [_labelled(seed) for seed in range(n_folds)]
    before, after = (
        Dimensions("turn", examples, Growth(n_trees=6, leaf=2, share=1.0), random_seed=0)
        for examples in (folds, [_labelled(99), *folds[1:]])
    )
    asked = np.random.default_rng(1).normal(size=(50, 3))
    assert (before.opinion(0, asked) == after.opinion(0, asked)).all()
    for part in range(1, n_folds):
        assert (before.opinion(part, asked) != after.opinion(part, asked)).any()


def test_a_part_hears_as_many_trees_as_it_is_given_or_a_few_more() -> None:
    """Of four folds, three classifiers learned without any one: seven trees are three times three."""
    dimensions = Dimensions("turn", [_labelled(seed) for seed in range(4)], Growth(7, leaf=2, share=1.0), random_seed=0)
    grown = [len(one._trees._roots) for one in dimensions._classifiers]
    assert grown == [3] * 6
    assert [[grown[number] for number in asked] for asked in dimensions._asked] == [[3] * 3] * 4


def test_classifiers_count_for_a_part_by_what_they_learned_from() -> None:
    """Of three folds, one classifier for each; what 60 rows say of a true one counts three times what 20 say."""
    few, many = _labelled(0, n=20), _labelled(1, n=60)
    dimensions = Dimensions("turn", [few, few, many], Growth(n_trees=4, leaf=2, share=1.0), random_seed=0)
    asked = np.random.default_rng(2).normal(size=(20, 3))
    of_second, of_third = (one.probabilities(asked) for one in dimensions._classifiers[1:])
    assert dimensions.opinion(0, asked) == pytest.approx((of_second + 3 * of_third) / 4)


def _labelled(seed: int, n: int = 40) -> Labelled:
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    return Labelled(rng.normal(size=(n, 3)) + kind[:, None], kind, np.ones(n))
