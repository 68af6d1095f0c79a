"""Ratings of two runs: Bootstrap Elo of both on the same resamples of the cases, so that what they share cancels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import groups, systems_of
from dialeval.aggregation.pairwise import comparisons
from dialeval.comparison.on_same_cases import MARK, Difference, enough_in_common, twice
from dialeval.comparison.published import Key
from dialeval.stats.differences import contrast_interval, difference_variance
from dialeval.stats.elo_interval import bootstrap_elo_interval

OTHER_SYSTEMS = "ratings are relative to the other systems, and the two runs rated different ones"
RESAMPLES = 300
"""Of which only a spread is taken, which they give to 4%."""


def paired_ratings(
    judgements: pd.DataFrame, design: Design, published: Mapping[Key, float]
) -> Iterator[tuple[Key, Difference]]:
    """Yields the differences of the published ratings, with intervals that know that the cases are the same.

    Args:
        judgements: of both runs, on pairs of marked systems.
        design: what both runs' designs share; nothing is yielded where all systems are shown beside one.
        published: how far each published rating moved.
    """
    if design.reference is not None:
        return
    systems = systems_of(judgements, design)
    run_of = np.array([int(system.partition(MARK)[0]) for system in systems], dtype=np.int64)
    for group, of in groups(judgements, design):
        games = comparisons(of, systems).readable()
        run = run_of[games.left]
        ours, theirs = (np.unique(games.cluster[run == number]) for number in (0, 1))
        if not enough_in_common(ours.tolist(), theirs.tolist()):
            continue
        kept = np.isin(games.cluster, np.intersect1d(ours, theirs))
        left, right, cluster = games.left[kept], games.right[kept], games.cluster[kept]
        n_clusters = len(np.unique(cluster))
        spread = bootstrap_elo_interval(
            left,
            right,
            games.outcome[kept],
            cluster,
            len(systems),
            resamples=min(design.elo.resamples, RESAMPLES),
            k=design.elo.k,
            scale=design.elo.scale,
            initial=design.elo.initial,
            random_seed=design.random_seed,
            equal_pairs=design.equal_pairs,
        )
        variance = difference_variance(spread.replicates, n_clusters)
        met = np.unique(np.concatenate([left, right]))
        pools = [{systems[k].partition(MARK)[2] for k in met if run_of[k] == number} for number in (0, 1)]
        for name, one, other in twice(systems):
            key = tuple({**group, "system": name}.items())
            if key not in published:
                continue
            low, high, p = contrast_interval(published[key], np.sqrt(variance[one, other]), n_clusters - 1.0)
            same = published[key] == 0.0 and variance[one, other] == 0.0
            n = int(np.count_nonzero(np.isin(left, (one, other)) | np.isin(right, (one, other))))
            note = "" if pools[0] == pools[1] else OTHER_SYSTEMS
            yield (
                key,
                Difference(published[key], float(low), float(high), 1.0 if same else float(p), n, n_clusters, note),
            )
