"""Variance components against the analysis of variance, and what scores do not tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dialeval.stats.differences import differences_over_judges, item_differences
from dialeval.stats.power import Cost, StudyDesign, cheapest_design
from dialeval.stats.variance_components import FEWEST_CASES, NO_VARIANCE, Components, variance_components


def crossed(sizes: tuple[int, int, int, int], seed: int = 0, sd: float = 1.0) -> tuple[np.ndarray, ...]:
    """Random scores with their systems, cases and judges."""
    rng = np.random.default_rng(seed)
    systems, cases, judges, repeats = sizes
    value = (
        rng.normal(size=(systems, 1, 1, 1))
        + rng.normal(size=(1, cases, 1, 1))
        + rng.normal(size=(1, 1, judges, 1))
        + rng.normal(size=(systems, cases, 1, 1))
        + rng.normal(size=(systems, cases, judges, 1))
        + sd * rng.normal(size=(systems, cases, judges, repeats))
    )
    return (value.ravel(), *np.indices(sizes).reshape(4, -1)[:3])


def by_name(found: Components) -> dict[str, float]:
    return dict(zip(found.names, found.estimate.tolist(), strict=True))


def test_two_systems_on_three_cases_by_hand() -> None:
    """Mean squares 6 (systems), 15.5 (cases) and 1.5 (rest)."""
    value, system, case = [2, 4, 6, 3, 5, 10], [0, 0, 0, 1, 1, 1], ["a", "b", "c"] * 2
    found = variance_components(value, system, case, ["judge"] * 6)
    assert by_name(found) == pytest.approx({"system": 1.5, "case": 7.0, "system x case": 1.5})
    assert found.joined["system x case"] == ("dialogue", "system x case x judge", "repeat")
    assert found.joined["system"] == ("system x judge",)
    assert found.generalizability().estimate == pytest.approx(0.75)
    assert found.dependability().estimate == pytest.approx(1.5 / (1.5 + 8.5 / 3.0))


def test_the_planned_half_width_of_two_systems_is_that_of_their_difference() -> None:
    value, system, case, judge = crossed((2, 12, 1, 1), seed=3)
    found = variance_components(value, system, case, judge)
    first, second = value.reshape(2, 12)
    paired = item_differences(first, second, np.arange(12), scores=True)
    half_width = (paired.ci_high[0] - paired.ci_low[0]) / 2.0
    assert float(found.design.difference(found.variances()).half_width) == pytest.approx(half_width)


@pytest.mark.parametrize("sizes", [(3, 4, 2, 2), (4, 5, 3, 2)])
def test_balanced_scores_have_the_components_of_the_mean_squares(sizes: tuple[int, int, int, int]) -> None:
    value, system, case, judge = crossed(sizes)
    found = by_name(variance_components(value, system, case, judge))
    table = value.reshape(sizes)
    n = dict(zip("scjr", sizes, strict=True))
    means = {}
    for name in ("", "s", "c", "j", "sc", "sj", "cj", "scj"):
        axes = tuple(axis for axis, facet in enumerate("scjr") if facet not in name)
        means[name] = table.mean(axis=axes, keepdims=True)
    effect = {
        name: sum((-1.0) ** (len(name) - len(part)) * mean for part, mean in means.items() if set(part) <= set(name))
        for name in means
    }
    square = {}
    for name in means:
        df = np.prod([n[facet] - 1 for facet in name])
        square[name] = (effect[name] ** 2).sum() * table.size / effect[name].size / df
    rest = ((table - means["scj"]) ** 2).sum() / (table.size * (1.0 - 1.0 / n["r"]))
    between = square["scj"]
    two_way = {
        name: (square[name] - between) / (table.size / np.prod([n[f] for f in name])) for name in ("sc", "sj", "cj")
    }
    one_way = {}
    for name, (one, other) in {"s": ("sc", "sj"), "c": ("sc", "cj"), "j": ("sj", "cj")}.items():
        one_way[name] = (square[name] - square[one] - square[other] + between) / (table.size / n[name])
    assert found == pytest.approx(
        {
            "system": one_way["s"], "case": one_way["c"], "judge": one_way["j"], "system x case": two_way["sc"],
            "system x judge": two_way["sj"], "case x judge": two_way["cj"],
            "system x case x judge": (between - rest) / n["r"], "repeat": rest,
        }
    )  # fmt: skip


def test_unbalanced_scores_have_unbiased_components() -> None:
    rows = []
    for seed in range(100):
        value, system, case, judge = crossed((4, 12, 3, 2), seed)
        left = (np.random.default_rng(seed).random(len(value)) < 0.7) & ~((judge == 2) & (case > 5))
        rows.append(by_name(variance_components(value[left], system[left], case[left], judge[left], resamples=1)))
    for name, truth in {"case": 1, "system x case": 1, "system x judge": 0, "case x judge": 0, "repeat": 1}.items():
        values = np.array([row[name] for row in rows])
        assert abs(values.mean() - truth) < 4.0 * values.std() / np.sqrt(len(values))


def test_scores_in_any_order_and_on_any_scale_have_the_same_components() -> None:
    value, system, case, judge = crossed((3, 6, 2, 2))
    order = np.random.default_rng(1).permutation(len(value))
    plain = variance_components(value, system, case, judge)
    moved = variance_components(
        1e6 + 10.0 * value[order], system[order], [f"case {one}" for one in case[order]], judge[order]
    )
    assert by_name(moved) == pytest.approx({name: 100.0 * one for name, one in by_name(plain).items()}, rel=1e-4)


ONE = {
    "one system": ((1, 8, 3, 2), {"system", "system x case", "system x judge", "system x case x judge"}),
    "one judge": ((3, 8, 1, 2), {"judge", "system x judge", "case x judge", "system x case x judge"}),
    "one repeat": ((3, 8, 3, 1), {"repeat"}),
    "one judge and one repeat": (
        (3, 8, 1, 1),
        {"judge", "system x judge", "case x judge", "system x case x judge", "repeat"},
    ),
    "one case": ((3, 1, 3, 2), {"case", "system x case", "case x judge", "system x case x judge"}),
}


@pytest.mark.parametrize(("sizes", "missing"), ONE.values(), ids=ONE.keys())
def test_a_facet_of_one_level_has_no_component(sizes: tuple[int, int, int, int], missing: set[str]) -> None:
    found = variance_components(*crossed(sizes))
    assert missing.isdisjoint(found.names)
    assert missing <= {name for names in found.joined.values() for name in names}
    if 1 in sizes[:2]:
        assert np.isnan(found.generalizability().estimate)
        assert found.generalizability().note


def test_judges_of_different_cases_are_not_told_apart_from_them() -> None:
    """Each case has its own judge: the judge's interaction with the case is the case."""
    value, system, case, _ = crossed((3, 12, 1, 1))
    found = variance_components(value, system, case, case % 3)
    assert "case x judge" not in found.names
    assert np.isfinite(found.estimate).all()


