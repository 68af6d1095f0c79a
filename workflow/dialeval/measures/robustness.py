"""Robustness of judges: whether scores fall under perturbations, and differences between judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.measures.design import Row
from dialeval.measures.differences import family_columns, mean_rows
from dialeval.measures.score_cells import Given, keys, mean_values, places, scores_of
from dialeval.papers.comp_analysis import find_average, find_n_pairs, find_ratio, find_ratios
from dialeval.perturbations.registry import NO_SENSITIVITIES, STRATEGIES, Sensitivities, targets_of
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.differences import paired_differences
from dialeval.stats.estimates import Estimate
from dialeval.stats.rates import ROUNDING, average_ratios, ladder_shares, robustness_ratios

_CELL = ("corpus", "language", "level", "perturbation", "dimension")


def pair_count_rows(pairs: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `robustness/pairs`: how many pairs there are of each strategy (Table 11)."""
    groups: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for row in pairs.filter(pc.is_null(pairs["severity_series"])).to_pylist():
        groups.setdefault((row["corpus"], row["language"], row["level"], row["perturbation"]), []).append(row)
    for (corpus, language, level, strategy), rows in groups.items():
        status = Counter(row["status"] for row in rows)
        ways = Counter(row["generator"] for row in rows if row["status"] == "ok")
        reasons = Counter(row["reason"] for row in rows if row["reason"])
        yield {
            "corpus": corpus,
            "language": language,
            "level": level,
            "perturbation": strategy,
            "title": _title(strategy),
            "n_requested": len(rows),
            "n_pairs": status["ok"],
            "n_unchanged": sum(row["unchanged"] for row in rows),
            "n_not_applicable": status["not_applicable"],
            "n_rejected": status["rejected"] + status["missing"],
            "generators": _counted(ways),
            "reasons": _counted(reasons),
            "published_n": find_n_pairs(strategy),
        }


def _counted(counts: Counter[str]) -> str:
    return "; ".join(f"{count} {name}" for name, count in counts.most_common())


def score_pairs(pairs: pa.Table, judgements: pa.Table, sensitivities: Sensitivities = NO_SENSITIVITIES) -> ScoredPairs:
    """Return the scores of both sides of every pair, joined by key.

    Args:
        pairs: items before and after a perturbation.
        judgements: the judges' scores.
        sensitivities: perturbations that lower the user's criteria.
    """
    usable = pairs.filter(pc.and_(pc.equal(pairs["status"], "ok"), pc.is_null(pairs["severity_series"])))
    originals, perturbed = (keys(usable, "corpus", "language", name) for name in ("original_id", "item_id"))
    items = pa.chunked_array([*originals.chunks, *perturbed.chunks], pa.string()).unique()
    names, given = _given(judgements, items)
    first, second = places(originals, items), places(perturbed, items)
    cluster = _numbered(usable, "corpus", "cluster")

    groups: list[dict[str, Any]] = []
    parts: list[tuple[int, FloatArray, FloatArray, IntArray]] = []
    rows_of: dict[tuple[str, str, str, str], list[int]] = {}
    columns = usable.select(["corpus", "language", "level", "perturbation"]).to_pydict()
    for number, place in enumerate(zip(*columns.values(), strict=True)):
        rows_of.setdefault(place, []).append(number)
    for (corpus, language, level, strategy), numbers in rows_of.items():
        for target in targets_of(strategy, sensitivities):
            if target.dimension not in names:
                continue
            dimension = names.index(target.dimension)
            for scorer, (judge, method) in enumerate(given.who):
                rows = np.array(numbers)
                if not given.requested[scorer, dimension, first[rows]].any():
                    continue
                values = given.mean[scorer, dimension]
                parts.append((len(groups), values[first[rows]], values[second[rows]], cluster[rows]))
                groups.append(
                    {
                        "judge": judge,
                        "method": method,
                        "corpus": corpus,
                        "language": language,
                        "level": level,
                        "perturbation": strategy,
                        "dimension": target.dimension,
                        "threshold": target.theta,
                    }
                )
    sizes = [len(rows) for _, _, _, rows in parts]
    return ScoredPairs(
        groups,
        np.repeat(np.array([number for number, _, _, _ in parts], dtype=np.int64), sizes),
        np.concatenate([x for _, x, _, _ in parts] or [np.zeros(0)]),
        np.concatenate([y for _, _, y, _ in parts] or [np.zeros(0)]),
        np.concatenate([dialogues for _, _, _, dialogues in parts] or [np.zeros(0, dtype=np.int64)]),
    )


def _given(judgements: pa.Table, items: pa.Array) -> tuple[list[str], Given]:
    """Return the scored dimensions, and each scorer's mean score of each item on them."""
    scores = scores_of(judgements)
    dimensions = pa.array(scores["dimension"].unique())
    where = ("corpus", "language", "item_id")
    return dimensions.to_pylist(), mean_values(scores, ("judge", "method"), dimensions, items, where)


