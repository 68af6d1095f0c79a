"""What a judge says of each unit, as far as a draw goes by it: its score, or how unsure it is."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from dialeval.criteria import NO
from dialeval.schemas.judgements import Form

_POINTS = {"left": 1.0, "tie": 0.5, "right": 0.0}
_About = tuple[str, str, str, str, str, int | None]


def judged_scores(
    rows: Iterable[Mapping[str, Any]], form: Form, by: Literal["score", "uncertainty"]
) -> dict[tuple[object, ...], float]:
    """Returns a number for every unit that a judge has judged, by corpus, item, case, systems and length.

    The score is from 0 to 1: the place on the scale, the probability of Yes, whether an AI took no part (or nothing
    shows), and of a pair the share of the orders in which the first in the alphabet wins. Uncertainty is the spread of
    a scale's repeats, and otherwise how near the score is to the middle. Over several criteria it is the mean.

    Args:
        rows: of the table `judgements`, of one judge and protocol.
        form: the protocol's.
        by: which of the two.
    """
    said: defaultdict[_About, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        score = _score(row, form)
        if row["status"] == "ok" and score is not None:
            said[_about(row)][row["criterion"] or ""].append(score)
    spread = by == "uncertainty" and form == "scale"
    found: dict[tuple[object, ...], float] = {}
    for about, by_criterion in said.items():
        each = [statistics.pstdev(scores) if spread else statistics.fmean(scores) for scores in by_criterion.values()]
        if by == "uncertainty" and not spread:
            each = [-abs(score - 0.5) for score in each]
        found[about] = statistics.fmean(each)
    return found


def _about(row: Mapping[str, Any]) -> _About:
    if row["right"]:
        left, right = sorted((row["left"], row["right"]))
        return "", "", row["case_id"] or "", left, right, row["n_utterances"]
    return row["corpus"] or "", row["item_id"] or "", row["case_id"] or "", row["left"] or "", "", row["n_utterances"]


def _score(row: Mapping[str, Any], form: Form) -> float | None:
    if form == "pair":
        points = _POINTS.get(row["outcome"] or "")
        return points if points is None or row["left"] <= row["right"] else 1 - points
    if form == "detect":
        return None if row["choice"] is None else float(row["choice"] == NO)
    if row["value"] is None or row["scale_max"] == row["scale_min"]:
        return None
    score: float = (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"])
    return score