def test_repeats_of_few_cases_have_an_estimate_without_interval() -> None:
    value, system, case, judge = crossed((3, 12, 2, 2))
    first = np.arange(len(value)) % 2 == 0
    left = first | (case < FEWEST_CASES - 1)
    found = variance_components(value[left], system[left], case[left], judge[left])
    place = found.names.index("repeat")
    assert found.n_informative[place] == FEWEST_CASES - 1
    assert np.isfinite(found.estimate[place])
    assert np.isnan(found.ci_low[place])
    assert found.few_cases(place)


@pytest.mark.parametrize(
    "value", [np.full(24, 0.1), np.full(24, np.nan), np.zeros(0)], ids=["equal", "unparsed", "none"]
)
def test_scores_without_variance_have_none(value: np.ndarray) -> None:
    system, case, judge = (part[: len(value)] for part in crossed((3, 4, 2, 1))[1:])
    found = variance_components(value, system, case, judge)
    assert not found.estimate.any()
    assert np.isnan(found.generalizability().estimate)
    assert found.generalizability().note


def test_equal_scores_of_all_systems_on_each_case_have_dependability_alone() -> None:
    system, case, judge = crossed((3, 6, 2, 1))[1:]
    found = variance_components(case.astype(float), system, case, judge)
    assert by_name(found)["case"] == pytest.approx(np.var(np.arange(6), ddof=1))
    relative, absolute = found.generalizability(), found.dependability()
    assert np.isnan(relative.estimate)
    assert relative.note == NO_VARIANCE
    assert (absolute.estimate, absolute.note) == (0.0, "")


def test_negative_estimates_stay_and_count_as_zero() -> None:
    """A system that is good where the other is bad: the case's component is negative."""
    case = np.tile(np.arange(6), 2)
    value = np.where(np.arange(12) < 6, 1.0, -1.0) * (case % 2)
    found = variance_components(value, np.repeat([0, 1], 6), case, np.zeros(12))
    assert by_name(found)["case"] < 0.0
    assert found.variances()["case"] == 0.0


