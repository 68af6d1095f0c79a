"""Do a model's ratings rank the judges as people's do? (comp-analysis, "Deviation" and Table 7)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dialeval.aggregation.metaeval.best_judges import Candidates
from dialeval.aggregation.metaeval.cells import ANNOTATION, Scorer
from dialeval.aggregation.metaeval.correlations import Correlated
from dialeval.published.metaeval import RANKINGS, published
from dialeval.stats.arrays import FloatArray
from dialeval.stats.correlation import correlate
from dialeval.stats.midranks import midranks

RATING = "rating"
"""The method whose scores stand for a model's opinion, as where it fills in what nobody rated."""


class _Second(NamedTuple):
    """A model whose ratings are set against people's: its name, and every scorer's correlation with them."""

    name: str
    pearson: dict[Scorer, float]


def ranking_rows(
    results: Sequence[Correlated], candidates: Candidates | None = None, fill: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/ranking_agreement`.

    Judges are ranked by their Pearson correlation with people's ratings, and by that with a model's ratings of the same
    items: the row is Spearman's correlation of the two rankings. The model is one whose ratings came with the corpus,
    or the judge that fills in what nobody rated: here it is set against people where they did rate.

    Args:
        results: the correlations of every cell.
        candidates: who is ranked: no ensemble among its own members, and each model once, by the method that goes best
            with people in the corpus.
        fill: the judge that fills in. Nobody is ranked by ratings of its own, nor a judge that has the name of the
            model whose ratings came with the corpus.
    """
    ranked = candidates or Candidates()
    by_model = {
        (result.cell.corpus, result.cell.language, result.cell.level): result
        for result in results
        if result.rater_kind == "model"
    }
    for people in results:
        if people.rater_kind != "human":
            continue
        cell = people.cell
        scorers = _ranked(people, ranked)
        model = by_model.get((cell.corpus, cell.language, cell.level))
        for place, dimension in enumerate(people.dimensions):
            first = {scorer: float(people.by_method["pearson"].estimate[n, place]) for n, scorer in scorers.items()}
            for second in (_came_with_the_corpus(model, dimension), _of_the_judge(people, place, fill, ranked)):
                if second is None:
                    continue
                pairs = [(value, second.pearson.get(scorer, np.nan)) for scorer, value in first.items()]
                about = {
                    "level": cell.level,
                    "corpus": cell.corpus,
                    "language": cell.language,
                    "dimension": dimension,
                    "rated": cell.rated_on(dimension),
                    "first_rater": "human",
                    "second_rater": second.name,
                    "published_spearman": published(RANKINGS, cell.corpus, cell.level, cell.language, dimension),
                }
                yield about | _agreement(np.array(pairs, dtype=np.float64).reshape(-1, 2))


def _ranked(people: Correlated, candidates: Candidates) -> dict[int, Scorer]:
    """Returns who is ranked in a corpus, by their place: each model once."""
    estimate = people.by_method["pearson"].estimate
    means = {
        scorer: float(np.mean(known))
        for scorer, values in zip(people.scorers, estimate, strict=True)
        if candidates.may_be(scorer) and len(known := values[~np.isnan(values)])
    }
    return {people.scorers.index(scorer): scorer for scorer in candidates.best_first(means)}


def _came_with_the_corpus(model: Correlated | None, dimension: str) -> _Second | None:
    if model is None or dimension not in model.dimensions or model.filled_by(dimension):
        return None
    place, own = model.dimensions.index(dimension), model.cell.dimensions.index(dimension)
    who = [
        scorer.judge
        for n, scorer in enumerate(model.cell.scorers)
        if scorer.method == ANNOTATION and not np.isnan(model.cell.scores[n, own]).all()
    ]
    estimate = model.by_method["pearson"].estimate[:, place]
    return _Second(", ".join(who) or "model", dict(zip(model.scorers, estimate.tolist(), strict=True)))


def _of_the_judge(people: Correlated, place: int, fill: str | None, candidates: Candidates) -> _Second | None:
    """Returns how everybody else goes with the ratings of the judge that fills in; None where it gave none."""
    if fill is None or (judge := Scorer(fill, RATING)) not in people.scorers:
        return None
    own = people.scores[people.scorers.index(judge), place]
    if np.isnan(own).all():
        return None
    model = candidates.model_of(fill)
    others = [n for n, scorer in enumerate(people.scorers) if candidates.model_of(scorer.judge) != model]
    if not others:
        return _Second(fill, {})
    scores: FloatArray = people.scores[others, place][:, np.newaxis]
    estimate = correlate(scores, own[np.newaxis], people.cell.cluster, resamples=0).estimate[:, 0]
    return _Second(fill, {people.scorers[n]: float(value) for n, value in zip(others, estimate, strict=True)})


def _agreement(pairs: FloatArray) -> dict[str, Any]:
    """Returns Spearman's correlation of two rankings; pairs have the shape [n_judges, 2], NaN where one is missing."""
    known = pairs[~np.isnan(pairs).any(axis=1)]
    if len(known) < 3:
        there = "judge has" if len(known) == 1 else "judges have"
        return {"n_judges": len(known), "reason": f"only {len(known)} {there} both correlations; 3 are needed"}
    if (np.ptp(known, axis=0) == 0).any():
        return {"n_judges": len(known), "reason": "all judges are equal under one of the two"}
    return {"n_judges": len(known), "spearman": float(np.corrcoef([midranks(column) for column in known.T])[0, 1])}