def _numbered(rows: pa.Table, *columns: str) -> IntArray:
    """Return the number of each row's combination of values in some columns."""
    named = keys(rows, *columns)
    return places(named, named.unique())


def robustness_rows(scored: ScoredPairs, confidence: float) -> list[dict[str, Any]]:
    """Return the rows of the table `robustness/robustness`: each strategy at its own theta (Table 12).

    `rises` is the share of pairs whose score rises by more than theta, the part of the ratio that noise alone explains.
    """
    theta = [group["threshold"] for group in scored.groups]
    n_groups = len(scored.groups)
    original, perturbed = scored.original, scored.perturbed
    result, turned = (
        robustness_ratios(one, other, theta, scored.group, n_groups, cluster=scored.cluster, confidence=confidence)
        for one, other in ((original, perturbed), (perturbed, original))
    )
    return [
        group
        | {
            "title": _title(group["perturbation"]),
            **result.ratio.one(number).limits("ratio"),
            "increase_ratio": float(turned.ratio.estimate[number]),
            "n": int(result.n[number]),
            "n_missing": int(result.n_missing[number]),
            **result.ratio.columns(number),
            "published_ratio": find_ratio(group["judge"], group["perturbation"], group["dimension"]),
        }
        for number, group in enumerate(scored.groups)
    ]


