"""Do judges notice damage? Pairs of original and damaged scores become ratios, sweeps, drops and ladders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.aggregation.score_arrays import keys, mean_values, places, scaled
from dialeval.perturbations.registry import STRATEGIES
from dialeval.published.robustness import find_average, find_n_pairs, find_ratio, find_ratios
from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.robustness import cell_averages, ladder_shares, robustness_ratios, theta_sweep


@dataclass(frozen=True)
class ScoredPairs:
    """Every pair under every scorer, on each dimension that its strategy aims at; arrays have shape [n].

    Attributes:
        groups: judge, method, corpus, language, level, strategy and dimension of each group, with its theta.
        group: number of each pair's group.
        original, damaged: scores in [0, 1], NaN where missing.
    """

    groups: list[dict[str, Any]]
    group: IntArray
    original: FloatArray
    damaged: FloatArray


def pair_count_rows(pairs: pa.Table) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `robustness/pairs`: how many pairs there are of each strategy (Table 11)."""
    groups: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for row in pairs.filter(pc.is_null(pairs["ladder"])).to_pylist():
        groups.setdefault((row["corpus"], row["language"], row["level"], row["strategy"]), []).append(row)
    for (corpus, language, level, strategy), rows in groups.items():
        status = Counter(row["status"] for row in rows)
        ways = Counter(row["way"] for row in rows if row["status"] == "ok")
        reasons = Counter(row["reason"] for row in rows if row["reason"])
        yield {
            "corpus": corpus,
            "language": language,
            "level": level,
            "strategy": strategy,
            "title": _title(strategy),
            "n_wanted": len(rows),
            "n_pairs": status["ok"],
            "n_unchanged": sum(row["unchanged"] for row in rows),
            "n_not_applicable": status["not_applicable"],
            "n_rejected": status["rejected"] + status["missing"],
            "ways": _counted(ways),
            "reasons": _counted(reasons),
            "published_n": find_n_pairs(strategy),
        }


def score_pairs(pairs: pa.Table, scores: pa.Table) -> ScoredPairs:
    """Returns the scores of both sides of every pair, joined by key."""
    usable = pairs.filter(pc.and_(pc.equal(pairs["status"], "ok"), pc.is_null(pairs["ladder"])))
    before, after = keys(usable, "corpus", "language", "original_id"), keys(usable, "corpus", "language", "item_id")
    items = pa.chunked_array([*before.chunks, *after.chunks], pa.string()).unique()
    dimensions = pa.array(scores["dimension"].unique())
    given = mean_values(scaled(scores), ("judge", "method"), dimensions, items, ("corpus", "language", "item_id"))
    first, second = places(before, items), places(after, items)
    names = dimensions.to_pylist()

    groups: list[dict[str, Any]] = []
    parts: list[tuple[int, FloatArray, FloatArray]] = []
    rows_of: dict[tuple[str, str, str, str], list[int]] = {}
    about = usable.select(["corpus", "language", "level", "strategy"]).to_pydict()
    for number, place in enumerate(zip(*about.values(), strict=True)):
        rows_of.setdefault(place, []).append(number)
    for (corpus, language, level, strategy), numbers in rows_of.items():
        for target in STRATEGIES[strategy].targets if strategy in STRATEGIES else ():
            if target.dimension not in names:
                continue
            dimension = names.index(target.dimension)
            for scorer, (judge, method) in enumerate(given.who):
                rows = np.array(numbers)
                if not given.asked[scorer, dimension, first[rows]].any():
                    continue
                values = given.mean[scorer, dimension]
                parts.append((len(groups), values[first[rows]], values[second[rows]]))
                groups.append(
                    {
                        "judge": judge,
                        "method": method,
                        "corpus": corpus,
                        "language": language,
                        "level": level,
                        "strategy": strategy,
                        "dimension": target.dimension,
                        "theta": target.theta,
                    }
                )
    empty = np.zeros(0)
    return ScoredPairs(
        groups,
        np.concatenate([np.full(len(x), number) for number, x, _ in parts] or [empty]).astype(np.int64),
        np.concatenate([x for _, x, _ in parts] or [empty]),
        np.concatenate([y for _, _, y in parts] or [empty]),
    )


def robustness_rows(scored: ScoredPairs, confidence: float) -> list[dict[str, Any]]:
    """Returns the rows of the table `robustness/robustness`: each strategy at its own theta (Table 12).

    `rises` is the share of pairs whose score goes up by more than theta: what noise alone gives, for the ratio as well.
    """
    theta = [group["theta"] for group in scored.groups]
    n_groups = len(scored.groups)
    before, after = scored.original, scored.damaged
    result = robustness_ratios(before, after, theta, scored.group, n_groups, confidence=confidence)
    turned = robustness_ratios(after, before, theta, scored.group, n_groups, confidence=confidence)
    return [
        group
        | {
            "title": _title(group["strategy"]),
            "ratio": float(result.ratio[number]),
            "low": float(result.low[number]),
            "high": float(result.high[number]),
            "rises": float(turned.ratio[number]),
            "n": int(result.n[number]),
            "n_missing": int(result.n_missing[number]),
            "published_ratio": find_ratio(group["judge"], group["strategy"], group["dimension"]),
        }
        for number, group in enumerate(scored.groups)
    ]


