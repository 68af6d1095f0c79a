"""Reliability of raters and judges: correlation ceilings, repeats, and validity of a judge on a criterion.

For every judge with repeats, the mean correlation of two repeats is reported next to that of the raters. The paper
(comp-analysis) reports it for five rounds of GPT-4: it exceeds .65 in general.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dialeval.measures.corpora import agreement_of_rounds
from dialeval.measures.correlations import Correlated, behind
from dialeval.measures.score_cells import ANNOTATION, NO_IMPUTED_RATINGS, SCORED, Cell, Scorer, scores_of
from dialeval.stats.arrays import BoolArray, FloatArray, IntArray
from dialeval.stats.reliability import Reliability, corrected_correlation, reliability
from dialeval.stats.resampling import mean_of_independent

_Numbers = dict[str, float | str | None]
MEANS_ALONE = "only the mean of the raters is known, so their agreement is unknown"
SINGLE_RATING_COLUMNS = (*SCORED, "repeat")
"""Columns of the table `judgements` that are read."""
REPEAT_COLUMNS = ("judge", "protocol", "corpus", "language", "item_id", "criterion", "repeat", "value")
"""Columns of the table `judgements` that are read."""
_ITEM = ["corpus", "language", "item_id"]
_CELL = ["judge", "protocol", "corpus", "language", "criterion"]
RATERS = ("human", "construction", "model")
"""Kinds of raters, in order of preference."""


def ceiling_rows(results: Iterable[Correlated], opinions: SingleOpinions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/ceilings`.

    There is a row if single ratings of raters, or repeats of a judge, are available. The reliability is computed on the
    items that the judge scored and on the resamples of its correlation.
    """
    for result in results:
        for dimension, name in enumerate(result.dimensions):
            raters = opinions.of_raters(result.cell, result.rater_kind, result.cell.rated_on(name))
            known: dict[bytes, Reliability] = {}
            for judge, scorer in enumerate(result.scorers):
                repeats = opinions.of_judge(result.cell, scorer, name)
                if not result.requested[judge, dimension] or (raters is None and repeats is None):
                    continue
                both = ~np.isnan(result.scores[judge, dimension]) & ~np.isnan(result.ratings[dimension])
                if raters is not None and both.tobytes() not in known:
                    known[both.tobytes()] = _reliability(result, raters, both)
                pearson = result.by_method["pearson"].one(judge, dimension)
                yield {
                    **scorer._asdict(),
                    "benchmark": result.cell.benchmark,
                    **result.about(name),
                    "pearson": pearson.estimate,
                    "n": pearson.n_items,
                    **behind(pearson),
                    **_joined(
                        _reached(result, judge, dimension, known.get(both.tobytes()), raters.n_means if raters else 0),
                        _repeated(result, repeats, both),
                    ),
                }


def _reliability(result: Correlated, singles: Singles, both: BoolArray, *, intervals: bool = True) -> Reliability:
    pearson, kept = result.by_method["pearson"], singles.subset(both)
    return reliability(
        kept.value,
        kept.item,
        result.cell.cluster,
        kept.rater,
        resamples=pearson.resamples if intervals else 0,
        confidence=pearson.confidence,
        random_seed=pearson.random_seed,
    )


def _joined(reached: _Numbers, repeated: _Numbers) -> _Numbers:
    """Return both, with the notes of both."""
    notes = [str(part["note"]) for part in (reached, repeated) if part.get("note")]
    return reached | repeated | {"note": "; ".join(notes) or None}


def _reached(result: Correlated, judge: int, dimension: int, raters: Reliability | None, n_means: int) -> _Numbers:
    """Return the columns that follow from the raters' reliability."""
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
    missing = (
        f"{n_means} items with only a mean are assumed to have as many raters as the other items" if n_means else ""
    )
    notes = (raters.ceiling.note, pearson.reason[judge][dimension] or corrected.note, missing)
    return {
        "n_raters": raters.n_raters,
        **raters.icc.limits("icc", "icc_"),
        "reliability": raters.mean.estimate,
        **raters.ceiling.limits("ceiling", "ceiling_"),
        **corrected.limits("disattenuated", "disattenuated_"),
        "note": "; ".join(dict.fromkeys(note for note in notes if note)) or None,
    }


def _repeated(result: Correlated, repeats: Singles | None, both: BoolArray) -> _Numbers:
    """Return the reliability of a judge's mean over repeats; empty without repeats."""
    if repeats is None:
        return {}
    own = _reliability(result, repeats, both, intervals=False)
    note = f"repeats of the judge: {own.mean.note}" if own.mean.note else None
    return {"judge_reliability": own.mean.estimate, "n_repeats": own.n_raters, "note": note}


