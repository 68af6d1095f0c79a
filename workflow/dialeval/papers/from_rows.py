"""Averages and sums that the papers print, computed again from the printed rows that they are of.

The averages are of numbers that were not rounded, so that ours may differ by one in the last place.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from dialeval.papers.printed import PrintedValue
from dialeval.published import dialogbench, xdial
from dialeval.published.robustness import AVERAGE, JUDGES, published_robustness
from dialeval.published.translation import published_quality

_COMP, _XDIAL, _DIALOGBENCH = "comp-analysis", "xDial-Eval", "DialogBench"
_TRANSLATION = {  # the last row of xDial-Eval's Table 2: average and decimals
    "bleu": (47.42, 2),
    "bertscore": (0.731, 3),
    "bleurt": (0.798, 3),
    "adequacy": (4.47, 2),
    "cometkiwi22": (0.833, 3),
    "cometkiwi23": (0.742, 3),
}
_N_RATED = {"turn": 14930, "dialogue": 8691}  # section 3.1 of xDial-Eval
WHY: Mapping[tuple[str, str, str], str] = MappingProxyType(
    {
        (_XDIAL, "Table 17", "LLaMA-7B + PoE, turn, spearman: average"): (
            "the mean of the row's printed correlations is .436; a misprint in one or the other"
        )
    }
)
"""Paper, item and what -> why a value does not come out."""


def values_from_rows() -> list[PrintedValue]:
    """Returns every average and sum, paper by paper."""
    return [*_dialogbench(), *_comp_analysis(), *_robustness(), *_xdial()]


def _value(paper: str, item: str, what: str, printed: float, decimals: int, ours: float) -> PrintedValue:
    return PrintedValue(paper, item, what, "rows", printed, decimals, ours, WHY.get((paper, item, what), ""))


def _dialogbench() -> Iterator[PrintedValue]:
    """Yields overall accuracies, means over models, and means over domains."""
    overall, average = dialogbench.OVERALL, dialogbench.AVERAGE
    models: dict[tuple[str, str, str], list[Mapping[str, float]]] = defaultdict(list)
    for row in dialogbench.published_rows():
        about = (row.table, row.language, row.group)
        last = overall if overall in row.values else average if average in row.values else ""
        if not last:
            continue
        item = f"Table {row.table}"
        cells = [value for column, value in row.values.items() if column != last]
        named = f"{row.model}, {row.group}"
        yield _value(_DIALOGBENCH, item, f"{named}: {last}", row.values[last], 2, float(np.mean(cells)))
        if row.model != average:
            models[about].append(row.values)
            continue
        for column, printed in row.values.items():
            of_models = float(np.mean([values[column] for values in models[about]]))
            yield _value(_DIALOGBENCH, item, f"mean of the models, {row.group}: {column}", printed, 2, of_models)


def _comp_analysis() -> Iterator[PrintedValue]:
    """Yields the averages over dimensions of Tables 5, 6 and 9."""
    text = files("dialeval.published").joinpath("metaeval.csv").read_text(encoding="utf-8")
    cells: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in csv.DictReader(text.splitlines()):
        cells[row["table"], row["level"], row["name"]][row["dimension"]] = float(row["value"])
    for (table, level, name), values in cells.items():
        if (printed := values.pop("average", None)) is not None:
            item = f"Table {table.split()[1]}"
            yield _value(_COMP, item, f"{name}, {level}: average", printed, 3, float(np.mean(list(values.values()))))


def _robustness() -> Iterator[PrintedValue]:
    """Yields the averages over kinds of damage of Table 12."""
    rows = published_robustness()
    for average in (row for row in rows if row.strategy == AVERAGE):
        kinds = [row for row in rows if row.level == average.level and row.strategy != AVERAGE]
        for judge in JUDGES:
            ours = float(np.mean([row.ratios[judge] for row in kinds]))
            yield _value(_COMP, "Table 12", f"{judge}, {average.level}: average", average.ratios[judge], 3, ours)


def _xdial() -> Iterator[PrintedValue]:
    """Yields the sums of Table 1, and the averages over languages and corpora of Tables 2, 4, 5 and 15 to 17."""
    text = files("dialeval.published").joinpath("rated_corpora.csv").read_text(encoding="utf-8")
    corpora = [row for row in csv.DictReader(text.splitlines()) if row["paper"] == "xdial-eval"]
    for level, printed in _N_RATED.items():
        total = sum(int(row["n_items"]) for row in corpora if row["level"] == level)
        yield _value(_XDIAL, "Table 1", f"items of all corpora, {level}", printed, 0, total)
    quality = published_quality().values()
    for metric, (average, decimals) in _TRANSLATION.items():
        ours = float(np.mean([values[metric] for values in quality]))
        yield _value(_XDIAL, "Table 2", f"{metric}: average", average, decimals, ours)
    for row in xdial.rows():
        values = dict(row.values)
        average = values.pop(xdial.AVERAGE)
        what = f"{row.label}, {row.level}, {row.statistic}: average"
        yield _value(_XDIAL, f"Table {row.table}", what, average, 3, float(np.mean(list(values.values()))))
