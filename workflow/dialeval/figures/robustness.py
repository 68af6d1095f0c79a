"""Figures of robustness: how judges react to perturbed dialogues."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from dialeval.figures.metaeval_names import by_level, in_one_language, scorer_names
from dialeval.figures.panels import HeatMap
from dialeval.figures.plot import Missing, Plot, Section
from dialeval.figures.row_panels import Boxes, Forest, Reference, Row, in_series
from dialeval.figures.style import CI, GREY, PAGE, PERCENT, Mark, Unit, per, published_note, series_marks

_NO_DATA = "No judge has scored perturbed items."
_MOST_JUDGES = 8
_SCORE = Unit(1.0, 2)
_RATIOS = {"score falls": Mark(), "score rises (noise)": Mark(GREY, "|")}
_LADDERS = ("falls at every level", "never rises")


def ratios(robustness: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return the share of detected perturbations beside the share of score rises (comp-analysis, Table 12)."""
    table = robustness.assign(none=math.nan)
    falls, rises = _RATIOS
    both = in_series(
        table,
        {falls: ("ratio", "ci_low", "ci_high", "published_ratio"), rises: ("increase_ratio", "none", "none", "none")},
    )
    panel = partial(Forest, series=_RATIOS, limits=(0.0, 1.0), unit=PERCENT, axis="Pairs (%)")
    sections, are_maps = _sections(both, robustness, panel, HeatMap(values=pd.DataFrame(), unit=PERCENT))
    if not sections:
        return Missing(_NO_DATA)
    bars = (
        ""
        if are_maps
        else f". Bars are the {interval}. Grey ticks are the share of pairs whose score rises by as much (noise)"
    )
    note = published_note(both) if not are_maps else ""
    return Plot(
        sections,
        title="Detection of perturbations",
        caption="Percentage of pairs whose score falls by more than the threshold"
        f"{bars}{note}{_language_note(robustness)}.",
        n=per(robustness["n"], "pair", "perturbation"),
        width=PAGE,
        key={} if are_maps else _RATIOS,
    )


def drops(table: pd.DataFrame, robustness: pd.DataFrame) -> Plot | Missing:
    """Return the distribution of score drops, a row per perturbation and a panel per judge."""
    thresholds = robustness.drop_duplicates(["perturbation", "dimension"])
    joined = table.merge(
        thresholds[["perturbation", "dimension", "threshold"]], on=["perturbation", "dimension"], how="left"
    )
    limits = float(np.nanmin([-0.5, *table["p05"]])) - 0.05, float(np.nanmax([0.5, *table["p95"]])) + 0.05
    panel = partial(Boxes, limits=limits, unit=_SCORE, references=[Reference(0.0)], axis="Score drop")
    joined = joined.assign(estimate=joined["median"])
    sections, are_maps = _sections(joined, robustness, panel, HeatMap(values=pd.DataFrame(), unit=_SCORE, signed=True))
    if not sections:
        return Missing(_NO_DATA)
    boxes = (
        "box 25 to 75% of the pairs, whiskers 5 to 95%, black line median. The orange tick is the threshold above "
        "which a drop counts as detected"
    )
    return Plot(
        sections,
        title="Score drops under perturbation",
        caption="Score of the original minus score of the perturbed item, both from 0 to 1: "
        f"{'median over the pairs' if are_maps else boxes}{_language_note(table)}.",
        n=per(table["n"], "pair", "perturbation"),
        width=PAGE,
    )


