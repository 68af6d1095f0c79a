"""Agreement on kinds: whether two judges, or a judge and the rules, see the same kinds in the same dialogues."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from dialeval.aggregation.measures.design import Design
from dialeval.aggregation.measures.grouping import Row, by_criterion
from dialeval.aggregation.measures.scores import is_yes, labels_of
from dialeval.aggregation.pairwise import cases
from dialeval.stats.agreement import judge_agreement
from dialeval.stats.arrays import FloatArray
from dialeval.stats.shares import share_interval

ONE_VALUE = "both say the same of every dialogue: kappa is not defined"
CONSTANT = "one of the two says the same of every dialogue: kappa is 0 whatever the other one says, and has no interval"
_ITEM = ["corpus", "item_id", "language"]


def agreement(judgements: pd.DataFrame, design: Design) -> list[Row]:
    """Returns the rows of a table `agreement`: one for every two judges and each criterion that both judge.

    A dialogue counts where both answers could be read; of repeats the majority counts, and a draw is no answer.

    Args:
        judgements: the protocol's table `judgements`, with the columns of `scores.COLUMNS`.
        design: the protocol's design.
    """
    said: dict[str, dict[str, pd.DataFrame]] = {}
    for about, of in by_criterion(judgements, design):
        if len(of):
            said.setdefault(str(about["criterion"]), {})[about["judge"]] = _of_each_item(of)
    return [
        {"judge": one, "other_judge": other, "criterion": criterion, **_compared(by[one], by[other], design)}
        for criterion, by in said.items()
        for one, other in combinations(by, 2)
    ]


def _of_each_item(of: pd.DataFrame) -> pd.DataFrame:
    """Returns whether a judge says yes to each item, with its case, by item."""
    table = of[_ITEM].assign(yes=is_yes(labels_of(of)), case=cases(of))
    means = table.groupby(_ITEM, sort=False).agg(yes=("yes", "mean"), case=("case", "first"))
    means["yes"] = means["yes"].map(lambda share: np.nan if share == 0.5 else share).round()
    return means


def _compared(one: pd.DataFrame, other: pd.DataFrame, design: Design) -> Row:
    both = one.join(other["yes"].rename("other"), how="inner").dropna(subset=["yes", "other"])
    first, second = (both[name].to_numpy(dtype=np.float64) for name in ("yes", "other"))
    cluster = pd.factorize(both["case"])[0].astype(np.int64)
    n = len(both)
    found = judge_agreement(
        np.repeat([0, 1], n), np.tile(np.arange(n), 2), np.concatenate([first, second]), np.tile(cluster, 2), 2,
        resamples=design.resamples, confidence=design.confidence, random_seed=design.random_seed,
    )  # fmt: skip
    alike = first * second
    kappa = float(found.kappa[0, 1])
    return {
        "estimate": kappa,
        "low": float(found.kappa_low[0, 1]),
        "high": float(found.kappa_high[0, 1]),
        "ac1": float(found.ac1[0, 1]),
        "ac1_low": float(found.ac1_low[0, 1]),
        "ac1_high": float(found.ac1_high[0, 1]),
        "n": n,
        "n_clusters": int(found.n_clusters[0, 1]),
        "both": int(alike.sum()),
        "judge_alone": int((first - alike).sum()),
        "other_alone": int((second - alike).sum()),
        **_share("precision", alike, second, cluster, design.confidence),
        **_share("recall", alike, first, cluster, design.confidence),
        "note": _note(first, second, kappa) or found.kappa_reason[0][1] or None if n else None,
    }


def _note(first: FloatArray, second: FloatArray, kappa: float) -> str:
    if np.isnan(kappa):
        return ONE_VALUE
    return CONSTANT if np.ptp(first) == 0 or np.ptp(second) == 0 else ""


def _share(name: str, alike: FloatArray, of: FloatArray, cluster: np.ndarray, confidence: float) -> Row:
    seen = of > 0
    share = share_interval(alike[seen], cluster[seen], confidence=confidence, reason="nothing is marked")
    return {name: share.estimate, f"{name}_low": share.low, f"{name}_high": share.high}
