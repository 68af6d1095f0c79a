"""Tables of variance components of scores, coefficients and designs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from dialeval.measures.design import Design, Row, cases
from dialeval.measures.item_values import Scores, scores
from dialeval.stats.differences import FEWEST_JUDGES
from dialeval.stats.power import DIALOGUE, REPEAT, SYSTEM_JUDGE, Cost, Detectable, StudyDesign, cheapest_design
from dialeval.stats.variance_components import NEGATIVE, Components
from dialeval.stats.variance_components import variance_components as components_of
from dialeval.tables.files import HUMAN

VARIANCE, RELATIVE, ABSOLUTE, HALF_WIDTH = "variance", "generalizability", "dependability", "half-width"
NO_DESIGN = "not identifiable: the scores are of one case"
NO_SCORES = "no parsed score"
ALL_EQUAL = "all scores are equal"
THESE_JUDGES = "over cases, for this judge"
MOST_JUDGES, MOST_REPEATS = 20, 10
"""Largest numbers of judges and repeats of the designs that are searched."""
PAIRS_DIFFER = "mean variance of all pairs; `differences` tests each pair with its own variance"


def variance_components(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Return the rows of a table `variance_components`, at the greatest length.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `item_values.COLUMNS` and `repeat`.
    """
    return [row for found in _of_systems(judgements, design) for row in _rows(found, design)]


def stored_components(judgements: pd.DataFrame, design: Design) -> Iterator[tuple[str, Row, Components]]:
    """Yield measure, criterion and length, and the variance components of scores at the greatest length."""
    for found in _of_systems(judgements, design):
        yield found.measure, found.about(), analysed(found, design)


def _of_systems(judgements: pd.DataFrame, design: Design) -> Iterator[Scores]:
    """Yield the scores at the greatest length, without those of human dialogues."""
    longest = max(design.lengths, default=None)
    for found in scores(judgements, design):
        if found.group["n_utterances"] == longest:
            is_system = (found.rows["left"] != HUMAN).to_numpy()
            yield found._replace(rows=found.rows[is_system], value=found.value[is_system])


def analysed(found: Scores, design: Design) -> Components:
    """Return the variance components of scores; both orders of a pair are one score."""
    frame = found.rows.assign(value=found.value, case=cases(found.rows)).dropna(subset=["value"])
    if found.table == "win_rates":
        cell = ["left", "who", "case", "repeat"]
        frame = frame.groupby(cell, sort=False)["value"].mean().reset_index()
        frame = frame.assign(item=frame["case"])
    return components_of(
        frame["value"].to_numpy(dtype=np.float64),
        pd.factorize(frame["left"])[0],
        frame["case"].to_numpy(dtype=np.str_),
        *(pd.factorize(frame[name])[0] for name in ("who", "item")),
        resamples=design.resamples,
        confidence=design.confidence,
        random_seed=design.random_seed,
    )


def _rows(found: Scores, design: Design) -> Iterator[Row]:
    """Yield the components, the coefficients, and the half-widths of designs."""
    n_systems = found.rows["left"][~np.isnan(found.value)].nunique()
    for row in component_rows(analysed(found, design), n_systems):
        yield {"measure": found.measure, **found.about(), **row}


def component_rows(one: Components, n_systems: int, *, without_designs: str = "") -> Iterator[Row]:
    """Yield the components, the coefficients, and the half-widths of designs near that of the scores.

    Args:
        one: the components.
        n_systems: number of systems with scores.
        without_designs: why the scores have no design, on which coefficients and half-widths rest; empty if they have.
    """
    size = one.design
    run = _numbers(size, one.n)
    if not one.n or size.n_cases < 2:
        note = NO_DESIGN if one.n else NO_SCORES
        yield {"statistic": VARIANCE, "component": "all", **run, "note": note}
        return
    variances = one.variances()
    total = sum(variances.values())
    for place, name in enumerate(one.names):
        estimate = float(one.estimate[place])
        notes = [_includes(one, name), NEGATIVE if estimate < 0.0 else "", one.few_cases(place)]
        yield {
            "statistic": VARIANCE,
            "component": name,
            "estimate": estimate,
            "ci_low": float(one.ci_low[place]),
            "ci_high": float(one.ci_high[place]),
            "share": variances[name] / total if total > 0.0 else None,
            "n_levels": int(one.n_groups[place]),
            **run,
            "n_clusters": int(one.n_informative[place]),
            "note": "; ".join(filter(None, notes)) or (None if total > 0.0 else ALL_EQUAL),
        }
    if n_systems < 2:
        return
    if without_designs:
        yield {"statistic": HALF_WIDTH, "component": "all", **run, "note": without_designs}
        return
    for statistic, coefficient in ((RELATIVE, one.generalizability()), (ABSOLUTE, one.dependability())):
        of_judge = THESE_JUDGES if size.n_judges == 1 else ""
        yield {
            "statistic": statistic,
            "component": "means of systems",
            **coefficient.limits(),
            **run,
            "note": "; ".join(filter(None, [coefficient.note, of_judge])) or None,
        }
    for words, planned, judges_fixed, remark in _designs(one) if total > 0.0 else ():
        half_width = planned.difference(
            one.planning_variances(), judges_fixed=judges_fixed, confidence=one.confidence
        ).half_width
        n = round(n_systems * planned.n_cases * planned.n_dialogues * planned.n_judges * planned.n_repeats)
        yield {
            "statistic": HALF_WIDTH,
            "component": words,
            "estimate": float(half_width),
            **_numbers(planned, n),
            "note": remark,
        }


