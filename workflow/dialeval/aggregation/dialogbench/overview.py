"""Accuracies with a column for each task, in the shape of DialogBench's Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dialeval.aggregation.answer_rates import Row, grouped
from dialeval.aggregation.dialogbench.people import PEOPLE
from dialeval.corpora.dialogbench_tasks import ABBREVIATIONS
from dialeval.published.dialogbench import OVERALL

AVERAGE = "average"
"""The name of the last row of each kind of models."""
_ORDER = (PEOPLE, "base", "chat", "")


def overview_rows(accuracy: Iterable[Mapping[str, object]], averages: Iterable[Mapping[str, object]]) -> list[Row]:
    """Returns a row for each model and method, with its accuracy in each task and over all.

    People come first, then base models, chat models, and those whose kind is not told; the best of each on top, and
    the average below.

    Args:
        accuracy: rows of `dialogbench/accuracy`, of one source and of people.
        averages: rows of `dialogbench/averages` of the same source.
    """
    found = [_wide(group) for _, group in grouped(accuracy, "source", "model", "method", "language")]
    found += [
        _wide([{**row, "model": AVERAGE, "kind": row["group"], "part": None} for row in group])
        for _, group in grouped(averages, "source", "group", "method", "language")
        if group[0]["group"] in _ORDER
    ]
    return sorted(found, key=_place)


def _wide(rows: Sequence[Mapping[str, object]]) -> Row:
    by_name = {row["name"]: row for row in rows if row["scope"] in ("task", "overall")}
    overall = by_name.get(OVERALL, {})
    first = rows[0]
    return {
        "source": first["source"],
        "language": first["language"],
        "type": first["kind"] or "",
        "model": first["model"],
        "method": first["method"],
        **{task: by_name.get(task, {}).get("accuracy") for task in ABBREVIATIONS},
        "overall": overall.get("accuracy"),
        "low": overall.get("low"),
        "high": overall.get("high"),
        "chance": overall.get("chance"),
        "n": overall.get("n"),
        "part": first["part"],
        "published": overall.get("published"),
    }


def _place(row: Row) -> tuple[object, ...]:
    overall = row["overall"] if row["overall"] is not None else -1.0
    kind = row["type"] if row["type"] in _ORDER else ""
    # people's published row has the source paper: the language keeps it beside the models
    return row["language"], _ORDER.index(kind), row["source"], row["method"], row["model"] == AVERAGE, -overall
