"""How far a judge can be trusted on a criterion: how its scores of rated items go with the ratings, in the same run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dialeval.stats.combined import mean_of_independent

RATERS = ("human", "construction", "model")
"""Whose ratings are believed, the first before the others."""


def trust_rows(
    correlations: Sequence[dict[str, Any]],
    *,
    judges: Sequence[str],
    criteria: Sequence[str],
    methods: Sequence[str],
    language: str,
) -> Iterator[dict[str, Any]]:
    """Yields the rows of a table `trust`: one per judge and criterion, with the reason where nothing is known.

    Correlations of several corpora are averaged, as in the papers; the corpora are independent of each other, so that
    their intervals give that of the mean. Ratings on another criterion than the one that was asked about say nothing of
    it. Only one language counts, since the translations of a corpus are not.

    Args:
        correlations: rows of the table `metaeval/correlations`; none without rated corpora.
        judges: the judges of a protocol.
        criteria: its criteria.
        methods: the protocols of the same form under which rated items were scored, the nearest first.
        language: that of the judged dialogues; another is taken where nothing was rated in it.
    """
    for judge in judges:
        for criterion in criteria:
            about = {"judge": judge, "criterion": criterion}
            compared = [row for row in correlations if row["judge"] == judge and row["dimension"] == criterion]
            asked = [row for row in compared if row["rated"] == criterion]
            same = [row for row in asked if row["method"] in methods]
            known = [row for row in same if row["pearson"] is not None]
            if known:
                yield about | _number(known, methods, language)
            else:
                yield about | {"n": 0, "reason": _reason(correlations, criterion, asked or compared, same, methods)}


def _number(rows: list[dict[str, Any]], methods: Sequence[str], language: str) -> dict[str, Any]:
    for column, preferred in (("rater_kind", RATERS), ("method", methods), ("language", (language, "en"))):
        first = next((one for one in preferred if any(row[column] == one for row in rows)), rows[0][column])
        rows = [row for row in rows if row[column] == first]
    columns = ("pearson", "pearson_low", "pearson_high")
    values = [np.array([row[name] for row in rows], dtype=np.float64) for name in columns]
    pearson, low, high = mean_of_independent(*values)
    return {
        **{name: rows[0][name] for name in ("method", "rater_kind")},
        "level": ", ".join(dict.fromkeys(row["level"] for row in rows)),
        "pearson": pearson,
        "low": max(low, -1.0),
        "high": min(high, 1.0),
        "n": sum(row["n"] for row in rows),
        "corpora": ", ".join(dict.fromkeys(row["corpus"] for row in rows)),
        "reason": None,
    }


def _reason(
    correlations: Sequence[dict[str, Any]],
    criterion: str,
    asked: Sequence[dict[str, Any]],
    same: Sequence[dict[str, Any]],
    methods: Sequence[str],
) -> str:
    if same:
        return next((row["reason"] for row in same if row["reason"]), "the correlation is not defined")
    if asked and all(row["rated"] != criterion for row in asked):
        rated = ", ".join(dict.fromkeys(row["rated"] for row in asked))
        return f"its scores were compared with ratings on another criterion alone ({rated})"
    if asked:
        others = ", ".join(dict.fromkeys(row["method"] for row in asked))
        return f"this judge scored rated items in another form alone ({others})"
    if any(row["dimension"] == criterion for row in correlations):
        wanted = f", under {' or '.join(methods)}" if methods else ""
        return f"this judge did not score the items that are rated on it{wanted}"
    if correlations:
        return "no corpus of this run is rated on it"
    return "no rated corpora in this run (metaeval)"
