"""What the page says of how far judges agree with themselves, beside a leaderboard of judges."""

from __future__ import annotations

import pandas as pd

from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import listed, write_number
from dialeval.schemas.metaeval import REPEAT_AGREEMENT

MOST_JUDGES = 3
"""Judges that are named; the table has all."""


def repeat_sentence(inputs: ReportInputs, board: pd.DataFrame, level: str) -> tuple[str, ...]:
    """Returns a sentence on how far the judges of a leaderboard agree with themselves; nothing where none was repeated.

    Args:
        inputs: what the report is made of.
        board: rows with the judges and methods of the leaderboard.
        level: turn or dialogue; all corpora and languages of the level count.
    """
    table = inputs.tables.get(REPEAT_AGREEMENT.name)
    if table is None:
        return ()
    rows = table.to_pandas()
    rows = rows[(rows["level"] == level) & rows["pairwise_pearson"].notna()]
    asked = {tuple(pair) for pair in board[["judge", "method"]].itertuples(index=False)}
    found = [
        _of_judge(judge, method, of_judge)
        for (judge, method), of_judge in rows.groupby(["judge", "method"])
        if (judge, method) in asked
    ]
    if not found:
        return ()
    more = f"; the table has {len(found) - MOST_JUDGES} more" if len(found) > MOST_JUDGES else ""
    words = "From one repeat to the next judges differ: the mean correlation of two repeats of the same"
    return (f"{words} is {listed(found[:MOST_JUDGES])}{more}.",)


def _of_judge(judge: str, method: str, rows: pd.DataFrame) -> str:
    values = rows["pairwise_pearson"]
    lowest = rows.sort_values("pairwise_pearson").iloc[0]
    mean = f"{write_number(float(values.mean()), 'correlation')} for {judge} ({method})"
    if len(rows) == 1:
        return mean
    return (
        f"{mean}, lowest on {lowest['dimension']} of {lowest['corpus']} "
        f"({write_number(float(lowest['pairwise_pearson']), 'correlation')})"
    )