class SingleOpinions:
    """Single ratings and repeats, with their raters and items.

    If several raters of a kind have names, their rounds are repeats. If there is one name, its rounds are different
    annotators, who may vary between items, or repeats of one model.
    """

    def __init__(self, ratings: pa.Table, judgements: pa.Table, imputed: pa.Table = NO_IMPUTED_RATINGS.ratings) -> None:
        """Take tables `ratings`, the imputed ones, and `judgements` with at least `SINGLE_RATING_COLUMNS`."""
        self._ratings = _grouped(pa.concat_tables([ratings, imputed]), ["corpus", "rater_kind", "dimension"])
        models = ratings.filter(pc.equal(ratings["rater_kind"], "model"))
        self._annotations = _grouped(models, ["corpus", "rater", "dimension"])
        repeats = scores_of(judgements).append_column("round", judgements["repeat"])
        repeats = repeats.filter(pc.is_valid(repeats["value"]))
        repeats = repeats.append_column("rater", repeats["judge"])
        self._repeats = _grouped(repeats, ["judge", "method", "corpus", "language", "dimension"])

    def of_raters(self, cell: Cell, kind: str, dimension: str) -> Singles | None:
        """Return the ratings of a cell's items by one kind of rater; None without single ratings."""
        given = self._ratings.get((cell.corpus, kind, dimension))
        return None if given is None else _singles(cell, given)

    def of_judge(self, cell: Cell, scorer: Scorer, dimension: str) -> Singles | None:
        """Return a judge's repeats on the items of a cell; None without repeats."""
        if scorer.method == ANNOTATION:
            given = self._annotations.get((cell.corpus, scorer.judge, dimension))
        else:
            given = self._repeats.get((*scorer, cell.corpus, cell.language, dimension))
        return None if given is None or given.n_rounds < 2 else _singles(cell, given)


def _grouped(table: pa.Table, by: list[str]) -> Mapping[tuple[str, ...], _Given]:
    columns = list(dict.fromkeys([*by, "item_id", "rater", "round", "value"]))
    frame = table.select(columns).to_pandas()
    item_id, value = frame["item_id"].to_numpy(), frame["value"].to_numpy(dtype=np.float64)
    rounds = frame["round"].to_numpy(dtype=np.float64, na_value=np.nan)
    item, rater = (pd.factorize(frame[name])[0] for name in ("item_id", "rater"))
    cell = rater * (item.max(initial=0) + 1) + item
    return {
        key: _given(item_id[rows], value[rows], rounds[rows], rater[rows], cell[rows])
        for key, rows in frame.groupby(by, sort=False).indices.items()
    }


class _Given(NamedTuple):
    """Single values by the items' ids, not yet assigned to cells.

    Attributes:
        item_id, value: shape [n].
        rater: shape [n]; None if raters are not identified.
        alone: items of which somebody's mean alone is known.
        n_rounds: how many rounds there are.
    """

    item_id: NDArray[np.object_]
    value: FloatArray
    rater: IntArray | None
    alone: NDArray[np.object_]
    n_rounds: int


def _given(
    item_id: NDArray[np.object_], value: FloatArray, rounds: FloatArray, rater: IntArray, cell: IntArray
) -> _Given:
    """Separate single values from means, which have no round; the mean of a named rater counts as a single rating."""
    named = len(np.unique(rater)) > 1
    single = ~np.isnan(rounds)
    alone = ~single & ~np.isin(cell, cell[single])
    kept = single | alone if named else single
    return _Given(
        item_id=item_id[kept],
        value=value[kept],
        rater=rater[kept].astype(np.int64) if named else None,
        alone=item_id[alone & ~kept],
        n_rounds=len(np.unique(rounds[single])),
    )


def _singles(cell: Cell, given: _Given) -> Singles | None:
    """Return the single values of a cell's items."""
    place = {item_id: number for number, item_id in enumerate(cell.item_ids)}
    item = np.array([place.get(item_id, -1) for item_id in given.item_id], dtype=np.int64)
    here = item >= 0
    if not here.any():
        return None
    rater = None if given.rater is None else given.rater[here]
    return Singles(item[here], rater, given.value[here], sum(item_id in place for item_id in given.alone))


