"""Ensembles of one judge's dimensions (comp-analysis, "Dimension-wise ensemble" and Table 8).

The ensemble is the mean of a judge's scores on the dimensions other than overall; it and the score on overall itself
are correlated with the overall rating: people's, or else a model's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.cells import ANNOTATION, Cell, Scorer
from dialeval.aggregation.metaeval.correlations import AVERAGE, NOTHING, behind, corpus_seed
from dialeval.published.metaeval import DIRECT, ENSEMBLE, HUMAN, published, system_of
from dialeval.stats.arrays import FloatArray
from dialeval.stats.correlation import Correlations, average_over, correlate

OVERALL = "overall"


def dimension_ensemble_rows(
    cells: Sequence[Cell],
    published_as: Mapping[str, str] = NOTHING,
    *,
    resamples: int,
    confidence: float,
    random_seed: int,
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/dimension_ensemble`, with the means over corpora last.

    There are two means where there are several corpora: over those that people rated (`rater_kind` human), and over all
    (`rater_kind` full), as the paper has it.

    Args:
        cells: of all corpora, levels and languages.
        published_as: the papers' system that a judge is, where it is not that of its name; empty for none.
    """
    found: dict[tuple[str, str, str, Scorer], list[tuple[str, Correlations]]] = defaultdict(list)
    for cell in cells:
        if OVERALL not in cell.dimensions or OVERALL in cell.joined:
            continue
        if (best := cell.best_ratings(cell.dimensions.index(OVERALL))) is None:
            continue
        kind, ratings = best
        overall = cell.dimensions.index(OVERALL)
        for number, scorer in enumerate(cell.scorers):
            others = [n for n in range(len(cell.dimensions)) if n != overall and _any(cell.scores[number, n])]
            if len(others) < 2 or not _any(cell.scores[number, overall]):
                continue
            if _is_itself(scorer, kind) or (kind == "model" and cell.own[number, overall]):
                continue
            both = np.stack([cell.scores[number, others].mean(axis=0), cell.scores[number, overall]])
            result = correlate(
                both[np.newaxis],
                np.stack([ratings, ratings]),
                cell.cluster,
                resamples=resamples,
                confidence=confidence,
                random_seed=corpus_seed(cell.corpus, random_seed),
            )
            about = {"benchmark": cell.benchmark, "level": cell.level, "corpus": cell.corpus}
            filled_by = cell.filled_by.get(OVERALL) if kind == "model" else None
            more = {"language": cell.language, "rater_kind": kind, "filled_by": filled_by}
            yield about | more | _numbers(scorer, result)
            if kind != "construction":
                found[cell.benchmark, cell.level, cell.language, scorer].append((kind, result))
    for (benchmark, level, language, scorer), results in found.items():
        for raters, kinds in (("human", ("human",)), ("full", ("human", "model"))):
            counted = [result for kind, result in results if kind in kinds]
            if len(results) > 1 and counted:
                about = {"benchmark": benchmark, "level": level, "corpus": AVERAGE}
                printed = _published(system_of(scorer.judge, published_as), level, raters) if language == "en" else {}
                more = {"language": language, "rater_kind": raters}
                yield about | more | _numbers(scorer, average_over(counted)) | printed


def _numbers(scorer: Scorer, result: Correlations) -> dict[str, Any]:
    row: dict[str, Any] = {
        "judge": scorer.judge,
        "method": scorer.method,
        "n": int(result.n[0, 0]),
        **behind(result, 0, 0),
        "reason": "; ".join(dict.fromkeys(reason for reason in result.reason[0] if reason)) or None,
    }
    for place, name in enumerate(("ensemble", "direct")):
        row[name] = float(result.estimate[0, place])
        row[f"{name}_low"] = float(result.low[0, place])
        row[f"{name}_high"] = float(result.high[0, place])
    return row


def _published(system: str, level: str, raters: str) -> dict[str, float | None]:
    """Returns what the paper prints: Table 8 is of the full data; of people's ratings alone Table 6 has the direct."""
    if raters == "human":
        return {"published_direct": published(HUMAN, system, level)}
    tables = {"published_ensemble": ENSEMBLE, "published_direct": DIRECT}
    return {column: published(table, system, level) for column, table in tables.items()}


def _any(values: FloatArray) -> bool:
    return not bool(np.isnan(values).all())


def _is_itself(scorer: Scorer, kind: str) -> bool:
    """Returns whether a scorer's own annotation is what it would be compared with."""
    return scorer.method == ANNOTATION and kind != "human"