def ladders(table: pd.DataFrame, robustness: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return the share of dialogues whose score falls at every severity level, or never rises."""
    both = in_series(
        table,
        {
            _LADDERS[0]: ("strictly_decreasing", "strictly_decreasing_ci_low", "strictly_decreasing_ci_high"),
            _LADDERS[1]: ("non_increasing", "non_increasing_ci_low", "non_increasing_ci_high"),
        },
    )
    series = series_marks(_LADDERS)
    panel = partial(Forest, series=series, limits=(0.0, 1.0), unit=PERCENT, axis="Dialogues (%)")
    sections, are_maps = _sections(both, robustness, panel, HeatMap(values=pd.DataFrame(), unit=PERCENT))
    if not sections:
        return Missing("No dialogue was perturbed at several severity levels.")
    what = "falls at every severity level" if are_maps else "falls at every severity level, or never rises"
    return Plot(
        sections,
        title="Severity levels",
        caption=f"Percentage of dialogues whose score {what}"
        f"{'' if are_maps else f'. Bars are the {interval}'}{_language_note(table)}.",
        n=per(table["n"], "dialogue", "perturbation"),
        width=PAGE,
        key={} if are_maps else series,
    )


def _sections(
    table: pd.DataFrame, robustness: pd.DataFrame, panel: partial[Forest] | partial[Boxes], heat_map: HeatMap
) -> tuple[list[Section], bool]:
    """Return a section per corpus and level, with a panel per judge and rows grouped by dimension.

    If there are more than 8 judges, a section is a heat map of the estimates of the first series, and the second value
    is true.
    """
    titles = dict(zip(robustness["perturbation"], robustness["title"], strict=True))
    surplus = (robustness["ratio"] - robustness["increase_ratio"]).astype(float)
    surplus = surplus.groupby(scorer_names(robustness)).mean().fillna(-math.inf)
    blocks = list(_blocks(table, robustness))
    are_maps = max((rows["scorer"].nunique() for _, rows in blocks), default=0) > _MOST_JUDGES
    sections = []
    for title, rows in blocks:
        judges = sorted(set(rows["scorer"]), key=lambda name: (-surplus.get(name, -math.inf), name))
        first = rows[rows["scorer"] == judges[0]].drop_duplicates("row").set_index("row")["estimate"].fillna(-math.inf)
        keys = sorted(rows.drop_duplicates("row")["row"], key=lambda key: (-first.get(key, -math.inf), key))
        strategies = dict(zip(rows["row"], rows["perturbation"], strict=True))
        order = [
            Row(key, _sentence(str(titles.get(strategies[key], strategies[key]))), dimension.capitalize())
            for dimension in dict.fromkeys(rows["dimension"])
            for key in keys
            if key.endswith(f" {dimension}")
        ]
        if are_maps:
            one = rows[rows["series"] == rows["series"].iloc[0]] if "series" in rows else rows
            wide = one.pivot_table(index="scorer", columns="row", values="estimate").reindex(index=judges)
            wide = wide.reindex(columns=[row.key for row in order]).rename(
                columns={row.key: row.label for row in order}
            )
            sections.append(Section([replace(heat_map, values=wide)], title))
        else:
            panels = [panel(table=rows[rows["scorer"] == judge], rows=order, title=judge) for judge in judges]
            sections.append(Section(panels, title, columns=4))
    return sections, are_maps


def _blocks(table: pd.DataFrame, robustness: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each corpus and level in one language, with a title; dimensions as `robustness` has them."""
    order = {name: place for place, name in enumerate(dict.fromkeys(robustness["dimension"]))}
    has_level = "level" in table
    for level, (corpus,), of_corpus in by_level(table if has_level else table.assign(level=""), "corpus"):
        rows = in_one_language(of_corpus)
        language = rows["language"].iloc[0]
        rows = rows.assign(row=rows["perturbation"] + " " + rows["dimension"], scorer=scorer_names(rows))
        rows = rows.sort_values("dimension", key=lambda names: names.map(order), kind="stable")
        yield f"{corpus}, {level} level ({language})" if has_level else f"{corpus} ({language})", rows


def _language_note(table: pd.DataFrame) -> str:
    """Return the note of a caption if a corpus has more languages than the figure shows; else empty."""
    several = len(table) > 0 and (table.groupby("corpus")["language"].nunique() > 1).any()
    return ". One language of each corpus is shown, English if it has it" if several else ""


def _sentence(title: str) -> str:
    return title.replace("_", " ").capitalize()
