"""The alternative annotator test against a loop over annotators and items, a numeric likelihood, and known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import t

from dialeval.stats.alternative_annotator import (
    AnnotatorTest,
    Level,
    alternative_annotator_test,
    items_needed,
)
from dialeval.stats.significance import benjamini_hochberg, benjamini_yekutieli


def by_loops(judge: np.ndarray, labels: np.ndarray, level: Level) -> dict[int, tuple[list[bool], list[bool]]]:
    """Whether judge and left-out annotator are at least as close to the others, item by item."""
    found: dict[int, tuple[list[bool], list[bool]]] = {}
    for out in range(len(labels)):
        ahead, behind = [], []
        for item in range(len(judge)):
            others = [labels[one, item] for one in range(len(labels)) if one != out and not np.isnan(labels[one, item])]
            own, score = labels[out, item], judge[item]
            if np.isnan(own) or np.isnan(score) or not others:
                continue
            if level == "nominal":
                fit = [np.mean([one == other for other in others]) for one in (score, own)]
            else:
                fit = [-math.sqrt(np.mean([(one - other) ** 2 for other in others])) for one in (score, own)]
            ahead.append(bool(fit[0] >= fit[1] - 1e-12))
            behind.append(bool(fit[1] >= fit[0] - 1e-12))
        found[out] = ahead, behind
    return found


def simulated(
    rng: np.random.Generator, *, n: int = 60, annotators: int = 4, judge: float = 0.7, person: float = 0.7
) -> tuple[np.ndarray, np.ndarray]:
    """A truth of three categories, which judge and annotators give with some chance, else another."""
    truth = rng.integers(0, 3, n)

    def answers(chance: float) -> np.ndarray:
        return np.where(rng.random(n) < chance, truth, (truth + rng.integers(1, 3, n)) % 3).astype(float)

    return answers(judge), np.array([answers(person) for _ in range(annotators)])


def examined(judge: np.ndarray, labels: np.ndarray, level: Level = "nominal", cluster: object = None) -> AnnotatorTest:
    clusters = np.arange(len(judge)) if cluster is None else cluster
    return alternative_annotator_test(judge, labels, clusters, level=level)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_advantages_are_those_of_the_definition_with_missing_labels(level: Level) -> None:
    rng = np.random.default_rng(1)
    judge, labels = simulated(rng, n=80)
    labels[rng.random(labels.shape) < 0.2] = np.nan
    judge[rng.random(80) < 0.1] = np.nan
    if level == "interval":
        judge += 0.25  # as the mean of repeats
    found = examined(judge, labels, level)
    loops = by_loops(judge, labels, level)
    shares = [np.mean(ahead) for ahead, _ in loops.values()]
    assert found.of_annotator.estimate == pytest.approx(shares)
    assert found.advantage.estimate == pytest.approx(np.mean(shares))
    leads = [np.mean(np.subtract(behind, ahead, dtype=float)) for ahead, behind in loops.values()]
    assert found.lead.annotator - found.lead.judge == pytest.approx(leads)
    assert found.advantage.ci_low < found.advantage.estimate < found.advantage.ci_high


def test_ordinal_labels_are_compared_by_rank_so_that_any_rising_scale_gives_the_same() -> None:
    judge, labels = simulated(np.random.default_rng(2))
    stretched = examined(np.exp(3 * judge), np.exp(3 * labels), "ordinal")
    assert stretched.advantage == examined(judge, labels, "ordinal").advantage
    assert examined(np.exp(3 * judge), np.exp(3 * labels), "interval").advantage != stretched.advantage


def test_p_values_are_those_of_a_score_test_whose_likelihood_is_maximised_numerically() -> None:
    judge, labels = simulated(np.random.default_rng(3), n=50, judge=0.6)
    found, epsilon, n = examined(judge, labels), 0.15, 50
    expected = []
    for ahead, behind in by_loops(judge, labels, "nominal").values():
        lead = np.subtract(behind, ahead, dtype=float)
        b, c = (lead == 1).sum(), (lead == -1).sum()

        def loss(q: float, b: int = b, c: int = c) -> float:
            return -(b * math.log(q + epsilon) + c * math.log(q) + (n - b - c) * math.log(1 - 2 * q - epsilon))

        q = minimize_scalar(loss, bounds=(1e-9, (1 - epsilon) / 2 - 1e-9), method="bounded").x
        score = (lead.sum() - n * epsilon) / math.sqrt(n * (2 * q + epsilon * (1 - epsilon)))
        expected.append(t.cdf(score, n - 1))
    raw = found.lead.p_values(epsilon)
    assert raw == pytest.approx(expected, rel=0.02, abs=1e-4)  # the design effect of single items is nearly 1
    assert found.p_values(epsilon) == pytest.approx(benjamini_yekutieli(raw))
    assert found.winning_rate(epsilon) == np.mean(benjamini_yekutieli(raw) <= 0.05)


def test_benjamini_yekutieli_is_hochbergs_times_the_harmonic_sum() -> None:
    p = np.array([0.001, np.nan, 0.02, 0.03, 0.2])
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    known = ~np.isnan(p)
    assert benjamini_yekutieli(p)[known] == pytest.approx(np.minimum(benjamini_hochberg(p)[known] * harmonic, 1.0))
    assert np.isnan(benjamini_yekutieli(p)[1])


def test_a_perfect_judge_passes_and_a_constant_one_fails() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 60).astype(float)
    labels = np.array([np.where(rng.random(60) < 0.85, truth, 1 - truth) for _ in range(3)])
    best, constant = examined(truth, labels), examined(np.zeros(60), labels)
    assert best.winning_rate(0.2) == 1.0
    assert best.smallest_epsilon() <= 0.05
    assert best.advantage.estimate > 0.9
    assert constant.winning_rate(0.2) == 0.0
    assert constant.smallest_epsilon() > 0.3


def test_all_ties_pass_only_where_the_items_suffice() -> None:
    same = np.ones((3, 60))
    found = examined(np.ones(60), same)
    assert found.advantage.estimate == 1.0
    assert found.advantage.ci_low < 1.0
    # no item is lost: (1 - epsilon) ** n is the exact p-value, and the test is near it
    assert found.lead.p_values(0.1) == pytest.approx([0.9**60] * 3, abs=0.005)
    assert found.winning_rate(0.1) == 1.0
    assert found.winning_rate(0.0) == 0.0
    assert examined(np.ones(30), np.ones((3, 30))).winning_rate(0.05) == 0.0


def test_what_cannot_be_tested_is_missing_with_its_reason() -> None:
    judge, labels = simulated(np.random.default_rng(5), annotators=3)
    for given, words in (
        (labels[:1], "there are none"),
        (labels[:2], "the annotators have 60 and 60 such items"),
        (np.where(np.arange(60) < 20, labels, np.nan), "the annotators have 20, 20 and 20 such items"),
    ):
        found = examined(judge, given)
        assert np.isnan(found.winning_rate(0.2))
        assert np.isnan(found.smallest_epsilon())
        assert words in found.note
    none = examined(np.full(60, np.nan), labels)
    assert np.isnan(none.advantage.estimate)
    assert np.isnan(none.winning_rate(0.2))
    one_case = examined(judge, labels, cluster=np.zeros(60))
    assert one_case.n_annotators == 0
    assert np.isnan(one_case.winning_rate(0.2))
    assert one_case.note == "all items are in one cluster"
    with pytest.raises(ValueError, match="shape"):
        examined(judge, labels[:, :10])


def test_an_annotator_with_few_items_is_left_out_of_the_numbers_and_kept_as_a_reference() -> None:
    judge, labels = simulated(np.random.default_rng(6))
    labels[3, 10:] = np.nan
    found = examined(judge, labels)
    assert found.tested.tolist() == [True, True, True, False]
    assert found.advantage.estimate == pytest.approx(found.of_annotator.estimate[:3].mean())
    assert np.isnan(found.p_values(0.2)[3])
    assert found.of_annotator.n_items[3] == 10


def test_rows_that_are_repeated_within_a_case_are_no_more_evidence() -> None:
    judge, labels = simulated(np.random.default_rng(7), n=40)
    once = examined(judge, labels)
    case = np.repeat(np.arange(40), 5)
    five = examined(np.repeat(judge, 5), np.repeat(labels, 5, axis=1), cluster=case)
    assert five.advantage.estimate == pytest.approx(once.advantage.estimate)
    assert five.lead.p_values(0.2) == pytest.approx(once.lead.p_values(0.2), rel=0.15)
    apart = examined(np.repeat(judge, 5), np.repeat(labels, 5, axis=1))
    assert (apart.lead.p_values(0.2) < five.lead.p_values(0.2)).all()


def test_a_judge_as_bad_as_the_margin_is_rarely_taken_for_as_good() -> None:
    """Annotators mostly tie with the judge, where the paper's t-test rejects 12 to 17% of true nulls."""
    rng, rejected = np.random.default_rng(8), []
    for _ in range(400):
        labels = np.zeros((3, 30))
        judge = np.where(rng.random(30) < 0.2, 1.0, 0.0)  # the annotator leads on a fifth of the items, never behind
        rejected.append(examined(judge, labels).lead.p_values(0.2)[0] <= 0.05)
    assert np.mean(rejected) < 0.075


def test_the_number_of_items_gives_the_power_that_it_promises() -> None:
    n, rng, passed = items_needed(0.2, 0.4, 3), np.random.default_rng(9), []
    assert n == items_needed(0.2, 0.4, 3, power=0.8) > items_needed(0.2, 0.2, 3) >= 30
    for _ in range(300):
        judge, labels = simulated(rng, n=n, annotators=3, judge=0.75, person=0.75)
        found = examined(judge, labels)
        decided = (found.lead.annotator + found.lead.judge).mean()
        passed.append((found.winning_rate(0.2) >= 0.5, decided))
    assert np.mean([decided for _, decided in passed]) == pytest.approx(0.36, abs=0.06)
    assert 0.7 < np.mean([won for won, _ in passed]) < 0.99
