"""Judges by language and by natural Chinese corpus, with the rows that xDial-Eval prints (Tables 4, 5, 15, 16, 17).

Nothing is computed here but the mean over Chinese corpora: averages and correlations are laid out as the paper does,
and its rows are put under them, at a level that the run has rows of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from dialeval.aggregation.metaeval.correlations import ALL
from dialeval.criteria import LEVELS
from dialeval.languages import AVERAGE, PAPER_ORDER
from dialeval.published import xdial
from dialeval.published.metaeval import STATISTICS
from dialeval.published.names import folded

THIS_RUN = "this run"
Row = Mapping[str, Any]
_Key = tuple[str, ...]


def language_rows(averages: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/by_language`.

    A benchmark is there at a level if it is in several languages, or if its judges are asked about one criterion and
    compared with ratings on another, as the paper does. A judge's row is that on what the paper asks about, or else
    on everything that is rated.

    Args:
        averages: rows of the table `metaeval/averages`.
    """
    by_people = [row for row in averages if row["raters"] == "human" and row["over"] != "dimensions"]
    shown = _as_in_the_paper(by_people)
    judged: dict[_Key, dict[str, Row]] = {}
    for row in by_people:
        if (row["benchmark"], row["level"]) in shown and row["dimension"] in (xdial.CORRELATED[row["level"]], ALL):
            key = (row["level"], row["benchmark"], row["judge"], row["method"], row["dimension"])
            judged.setdefault(key, {})[row["language"]] = row
    ours = {key: rows for key, rows in judged.items() if key[-1] != ALL or (*key[:-1], _asked(key)) not in judged}
    for level, statistic in product(LEVELS, STATISTICS):
        here = {key: rows for key, rows in ours.items() if key[0] == level}
        for (_, benchmark, judge, method, dimension), rows in here.items():
            first = next(iter(rows.values()))
            yield {
                "level": level,
                "statistic": statistic,
                "source": THIS_RUN,
                "benchmark": benchmark,
                "judge": judge,
                "method": method,
                "dimension": dimension,
                "rated": rows.get(AVERAGE, first)["rated"],
                "n_languages": len(rows.keys() - {AVERAGE}),
                **{name: row[statistic] for name, row in rows.items() if name in (*PAPER_ORDER, AVERAGE)},
            }
        for printed in _printed(level, statistic, chinese=False) if here else ():
            yield {
                **_about(printed),
                "dimension": xdial.CORRELATED[level],
                "n_languages": len(printed.values.keys() - {xdial.AVERAGE}),
                **printed.values,
            }


def chinese_rows(correlations: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `metaeval/natural_chinese`: there are none where no corpus has the paper's name.

    Args:
        correlations: rows of the table `metaeval/correlations`.
    """
    judged: dict[_Key, dict[str, Row]] = {}
    for row in correlations:
        asked = xdial.CORRELATED[row["level"]]
        if row["rater_kind"] == "human" and row["language"] == "zh" and row["dimension"] == row["rated"] == asked:
            column = _columns(row["level"]).get(folded(row["corpus"]))
            if column:
                judged.setdefault((row["level"], row["judge"], row["method"]), {})[column] = row
    for level, statistic in product(LEVELS, STATISTICS):
        here = {key: rows for key, rows in judged.items() if key[0] == level}
        columns = tuple(_columns(level).values())
        for (_, judge, method), rows in here.items():
            values = {column: row[statistic] for column, row in rows.items()}
            yield {
                "level": level,
                "statistic": statistic,
                "source": THIS_RUN,
                "judge": judge,
                "method": method,
                "rated": xdial.CORRELATED[level],
                **values,
                "average": _mean([values.get(column) for column in columns]),
            }
        for printed in _printed(level, statistic, chinese=True) if here else ():
            values = {_columns(level).get(folded(name), name): value for name, value in printed.values.items()}
            yield {**_about(printed), "rated": xdial.CORRELATED[level], **values}


def _as_in_the_paper(averages: Sequence[Row]) -> set[tuple[str, str]]:
    """Returns the benchmarks and levels that the paper's rows can stand beside."""
    languages: dict[tuple[str, str], set[str]] = {}
    joined = set()
    for row in averages:
        place = (row["benchmark"], row["level"])
        if row["language"] in PAPER_ORDER:
            languages.setdefault(place, set()).add(row["language"])
        if row["dimension"] == xdial.CORRELATED[row["level"]] and row["rated"] != row["dimension"]:
            joined.add(place)
    return {place for place, found in languages.items() if len(found) > 1 or place in joined}


def _asked(key: _Key) -> str:
    return xdial.CORRELATED[key[0]]


def _printed(level: str, statistic: str, *, chinese: bool) -> list[xdial.Row]:
    rows = [row for row in xdial.rows() if (row.level, row.statistic) == (level, statistic)]
    return [row for row in rows if (row.table == xdial.TABLE_OF_CHINESE) == chinese]


def _about(printed: xdial.Row) -> dict[str, Any]:
    return {
        "level": printed.level,
        "statistic": printed.statistic,
        "source": f"xDial-Eval, Table {printed.table}",
        "judge": printed.system,
        "training": printed.training or None,
    }


def _columns(level: str) -> dict[str, str]:
    """Returns the columns of a level's natural Chinese corpora by their folded names."""
    return {folded(name): name.lower().replace("-", "_") for name in xdial.CHINESE.get(level, ())}


def _mean(values: Sequence[float | None]) -> float | None:
    """Returns the mean of all values; None where one is missing."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
