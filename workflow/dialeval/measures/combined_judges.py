"""Judges made of other judges: the mean of an ensemble, and a cascade of two."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialeval.measures.score_cells import keys, places, scaled
from dialeval.stats.arrays import BoolArray, FloatArray, cell_means
from dialeval.tables.dialogues import JUDGEMENTS, Form

GROUP = ("corpus", "language", "criterion")
ITEM = ("corpus", "language", "item_id", "criterion")
"""Columns that identify a score."""
ABOUT = ("case_id", "left", "n_utterances")
"""Further columns about an item; files of scores do not have them."""
SCALE = ("scale_min", "scale_max")
ENSEMBLE_COLUMNS = ("judge", "protocol", *ITEM, *ABOUT, "value", *SCALE)
"""Columns of the table `judgements` that are needed."""
CASCADE_COLUMNS = (
    "request_id", "corpus", "language", "item_id", "case_id", "left", "right", "n_utterances", "criterion", "outcome",
    "value", "scale_min", "scale_max",
)  # fmt: skip
"""Columns of the table `judgements` that are looked at."""
_SLACK = 1e-9
_ALIKE = 0.5
"""Share from which certain and uncertain units have the same inclusion probability."""
_OUTCOMES = {"left": 1.0, "tie": 0.5, "right": 0.0}
_UNPARSED = -1.0
"""Certainty of an unparsed response, below all others."""


def ensemble_judgements(name: str, method: str, members: Mapping[str, Sequence[pa.Table]]) -> pa.Table:
    """Return the table `judgements` of an ensemble: the arithmetic mean of its members' scores, each in [0, 1].

    A member's score of an item is the mean over repeats. Every item and criterion that all members judged has a row. If
    a member gave no score, the row has no score either. The mean is on the members' scale if they have the same scale,
    and otherwise from 0 to 1.

    Args:
        name: of the ensemble, the judge of the rows.
        method: the protocol of the rows.
        members: tables `judgements` of each member with the columns of `ENSEMBLE_COLUMNS`; of several, the first that
            has anything on a criterion in a corpus and language counts there, so that no member counts twice.
    """
    given = [_scores(tables) for tables in members.values()]
    found = [places(given[0].key, one.key) for one in given]
    common = np.flatnonzero((np.array(found) >= 0).all(axis=0))
    scores = np.array([one.score[place[common]] for one, place in zip(given, found, strict=True)])
    own = [one.about.take(place[common]) for one, place in zip(given, found, strict=True)]
    missing = np.isnan(scores)
    low, high = _common_scale(own)
    value = pa.array(low + scores.mean(axis=0) * (high - low), mask=missing.any(axis=0))
    n = len(common)
    columns = {
        **{column: own[0][column] for column in ITEM},
        **{column: pc.coalesce(*(table[column] for table in own)) for column in ABOUT},
        "judge": pa.repeat(name, n),
        "protocol": pa.repeat(method, n),
        "request_id": pc.binary_join_element_wise(method, *(own[0][column] for column in ITEM), "/"),
        "repeat": pa.repeat(0, n),
        "value": value,
        "scale_min": low,
        "scale_max": high,
        "reason": pa.array(_reasons(missing, list(members)), pa.string()),
        "status": pc.if_else(pc.is_null(value), "missing", "ok"),
    }
    schema = JUDGEMENTS.schema
    arrays = [columns.get(field.name, pa.nulls(n, field.type)) for field in schema]
    return pa.table(arrays, names=schema.names).cast(schema)


def _scores(tables: Sequence[pa.Table]) -> _Scores:
    """Return a member's scores, of each criterion in a corpus and language from the first table that has any."""
    kept: list[pa.Table] = []
    seen = pa.array([], pa.string())
    for table in tables:
        group = keys(table, *GROUP)
        kept.append(table.filter(pc.invert(pc.is_in(group, value_set=seen))))
        seen = pa.concat_arrays([seen, group.unique()])
    table = scaled(pa.concat_tables(kept))
    encoded = keys(table, *ITEM).combine_chunks().dictionary_encode()
    code, n = encoded.indices.to_numpy(), len(encoded.dictionary)
    first = np.zeros(n, dtype=np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    value = pc.fill_null(table["value"], np.nan).to_numpy()
    score, _ = cell_means(value, (code,), (n,))
    return _Scores(encoded.dictionary, table.select([*ITEM, *ABOUT, *SCALE]).take(first), score)


class _Scores(NamedTuple):
    """A member's scores, one of each item and criterion.

    Attributes:
        key: of what is scored.
        about: the columns of `ITEM`, `ABOUT` and `SCALE`.
        score: mean over repeats, in [0, 1], NaN where all are missing, shape [n].
    """

    key: pa.Array
    about: pa.Table
    score: FloatArray


def _common_scale(members: Sequence[pa.Table]) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the scale on which all members scored an item; 0 and 1 if their scales differ."""
    low, high = (np.array([table[name].to_numpy() for table in members]) for name in SCALE)
    same = (low == low[0]).all(axis=0) & (high == high[0]).all(axis=0)
    return np.where(same, low[0], 0.0), np.where(same, high[0], 1.0)


def _reasons(missing: BoolArray, members: Sequence[str]) -> list[str]:
    """Return whose scores are missing, by item; `missing` has the shape [n_members, n_items]."""
    reasons = [""] * missing.shape[1]
    for place in np.flatnonzero(missing.any(axis=0)):
        names = [name for name, is_missing in zip(members, missing[:, place], strict=True) if is_missing]
        reasons[place] = f"no score of {', '.join(names)}"
    return reasons


def drawn(judgements: pa.Table, form: Form, share: float) -> dict[str, float]:
    """Return the requests to the second judge, each with its inclusion probability.

    Half of the share is drawn from the least certain units, which are the same share of all units, and half from the
    others. From a share of one half, all units have the same probability. Hashes determine the order of the draw, which
    is spread evenly over systems or pairs. The same judgements therefore give the same requests, and a larger share
    gives nearly the same requests and more.

    Args:
        judgements: the columns `CASCADE_COLUMNS` of the first judge's judgements.
        form: the question's.
        share: of the requests; never more are drawn, but at least one unit.
    """
    rows = judgements.select(CASCADE_COLUMNS).to_pandas()
    if rows.empty:
        return {}
    rows["unit"] = _units(rows, paired=form == "pair")
    unsure = least_sure(judgements, form, share) if share < _ALIKE else frozenset()
    sides = np.sort(rows[["left", "right"]].fillna("").to_numpy(dtype=str), axis=1)
    rows["about"] = pd.Series(sides[:, 0]).str.cat(sides[:, 1], sep="\0").to_numpy()
    grouped = rows.groupby("unit", sort=False)
    units = grouped.agg(about=("about", "first"), request=("request_id", "first"), size=("request_id", "nunique"))
    units["hash"] = [hashlib.sha256(f"drawn\0{unit}".encode()).digest() for unit in units.index]
    units = units.sort_values("hash")
    of_one = units.groupby("about")["hash"]
    units["order"] = (of_one.cumcount() + 0.5) / of_one.transform("size")
    units = units.sort_values(["order", "hash"])
    room = share * float(units["size"].sum()) + _SLACK
    is_unsure = units["request"].isin(unsure)
    n_unsure = _fitting(units[is_unsure], room / 2.0)
    n_others = _fitting(units[~is_unsure], room - float(units[is_unsure]["size"].iloc[:n_unsure].sum()))
    parts = [(units[is_unsure], n_unsure), (units[~is_unsure], n_others)]
    if not (n_unsure and n_others):  # a unit with probability 0 would be in no estimate
        parts = [(units, max(1, _fitting(units, room)))]
    chances = {unit: n / len(part) for part, n in parts for unit in part.index[:n]}
    chosen = rows[rows["unit"].isin(list(chances))]
    return dict(zip(chosen["request_id"], chosen["unit"].map(chances), strict=True))


def _units(rows: pd.DataFrame, *, paired: bool) -> pd.Series:
    """Return the name of each row's unit."""
    together = rows["criterion"].fillna("").groupby(rows["request_id"]).agg(lambda names: "+".join(sorted(set(names))))
    columns = ["corpus", "language", "item_id", "case_id", "n_utterances"] + ([] if paired else ["left", "right"])
    parts = [rows[column].astype("string").fillna("") for column in columns]
    if paired:
        left, right = rows["left"].fillna(""), rows["right"].fillna("")
        parts += [left.where(left <= right, right), right.where(left <= right, left)]
    named: pd.Series = rows["request_id"].map(together).str.cat(pd.concat(parts, axis=1), sep="\0")
    return named


def least_sure(judgements: pa.Table, form: Form, share: float) -> frozenset[str]:
    """Return the requests about the units with the first judge's least certain responses.

    The requests are at most the share of all requests that the first judge answered, but at least one unit. Hashes
    decide between equally certain units.

    Args:
        judgements: the columns `CASCADE_COLUMNS` of the first judge's judgements.
        form: the question's.
        share: of the requests.
    """
    rows = judgements.select(CASCADE_COLUMNS).to_pandas()
    if rows.empty:
        return frozenset()
    rows["unit"] = _units(rows, paired=form == "pair")
    sure = _sureness(rows, form)
    sizes = rows.groupby("unit")["request_id"].nunique()
    order = sorted(sizes.index, key=lambda unit: (sure[unit], hashlib.sha256(unit.encode()).digest()))
    n_chosen = np.cumsum([sizes[unit] for unit in order])
    n = max(1, int(np.searchsorted(n_chosen, share * n_chosen[-1] + _SLACK, side="right")))
    return frozenset(rows.loc[rows["unit"].isin(order[:n]), "request_id"])


def _sureness(rows: pd.DataFrame, form: Form) -> pd.Series:
    """Return the judge's certainty of each unit, from -1 (unparsed) to 1; the least certain criterion counts.

    The certainty of a probability is its distance from the middle of the scale, of a pair the agreement of its answers
    on one side, and of a number the agreement of its repeats.
    """
    criterion = rows["criterion"].fillna("")
    if form == "pair":
        score = rows["outcome"].map(_OUTCOMES).fillna(0.5)
        score = score.where(rows["left"].fillna("") <= rows["right"].fillna(""), 1.0 - score)
        each = (2.0 * (score.groupby([rows["unit"], criterion]).mean() - 0.5)).abs()
        return each.groupby(level="unit").min()
    width = rows["scale_max"] - rows["scale_min"]
    groups = [rows["unit"], criterion]
    position: pd.Series = (rows["value"] - rows["scale_min"]) / width
    found = position.groupby(groups)
    each = (2.0 * (found.mean() - 0.5)).abs() if form == "probability" else -found.std(ddof=0)
    unparsed = position.isna().groupby(groups).any()
    return each.mask(unparsed, _UNPARSED).groupby(level="unit").min()


def _fitting(units: pd.DataFrame, room: float) -> int:
    """Return the number of first units whose requests do not exceed a number."""
    return int(np.searchsorted(units["size"].cumsum().to_numpy(), room, side="right"))


def as_one(first: pa.Table, then: pa.Table, name: str) -> pa.Table:
    """Return the judgements of a cascade, in the order of the first judge's.

    If the second judge got a request, its response counts, even if unparsed.

    Args:
        first: judgements of the first judge.
        then: judgements of the second.
        name: of the cascade, as a judge.
    """
    answered = frozenset(then["request_id"].to_pylist())
    mask = pa.array([request not in answered for request in first["request_id"].to_pylist()])
    both = pa.concat_tables([part.replace_schema_metadata() for part in (first.filter(mask), then)])
    places = {request: place for place, request in reversed(list(enumerate(first["request_id"].to_pylist())))}
    order = np.argsort([places.get(request, len(places)) for request in both["request_id"].to_pylist()], kind="stable")
    result = both.take(pa.array(order))
    return result.set_column(0, "judge", pa.array([name] * len(result), pa.string()))
