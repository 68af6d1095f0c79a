"""DialogBench's accuracies as heat maps: by task, by domain, and by place of the right option."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dialeval.figures.dialogbench_names import PEOPLE_OF_PAPER, examinees, groups, what_the_mark_means
from dialeval.figures.panels import check_columns, counts_behind
from dialeval.figures.share_maps import ShareMap, stacked
from dialeval.figures.style import sentence_figure, styled

OVERALL, MEAN = "Overall", "mean"
_MEANS = {"daily life": "daily life (mean)", "professional knowledge": "professional (mean)"}
CHANCE = "blind guessing"
ALL_TASKS = 12
LEAST = 5
"""Items of a domain below which its accuracy is not painted."""
_UNANSWERED = "No model was examined, so there are no accuracies to show."


@styled
def figure_tasks(accuracy: pd.DataFrame) -> Figure:
    """Draws every model's accuracy by task, with the mean of the tasks first (DialogBench, Tables 2 and 3).

    One map for each source and language, the best model on top, what blind guessing gives below. Above it stand
    people's published accuracies, where all twelve tasks are there.

    Args:
        accuracy: `dialogbench/accuracy`: source, model, method, language, scope, name, accuracy, n, chance, kind, part.
    """
    check_columns(accuracy, "source", "model", "method", "language", "scope", "name", "accuracy", "n", "chance", "kind",
                  "part")  # fmt: skip
    ours = accuracy[accuracy["source"] != "paper"]
    if ours.empty:
        return sentence_figure(_UNANSWERED)
    maps = []
    for title, rows in groups(ours):
        rows = rows[rows["scope"] != "dimension"]
        tasks = list(dict.fromkeys(rows.loc[rows["scope"] == "task", "name"]))
        people = accuracy[(accuracy["source"] == "paper") & (accuracy["language"] == rows["language"].iloc[0])]
        bold = frozenset({PEOPLE_OF_PAPER} if len(tasks) == ALL_TASKS and not people.empty else ())
        named = [rows.assign(row=examinees(rows))] + [people.assign(row=PEOPLE_OF_PAPER)] * len(bold)
        guessed = rows.groupby("name", sort=False)["chance"].mean().rename("accuracy")
        named.append(guessed.reset_index().assign(row=CHANCE))
        maps.append(_best_first(title, pd.concat(named), "name", OVERALL, tasks, bold))
    n = counts_behind(ours.loc[ours["scope"] == "task", "n"], "items")
    quantity = f"accuracy in percent, {n} in each task; Overall: unweighted mean of the tasks"
    return stacked(maps, quantity, what_the_mark_means(ours))


@styled
def figure_domains(domains: pd.DataFrame) -> Figure:
    """Draws every model's accuracy by domain, after the mean of each group of domains (DialogBench, Table 7).

    A domain of fewer than `LEAST` items shows their number alone: its accuracy says next to nothing.

    Args:
        domains: `dialogbench/domains`: source, model, method, language, group, domain, accuracy, n, kind, part.
    """
    check_columns(domains, "source", "model", "method", "language", "group", "domain", "accuracy", "n", "kind", "part")
    known = domains[domains["group"] != ""]
    if known.empty:
        return sentence_figure(_UNANSWERED if domains.empty else "No item names a domain of DialogBench's.")
    maps = []
    for title, rows in groups(known):
        means = rows["domain"] == MEAN
        few = ~means & (rows["n"] < LEAST)
        rows = rows.assign(
            accuracy=rows["accuracy"].mask(few),
            words=np.where(few, "n=" + rows["n"].astype(str), ""),
            row=examinees(rows),
            column=rows["domain"].where(~means, rows["group"].map(_MEANS)),
        )
        columns: list[str] = []
        for group in dict.fromkeys(rows["group"]):
            own = rows[rows["group"] == group]
            columns += [*([""] if columns else []), _MEANS[group], *dict.fromkeys(own.loc[~means, "domain"])]
        first, *others = columns
        maps.append(_best_first(title, rows, "column", first, others, frozenset()))
    n = counts_behind(known.loc[known["domain"] != MEAN, "n"], "items")
    hidden = (known.loc[known["domain"] != MEAN, "n"] < LEAST).any()
    details = f"of fewer than {LEAST} items only their number n is shown; means are over all" if hidden else ""
    details = "; ".join(filter(None, [details, what_the_mark_means(known)]))
    return stacked(maps, f"accuracy in percent, {n} in each domain", details)


@styled
def figure_positions(positions: pd.DataFrame) -> Figure:
    """Draws how often each letter is chosen, and the accuracy by the place of the right option (DialogBench, Fig. 7).

    Only items with the most options of their source count. Models that choose their letters least evenly come first.

    Args:
        positions: `dialogbench/positions`: source, model, method, language, n_options, letter, accuracy, n,
            share_chosen, p_uniform, orders.
    """
    check_columns(positions, "source", "model", "method", "language", "n_options", "orders", "letter", "accuracy", "n",
                  "share_chosen", "p_uniform")  # fmt: skip
    if positions.empty:
        return sentence_figure(_UNANSWERED)
    maps = []
    for title, rows in groups(positions):
        rows = rows[rows["n_options"] == rows["n_options"].max()]
        rows = rows.assign(row=examinees(rows))
        letters = sorted(set(rows["letter"]))
        shares, right = (_wide(rows, "letter", value, letters) for value in ("share_chosen", "accuracy"))
        unevenness = ((shares - 1 / len(letters)) ** 2).sum(axis=1, min_count=1).to_dict()
        order = sorted(map(str, unevenness), key=lambda name: (-_number(unevenness[name]), name))
        gap = np.full((len(order), 1), np.nan)
        values = np.hstack([shares.loc[order].to_numpy(float), gap, right.loc[order].to_numpy(float)])
        p = rows.drop_duplicates("row").set_index("row")["p_uniform"]
        title = f"{title}: letters chosen, and accuracy by place"
        maps.append(
            ShareMap(title, order, [*letters, "", *letters], values, [_p_value(float(p[name])) for name in order])
        )
    most = positions.groupby(["source", "language"])["n_options"].transform("max")
    shown = positions.loc[positions["n_options"] == most]
    n = counts_behind(shown["n"], "items")
    orders = ", every item in all places" if (shown["orders"] > 1).all() else ""
    return stacked(
        maps,
        f"left: share of each letter among the readable answers; right: accuracy where the right option stands there "
        f"({n} each{orders}), in percent",
        "beside: probability of letters at least as uneven by chance (chi-square)",
    )


def _best_first(
    title: str, rows: pd.DataFrame, column: str, first: str, others: Sequence[str], bold: frozenset[str]
) -> ShareMap:
    """Returns a map with one column apart from the others, by which the rows are sorted, those in bold on top."""
    columns = [first, "", *others] if "" not in others else [first, *others]
    wide = _wide(rows, column, "accuracy", [name for name in columns if name])
    best = wide[first].to_dict()
    order = sorted(map(str, best), key=lambda name: (name not in bold, name == CHANCE, -_number(best[name]), name))
    values = wide.reindex(index=order, columns=columns).to_numpy(float)
    words = None
    if "words" in rows:
        told = rows.pivot(index="row", columns=column, values="words").reindex(index=order, columns=columns)
        words = told.astype(object).where(told.notna(), "").to_numpy(dtype=np.str_)
    return ShareMap(title, order, columns, values, bold=bold, words=words)


def _wide(rows: pd.DataFrame, column: str, value: str, columns: Sequence[str]) -> pd.DataFrame:
    return rows.pivot(index="row", columns=column, values=value).astype(float).reindex(columns=list(columns))


def _number(value: float) -> float:
    return -math.inf if math.isnan(value) else float(value)


def _p_value(p: float) -> str:
    if math.isnan(p):
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
