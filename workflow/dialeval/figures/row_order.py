"""One order of judges, and one of systems, for all figures of a report."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dialeval.figures.metaeval_names import averaged_groups, deciding_dimension, scorer_names
from dialeval.figures.panels import best_first

# One order of judges for all figures of meta-evaluation, across benchmarks, levels, corpora and languages.


def best_judges(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Returns the judges with their methods, best first: by what decides in each block of the main figure, on average.

    Args:
        tables: by their names; `metaeval/averages` and `metaeval/correlations` give the order, without them there is
            none.
    """
    if not {"metaeval/averages", "metaeval/correlations"} <= {*tables}:
        return []
    blocks = []
    for _, rows in averaged_groups(tables["metaeval/averages"], tables["metaeval/correlations"]):
        deciding = rows[rows["dimension"] == deciding_dimension(rows["dimension"])]
        blocks.append(deciding.assign(model=scorer_names(deciding)))
    return best_first(pd.concat(blocks), "pearson") if blocks else []


# One order of systems for all figures of a report: that of its leaderboards, whatever a figure itself shows.

_PEOPLES = "labels/corrected"
_DECIDING = {
    "ratings": "estimate",
    "pass_rates": "estimate",
    "win_rates": "win_or_tie",
    "means": "estimate",
    "checklist": "estimate",
    "rates": "estimate",
}
"""Measures that may decide, the first that there is, and the column that does; ratings do before all others."""
_DECIDING_OF_LABELS = ("rating", "win_or_tie", "win_rate", "pass_rate", "mean", "checklist", "rate")


def best_systems(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Returns the systems, best first, by what decides on a leaderboard: what people would say, ratings, or others.

    Of several lengths the largest counts, of several criteria the first, of several judges the mean.

    Args:
        tables: by `<protocol>/<measure>`; all that a report's part is drawn from, or what decides.
    """
    order: list[str] = []
    if _PEOPLES in tables:
        order += _by_labels(tables[_PEOPLES])
    for measure, value in _DECIDING.items():
        for name, table in tables.items():
            if name.rpartition("/")[2] == measure and {"system", value} <= {*table.columns} and _of_one_kind(table):
                order += _by(table, value)
    return list(dict.fromkeys(order))


def _of_one_kind(table: pd.DataFrame) -> bool:
    """Returns whether a system's numbers can be compared: rates against each of many are left to the ratings."""
    return "opponent" not in table or table["opponent"].nunique() == 1


def _by(table: pd.DataFrame, value: str) -> list[str]:
    known = table[table[value].notna()]
    for column, deciding in (("n_utterances", "max"), ("criterion", "first"), ("label", "first")):
        if column in known and known[column].notna().any():
            of_all = known[column].dropna()
            known = known[known[column] == (of_all.max() if deciding == "max" else of_all.iloc[0])]
    return best_first(known.rename(columns={"system": "model"}), value)


def _by_labels(corrected: pd.DataFrame) -> list[str]:
    order: list[str] = []
    for _, rows in corrected[corrected["estimate"].notna()].groupby("protocol", sort=False):
        measure = next((one for one in _DECIDING_OF_LABELS if (rows["measure"] == one).any()), "")
        deciding = rows[rows["measure"] == measure]
        whole = deciding[deciding["versus"].isna()]
        order += _by((whole if len(whole) else deciding).rename(columns={"answer": "label"}), "estimate")
    return order