def repeat_rows(
    items: pa.Table, judgements: pa.Table, *, resamples: int = 1000, confidence: float = 0.95, random_seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `metaeval/repeat_agreement`: per judge, method, corpus, language and dimension.

    A judge without repeats has no row, and an unparsed repeat is missing.

    Args:
        items: table `items` of the rated corpora; scores of other items are left out.
        judgements: table `judgements` with at least `REPEAT_COLUMNS`.
        resamples: resamples of the dialogues behind an interval.
        confidence: nominal coverage of the intervals.
        random_seed: seed of the resampling.
    """
    known = items.select([*_ITEM, "level", "cluster"]).to_pandas()
    frame = judgements.select(list(REPEAT_COLUMNS)).to_pandas().merge(known, on=_ITEM)
    for (judge, method, corpus, language, dimension), rows in frame.groupby(_CELL, sort=False):
        rounds, clusters = _rounds(rows)
        if len(rounds) > 1:
            yield {
                "judge": judge,
                "method": method,
                "level": rows["level"].iloc[0],
                "corpus": corpus,
                "language": language,
                "dimension": dimension,
                **agreement_of_rounds(
                    rounds, clusters, resamples=resamples, confidence=confidence, random_seed=random_seed
                ),
            }


def _rounds(rows: pd.DataFrame) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[str]]:
    """Return the scores of one cell, shape [rounds, items], NaN where missing, and the cluster of each item."""
    repeat, repeats = pd.factorize(rows["repeat"], sort=True)
    item, ids = pd.factorize(rows["item_id"])
    values = np.full((len(repeats), len(ids)), np.nan)
    values[repeat, item] = rows["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    first = np.unique(item, return_index=True)[1]
    return values, rows["cluster"].iloc[first].tolist()


def judge_validity_rows(
    correlations: Sequence[dict[str, Any]],
    *,
    judges: Sequence[str],
    criteria: Sequence[str],
    methods: Sequence[str],
    language: str,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table `judge_validity`: one per judge and criterion, with the reason where nothing is known.

    Correlations of several corpora are averaged, as in the papers. Corpora are independent, so the interval of the mean
    follows from theirs. Ratings on another criterion than the judged one are not used. Only one language counts, since
    the translations of a corpus are not independent.

    Args:
        correlations: rows of the table `metaeval/correlations`; none without rated corpora.
        judges: the judges of a protocol.
        criteria: its criteria.
        methods: the protocols of the same form under which rated items were scored, the nearest first.
        language: that of the judged dialogues; another is taken where nothing was rated in it.
    """
    for judge in judges:
        for criterion in criteria:
            columns = {"judge": judge, "criterion": criterion}
            compared = [row for row in correlations if row["judge"] == judge and row["dimension"] == criterion]
            same_criterion = [row for row in compared if row["rated"] == criterion]
            same = [row for row in same_criterion if row["method"] in methods]
            known = [row for row in same if row["pearson"] is not None]
            if known:
                yield columns | _number(known, methods, language)
            else:
                yield columns | {
                    "n": 0,
                    "reason": _reason(correlations, criterion, same_criterion or compared, same, methods),
                }


def _number(rows: list[dict[str, Any]], methods: Sequence[str], language: str) -> dict[str, Any]:
    for column, preferred in (("rater_kind", RATERS), ("method", methods), ("language", (language, "en"))):
        first = next((one for one in preferred if any(row[column] == one for row in rows)), rows[0][column])
        rows = [row for row in rows if row[column] == first]
    columns = ("pearson", "pearson_ci_low", "pearson_ci_high")
    values = [np.array([row[name] for row in rows], dtype=np.float64) for name in columns]
    pearson, low, high = mean_of_independent(*values)
    return {
        **{name: rows[0][name] for name in ("method", "rater_kind")},
        "level": ", ".join(dict.fromkeys(row["level"] for row in rows)),
        "pearson": pearson,
        "ci_low": max(low, -1.0),
        "ci_high": min(high, 1.0),
        "n": sum(row["n"] for row in rows),
        "corpora": ", ".join(dict.fromkeys(row["corpus"] for row in rows)),
        "reason": None,
    }


def _reason(
    correlations: Sequence[dict[str, Any]],
    criterion: str,
    requested: Sequence[dict[str, Any]],
    same: Sequence[dict[str, Any]],
    methods: Sequence[str],
) -> str:
    if same:
        return next((row["reason"] for row in same if row["reason"]), "the correlation is not defined")
    if requested and all(row["rated"] != criterion for row in requested):
        rated = ", ".join(dict.fromkeys(row["rated"] for row in requested))
        return f"the judge's scores were compared with ratings on other criteria only ({rated})"
    if requested:
        others = ", ".join(dict.fromkeys(row["method"] for row in requested))
        return f"this judge scored rated items only in another form ({others})"
    if any(row["dimension"] == criterion for row in correlations):
        wanted = f", under {' or '.join(methods)}" if methods else ""
        return f"this judge did not score the items that are rated on this criterion{wanted}"
    if correlations:
        return "no corpus of this run is rated on this criterion"
    return "no rated corpora in this run (metaeval)"


class Singles(NamedTuple):
    """Single values that items were given.

    Attributes:
        item: place of the item in its cell, shape [n].
        rater: who gave the value, shape [n]; None if raters are not identified.
        value: shape [n].
        n_means: items of which somebody's mean alone is known.
    """

    item: IntArray
    rater: IntArray | None
    value: FloatArray
    n_means: int

    def subset(self, kept: BoolArray) -> Singles:
        """Return the values of some of the items, shape [n_items]."""
        here = kept[self.item]
        return Singles(self.item[here], None if self.rater is None else self.rater[here], self.value[here], 0)
