"""Planned precision of estimates against the precision of simulated studies.

Differences of the size that `stats.power` calls the smallest are built into simulated runs, which are then tested as
the tables test them: four of five should be found, also of pilots of few seeds and after Holm's correction. Then, the
cheapest designs for a difference, by judges and by annotators; what the test of shares finds with few seeds, and how
long planning takes at paper scale. Takes 15 min.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student
from scipy.stats import ttest_rel

from dialeval.labels.agreement import components
from dialeval.measures.design import Design
from dialeval.planning.judge_power import CaseCosts, PlannedDesign, Size
from dialeval.planning.label_power import EarlierLabels, LabelPlan, plans
from dialeval.stats.differences import differences_over_judges, paired_differences
from dialeval.stats.estimates import t_interval
from dialeval.stats.label_corrected import Target
from dialeval.stats.power import (
    Cost,
    HumanLabelDesign,
    cheapest_design,
    contributions_of_means,
    contributions_of_ratings,
    simulated,
)
from dialeval.stats.prediction_powered import Annotators, correct_means
from dialeval.stats.significance import holm
from dialeval.stats.style_control import controlled_ratings
from dialeval.stats.variance_components import variance_components
from gates import Gates, arguments

STORED = 60
"""Seeds that are stored when a design is planned."""
N_PLAYERS = 6


def pass_rates(n_seeds: int, repetitions: int) -> Iterator[float]:
    """Yield the share found of a difference that was planned from 60 seeds, one stored run each."""
    rng = np.random.default_rng(n_seeds)

    def passed(shares: tuple[float, float], n: int) -> np.ndarray:
        hard = rng.normal(0.0, 0.2, n)
        return (rng.random((2, n)) < np.clip(np.array(shares)[:, np.newaxis] + hard, 0.0, 1.0)).astype(float)

    for _ in range(repetitions):
        stored = contributions_of_means(passed((0.5, 0.5), STORED), np.arange(STORED))
        smallest = simulated(stored, n_seeds, shares=True, resamples=400).smallest[0]
        found = paired_differences(passed((0.5 + smallest / 2, 0.5 - smallest / 2), n_seeds), np.arange(n_seeds))
        yield float(found.p_value[0] <= 0.05)


def ratings(n_seeds: int, repetitions: int) -> Iterator[float]:
    """Yield the same of Bradley-Terry ratings of six chatbots, the first of which stands apart."""
    rng = np.random.default_rng(n_seeds)
    one, other = np.triu_indices(N_PLAYERS, 1)
    points = 400.0 / math.log(10.0)

    def arena(ahead: float, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        left, right = (np.tile(side, n) for side in (np.r_[one, other], np.r_[other, one]))
        seed = np.repeat(np.arange(n), 2 * len(one))
        ability = np.zeros(N_PLAYERS)
        ability[0] = ahead / points
        of_seed = ability + 0.7 * rng.normal(size=(n, N_PLAYERS))
        chance = 1.0 / (1.0 + np.exp(-(of_seed[seed, left] - of_seed[seed, right])))
        return left, right, (rng.random(len(left)) < chance).astype(float), seed

    for _ in range(repetitions):
        found = contributions_of_ratings(*arena(0.0, STORED), N_PLAYERS)
        smallest = float(np.median(simulated(found, n_seeds, resamples=400).smallest))
        # seeds on which chatbots differ in ability shrink what Bradley-Terry finds of a difference
        left, right, outcome, seed = arena(smallest * _SHRUNK, n_seeds)
        fit = controlled_ratings(left, right, outcome, N_PLAYERS, seed, position=False)
        error = math.sqrt(fit.covariance[0, 0] + fit.covariance[1, 1] - 2.0 * fit.covariance[0, 1])
        _, _, p = t_interval(fit.rating[0] - fit.rating[1], error, fit.degrees_of_freedom)
        yield float(p <= 0.05)


def pilots(n_stored: int, n_seeds: int, repetitions: int) -> Iterator[tuple[float, float, float]]:
    """Yield how often differences of mean scores are found that a pilot calls the smallest; six chatbots.

    In the mean over the five pairs of the chatbot that is ahead: by p of one planned for a pair by itself, by p_holm of
    the same, and by p_holm of one planned for all pairs.
    """
    rng = np.random.default_rng([n_stored, n_seeds])
    one, other = np.triu_indices(N_PLAYERS, 1)
    pairs = len(one)

    def p_values(ahead: float) -> np.ndarray:
        score = rng.normal(size=n_seeds) + rng.normal(size=(N_PLAYERS, n_seeds))
        score[0] += ahead
        apart = score[one] - score[other]
        error = apart.std(axis=1, ddof=1) / math.sqrt(n_seeds)
        return t_interval(apart.mean(axis=1), error, n_seeds - 1.0)[2]

    for _ in range(repetitions):
        stored = rng.normal(size=n_stored) + rng.normal(size=(N_PLAYERS, n_stored))
        found = contributions_of_means(stored, np.arange(n_stored))
        alone, of_all = (
            float(np.median(simulated(found, n_seeds, confidence=confidence, resamples=400).smallest))
            for confidence in (0.95, 1.0 - 0.05 / pairs)
        )
        p, corrected = p_values(alone), p_values(of_all)
        yield tuple(float((one_p[: N_PLAYERS - 1] <= 0.05).mean()) for one_p in (p, holm(p), holm(corrected)))


_SHRUNK = math.sqrt(1.0 + 2 * 0.7**2 / 1.7**2)
"""Logistic noise has a standard deviation near 1.7 of a normal one."""


def labels(n_labels: int, correlation: float, repetitions: int) -> Iterator[float]:
    """Yield the same of people's means, corrected with a judge, by labels of 222 seeds of each of two chatbots."""
    rng = np.random.default_rng(n_labels)
    seeds = 222
    design = HumanLabelDesign(spread=4.0, correlation=correlation, per_label=2.0)
    smallest = float(design.detectable(2 * n_labels, 2 * seeds, 0.95).smallest)
    system, cluster = np.repeat([0, 1], seeds), np.tile(np.arange(seeds), 2)
    for _ in range(repetitions):
        judge = rng.normal(size=2 * seeds)
        people = correlation * judge + math.sqrt(1.0 - correlation**2) * rng.normal(size=2 * seeds)
        people[:seeds] += smallest
        label = np.full(2 * seeds, np.nan)
        for first in (0, seeds):
            drawn = first + rng.choice(seeds, n_labels, replace=False)
            label[drawn] = people[drawn]
        found = correct_means(judge, label, np.full(2 * seeds, n_labels / seeds), system, cluster).difference(0, 1)
        yield float(found.ci_low > 0.0 or found.ci_high < 0.0)


