"""What the page says of how high a judge could come, beside a leaderboard of judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialeval.figures.metaeval_names import main_dimension, main_language
from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import is_missing, listed, write_interval, write_number
from dialeval.schemas.raters import CEILINGS

if TYPE_CHECKING:
    import pandas as pd

MOST_CORPORA = 3
"""Corpora that are named; the table has all."""


def ceiling_sentence(inputs: ReportInputs, benchmark: str, level: str) -> tuple[str, ...]:
    """Returns a sentence on the ceilings that people's differences set in a benchmark; nothing where none is known.

    Of each corpus it is the ceiling on overall, or else on the first dimension, in one language, on the most items.
    """
    table = inputs.tables.get(CEILINGS.name)
    if table is None:
        return ()
    rows = table.to_pandas()
    rows = rows[(rows["benchmark"] == benchmark) & (rows["level"] == level) & (rows["rater_kind"] == "human")]
    rows = rows[rows["ceiling"].notna()]
    found = [_of_corpus(corpus, of_corpus) for corpus, of_corpus in rows.groupby("corpus")]
    if not found:
        return ()
    more = f", and {len(found) - MOST_CORPORA} more corpora have one" if len(found) > MOST_CORPORA else ""
    where = listed(found[:MOST_CORPORA])
    return (f"Raters differ, so no judge can be expected to agree with them beyond {where}{more}.",)


def _of_corpus(corpus: str, rows: pd.DataFrame) -> str:
    dimension = main_dimension(rows["dimension"])
    rows = rows[(rows["dimension"] == dimension) & (rows["language"] == main_language(rows["language"]))]
    row = rows.sort_values(["n", "judge", "method"], ascending=[False, True, True]).iloc[0]
    low, high = row["ceiling_low"], row["ceiling_high"]
    interval = "" if is_missing(low) else f" ({write_interval(low, high, 'correlation')})"
    return f"{write_number(row['ceiling'], 'correlation')}{interval} on {dimension} of {corpus}"
