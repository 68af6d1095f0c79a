"""How high a judge could come: raters differ, so that even one that knew what they mean misses their mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.correlations import Correlated, behind
from dialeval.aggregation.metaeval.single_opinions import SingleOpinions, Singles
from dialeval.stats.arrays import BoolArray
from dialeval.stats.ceilings import Reliability, corrected_correlation, reliability

_Numbers = dict[str, float | str | None]
MEANS_ALONE = "the raters' mean alone is known, which says nothing of how far they agree"


def ceiling_rows(results: Iterable[Correlated], opinions: SingleOpinions) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/ceilings`.

    There is a row where raters' single ratings are known, or a judge repeated itself. Reliability is that of the items
    that the judge scored, on the same resamples as its correlation.
    """
    for result in results:
        for dimension, name in enumerate(result.dimensions):
            raters = opinions.of_raters(result.cell, result.rater_kind, result.cell.rated_on(name))
            known: dict[bytes, Reliability] = {}
            for judge, scorer in enumerate(result.scorers):
                repeats = opinions.of_judge(result.cell, scorer, name)
                if not result.asked[judge, dimension] or (raters is None and repeats is None):
                    continue
                both = ~np.isnan(result.scores[judge, dimension]) & ~np.isnan(result.ratings[dimension])
                if raters is not None and both.tobytes() not in known:
                    known[both.tobytes()] = _reliability(result, raters, both)
                pearson = result.by_method["pearson"]
                yield {
                    "judge": scorer.judge,
                    "method": scorer.method,
                    "benchmark": result.cell.benchmark,
                    **result.about(name),
                    "pearson": float(pearson.estimate[judge, dimension]),
                    "n": int(pearson.n[judge, dimension]),
                    **behind(pearson, judge, dimension),
                    **_joined(
                        _reached(result, judge, dimension, known.get(both.tobytes()), raters.n_means if raters else 0),
                        _repeated(result, repeats, both),
                    ),
                }


def _joined(reached: _Numbers, repeated: _Numbers) -> _Numbers:
    """Returns both, with the notes of both."""
    notes = [str(part["note"]) for part in (reached, repeated) if part.get("note")]
    return reached | repeated | {"note": "; ".join(notes) or None}


def _reached(result: Correlated, judge: int, dimension: int, raters: Reliability | None, n_means: int) -> _Numbers:
    """Returns what follows from the raters' reliability."""
    pearson = result.by_method["pearson"]
    if raters is None:
        undefined = np.isnan(pearson.estimate[judge, dimension])
        return {"note": pearson.reason[judge][dimension] if undefined else MEANS_ALONE}
    corrected = corrected_correlation(
        float(pearson.estimate[judge, dimension]),
        pearson.replicates[:, judge, dimension],
        raters,
        confidence=pearson.confidence,
    )
    missing = f"{n_means} items of which the mean alone is known are taken to be rated as the others" if n_means else ""
    notes = (raters.ceiling.reason, pearson.reason[judge][dimension] or corrected.reason, missing)
    return {
        "n_raters": raters.n_raters,
        "icc": raters.icc.estimate,
        "icc_low": raters.icc.low,
        "icc_high": raters.icc.high,
        "reliability": raters.mean.estimate,
        "ceiling": raters.ceiling.estimate,
        "ceiling_low": raters.ceiling.low,
        "ceiling_high": raters.ceiling.high,
        "corrected": corrected.estimate,
        "corrected_low": corrected.low,
        "corrected_high": corrected.high,
        "note": "; ".join(dict.fromkeys(note for note in notes if note)) or None,
    }


def _repeated(result: Correlated, repeats: Singles | None, both: BoolArray) -> _Numbers:
    """Returns how far the mean of a judge's own repeats can be relied upon; nothing where it did not repeat itself."""
    if repeats is None:
        return {}
    own = _reliability(result, repeats, both, intervals=False)
    note = f"of the judge's own repeats: {own.mean.reason}" if own.mean.reason else None
    return {"judge_reliability": own.mean.estimate, "n_repeats": own.n_raters, "note": note}


def _reliability(result: Correlated, singles: Singles, both: BoolArray, *, intervals: bool = True) -> Reliability:
    pearson, kept = result.by_method["pearson"], singles.of(both)
    return reliability(
        kept.value,
        kept.item,
        result.cell.cluster,
        kept.rater,
        resamples=pearson.resamples if intervals else 0,
        confidence=pearson.confidence,
        random_seed=pearson.random_seed,
    )