VARIANCES = {
    "case": 0.3, "system x case": 0.7, "annotator": 0.3, "system x annotator": 0.05, "disagreement": 0.8
}  # fmt: skip
"""Of labels: disagreement is that of annotators on one dialogue."""


def labelled_study(
    rng: np.random.Generator, gap: float, n_cases: int, n_labelled: int, answers: int, effect: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return the judge's scores, each annotator's labels, system and case of two systems' dialogues.

    Of each system n_labelled dialogues are drawn; annotators take turns. `effect` has the annotators' severity and
    their liking of each system, shape [3, n_annotators].
    """
    system, case = np.repeat([0, 1], n_cases), np.tile(np.arange(n_cases), 2)
    true = math.sqrt(VARIANCES["case"]) * rng.normal(size=n_cases)[case]
    true += math.sqrt(VARIANCES["system x case"]) * rng.normal(size=2 * n_cases) + gap * (system == 0)
    judge = true + 0.9 * rng.normal(size=len(true)) + 0.3 * system
    n_annotators = effect.shape[1]
    each = np.full((n_annotators, len(true)), np.nan)
    for k in (0, 1):
        drawn = k * n_cases + rng.choice(n_cases, n_labelled, replace=False)
        for turn, item in enumerate(drawn):
            who = (turn * answers + np.arange(answers)) % n_annotators
            noise = math.sqrt(VARIANCES["disagreement"]) * rng.normal(size=answers)
            each[who, item] = true[item] + effect[0, who] + effect[1 + k, who] + noise
    return judge, each, system, case


def annotator_effects(rng: np.random.Generator, n_annotators: int) -> np.ndarray:
    """Return severity, and liking of two systems, of newly drawn annotators, shape [3, n_annotators]."""
    spread = np.sqrt([VARIANCES["annotator"], *[VARIANCES["system x annotator"]] * 2])
    return spread[:, np.newaxis] * rng.normal(size=(3, n_annotators))


class Fresh(NamedTuple):
    """What fresh studies gave: half-widths, whether the difference was found, whether intervals held the truth."""

    half_width: float
    found: float
    held: float
    held_population: float


def fresh_studies(
    gap: float,
    n_cases: int,
    n_labelled: int,
    answers: int,
    n_annotators: int,
    between: float,
    repetitions: int,
    *,
    impartial: bool = False,
    population: Target = "new_cases",
) -> Fresh:
    """Simulate studies with annotators of their own, who on average are impartial or not, estimated as in tables."""
    rows = []
    for number in range(repetitions):
        rng = np.random.default_rng([number, n_cases, n_labelled, answers])
        effect = annotator_effects(rng, n_annotators)
        if impartial:
            effect -= effect.mean(axis=1, keepdims=True)
        judge, each, system, case = labelled_study(rng, gap, n_cases, n_labelled, answers, effect)
        known = ~np.isnan(each)
        label = np.where(known.any(axis=0), np.nansum(each, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
        who = Annotators(VARIANCES["annotator"], known / np.maximum(known.sum(axis=0), 1))
        spread = np.full(len(label), np.nan)
        if answers > 1:
            squares, freedom = (np.where(known, each - label, 0.0) ** 2).sum(), known.sum() - known.any(axis=0).sum()
            spread = squares / freedom / np.maximum(known.sum(axis=0), 1)
        found = correct_means(
            judge, label, None, system, case, target=population, rate=False, label_variance=spread, annotators=who
        )
        one = found.difference(0, 1)
        these = gap + effect[1].mean() - effect[2].mean()
        half = (one.ci_high - one.ci_low) / 2
        variance = (one.se**2, 2.0 * between / n_annotators)
        freedom = sum(variance) ** 2 / (variance[0] ** 2 / one.df + variance[1] ** 2 / (n_annotators - 1.0))
        wider = math.sqrt(sum(variance)) * float(student.ppf(0.975, freedom))
        held = one.ci_low <= these <= one.ci_high, abs(one.estimate - gap) <= wider
        rows.append((half, one.ci_low > 0.0 or one.ci_high < 0.0, *held))
    half, found, *held = np.mean(rows, axis=0)
    return Fresh(half, 100.0 * found, *(100.0 * one for one in held))


def planned_from_pilot(
    target: float | None, n: int, answers: int, pilot: int = 3, population: Target = "new_cases"
) -> dict[str, dict[str, float]]:
    """Return the rows of `planning` about two systems on 200 cases, from a pilot with four annotators, by estimand."""
    rng = np.random.default_rng(pilot)
    effect = annotator_effects(rng, 4)
    judge, each, system, case = labelled_study(rng, 0.3, 200, 60, 4, effect)
    about = {"protocol": "felt", "criterion": "warm", "n_utterances": None}
    labels = [
        {"protocol": "felt", "criterion": "warm", "corpus": "c", "item_id": f"{system[i]}/{case[i]}", "round": 0}
        | {"case_id": f"{case[i]}", "system": f"s{system[i]}", "opponent": None, "annotator": f"a{who}"}
        | {"value": each[who, i], "choice": None, "outcome": None, "skipped": False, "n_utterances": 4}
        | {"scale_min": None, "scale_max": None, "probability": 0.3}
        for who, i in np.argwhere(~np.isnan(each))
    ]
    spread = components(pd.DataFrame(labels), resamples=2, confidence=0.95, random_seed=0)
    found = correct_means(judge, np.where(np.isnan(each).all(axis=0), np.nan, each.mean(axis=0)), None, system, case)
    corrected = [
        about
        | {"answer": None, "measure": "mean", "opponent": None, "judge": "judge", "target": "new_cases"}
        | {"human_only_ci_low": found.human_only_ci_low[k], "human_only_ci_high": found.human_only_ci_high[k]}
        | {"rho_within": found.rho_within[k], "n_labelled_seeds": 60, "n_labelled": 60, "n_total": 200}
        for k in (0, 1)
    ]
    design = Design(protocol="felt", judges=["judge"], criteria=["warm"], measures=["means"])
    planned = PlannedDesign(design=design, form="scale", labelled=True, target_difference=target)
    plan = LabelPlan(n=n, answers=answers, n_annotators=4, price=0.5, target=population)
    empty = _judgements(0, "felt", np.zeros(0, dtype=int))
    rows = plans(planned, Size(2, 200), empty, CaseCosts({"judge": 0.2}), plan, EarlierLabels(corrected, spread))
    return {row["estimand"]: row for row in rows}


def people(gates: Gates, repetitions: int) -> None:
    """Whether planned widths with annotators are those of fresh studies, and the cheapest design finds its target."""
    between = VARIANCES["system x annotator"]
    for n, answers in ((30, 1), (30, 2), (60, 1), (60, 4), (120, 1)):
        row = planned_from_pilot(None, n, answers)
        fresh = fresh_studies(0.0, 200, n, answers, 4, between, repetitions)
        ratio = row["people"]["half_width"] / fresh.half_width
        about = f"{n} labelled dialogues of each system by {answers} of 4 annotators"
        note = (
            f"planned {row['people']['half_width']:.3f}, fresh {fresh.half_width:.3f}; holds for these annotators "
            f"{fresh.held:.0f}%, over annotators {fresh.held_population:.0f}%"
        )
        gates.at_most(
            f"{about}: planned half-width over that of fresh studies, apart from 1", abs(ratio - 1.0), 0.1, note=note
        )
        gates.at_least(f"{about}: coverage over annotators", fresh.held_population, 92.0, unit="%")
    for n, answers in ((60, 1), (60, 2), (60, 4), (150, 2)):
        row = planned_from_pilot(None, n, answers, population="given_cases")["people"]
        fresh = fresh_studies(0.0, 200, n, answers, 4, between, repetitions, population="given_cases")
        ratio = row["half_width"] / fresh.half_width
        about = f"{n} of these 200 dialogues of each system labelled by {answers} of 4 annotators"
        note = f"planned {row['half_width']:.3f}, fresh {fresh.half_width:.3f}"
        what = f"{about}: planned half-width over that of fresh studies, apart from 1"
        gates.at_most(what, abs(ratio - 1.0), 0.1, note=note)
    for target in (0.4, 0.6):
        found, cost = [], []
        for pilot in range(20):
            row = planned_from_pilot(target, 60, 1, pilot)["people"]
            about = row["cheapest_seeds"], row["cheapest_labels"] // 2, row["cheapest_answers"], 4, between
            found.append(fresh_studies(target, *about, repetitions // 10, impartial=True).found)
            cost.append(row["cost_of_cheapest"])
        note = f"20 pilots; cost {min(cost):.0f} to {max(cost):.0f}, the last {about[0]} cases, {about[1]} labelled"
        gates.at_least(
            f"cheapest design for a difference of {target}: found", np.mean(found), 77.0, unit="%", note=note
        )


SCORES = {"case": 0.3, "system x case": 0.3, "system x judge": 0.05, "rest": 0.5}
"""Variances of judges' scores: case, system on a case, judge's liking of a system, and the rest with repeats."""


def scored(rng: np.random.Generator, gap: float, cases: int, judges: int, repeats: int, *, liked: bool) -> np.ndarray:
    """Return scores of two systems, shape [2, cases, judges, repeats]; judges like systems unequally or not."""
    spread = {name: math.sqrt(value) for name, value in SCORES.items()}
    found = spread["case"] * rng.normal(size=(1, cases, 1, 1)) + gap * np.array([1.0, 0.0])[:, None, None, None]
    found = found + spread["system x case"] * rng.normal(size=(2, cases, 1, 1))
    found = found + liked * spread["system x judge"] * rng.normal(size=(2, 1, judges, 1))
    return np.asarray(found + spread["rest"] * rng.normal(size=(2, cases, judges, repeats)))


def cheapest_of_judges(gates: Gates, repetitions: int) -> None:
    """Whether the cheapest designs of one judge, and over a population of judges, find their target difference."""
    for judges, cases, target in ((1, 20, 0.4), (1, 60, 0.3), (4, 30, 0.5), (4, 60, 0.5)):
        found, cost = [], []
        for number in range(repetitions):
            rng = np.random.default_rng([number, judges, cases])
            pilot = scored(rng, 0.2, cases, judges, 2, liked=judges > 1)
            about = [part.ravel() for part in np.indices(pilot.shape)]
            one = variance_components(pilot.ravel(), *about[:3], resamples=0)
            is_fixed = judges == 1
            design = cheapest_design(
                one.planning_variances(), target, Cost(1.0, 0.2), by_power=True, pilot=one.design,
                judges_fixed=is_fixed, judges=(1,) if is_fixed else range(3, 21), repeats=range(1, 11),
            )  # fmt: skip
            if design is None:
                continue
            about_fresh = target, design.n_cases, design.n_judges, round(design.n_repeats)
            first, second = scored(rng, *about_fresh, liked=judges > 1).mean(axis=3)
            if is_fixed:
                p = float(ttest_rel(first[:, 0], second[:, 0]).pvalue)
                found.append(p <= 0.05)
            else:
                over = differences_over_judges(first.T, second.T, np.arange(design.n_cases))
                found.append(over.ci_low > 0.0 or over.ci_high < 0.0)
            cost.append(Cost(1.0, 0.2).of(design))
        who = "one judge" if judges == 1 else "a population of judges, four in the pilot"
        note = f"cost {np.median(cost):.0f} (median), none in {100 - 100 * len(cost) / repetitions:.0f}%"
        what = f"cheapest design, {who}, pilot of {cases} cases, difference {target}: found"
        gates.at_least(what, 100.0 * np.mean(found), 75.0 if judges == 1 else 70.0, unit="%", note=note)
    found = []
    for number in range(repetitions):
        rng = np.random.default_rng([number, 77])
        hard = rng.normal(0.0, 0.2, 30)
        pilot = (rng.random((2, 30)) < np.clip(0.5 + hard, 0.0, 1.0)).astype(float)
        one = variance_components(
            pilot.ravel(), np.repeat([0, 1], 30), np.tile(np.arange(30), 2), np.zeros(60), resamples=0
        )
        design = cheapest_design(one.planning_variances(), 0.2, Cost(1.0, 0.0), by_power=True, pilot=one.design)
        if design is not None:
            hard = rng.normal(0.0, 0.2, design.n_cases)
            chance = np.clip(np.array([[0.6], [0.4]]) + hard, 0.0, 1.0)
            fresh = (rng.random((2, design.n_cases)) < chance).astype(float)
            found.append(paired_differences(fresh, np.arange(design.n_cases)).p_value[0] <= 0.05)
    what = "cheapest design, pass rates, pilot of 30 cases, 20 points: found"
    gates.at_least(what, 100.0 * np.mean(found), 75.0, unit="%")


def few_seeds(n_seeds: int, shares: tuple[float, float], repetitions: int) -> tuple[float, float]:
    """Return how often a difference of shares is found with five items a seed, and how often by Student's test."""
    rng = np.random.default_rng(n_seeds)
    chances, seed = np.array(shares)[:, np.newaxis], np.repeat(np.arange(n_seeds), 5)
    values = [(rng.random((2, len(seed))) < chances).astype(float) for _ in range(repetitions)]
    found = [paired_differences(pair, seed).p_value[0] <= 0.05 for pair in values]
    means = np.array(values).reshape(repetitions, 2, n_seeds, 5).mean(axis=3)
    return 100.0 * float(np.mean(found)), 100.0 * float(
        (ttest_rel(*means.swapaxes(0, 1), axis=1).pvalue <= 0.05).mean()
    )


def paper_scale() -> float:
    """Return the seconds that planning takes for fourteen chatbots, 222 seeds and nine criteria, and Arena."""
    rng = np.random.default_rng(0)
    systems, criteria = [f"bot{number}" for number in range(14)], [f"c{number}" for number in range(9)]
    one, other = np.triu_indices(14, 1)
    n = 222 * 2 * len(one)
    arena = _judgements(n, "arena", np.repeat(np.arange(222), 2 * len(one)))
    for side, shown in (("left", np.r_[one, other]), ("right", np.r_[other, one])):
        arena[side] = [systems[number] for number in np.tile(shown, 222)]
    arena["outcome"] = rng.choice(["left", "right", "tie"], n)
    felt = _judgements(9 * 14 * 222, "felt", np.tile(np.arange(222), 9 * 14))
    felt["left"], felt["criterion"] = np.tile(np.repeat(systems, 222), 9), np.repeat(criteria, 14 * 222)
    felt["item_id"] = felt["left"] + felt["case_id"]
    felt["value"] = rng.normal(4.0, 1.0, len(felt))
    designs = (
        (Design(protocol="arena", judges=["judge"], lengths=[16], measures=["ratings"]), "pair", arena),
        (Design(protocol="felt", judges=["judge"], criteria=criteria, measures=["means"]), "scale", felt),
    )
    started = time.process_time()
    for design, form, judgements in designs:
        planned = PlannedDesign(design=design, form=form, labelled=True)
        list(plans(planned, Size(14, 222), judgements, CaseCosts(), LabelPlan(n=50)))
    return time.process_time() - started


def _judgements(n: int, protocol: str, case: np.ndarray) -> pd.DataFrame:
    empty = dict.fromkeys(
        ("corpus", "language", "item_id", "right", "criterion", "choice", "outcome", "place", "value", "scale_min",
         "scale_max")
    )  # fmt: skip
    rest = {"judge": "judge", "protocol": protocol, "n_utterances": 16, "repeat": 0, "status": "ok"}
    return pd.DataFrame({**empty, **rest, "case_id": [f"s{number}" for number in case]}, index=range(n))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--only", choices=["people", "cheapest"], help="plans with labels, or cheapest designs, alone")
    options = parser.parse_args()
    repetitions = options.repetitions
    gates = Gates(__file__, options)
    if options.only != "cheapest":
        people(gates, repetitions)
    if options.only != "people":
        cheapest_of_judges(gates, repetitions)
    if options.only:
        return gates.finish()
    for n_seeds in (20, 62, 222):
        for name, found in (("pass rates", pass_rates), ("ratings", ratings)):
            share = 100.0 * float(np.mean(list(found(n_seeds, repetitions))))
            print(f"{name:<12} planned {n_seeds:>4} seeds: found in {share:.0f}%", flush=True)
            gates.at_least(f"{name}, {n_seeds} seeds, found", share, 70.0)
    for n_stored in (6, 20, 60):
        by_itself, uncorrected, for_all = 100.0 * np.mean(list(pilots(n_stored, 60, repetitions)), axis=0)
        print(
            f"pilot of {n_stored} seeds, planned 60: found in {by_itself:.0f}% by itself, {uncorrected:.0f}% after "
            f"Holm over 15 pairs, {for_all:.0f}% where planned for these",
            flush=True,
        )
        gates.at_least(f"pilot of {n_stored} seeds, found", by_itself, 77.0)
        gates.at_least(f"pilot of {n_stored} seeds, found after Holm where planned for it", for_all, 77.0)
    for n_seeds, shares in ((10, (0.9, 0.7)), (20, (0.8, 0.65))):
        found, of_student = few_seeds(n_seeds, shares, 5 * repetitions)
        equal, _ = few_seeds(n_seeds, (shares[0], shares[0]), 5 * repetitions)
        about = f"shares {shares[0]:g} and {shares[1]:g}, {n_seeds} seeds of 5 items"
        print(f"{about}: found in {found:.0f}%, by Student's test in {of_student:.0f}%, of equal systems {equal:.1f}%")
        gates.at_least(f"{about}, found for each one of Student's test", found / of_student, 0.8)
        gates.at_most(f"{about}, equal systems claimed", equal, 6.0, unit="%")
    for n_labels in (20, 50, 100):
        for correlation in (0.0, 0.5, 0.8):
            share = 100.0 * float(np.mean(list(labels(n_labels, correlation, repetitions))))
            print(f"{n_labels:>4} labels, correlation {correlation:g}: found in {share:.0f}%", flush=True)
            gates.at_least(f"{n_labels} labels, correlation {correlation:g}, found", share, 70.0)
    print(f"planning at paper scale: {paper_scale():.1f} s of CPU")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
