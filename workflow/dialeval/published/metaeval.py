"""What comp-analysis (Tables 5 to 8) and xDial-Eval (Table 5) print, found by any name under which a judge is known.

All values are Pearson correlations averaged over the papers' own corpora, but for those of Table 7, which are Spearman
correlations of judge rankings. They stand beside ours where a judge has one of their names: the corpora at hand are
rarely all of theirs, so that the two are to be compared with care.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from dialeval.published.names import folded

FULL, HUMAN, XDIAL = "comp-analysis 5", "comp-analysis 6", "xdial-eval 5"
RANKINGS = "comp-analysis 7"
ENSEMBLE, DIRECT = "comp-analysis 8 ensemble", "comp-analysis 8 direct"


def published_average(judge: str, level: str, language: str, dimension: str, raters: str) -> float | None:
    """Returns a judge's published average over corpora, or None where the papers have none.

    Args:
        judge: any of its names; only letters and digits count, and their case does not.
        level: turn or dialogue.
        language: language code, or `average` for the mean over xDial-Eval's ten.
        dimension: a dimension, `average` for the mean over five, or `all` for xDial-Eval's one rating a corpus.
        raters: `full` or `human`.
    """
    if dimension == "all":
        return published(XDIAL, judge, level, language)
    return published(FULL if raters == "full" else HUMAN, judge, level, language, dimension)


def published(table: str, name: str, level: str, language: str = "en", dimension: str = "overall") -> float | None:
    """Returns one published number of a judge (in Table 7, of a corpus), or None where there is none."""
    return _values().get((table, folded(name), level, language, dimension))


@cache
def _values() -> Mapping[tuple[str, str, str, str, str], float]:
    text = files("dialeval.published").joinpath("metaeval.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return MappingProxyType(
        {
            (row["table"], folded(row["name"]), row["level"], row["language"], row["dimension"]): float(row["value"])
            for row in rows
        }
    )