def test_a_component_of_rounding_is_zero_in_any_order_of_scores() -> None:
    value, system, case, judge = crossed((3, 7, 2, 2), seed=5)
    value = np.repeat(value.reshape(-1, 2)[:, :1], 2, axis=1).ravel()  # repeats that agree
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(value))
        found = variance_components(value[order], system[order], case[order], judge[order], resamples=2)
        assert by_name(found)["repeat"] == 0.0


def test_several_dialogues_of_a_case_have_a_component_of_their_own() -> None:
    rng = np.random.default_rng(2)
    system, case, dialogue, judge = np.indices((3, 30, 2, 2)).reshape(4, -1)
    own = 2.0 * rng.normal(size=(3, 30, 2, 1))
    value = (own + 0.1 * rng.normal(size=(3, 30, 2, 2))).ravel()
    name = [f"{one} {two} {three}" for one, two, three in zip(system, case, dialogue, strict=True)]
    found = by_name(variance_components(value, system, case, judge, name))
    assert found["dialogue"] == pytest.approx(4.0, abs=1.0)
    assert abs(found["system x case"]) < 1.0


def test_the_cheapest_design_reaches_the_target_for_less_than_others() -> None:
    variances = {"system x case": 1.0, "system x judge": 0.0, "system x case x judge": 0.5, "repeat": 4.0}
    dear_cases, dear_scores = Cost(case=10.0, score=0.1), Cost(case=0.1, score=10.0)
    repeats = range(1, 11)
    many = cheapest_design(variances, 0.5, dear_cases, repeats=repeats)
    few = cheapest_design(variances, 0.5, dear_scores, repeats=repeats)
    assert many is not None
    assert few is not None
    assert many.n_repeats > few.n_repeats
    assert many.n_cases < few.n_cases
    for found, cost in ((many, dear_cases), (few, dear_scores)):
        assert float(found.difference(variances).half_width) <= 0.5
        others = [StudyDesign(n, 1, r) for n in range(2, 400) for r in repeats]
        reaching = [cost.of(one) for one in others if float(one.difference(variances).half_width) <= 0.5]
        assert cost.of(found) == pytest.approx(min(reaching))
    by_power = cheapest_design(variances, 0.5, dear_cases, by_power=True, repeats=repeats)
    assert by_power is not None
    assert dear_cases.of(by_power) > dear_cases.of(many)


def test_no_number_of_cases_makes_three_judges_many() -> None:
    variances = {"system x case": 1.0, "system x judge": 1.0}
    one = {"judges_fixed": False}
    assert cheapest_design(variances, 0.5, Cost(1.0, 1.0), judges=[3], **one) is None
    assert cheapest_design(variances, 0.5, Cost(1.0, 1.0), judges=[3, 40], **one).n_judges == 40
    assert np.isnan(StudyDesign(10, 1).difference(variances, **one).half_width)


def test_equal_differences_of_all_judges_give_the_interval_of_cases_alone() -> None:
    difference = np.random.default_rng(0).normal(size=12)
    found = differences_over_judges(np.tile(difference, (4, 1)), np.zeros((4, 12)), np.arange(12))
    alone = item_differences(difference, np.zeros(12), np.arange(12), scores=True)
    assert found.judge_sd == 0.0
    assert (found.ci_low, found.fixed_ci_low) == pytest.approx((alone.ci_low[0],) * 2)


def test_judges_who_contradict_each_other_widen_the_interval() -> None:
    noise = 0.1 * np.random.default_rng(0).normal(size=(4, 30))
    found = differences_over_judges(noise + np.array([[1.0], [-1.0], [0.5], [-0.5]]), np.zeros((4, 30)), np.arange(30))
    assert found.fixed_ci_high - found.fixed_ci_low < 0.2
    assert found.ci_high - found.ci_low > 2.0
    assert found.judge_sd == pytest.approx(np.std([1.0, -1.0, 0.5, -0.5], ddof=1), rel=0.1)
    assert found.df == pytest.approx(3.0, abs=0.1)


