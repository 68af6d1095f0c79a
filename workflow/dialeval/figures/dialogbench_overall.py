"""DialogBench's accuracies with their intervals beside chance: of each model, and of kinds of models by domain."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dialeval.figures.dialogbench_names import EXPERTS, PEOPLE_OF_PAPER, examinees, groups, what_the_mark_means
from dialeval.figures.panels import (
    LABEL_WIDTH,
    SHARE_INTERVAL,
    caption,
    check_columns,
    counts_behind,
    draw_published,
    interval_lengths,
    legend_marker,
    percent_axis,
    published_marker,
)
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    new_figure,
    sentence_figure,
    styled,
    wrapped,
)
from dialeval.text.counting import counted

_COLOURS = {"base": ORANGE, "chat": BLUE, EXPERTS: BLACK, "": GREY}
_FURTHER = (GREEN, PURPLE, SKY, VERMILLION)
_ROW, _HEADING = 0.19, 0.45  # inches
_DASHES = (0, (3, 2))


@styled
def figure_overall(accuracy: pd.DataFrame, interval: str = SHARE_INTERVAL) -> Figure:
    """Draws every model's accuracy over all tasks with its interval, beside blind guessing (Tables 2 and 3).

    One panel for each source and language: the best model on top, one's own experts among them, the paper's people, who
    were asked other items, above.

    Args:
        accuracy: `dialogbench/accuracy`.
        interval: what the bars are.
    """
    check_columns(accuracy, "source", "model", "method", "language", "scope", "accuracy", "low", "high", "n", "chance",
                  "kind", "part", "published")  # fmt: skip
    overall = accuracy[accuracy["scope"] == "overall"]
    ours = overall[overall["source"] != "paper"]
    if ours.empty:
        return sentence_figure("No model was examined, so there are no accuracies to show.")
    found = []
    for title, rows in groups(ours):
        rows = rows.assign(row=examinees(rows)).sort_values(["accuracy", "row"], ascending=[False, True])
        people = overall[(overall["source"] == "paper") & (overall["language"] == rows["language"].iloc[0])]
        found.append((title, rows, people))
    heights = [_HEADING + _ROW * (len(rows) + len(people) + 1) for _, rows, people in found]
    figure = new_figure(0.95 + sum(heights))
    panels = figure.subplots(len(found), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for panel, (title, rows, people) in zip(panels, found, strict=True):
        panel.set_title(title, loc="left")
        _dots(panel, rows, people)
        percent_axis(panel)
    kinds = dict.fromkeys(ours["kind"].fillna(""))
    names = {"base": "base models", "chat": "chat models", EXPERTS: "own experts", "": "kind not told"}
    entries = [legend_marker("o", _COLOURS[kind], names[kind], line=True) for kind in _COLOURS if kind in kinds]
    entries.append(Line2D([], [], color=GREY, linestyle=_DASHES, label="blind guessing"))
    if overall["published"].notna().any():
        entries.append(published_marker("published (the paper's items)"))
    figure.legend(handles=entries, loc="outside upper center", ncols=min(len(entries), 4))
    details = [interval, what_the_mark_means(ours)]
    n = counts_behind(ours["n"], "items")
    caption(figure, f"accuracy in percent, unweighted mean of the tasks; {n}", "; ".join(filter(None, details)))
    return figure


@styled
def figure_averages(averages: pd.DataFrame, interval: str = SHARE_INTERVAL) -> Figure:
    """Draws the mean accuracy of each kind of models by domain, daily life before knowledge (DialogBench, Figure 8).

    Args:
        averages: `dialogbench/averages`.
        interval: what the bars are.
    """
    check_columns(averages, "source", "group", "method", "language", "scope", "name", "n_models", "accuracy", "low",
                  "high", "n", "chance", "published")  # fmt: skip
    if averages.empty:
        return sentence_figure(
            "No examined model says its kind or carries a tag (kind and tags under models), so nothing is averaged."
        )
    by_domain = averages[averages["scope"].isin(["domain", "domains"])]
    if by_domain.empty:
        return sentence_figure("No item names a domain of DialogBench's, so there are no averages by domain.")
    found = list(groups(by_domain))
    heights = [_HEADING + 1.1 * _ROW * rows["name"].nunique() for _, rows in found]
    figure = new_figure(0.95 + sum(heights))
    panels = figure.subplots(len(found), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    series = list(dict.fromkeys(zip(by_domain["group"], by_domain["method"], strict=True)))
    colours: dict[tuple[str, str], str] = {}
    for group, method in series:
        first = _COLOURS.get(group) if group not in {name for name, _ in colours} else None
        colours[group, method] = first or _FURTHER[len(colours) % len(_FURTHER)]
    for panel, (title, rows) in zip(panels, found, strict=True):
        _by_domain(panel, rows, colours)
        panel.set_title(title, loc="left")
        percent_axis(panel)
    n_models = {key: int(rows["n_models"].max()) for key, rows in by_domain.groupby(["group", "method"])}
    entries = [
        legend_marker(
            "o", colour, f"{group}, {method.replace('_', ', ')}: {counted(n_models[group, method], 'model')}", True
        )
        for (group, method), colour in colours.items()
    ]
    entries.append(Line2D([], [], color=GREY, linestyle=_DASHES, label="blind guessing"))
    if by_domain["published"].notna().any():
        entries.append(published_marker("published (the paper's models and items)"))
    figure.legend(handles=entries, loc="outside upper center", ncols=min(len(entries), 3))
    n = counts_behind(by_domain.loc[by_domain["scope"] == "domain", "n"], "items")
    caption(figure, f"mean accuracy of the models in percent, {n} in each domain", f"{interval}, of these models")
    return figure


def _dots(panel: Axes, rows: pd.DataFrame, people: pd.DataFrame) -> None:
    names = [PEOPLE_OF_PAPER] * len(people) + rows["row"].tolist()
    places = np.arange(len(rows)) + len(people)
    below, above = interval_lengths(rows, "accuracy", "low", "high")
    for kind, colour in _COLOURS.items():
        own = (rows["kind"].fillna("") == kind).to_numpy()
        panel.errorbar(rows["accuracy"].to_numpy(float)[own], places[own], xerr=[below[own], above[own]], fmt="o",
                       color=colour, markersize=4)  # fmt: skip
    draw_published(panel, np.arange(len(people)), people["accuracy"])
    draw_published(panel, places, rows["published"].astype(float))
    _draw_chance(panel, rows)
    _name_rows(panel, names)


def _by_domain(panel: Axes, rows: pd.DataFrame, colours: dict[tuple[str, str], str]) -> None:
    names: list[str] = []
    means: list[str] = []
    waiting: list[str] = []
    for scope, name in dict.fromkeys(zip(rows["scope"], rows["name"], strict=True)):
        waiting.append(name)
        if scope == "domains":  # the mean of a group has its domains before it in the table, and below it here
            means.append(name)
            names += [name, *waiting[:-1]]
            waiting = []
    n_series = len(colours)
    for number, ((group, method), colour) in enumerate(colours.items()):
        found = rows[(rows["group"] == group) & (rows["method"] == method)].set_index("name").reindex(names)
        places = np.arange(len(names)) + 0.5 * ((number + 0.5) / n_series - 0.5)
        lengths = interval_lengths(found, "accuracy", "low", "high")
        panel.errorbar(found["accuracy"].to_numpy(float), places, xerr=lengths, fmt="o", color=colour, markersize=3.5)
        draw_published(panel, places, found["published"].astype(float))
    _draw_chance(panel, rows)
    _name_rows(panel, names, bold=means)


def _draw_chance(panel: Axes, rows: pd.DataFrame) -> None:
    chance = float(rows["chance"].astype(float).mean())
    if not math.isnan(chance):
        panel.axvline(chance, color=GREY, linewidth=0.9, linestyle=_DASHES, zorder=1)


def _name_rows(panel: Axes, names: list[str], bold: list[str] | None = None) -> None:
    panel.set_yticks(range(len(names)), [wrapped(name, LABEL_WIDTH) for name in names])
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x")
    for label, name in zip(panel.get_yticklabels(), names, strict=True):
        label.set_fontweight("bold" if name in (bold or [PEOPLE_OF_PAPER]) else "normal")
