"""Variance components, generalizability and planned half-widths: bias and coverage where the truth is known

Scores of systems on cases by judges in repeats have normal effects; in every second table a third of the scores and
half of a judge's cases are missing. Systems and judges are the same in all repetitions, as the intervals hold them
fixed. `--only judges`: differences of systems over a population of judges, who are drawn anew. `--only shared_cases`:
three judges or annotators, and systems of which each has cases of its own. To reach: 90% coverage, 85% with 10 cases,
and 91.5% over judges and of differences. Takes 7 min.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from dialeval.stats.differences import differences_over_judges
from dialeval.stats.power import StudyDesign
from dialeval.stats.variance_components import TERMS, variance_components
from gates import Gates, arguments

VARIANCES = {
    "system": 0.3, "case": 0.4, "judge": 0.2, "system x case": 0.3, "system x judge": 0.1, "case x judge": 0.1,
    "system x case x judge": 0.2, "repeat": 0.5,
}  # fmt: skip
NO_JUDGES = VARIANCES | {"system x judge": 0.0, "case x judge": 0.0, "judge": 0.0}
"""Judges who do not differ."""
FIXED = ("system", "judge", "system x judge")
"""Effects that are the same in all repetitions."""


def scores(
    rng: np.random.Generator,
    sizes: tuple[int, int, int, int],
    variances: dict[str, float],
    fixed: dict[str, np.ndarray],
) -> tuple[np.ndarray, ...]:
    """Return scores with their systems, cases, judges and repeats, each of shape [n]."""
    axes = {"system": 0, "case": 1, "judge": 2}
    total = np.zeros(sizes)
    for term in TERMS:
        if term in variances:
            used = {axes[part] for part in term.split(" x ") if part in axes} or {0, 1, 2, 3}
            shape = [size if axis in used else 1 for axis, size in enumerate(sizes)]
            total = total + fixed.get(term, rng.normal(size=shape) * np.sqrt(variances[term]))
    return (total.ravel(), *np.indices(sizes).reshape(4, -1))


def fixed_effects(sizes: tuple[int, int, int, int], variances: dict[str, float]) -> dict[str, np.ndarray]:
    """Return effects of systems and judges whose variances, with the usual degrees of freedom, are exact."""
    rng = np.random.default_rng(5)
    n_systems, _, n_judges, _ = sizes

    def of_variance(effect: np.ndarray, variance: float, df: int) -> np.ndarray:
        for axis in (0, 2):
            if effect.shape[axis] > 1:
                effect = effect - effect.mean(axis=axis, keepdims=True)
        return effect * np.sqrt(variance * df / max((effect**2).sum(), 1e-300))

    between = variances["system x judge"]  # random interactions add their means to the main effects
    of_systems, of_judges = variances["system"] + between / n_judges, variances["judge"] + between / n_systems
    return {
        "system": of_variance(rng.normal(size=(n_systems, 1, 1, 1)), of_systems, n_systems - 1),
        "judge": of_variance(rng.normal(size=(1, 1, n_judges, 1)), of_judges, n_judges - 1),
        "system x judge": of_variance(
            rng.normal(size=(n_systems, 1, n_judges, 1)), variances["system x judge"], (n_systems - 1) * (n_judges - 1)
        ),
    }


def half(rng: np.random.Generator, case: np.ndarray, judge: np.ndarray) -> np.ndarray:
    """Return which scores are left if a third is missing at random, and half of the first judge's cases."""
    return (rng.random(len(case)) < 2.0 / 3.0) & ~((judge == 0) & (case > case.max() // 2))


def components(gates: Gates, repetitions: int) -> None:
    """Bias and coverage of components and coefficients; coverage by the planned half-width."""
    for n_cases, is_half in product((10, 20, 60), (False, True)):
        sizes = (6, n_cases, 4, 2)
        fixed = fixed_effects(sizes, VARIANCES)
        design = StudyDesign(n_cases, 4, 2)
        truth = [*VARIANCES.values()]
        for absolute in (False, True):
            error = design.error_variance(VARIANCES, absolute=absolute)
            truth.append(VARIANCES["system"] / (VARIANCES["system"] + error))
        found, low, high, differences, widths = [], [], [], [], []
        for number in range(repetitions):
            rng = np.random.default_rng([number, n_cases, is_half])
            value, system, case, judge, _ = scores(rng, sizes, VARIANCES, fixed)
            by_system = value.reshape(sizes).mean(axis=(1, 2, 3)) - sum(
                fixed[name].mean(axis=(1, 2, 3)) for name in FIXED
            )
            differences.append(by_system[0] - by_system[1])
            if is_half:
                left = half(rng, case, judge)
                value, system, case, judge = (part[left] for part in (value, system, case, judge))
            one = variance_components(value, system, case, judge, resamples=500)
            both = (one.generalizability(design), one.dependability(design))
            found.append([*one.estimate, *(each.estimate for each in both)])
            low.append([*one.ci_low, *(each.ci_low for each in both)])
            high.append([*one.ci_high, *(each.ci_high for each in both)])
            widths.append(float(design.difference(one.variances()).half_width))
        place = f"{n_cases} cases{', a third and half of a judge missing' if is_half else ''}"
        held = ((np.array(low) <= truth) & (np.array(high) >= truth)).mean(axis=0)
        bias = np.array(found).mean(axis=0) - truth
        names = [*VARIANCES, "generalizability", "dependability"]
        for name, share, off, of in zip(names, held, bias, truth, strict=True):
            gates.at_least(
                f"coverage, {name}, {place}",
                100.0 * share,
                85.0 if n_cases < 20 else 90.0,
                unit="%",
                note=f"bias {off:+.3f} of {of:.2f}",
            )
        inside = np.abs(differences) <= np.array(widths)
        gates.at_least(f"coverage by the planned half-width, {place}", 100.0 * inside.mean(), 93.0, unit="%")


def judges(gates: Gates, repetitions: int) -> None:
    """Coverage of differences over a population of judges."""
    for n_judges, n_cases, is_half, do_differ in product((3, 4, 6, 10), (10, 50), (False, True), (True, False)):
        variances = VARIANCES if do_differ else NO_JUDGES
        held, widths, fixed_held = [], [], []
        for number in range(repetitions):
            rng = np.random.default_rng([number, n_judges, n_cases, is_half, do_differ])
            sizes, equal = (2, n_cases, n_judges, 1), {"system": np.zeros((2, 1, 1, 1))}
            value, _, case, judge, _ = scores(rng, sizes, variances, equal)
            table = value.reshape(2, n_cases, n_judges)
            first, second = table
            if is_half:
                left = half(rng, case, judge).reshape(2, n_cases, n_judges).all(axis=0)
                first = np.where(left, first, np.nan)
            one = differences_over_judges(first.T, second.T, np.arange(n_cases))
            held.append(one.ci_low <= 0.0 <= one.ci_high)
            fixed_held.append(one.fixed_ci_low <= 0.0 <= one.fixed_ci_high)
            widths.append(one.ci_high - one.ci_low)
        place = f"{n_judges} judges who {'differ' if do_differ else 'do not differ'}, {n_cases} cases" + (
            ", half" if is_half else ""
        )
        gates.at_least(
            f"coverage, {place}", 100.0 * np.mean(held), 91.5, unit="%",
            note=f"judges fixed {100.0 * np.mean(fixed_held):.0f}%; width {np.median(widths):.2f}",
        )  # fmt: skip


def shared_cases(gates: Gates, repetitions: int) -> None:
    """Coverage by the half-width of a difference of two equal systems that share all, half or none of their cases."""
    equal = {name: np.zeros((2, 1, 3, 1)) for name in FIXED}
    for n_cases, apart in product((20, 60), (0.0, 0.5, 1.0)):
        n_apart = round(apart * n_cases)
        inside, as_if_shared = [], []
        for number in range(repetitions):
            rng = np.random.default_rng([number, n_cases, n_apart])
            value, system, case, annotator, _ = scores(rng, (2, n_cases + n_apart, 3, 1), VARIANCES, equal)
            left = np.where(system == 0, case < n_cases, case >= n_apart)
            value, system, case, annotator = (part[left] for part in (value, system, case, annotator))
            one = variance_components(value, system, case, annotator, resamples=2)
            difference = abs(value[system == 0].mean() - value[system == 1].mean())
            for held, design in ((inside, one.design), (as_if_shared, one.design._replace(shared_cases=1.0))):
                held.append(difference <= float(design.difference(one.planning_variances()).half_width))
        before = f"as if all were of both {100.0 * np.mean(as_if_shared):.0f}%"
        place = f"{n_cases} cases of each system, {n_cases - n_apart} of both"
        gates.at_least(f"coverage by the half-width, {place}", 100.0 * np.mean(inside), 91.5, unit="%", note=before)


SECTIONS = {"components": components, "judges": judges, "shared_cases": shared_cases}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--only", nargs="*", choices=sorted(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for section in options.only:
        SECTIONS[section](gates, options.repetitions)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