def average_rows(robustness: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `robustness/averages`: unweighted means over the cells of a level (Table 12).

    Only strategies that the paper has are averaged, so that the numbers can be set beside its own.
    """
    names = ("judge", "method", "corpus", "language", "level")
    robustness = [row for row in robustness if find_ratios(row["strategy"], row["dimension"])]
    groups = list(dict.fromkeys(tuple(row[name] for name in names) for row in robustness))
    code = {group: number for number, group in enumerate(groups)}
    result = cell_averages(
        [row["ratio"] for row in robustness],
        [code[tuple(row[name] for name in names)] for row in robustness],
        len(groups),
    )
    for number, group in enumerate(groups):
        about = dict(zip(names, group, strict=True))
        yield about | {
            "average": float(result.average[number]),
            "n_cells": int(result.n_cells[number]),
            "n_missing": int(result.n_missing[number]),
            "published_average": find_average(about["judge"], about["level"]),
        }


def theta_rows(scored: ScoredPairs, thetas: Sequence[float], confidence: float) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `robustness/thetas`."""
    result = theta_sweep(
        scored.original, scored.damaged, thetas, scored.group, len(scored.groups), confidence=confidence
    )
    for number, group in enumerate(scored.groups):
        for place, theta in enumerate(thetas):
            yield group | {
                "theta": theta,
                "ratio": float(result.ratio[place, number]),
                "low": float(result.low[place, number]),
                "high": float(result.high[place, number]),
                "n": int(result.n[place, number]),
                "n_missing": int(result.n_missing[place, number]),
            }


def drop_rows(scored: ScoredPairs) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `robustness/drops`: how far scores fall, original less damaged."""
    drop = scored.original - scored.damaged
    for number, group in enumerate(scored.groups):
        own = drop[scored.group == number]
        known = own[~np.isnan(own)]
        row = {name: value for name, value in group.items() if name != "theta"}
        row |= {"n": len(own), "n_missing": len(own) - len(known)}
        if len(known):
            quantiles = np.quantile(known, [0.05, 0.25, 0.5, 0.75, 0.95])
            names = ("p05", "p25", "median", "p75", "p95")
            row |= dict(zip(names, map(float, quantiles), strict=True)) | {"mean": float(known.mean())}
        yield row


def ladder_rows(pairs: pa.Table, scores: pa.Table, confidence: float) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `robustness/ladders`: how often scores fall with every step of damage."""
    steps = pairs.filter(pc.and_(pc.equal(pairs["status"], "ok"), pc.is_valid(pairs["ladder"])))
    if not len(steps):
        return
    step = keys(steps, "corpus", "language", "item_id")
    items = step.unique()
    dimensions = pa.array(scores["dimension"].unique())
    given = mean_values(scaled(scores), ("judge", "method"), dimensions, items, ("corpus", "language", "item_id"))
    place = places(step, items)
    ladder_key = keys(steps, "corpus", "language", "ladder")
    ladder = places(ladder_key, ladder_key.unique())
    severity = steps["severity"].to_numpy()
    names = dimensions.to_pylist()
    about = steps.select(["corpus", "language", "strategy"]).to_pydict()
    group_of = list(zip(*about.values(), strict=True))
    for corpus, language, strategy in dict.fromkeys(group_of):
        rows = np.flatnonzero([one == (corpus, language, strategy) for one in group_of])
        for dimension in dict.fromkeys(target.dimension for target in STRATEGIES[strategy].targets):
            if dimension not in names:
                continue
            values = given.mean[:, names.index(dimension)]
            for scorer, (judge, method) in enumerate(given.who):
                if not given.asked[scorer, names.index(dimension), place[rows]].any():
                    continue
                result = ladder_shares(
                    values[scorer, place[rows]],
                    ladder[rows],
                    severity[rows],
                    np.zeros(len(rows), dtype=np.int64),
                    1,
                    confidence=confidence,
                )
                yield {
                    "judge": judge,
                    "method": method,
                    "corpus": corpus,
                    "language": language,
                    "strategy": strategy,
                    "title": _title(strategy),
                    "dimension": dimension,
                    "n": int(result.n[0]),
                    "n_missing": int(result.n_missing[0]),
                    "falling": float(result.falling_share[0]),
                    "falling_low": float(result.falling_low[0]),
                    "falling_high": float(result.falling_high[0]),
                    "not_rising": float(result.not_rising_share[0]),
                    "not_rising_low": float(result.not_rising_low[0]),
                    "not_rising_high": float(result.not_rising_high[0]),
                }


def _title(strategy: str) -> str:
    return STRATEGIES[strategy].title if strategy in STRATEGIES else strategy.replace("_", " ").capitalize()


def _counted(counts: Counter[str]) -> str:
    return "; ".join(f"{count} {name}" for name, count in counts.most_common())
