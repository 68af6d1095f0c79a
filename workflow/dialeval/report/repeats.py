"""What the page says of how far judges agree with themselves, beside a leaderboard of judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import listed, write_number
from dialeval.schemas.raters import REPEAT_AGREEMENT

if TYPE_CHECKING:
    import pandas as pd

MOST_JUDGES = 3
"""Judges that are named; the table has all."""
_THE_SAME = 0.9995  # the same each time, as it is written


def repeat_sentence(inputs: ReportInputs, level: str) -> tuple[str, ...]:
    """Returns a sentence on how far judges agree with themselves at a level; nothing where none was asked twice."""
    table = inputs.tables.get(REPEAT_AGREEMENT.name)
    if table is None:
        return ()
    rows = table.to_pandas()
    rows = rows[(rows["level"] == level) & rows["pairwise_pearson"].notna()]
    found = [_of_judge(judge, method, of_judge) for (judge, method), of_judge in rows.groupby(["judge", "method"])]
    if not found:
        return ()
    more = f", and the table has {len(found) - MOST_JUDGES} more" if len(found) > MOST_JUDGES else ""
    words = "Asked more than once, judges agree with themselves by a mean correlation of two repeats of"
    return (f"{words} {listed(found[:MOST_JUDGES])}{more}.",)


def _of_judge(judge: str, method: str, rows: pd.DataFrame) -> str:
    values = rows["pairwise_pearson"]
    lowest = rows.sort_values("pairwise_pearson").iloc[0]
    mean = f"{write_number(float(values.mean()), 'correlation')} for {judge} ({method})"
    if len(rows) == 1 or values.min() > _THE_SAME:
        return mean
    return (
        f"{mean}, lowest on {lowest['dimension']} of {lowest['corpus']} "
        f"({write_number(float(lowest['pairwise_pearson']), 'correlation')})"
    )
