"""What the rows of DialogBench's figures are called, and the marks that their names carry."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

PEOPLE_OF_PAPER = "people (the paper's items)"
EXPERTS = "people"
"""Kind of the rows of one's own experts."""
MARK = " †"
_LANGUAGES = {"en": "English", "zh": "Chinese"}


def groups(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yields the rows of each source and language with a title, in the table's order."""
    for (source, language), rows in table.groupby(["source", "language"], sort=False):
        yield f"{source} items, {_LANGUAGES.get(str(language), language)}", rows


def examinees(rows: pd.DataFrame) -> pd.Series:
    """Returns the name of each row: model and method, marked where the model wrote or filtered the items."""
    names = rows["model"] + " (" + rows["method"].str.replace("_", ", ") + ")"
    if "part" in rows:
        names = names.where(rows["part"].isna(), names + MARK)
    if "kind" in rows:
        names = names.where(rows["kind"] != EXPERTS, "people (" + rows["method"] + ")")
    return names


def what_the_mark_means(table: pd.DataFrame) -> str:
    """Returns the words that explain the mark, if a row carries it."""
    marked = table.loc[table["part"].notna()]
    if marked.empty:
        return ""
    told = "; ".join(
        f"{model} {part}" for model, part in sorted(set(zip(marked["model"], marked["part"], strict=True)))
    )
    return f"†: had a part in these items ({told}) and is not to be compared with others on them"
