"""Judge against judge: who goes better with people, on the items that both scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.correlations import Correlated
from dialeval.stats.correlation import williams_test
from dialeval.stats.judge_pairs import JudgePairs, compare_judges
from dialeval.stats.multiplicity import benjamini_hochberg, holm


def pair_rows(results: Iterable[Correlated]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/judge_pairs`.

    All pairs of judges on one dimension of one corpus are a family, within which p-values are corrected. The paired
    bootstrap leads; Williams' test stands beside it, with a word where it takes dependent items as independent.
    """
    for result in results:
        pearson = result.by_method["pearson"]
        for dimension, name in enumerate(result.dimensions):
            pairs = compare_judges(
                result.scores[:, dimension],
                result.ratings[dimension],
                result.cell.cluster,
                resamples=pearson.resamples,
                confidence=pearson.confidence,
                random_seed=pearson.random_seed,
            )
            about = {"benchmark": result.cell.benchmark} | result.about(name)
            for row in _rows(result, pairs):
                yield about | row


def _rows(result: Correlated, pairs: JudgePairs) -> Iterator[dict[str, Any]]:
    p_holm, q_bh = holm(pairs.p), benjamini_hochberg(pairs.p)
    family_size = int(np.count_nonzero(~np.isnan(pairs.p)))
    for number, (one, other) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        first, second = result.scorers[one], result.scorers[other]
        n, n_clusters = int(pairs.n[number]), int(pairs.n_clusters[number])
        with_first, with_second, between = (
            float(values[number]) for values in (pairs.first_pearson, pairs.second_pearson, pairs.between)
        )
        williams = williams_test(with_first, with_second, between, n)
        yield {
            "first": first.judge,
            "first_method": first.method,
            "second": second.judge,
            "second_method": second.method,
            "first_pearson": with_first,
            "second_pearson": with_second,
            "between": between,
            "difference": float(pairs.difference[number]),
            "difference_low": float(pairs.low[number]),
            "difference_high": float(pairs.high[number]),
            "p": float(pairs.p[number]),
            "p_holm": float(p_holm[number]),
            "q_bh": float(q_bh[number]),
            "family_size": family_size,
            "p_reversed": float(pairs.p_reversed[number]),
            "n": n,
            "n_clusters": n_clusters,
            "reason": pairs.reason[number] or None,
            "williams_t": williams.t,
            "p_williams": williams.p_value,
            "williams_note": williams.reason or _dependence(n, n_clusters),
        }


def _dependence(n: int, n_clusters: int) -> str | None:
    """Returns what is wrong with Williams' test where items share dialogues; nothing where they do not."""
    if n_clusters == n:
        return None
    return f"takes {n} items of {n_clusters} dialogues as independent, so its p is too small"
