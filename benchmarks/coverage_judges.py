"""Alternative annotator test, calibration error and selective judging: false rejections and coverage.

Simulations whose truth is known. The alternative annotator test: judges that are worse than an annotator by exactly the
margin, and judges as good as annotators; with items alone in their cases and with cases of several alike. The
calibration error: judges with a known distance to the labels. Selective judging: how often a threshold keeps less than
the stated agreement. To reach: at most 6% false rejections (10% in the worst clustered design), 90% coverage, 5% broken
promises. Takes 10 min.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.stats import ttest_1samp

from dialeval.stats.alternative_annotator import alternative_annotator_test, items_needed
from dialeval.stats.calibration import calibration_error, certain_agreement
from gates import Gates, arguments


def copied(rng: np.random.Generator, n: int, per: int) -> np.ndarray:
    """Uniform numbers; within a case of several items about half of them are the same."""
    own = rng.random(n)
    return own if per == 1 else np.where(rng.random(n) < 0.5, np.repeat(rng.random(n // per), per), own)


def leads(gates: Gates, repetitions: int) -> None:
    """Two annotators who agree on 0, and a third who leads or trails the judge on a share of the items."""
    for n, per in ((30, 1), (60, 1), (100, 1), (60, 2), (100, 5), (200, 10)):
        for epsilon in (0.1, 0.2):
            for trailing in (0.0, 0.05, 0.2):
                rng = np.random.default_rng([n, per, int(100 * epsilon), int(100 * trailing)])
                rejected, by_t = [], []
                for _ in range(repetitions):
                    u = copied(rng, n, per)
                    judge_off = (u < trailing + epsilon).astype(float)
                    third_off = ((u >= trailing + epsilon) & (u < 2 * trailing + epsilon)).astype(float)
                    labels = np.array([np.zeros(n), np.zeros(n), third_off])
                    test = alternative_annotator_test(
                        judge_off, labels, np.repeat(np.arange(n // per), per), level="nominal"
                    )
                    rejected.append(test.lead.p_values(epsilon)[2] <= 0.05)
                    with np.errstate(all="ignore"):
                        p = ttest_1samp(judge_off - third_off, epsilon, alternative="less").pvalue
                    by_t.append(p <= 0.05)
                what = (
                    f"false rejections, {n} items in cases of {per}, margin {epsilon:g}, judge ahead on {trailing:.0%}"
                )
                limit = 6.0 if per == 1 else 10.0
                slack = 200.0 * np.sqrt(0.05 * 0.95 / repetitions)
                note = f"the paper's t-test: {100 * np.mean(by_t):.1f}%"
                gates.at_most(what, 100.0 * np.mean(rejected), limit + slack, unit="%", note=note)


def annotated(rng: np.random.Generator, n: int, n_annotators: int, right: float) -> np.ndarray:
    """Labels of three categories by annotators who are right on a share of the items; the first is the judge."""
    truth = rng.integers(0, 3, n)
    every = [
        np.where(rng.random(n) < right, truth, (truth + rng.integers(1, 3, n)) % 3) for _ in range(n_annotators + 1)
    ]
    return np.array(every, float)


def winning(gates: Gates, repetitions: int) -> None:
    """A judge as good as its annotators, at the number of items that `items_needed` gives for the true share."""
    for n_annotators, right, epsilon in product((3, 5, 10), (0.72, 0.9), (0.1, 0.15, 0.2)):
        rng = np.random.default_rng([n_annotators, int(100 * right), int(100 * epsilon)])
        judge, *others = annotated(rng, 40_000, n_annotators, right)
        decided = alternative_annotator_test(judge, np.array(others), np.arange(40_000), level="nominal").decided()
        n = items_needed(epsilon, decided, n_annotators)
        passed, rho = [], []
        for _ in range(repetitions):
            judge, *others = annotated(rng, n, n_annotators, right)
            test = alternative_annotator_test(judge, np.array(others), np.arange(n), level="nominal")
            passed.append(test.winning_rate(epsilon) >= 0.5)
            rho.append((test.advantage.estimate, test.advantage.ci_low, test.advantage.ci_high))
        value, low, high = np.array(rho).T
        held = ((low <= value.mean()) & (value.mean() <= high)).mean()
        place = f"{n_annotators} annotators right on {right:.0%}, margin {epsilon:g}: {n} items"
        note = f"{decided:.2f} decided; the number for .4 is {items_needed(epsilon, 0.4, n_annotators)}"
        gates.at_least(f"power, {place}", 100.0 * np.mean(passed), 77.0, unit="%", note=note)
        gates.at_least(f"coverage of rho, {place}", 100.0 * held, 93.0, unit="%", note=f"rho {value.mean():.3f}")


SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda s: s,
    "overconfident": lambda s: 0.5 + 0.6 * (s - 0.5),
    "too high": lambda s: np.clip(s - 0.15, 0.0, 1.0),
    "underconfident": lambda s: np.where(s > 0.5, 0.95, 0.05),
}


def calibration(gates: Gates, repetitions: int) -> None:
    """Labels whose chance is a function of the score; the truth is the error in the bins of the sample."""
    for n, per in ((30, 1), (60, 1), (120, 1), (300, 1), (120, 3)):
        for name, chance in SHAPES.items():
            rng = np.random.default_rng([n, per, len(name)])
            rows = []
            for number in range(repetitions):
                score = np.clip(np.repeat(rng.random(n // per), per) + (per > 1) * rng.normal(0, 0.1, n), 0.0, 1.0)
                label = (copied(rng, n, per) < chance(score)).astype(float)
                case = np.repeat(np.arange(n // per), per)
                found = calibration_error(score, label, case, resamples=300, random_seed=number)
                inside = [(score >= low) & (score <= high) for low, high in zip(found.low, found.high, strict=True)]
                truth = sum(abs((score - chance(score))[one].sum()) for one in inside) / n
                one = found.error
                rows.append((one.ci_low - 1e-9 <= truth <= one.ci_high + 1e-9, one.estimate, found.plug_in, truth))
            held, corrected, plug_in, true = np.mean(rows, axis=0)
            note = f"truth {true:.3f}, corrected {corrected:.3f}, uncorrected {plug_in:.3f}"
            gates.at_least(
                f"calibration error, {n} labels in cases of {per}, {name}",
                100.0 * held,
                90.0 - 2.5,
                unit="%",
                note=note,
            )


def promises(gates: Gates, repetitions: int) -> None:
    """The agreement of items rises with the certainty, or not; their average from the threshold on is the truth."""
    shapes: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "as certain as right": lambda u: u,
        "overconfident": lambda u: 0.5 + 0.7 * (u - 0.5),
        "certainty without meaning": lambda u: 0.8 + 0.0 * u,
        "always .9": lambda u: 0.9 + 0.0 * u,
    }
    for n, per in ((60, 1), (120, 1), (300, 1), (300, 3)):
        for name, chance in shapes.items():
            rng, rows = np.random.default_rng([n, per, len(name)]), []
            for _ in range(repetitions):
                certainty = rng.uniform(0.5, 1.0, n)
                agreed = (copied(rng, n, per) < chance(certainty)).astype(float)
                case = np.repeat(np.arange(n // per), per)
                (kept,) = certain_agreement(certainty, agreed, case, [0.8])
                above = chance(np.linspace(np.nan_to_num(kept.threshold, nan=1.0), 1.0, 201)).mean()
                there = not np.isnan(kept.threshold)
                rows.append((there and above < 0.8 - 1e-9, there, 2.0 * (1.0 - kept.threshold) if there else 0.0))
            broken, found, coverage = 100.0 * np.mean(rows, axis=0)
            note = f"a threshold in {found:.0f}%, which keeps {coverage / max(found, 1e-9):.0%} of the items"
            gates.at_most(f"less than 80% kept, {n} labels in cases of {per}, {name}", broken, 5.0, unit="%", note=note)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=300)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for part, times in ((leads, 3), (winning, 1), (calibration, 1), (promises, 1)):
        part(gates, times * options.repetitions)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