def _designs(one: Components) -> Iterator[tuple[str, StudyDesign, bool, str | None]]:
    """Yield designs near the run's: their names, numbers, whether judges are fixed, and a note."""
    size = one.design
    single = size._replace(n_judges=1)
    yield "a judge", single, True, PAIRS_DIFFER
    yield "a judge, twice the cases", single._replace(n_cases=2 * size.n_cases), True, None
    if REPEAT in one.names:
        yield "a judge, twice the repeats", single._replace(n_repeats=2 * size.n_repeats), True, None
    if size.n_judges > 1:
        yield "mean of the judges", size, True, None
    if size.n_judges >= FEWEST_JUDGES and SYSTEM_JUDGE in one.names:
        yield "population of judges", size, False, None
        yield "population of judges, twice the judges", size._replace(n_judges=2 * size.n_judges), False, None
        yield "population of judges, twice the cases", size._replace(n_cases=2 * size.n_cases), False, None


def _numbers(size: StudyDesign, n: int) -> Row:
    return {"n_judges": size.n_judges, "n_repeats": size.n_repeats, "n": n, "n_clusters": size.n_cases}


def _includes(one: Components, name: str) -> str:
    """Return which components an estimate contains, since they are confounded with it."""
    found = [other for other in one.joined.get(name, ()) if other != DIALOGUE or one.design.n_dialogues > 1.0]
    return f"includes {', '.join(found)}" if found else ""


def cheapest_columns(
    one: Components, planned: StudyDesign, cost: Cost | None, confidence: float, target: float | None = None
) -> Row:
    """Return the columns of a table `planning` about the cheapest design.

    It detects the target difference of two systems with 80% power or, without one, halves the interval.

    Args:
        one: components of stored scores.
        planned: the design whose interval is halved; several judges are a random sample.
        cost: the prices; None if they are unknown: the scores of judges are then counted.
        confidence: of the interval.
        target: the difference to detect; None to halve the interval.

    Returns:
        Nothing if the scores do not tell, or no design is enough.
    """
    variances, is_fixed = one.planning_variances(), planned.n_judges == 1
    half_width = float(planned.difference(variances, judges_fixed=is_fixed, confidence=confidence).half_width)
    row: Row = {} if target is None else {"target_difference": target}
    if not half_width > 0.0:
        return row
    found = cheapest_design(
        variances,
        half_width / 2.0 if target is None else target,
        cost or Cost(0.0, 1.0),
        by_power=target is not None,
        pilot=one.design._replace(n_judges=planned.n_judges),
        judges_fixed=is_fixed,
        judges=(1,) if is_fixed else range(FEWEST_JUDGES, MOST_JUDGES + 1),
        repeats=range(1, MOST_REPEATS + 1) if REPEAT in one.names else (round(one.design.n_repeats),),
        n_dialogues=one.design.n_dialogues,
        shared_cases=one.design.shared_cases,
        confidence=confidence,
    )
    if found is None:
        return row
    return row | {
        "cheapest_seeds": found.n_cases,
        "cheapest_judges": found.n_judges,
        "cheapest_repeats": round(found.n_repeats),
        "cost_of_cheapest": cost.of(found) if cost else None,
    }


def detectable_columns(found: Detectable, of_all: Detectable) -> Row:
    """Return the columns about the smallest difference of one pair, and of one at Holm's first step over all pairs."""
    return {
        "min_detectable_difference": float(found.smallest),
        "min_detectable_difference_holm": float(of_all.smallest),
        "half_width": float(found.half_width),
    }


def planned_population(
    one: Components,
    planned: StudyDesign,
    cost: Cost | None,
    confidence: float,
    for_all_pairs: float,
    target: float | None = None,
) -> Row:
    """Return the columns of a table `planning` about differences over a population of judges.

    Args:
        one, planned, cost, confidence, target: as in `cheapest_columns`.
        for_all_pairs: confidence that a single pair needs at Holm's first step.
    """
    variances = one.planning_variances()
    found, of_all = (
        planned.difference(variances, judges_fixed=False, confidence=level) for level in (confidence, for_all_pairs)
    )
    return {
        "n_labels": 0,
        **detectable_columns(found, of_all),
        **cheapest_columns(one, planned, cost, confidence, target),
    }
