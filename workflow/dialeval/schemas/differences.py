"""Every table of differences has the same columns: whether the first is better than the second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialeval.schemas.columns import FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Interval, Table
from dialeval.schemas.words import COMPARED

# fmt: off
COLUMNS = schema(
    table=TEXT, measure=TEXT, judge=maybe(TEXT), scope=TEXT, first=TEXT, second=TEXT, first_value=maybe(FLOAT),
    second_value=maybe(FLOAT), difference=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), p=maybe(FLOAT),
    p_holm=maybe(FLOAT), q_bh=maybe(FLOAT), family_size=INT, n=INT, n_clusters=INT, note=maybe(TEXT)
)
# fmt: on


def scope(about: Mapping[str, Any]) -> str:
    """Returns the column `scope` of a group: in words on what, at which length, and by which answer it is compared."""
    words = [about["criterion"]] if about.get("criterion") else []
    words += [f"N = {about['n_utterances']}"] if about.get("n_utterances") is not None else []
    words = words or ["all"]
    return ", ".join([*words, about["answer"]] if about.get("answer") else words)


def differences(name: str, *, row: str, title: str, caption: str) -> Table:
    """Returns a table of differences.

    Args:
        name: its name.
        row: what is compared in one row.
        title: its heading in the report.
        caption: which numbers are compared.
    """
    return Table(
        name,
        COLUMNS,
        row=row,
        title=title,
        caption=f"Is the first better than the second? {caption} Pairs are compared on what both have; intervals and "
        "p-values respect that items of one seed or dialogue depend on each other.",
        columns=COMPARED,
        cells={"difference": Interval("low", "high")},
    )
