"""Cascades of two judges: which requests the second is asked, how probably, and the answers of both as one."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa

from dialeval.tables.dialogues import Form

CASCADE_COLUMNS = (
    "request_id", "corpus", "language", "item_id", "case_id", "left", "right", "n_utterances", "criterion", "outcome",
    "value", "scale_min", "scale_max",
)  # fmt: skip
"""Columns of the table `judgements` that are looked at."""
_SLACK = 1e-9
_ALIKE = 0.5
"""Share from which sure and unsure units are drawn alike."""
_OUTCOMES = {"left": 1.0, "tie": 0.5, "right": 0.0}
_UNREAD = -1.0
"""How sure a judge is whose answer could not be read: less than of anything else."""


def drawn(judgements: pa.Table, form: Form, share: float) -> dict[str, float]:
    """Returns the requests that the second judge is asked, each with its inclusion probability.

    Half of the share is drawn from the units of which the first judge is least sure, which make up a share of all
    units, and half from the others; from a share of a half on it is drawn from all alike. The order of the draw is that
    of hashes, spread evenly over systems or pairs, so that the same judgements always give the same requests, and a
    larger share nearly the same and more.

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
    if not (n_unsure and n_others):  # what has no chance is in no estimate
        parts = [(units, max(1, _fitting(units, room)))]
    chances = {unit: n / len(part) for part, n in parts for unit in part.index[:n]}
    asked = rows[rows["unit"].isin(list(chances))]
    return dict(zip(asked["request_id"], asked["unit"].map(chances), strict=True))


def _fitting(units: pd.DataFrame, room: float) -> int:
    """Returns how many units, the first ones, have no more requests than there is room for."""
    return int(np.searchsorted(units["size"].cumsum().to_numpy(), room, side="right"))


def least_sure(judgements: pa.Table, form: Form, share: float) -> frozenset[str]:
    """Returns the requests about the units of which the first judge is least sure.

    There are as many as make up the share of all requests that the first judge answered, and no more; at least one
    unit. Which of equally sure units are taken is decided by hashes of what they are about.

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
    asked = np.cumsum([sizes[unit] for unit in order])
    n = max(1, int(np.searchsorted(asked, share * asked[-1] + _SLACK, side="right")))
    return frozenset(rows.loc[rows["unit"].isin(order[:n]), "request_id"])


def as_one(first: pa.Table, then: pa.Table, name: str) -> pa.Table:
    """Returns the judgements of a cascade, in the order of the first judge's.

    Where the second judge was asked, what it said counts, even if it cannot be read: that is no reason to believe the
    first.

    Args:
        first: judgements of the first judge.
        then: judgements of the second.
        name: of the cascade, as a judge.
    """
    asked = frozenset(then["request_id"].to_pylist())
    mask = pa.array([request not in asked for request in first["request_id"].to_pylist()])
    both = pa.concat_tables([part.replace_schema_metadata() for part in (first.filter(mask), then)])
    places = {request: place for place, request in reversed(list(enumerate(first["request_id"].to_pylist())))}
    order = np.argsort([places.get(request, len(places)) for request in both["request_id"].to_pylist()], kind="stable")
    result = both.take(pa.array(order))
    return result.set_column(0, "judge", pa.array([name] * len(result), pa.string()))


def _units(rows: pd.DataFrame, *, paired: bool) -> pd.Series:
    """Returns the name of each row's unit."""
    together = rows["criterion"].fillna("").groupby(rows["request_id"]).agg(lambda names: "+".join(sorted(set(names))))
    about = ["corpus", "language", "item_id", "case_id", "n_utterances"] + ([] if paired else ["left", "right"])
    parts = [rows[column].astype("string").fillna("") for column in about]
    if paired:
        left, right = rows["left"].fillna(""), rows["right"].fillna("")
        parts += [left.where(left <= right, right), right.where(left <= right, left)]
    named: pd.Series = rows["request_id"].map(together).str.cat(pd.concat(parts, axis=1), sep="\0")
    return named


def _sureness(rows: pd.DataFrame, form: Form) -> pd.Series:
    """Returns how sure the judge is of each unit, from -1 (unread) to 1; of several criteria the least sure one counts.

    A probability is sure as far as it is from the middle of its scale, a pair as far as all its answers favour one
    side, and a number as little as its repeats differ.
    """
    criterion = rows["criterion"].fillna("")
    if form == "pair":
        score = rows["outcome"].map(_OUTCOMES).fillna(0.5)
        score = score.where(rows["left"].fillna("") <= rows["right"].fillna(""), 1.0 - score)
        each = (2.0 * (score.groupby([rows["unit"], criterion]).mean() - 0.5)).abs()
        return each.groupby(level="unit").min()
    width = rows["scale_max"] - rows["scale_min"]
    by = [rows["unit"], criterion]
    position: pd.Series = (rows["value"] - rows["scale_min"]) / width
    found = position.groupby(by)
    each = (2.0 * (found.mean() - 0.5)).abs() if form == "probability" else -found.std(ddof=0)
    unread = position.isna().groupby(by).any()
    return each.mask(unread, _UNREAD).groupby(level="unit").min()