def average_rows(scored: ScoredPairs, confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `robustness/averages`: unweighted means over the cells of a level (Table 12).

    Only strategies of the paper are averaged, so that the numbers are comparable with the paper's.
    """
    names = ("judge", "method", "corpus", "language", "level")
    in_paper = np.array([find_ratios(cell["perturbation"], cell["dimension"]) for cell in scored.groups], dtype=bool)
    cells = [cell for cell, is_there in zip(scored.groups, in_paper, strict=True) if is_there]
    groups = list(dict.fromkeys(tuple(cell[name] for name in names) for cell in cells))
    code = {group: number for number, group in enumerate(groups)}
    rows = in_paper[scored.group] if len(scored.groups) else np.zeros(0, dtype=bool)
    result = average_ratios(
        scored.original[rows],
        scored.perturbed[rows],
        [cell["threshold"] for cell in cells],
        (np.cumsum(in_paper) - 1)[scored.group[rows]],
        len(cells),
        np.array([code[tuple(cell[name] for name in names)] for cell in cells], dtype=np.int64),
        len(groups),
        cluster=scored.cluster[rows],
        confidence=confidence,
    )
    for number, group in enumerate(groups):
        columns = dict(zip(names, group, strict=True))
        yield columns | {
            **result.average.one(number).limits("average"),
            "n_cells": int(result.n_cells[number]),
            "n_missing": int(result.n_missing[number]),
            **result.average.columns(number),
            "published_average": find_average(columns["judge"], columns["level"]),
        }


def threshold_rows(scored: ScoredPairs, thetas: Sequence[float], confidence: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `robustness/thresholds`."""
    pairs, n_groups = (scored.original, scored.perturbed), len(scored.groups)
    sweep = [
        robustness_ratios(*pairs, theta, scored.group, n_groups, cluster=scored.cluster, confidence=confidence)
        for theta in thetas
    ]
    for number, group in enumerate(scored.groups):
        for theta, result in zip(thetas, sweep, strict=True):
            yield group | {
                "threshold": theta,
                **result.ratio.one(number).limits("ratio"),
                "n": int(result.n[number]),
                "n_missing": int(result.n_missing[number]),
                **result.ratio.columns(number),
            }


def score_drop_rows(scored: ScoredPairs) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `robustness/score_drops`: score of the original minus score of the perturbed item."""
    drop = scored.original - scored.perturbed
    for number, group in enumerate(scored.groups):
        own = drop[scored.group == number]
        known = own[~np.isnan(own)]
        row = {name: value for name, value in group.items() if name != "threshold"}
        row |= {"n": len(own), "n_missing": len(own) - len(known)}
        if len(known):
            quantiles = np.quantile(known, [0.05, 0.25, 0.5, 0.75, 0.95])
            names = ("p05", "p25", "median", "p75", "p95")
            row |= dict(zip(names, map(float, quantiles), strict=True)) | {"mean": float(known.mean())}
        yield row


def ladder_rows(
    pairs: pa.Table, judgements: pa.Table, confidence: float, sensitivities: Sensitivities = NO_SENSITIVITIES
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `robustness/severity_levels`: share of dialogues with falling scores."""
    steps = pairs.filter(pc.and_(pc.equal(pairs["status"], "ok"), pc.is_valid(pairs["severity_series"])))
    if not len(steps):
        return
    step = keys(steps, "corpus", "language", "item_id")
    items = step.unique()
    names, given = _given(judgements, items)
    place = places(step, items)
    ladder = _numbered(steps, "corpus", "language", "severity_series")
    severity = steps["severity"].to_numpy()
    cluster = _numbered(steps, "corpus", "cluster")
    columns = steps.select(["corpus", "language", "perturbation"]).to_pydict()
    group_of = list(zip(*columns.values(), strict=True))
    for corpus, language, strategy in dict.fromkeys(group_of):
        rows = np.flatnonzero([one == (corpus, language, strategy) for one in group_of])
        for dimension in dict.fromkeys(target.dimension for target in targets_of(strategy, sensitivities)):
            if dimension not in names:
                continue
            values = given.mean[:, names.index(dimension)]
            for scorer, (judge, method) in enumerate(given.who):
                if not given.requested[scorer, names.index(dimension), place[rows]].any():
                    continue
                result = ladder_shares(
                    values[scorer, place[rows]],
                    ladder[rows],
                    severity[rows],
                    np.zeros(len(rows), dtype=np.int64),
                    1,
                    cluster=cluster[rows],
                    confidence=confidence,
                )
                yield {
                    "judge": judge,
                    "method": method,
                    "corpus": corpus,
                    "language": language,
                    "perturbation": strategy,
                    "title": _title(strategy),
                    "dimension": dimension,
                    "n": int(result.n[0]),
                    "n_missing": int(result.n_missing[0]),
                    "n_clusters": int(result.falling.n_clusters[0]),
                    "note": result.falling.note[0] or None,
                    **_named("strictly_decreasing", result.falling.one()),
                    **_named("non_increasing", result.not_rising.one()),
                }


def _named(name: str, share: Estimate) -> dict[str, float]:
    return share.limits(name, f"{name}_") | {
        f"{name}_design_effect": share.design_effect,
        f"{name}_n_effective": share.n_effective,
    }


def robustness_differences(scored: ScoredPairs, confidence: float) -> Iterator[Row]:
    """Yield the differences of the tables `robustness` and `averages`.

    As in these tables, a pair with a missing score is not noticed. Pairs from one dialogue are one cluster.

    Args:
        scored: every pair under every scorer.
        confidence: nominal coverage of the intervals.
    """
    cells = _cells(scored)
    for place, cell in cells.items():
        names, values = _table([cell])
        found = paired_differences(values, cell.cluster, confidence=confidence)
        yield from mean_rows(found, names, family_columns("robustness", "ratio", ", ".join(place)))
    levels: dict[tuple[str, ...], list[_Cell]] = {}
    for place, cell in cells.items():
        if find_ratios(place[3], place[4]):  # the paper's cells, as in its averages
            levels.setdefault(place[:3], []).append(cell)
    for level, members in levels.items():
        names, values = _table(members)
        stratum = np.repeat(np.arange(len(members)), [len(cell.cluster) for cell in members])
        cluster = np.concatenate([cell.cluster for cell in members])
        found = paired_differences(values, cluster, stratum=stratum, confidence=confidence)
        yield from mean_rows(found, names, family_columns("averages", "average", ", ".join(level)))


def _cells(scored: ScoredPairs) -> dict[tuple[str, ...], _Cell]:
    """Return the cells of judges with scores. All judges of a cell have its pairs in one order."""
    cells: dict[tuple[str, ...], _Cell] = {}
    stops = np.cumsum(np.bincount(scored.group, minlength=len(scored.groups)))
    for group, end, start in zip(scored.groups, stops, np.r_[0, stops[:-1]], strict=True):
        drop = scored.original[start:end] - scored.perturbed[start:end]
        if np.isnan(drop).all():
            continue
        place = tuple(group[name] for name in _CELL)
        cell = cells.setdefault(place, _Cell({}, scored.cluster[start:end]))
        cell.noticed[group["judge"], group["method"]] = (drop > group["threshold"] + ROUNDING).astype(np.float64)
    return cells


class _Cell(NamedTuple):
    """One strategy on one dimension: 1 where a judge noticed a perturbation, by judge and method, and the clusters."""

    noticed: dict[tuple[str, str], FloatArray]
    cluster: IntArray


def _table(cells: list[_Cell]) -> tuple[list[str], FloatArray]:
    """Judges of some cells and their detections, NaN if a judge is not in a cell, shape [n_judges, n]."""
    judges = list(dict.fromkeys(judge for cell in cells for judge in cell.noticed))
    rows = [
        np.concatenate([cell.noticed.get(judge, np.full(len(cell.cluster), np.nan)) for cell in cells])
        for judge in judges
    ]
    return [f"{judge} ({method})" for judge, method in judges], np.array(rows).reshape(len(judges), -1)


def _title(strategy: str) -> str:
    return STRATEGIES[strategy].title if strategy in STRATEGIES else strategy.replace("_", " ").capitalize()


@dataclass(frozen=True)
class ScoredPairs:
    """Every pair by every scorer, on each dimension that its strategy perturbs; arrays have shape [n].

    Attributes:
        groups: judge, method, corpus, language, level, strategy and dimension of each group, with its theta.
        group: number of each pair's group.
        original, perturbed: scores in [0, 1], NaN where missing.
        cluster: number of the dialogue that was perturbed; its perturbed forms are not independent.
    """

    groups: list[dict[str, Any]]
    group: IntArray
    original: FloatArray
    perturbed: FloatArray
    cluster: IntArray