def test_the_balanced_variance_is_that_of_the_mean_squares() -> None:
    """Judges 1, 3, 5 on two cases: mean squares 4.5 (cases), 8 (judges) and 0.5 (rest)."""
    table = np.array([[1.0, 2.0], [3.0, 4.0], [4.0, 7.0]])
    cases, judges = table.mean(axis=0), table.mean(axis=1)
    rest = table - cases - judges[:, np.newaxis] + table.mean()
    squares = 3.0 * cases.var(ddof=1), 2.0 * judges.var(ddof=1), (rest**2).sum() / 2.0
    found = differences_over_judges(table, np.zeros((3, 2)), [0, 1])
    expected = max((squares[0] + squares[1] - squares[2]) / 6.0, squares[0] / 6.0, squares[1] / 6.0)
    from scipy.special import stdtrit

    width = (found.ci_high - found.ci_low) / 2.0 / stdtrit(found.df, 0.975)
    assert width**2 == pytest.approx(expected)


FEW = {
    "two judges": (np.ones((2, 5)) * np.arange(5), "2 judges answered"),
    "one judge": (np.ones((1, 5)) * np.arange(5), "1 judge answered"),
    "an absent judge": (np.vstack([np.ones((2, 5)) * np.arange(5), np.full((1, 5), np.nan)]), "2 judges answered"),
    "all equal": (np.ones((3, 5)), "all values are equal"),
    "no item": (np.full((3, 5), np.nan), "no item in common"),
}


@pytest.mark.parametrize(("first", "note"), FEW.values(), ids=FEW.keys())
def test_what_a_population_of_judges_does_not_tell(first: np.ndarray, note: str) -> None:
    found = differences_over_judges(first, np.zeros_like(first), np.arange(5))
    assert note in found.note
    assert np.isnan([found.ci_low, found.ci_high, found.p_value, found.judge_sd]).all()


def test_one_case_is_no_sample_of_cases() -> None:
    found = differences_over_judges([[1.0], [2.0], [4.0]], np.zeros((3, 1)), [0])
    assert found.note
    assert np.isnan([found.ci_low, found.fixed_ci_low]).all()


def test_equal_shares_have_an_interval_of_their_own_width() -> None:
    found = differences_over_judges(np.ones((3, 20)), np.ones((3, 20)), np.arange(20), scores=False)
    assert found.ci_low < 0.0 < found.ci_high <= 1.0


def test_systems_with_cases_of_their_own_have_the_interval_of_two_samples() -> None:
    value = np.random.default_rng(1).normal(size=60) + np.repeat([0.0, 1.0], 30)
    found = variance_components(value, np.repeat(["a", "b"], 30), np.arange(60), ["judge"] * 60)
    expected = stats.ttest_ind(value[:30], value[30:]).confidence_interval(0.95)
    width = (expected.high - expected.low) / 2.0 / stats.t.ppf(0.975, 58) * stats.t.ppf(0.975, 29)
    assert found.design.shared_cases == 0.0
    assert found.design.difference(found.planning_variances()).half_width == pytest.approx(width)
    error = np.var(value[:30], ddof=1) / 60.0 + np.var(value[30:], ddof=1) / 60.0
    between = (value[30:].mean() - value[:30].mean()) ** 2 / 2.0 - error
    assert found.generalizability().estimate == pytest.approx(between / (between + error))


@pytest.mark.parametrize(("apart", "share"), [(0, 1.0), (4, 2 * 6 / 20), (10, 0.0)])
def test_shared_cases_lower_the_variance_of_a_difference(apart: int, share: float) -> None:
    cases = [np.arange(10), np.arange(10) + apart]
    value, system, case = np.ones(20), np.repeat([0, 1], 10), np.concatenate(cases)
    design = variance_components(value + case + system * case % 3, system, case, ["judge"] * 20).design
    assert design.shared_cases == pytest.approx(share)
    variances = {"case": 3.0, "system x case": 1.0, "case x judge": 0.5}
    effect = np.zeros((2, 20))
    for row, (places, sign) in enumerate(zip(cases, (1.0, -1.0), strict=True)):
        effect[row, places] = sign / 10.0
    by_hand = 3.5 * (effect.sum(axis=0) ** 2).sum() + (effect**2).sum()
    assert 2.0 * design.error_variance(variances, judges_fixed=True) == pytest.approx(by_hand)


def test_the_cheapest_design_has_as_many_cases_in_common_as_the_pilot() -> None:
    variances = {"case": 1.0}
    assert cheapest_design(variances, 0.5, Cost(1.0, 1.0), shared_cases=1.0).n_cases == 2
    found = cheapest_design(variances, 0.5, Cost(1.0, 1.0), shared_cases=0.0)
    assert stats.t.ppf(0.975, found.n_cases - 1) * np.sqrt(2.0 / found.n_cases) <= 0.5
    assert found.shared_cases == 0.0
