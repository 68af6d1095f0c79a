"""BotChat's Figures 4, 6 and 7: how often a model's dialogues pass for human, alone and beside the human one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from dialeval.figures.panels import (
    SHARE_INTERVAL,
    best_first,
    caption,
    check_columns,
    counts_behind,
    distinct,
    draw_published,
    in_order,
    interval_lengths,
    legend_marker,
    mark_missing,
    panel_grid,
    percent_axis,
    published_marker,
    shade_human,
    write_beside,
)
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREY,
    ON_LIGHT_COLOUR,
    ORANGE,
    SKY,
    mixed,
    model_colours,
    sentence_figure,
    styled,
)
from dialeval.tables import HUMAN

_MARKERS = "os^v<>Pph*"  # but the diamond, which marks published numbers
_SPREAD = 0.6
_OUTCOME_WIDTH = 31.0  # points
_HELD = ("win_or_tie", "win_or_tie_low", "win_or_tie_high")
_OUTCOMES = {"win": BLUE, "tie": mixed(SKY, "#FFFFFF", 0.35), "lose": ORANGE, "unparsed": "#C4C4C4"}


@styled
def figure4_unieval(pass_rates: pd.DataFrame, interval: str = SHARE_INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws UniEval's pass rates at every length N (BotChat, Figure 4), one panel per judge.

    People's dialogues, few of which are long, are counted in the caption where fewer are that long than models'.

    Args:
        pass_rates: `unieval/pass_rates`: judge, system, n_utterances, estimate, low, high, n, n_unparsed, published.
        interval: what the intervals are, for the axis.
        order: the models as other figures have them; those that it lacks follow, best first.
    """
    columns = ("n_utterances", "estimate", "low", "high", "n", "n_unparsed", "published")
    check_columns(pass_rates, "judge", "system", *columns)
    pass_rates = pass_rates.rename(columns={"system": "model"})
    if pass_rates.empty:
        return sentence_figure("UniEval has no verdicts, so there are no pass rates to show.")
    sizes = sorted({int(n) for n in pass_rates["n_utterances"]})
    longest = pass_rates[pass_rates["n_utterances"] == sizes[-1]]
    models = in_order(best_first(longest, "estimate", distinct(pass_rates, "model")), order)
    judges = distinct(pass_rates, "judge")
    figure, panels = panel_grid([f"Judge: {judge}" for judge in judges], models, 0.14 + 0.07 * min(len(sizes), 6))
    for judge, panel in zip(judges, panels, strict=True):
        of_judge = pass_rates[pass_rates["judge"] == judge]
        for index in range(len(sizes)):
            _draw_size(panel, of_judge, models, sizes, index)
        _finish_panel(panel, of_judge, models, "estimate")
    chatbots = pass_rates[pass_rates["model"] != HUMAN]
    counts = counts_behind(pass_rates["n"] if chatbots.empty else chatbots["n"], "dialogues")
    caption(
        figure,
        f"UniEval pass rate (% of {counts} per model)",
        f"bars: {interval}",
        _fewer_of_people(pass_rates, chatbots),
    )
    handles = [
        legend_marker(_MARKERS[i % len(_MARKERS)], _size_colour(i, sizes), f"N = {n}") for i, n in enumerate(sizes)
    ]
    if pass_rates["published"].notna().any():
        handles.append(published_marker("published"))
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 8), columnspacing=1.2)
    return figure


@styled
def figure6_gteval(gteval: pd.DataFrame, interval: str = SHARE_INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws how models fare against the human dialogues (BotChat, Figure 6), one panel per judge.

    Args:
        gteval: `gteval/win_rates`: judge, system, win, tie, lose, unparsed, win_or_tie with low and high, n, published.
        interval: what the intervals are, for the axis.
        order: the models as other figures have them; those that it lacks follow, best first.
    """
    check_columns(gteval, "judge", "system", *_OUTCOMES, *_HELD, "n", "published")
    gteval = gteval.rename(columns={"system": "model"})
    if gteval.empty:
        return sentence_figure("GTEval has no verdicts, so there are no win, tie and lose rates to show.")
    models, judges = in_order(best_first(gteval, "win_or_tie"), order), distinct(gteval, "judge")
    outcomes = [name for name in _OUTCOMES if gteval[name].gt(0).any()] or list(_OUTCOMES)[:-1]
    figure, panels = panel_grid([f"Judge: {judge}" for judge in judges], models, 0.28, columns=1)
    for judge, panel in zip(judges, panels, strict=True):
        of_judge = gteval[gteval["judge"] == judge].set_index("model").reindex(models)
        _draw_outcomes(panel, of_judge, outcomes)
        _draw_interval(panel, np.arange(len(models)), of_judge, *_HELD, colour=ON_LIGHT_COLOUR)
        draw_published(panel, np.arange(len(models)), of_judge["published"])
        mark_missing(panel, [row for row, empty in enumerate(of_judge["win_or_tie"].isna()) if empty])
        percent_axis(panel)
    counts = counts_behind(gteval["n"], "comparisons")
    caption(figure, f"Outcome against the human dialogue (% of {counts} per model)", f"bars: {interval} of win + tie")
    handles: list[Patch | Line2D] = [_outcome_patch(name) for name in outcomes]
    if gteval["published"].notna().any():
        handles.append(published_marker("published win + tie"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


@styled
def figure7_unieval_at_gt_length(
    pass_rates: pd.DataFrame, interval: str = SHARE_INTERVAL, order: Sequence[str] = ()
) -> Figure:
    """Draws UniEval's pass rates at the length of each human dialogue, one panel per judge.

    Args:
        pass_rates: `unieval/pass_rates_at_gt_length`: judge, system, estimate, low, high, n, n_unparsed.
        interval: what the intervals are, for the axis.
        order: the models as other figures have them; those that it lacks follow, best first.
    """
    check_columns(pass_rates, "judge", "system", "estimate", "low", "high", "n", "n_unparsed")
    pass_rates = pass_rates.rename(columns={"system": "model"})
    if pass_rates.empty:
        return sentence_figure("UniEval has no verdicts at the human dialogues' lengths, so there is nothing to show.")
    models, judges = in_order(best_first(pass_rates, "estimate"), order), distinct(pass_rates, "judge")
    colours = model_colours(models)
    figure, panels = panel_grid([f"Judge: {judge}" for judge in judges], models, 0.26)
    for judge, panel in zip(judges, panels, strict=True):
        of_judge = pass_rates[pass_rates["judge"] == judge]
        rows = of_judge.set_index("model").reindex(models)
        rates = rows["estimate"].fillna(0.0)
        panel.barh(np.arange(len(models)), rates, height=0.7, color=[colours[model] for model in models])
        _draw_interval(panel, np.arange(len(models)), rows, "estimate")
        _finish_panel(panel, of_judge, models, "estimate")
    counts = counts_behind(pass_rates["n"], "dialogues")
    caption(figure, f"UniEval pass rate at the human dialogue's length (% of {counts} per model)", f"bars: {interval}")
    return figure


def _draw_size(panel: Axes, of_judge: pd.DataFrame, models: list[str], sizes: list[int], index: int) -> None:
    """Draws all models' rates at one length N, each a little below the one of the length before."""
    rows = of_judge[of_judge["n_utterances"] == sizes[index]].set_index("model").reindex(models)
    shift = 0.0 if len(sizes) == 1 else _SPREAD * (index / (len(sizes) - 1) - 0.5)
    heights = np.arange(len(models)) + shift
    lengths = interval_lengths(rows, "estimate", "low", "high")
    panel.errorbar(
        rows["estimate"],
        heights,
        xerr=lengths,
        fmt=_shape(index),
        markersize=3.5,
        color=_size_colour(index, sizes),
        elinewidth=0.8,
        clip_on=False,
    )
    draw_published(panel, heights, rows["published"])


def _shape(index: int) -> str:
    return _MARKERS[index % len(_MARKERS)]


def _size_colour(index: int, sizes: list[int]) -> str:
    """Returns the colour of a length, darker for longer ones; the darkest can be seen on a dark page."""
    return to_hex(matplotlib.colormaps["viridis"](0.75 - 0.42 * index / max(len(sizes) - 1, 1)))


def _fewer_of_people(pass_rates: pd.DataFrame, chatbots: pd.DataFrame) -> str:
    """Returns how many of people's dialogues are as long as each N, where there are fewer than of the models'."""
    of_people = pass_rates[pass_rates["model"] == HUMAN].groupby("n_utterances")["n"].max()
    if of_people.empty or chatbots.empty or of_people.min() >= chatbots["n"].min():
        return ""
    counts = ", ".join(f"{n:,} at N = {size}" if n else f"none at N = {size}" for size, n in of_people.items())
    return f"people's dialogues that are so long: {counts}"


def _draw_outcomes(panel: Axes, rows: pd.DataFrame, outcomes: Sequence[str]) -> None:
    """Stacks the shares of the outcomes, whose percentages stand at the right: in a small segment they have no room."""
    left = np.zeros(len(rows))
    for place, name in enumerate(outcomes):
        shares = rows[name].fillna(0.0).to_numpy(dtype=np.float64)
        panel.barh(np.arange(len(rows)), shares, left=left, height=0.72, **_outcome_look(name))
        words = {row: f"{100 * share:.0f}" for row, share in enumerate(rows[name]) if not np.isnan(share)}
        write_beside(panel, name, words, place, width=_OUTCOME_WIDTH)
        left += shares


def _draw_interval(
    panel: Axes,
    heights: NDArray[Any],
    rows: pd.DataFrame,
    value: str,
    low: str = "low",
    high: str = "high",
    colour: str = BLACK,
) -> None:
    lengths = interval_lengths(rows, value, low, high)
    panel.errorbar(rows[value], heights, xerr=lengths, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2)


def _finish_panel(panel: Axes, of_judge: pd.DataFrame, models: list[str], value: str) -> None:
    """Adds what every panel of pass rates has: the axis, the human row's band, the numbers beside the rows."""
    percent_axis(panel)
    shade_human(panel, models)
    by_model = of_judge.groupby("model")
    present = by_model[value].count().reindex(models).fillna(0)
    mark_missing(panel, [row for row, count in enumerate(present) if count == 0])
    unparsed = by_model["n_unparsed"].max().reindex(models)
    if unparsed.gt(0).any():
        words = {row: f"{int(number):,}" for row, number in enumerate(unparsed) if number >= 0}
        write_beside(panel, "unparsed", words)


def _outcome_look(name: str) -> dict[str, Any]:
    hatch = "////" if name == "unparsed" else None
    return {"facecolor": _OUTCOMES[name], "edgecolor": GREY, "linewidth": 0.3, "hatch": hatch}


def _outcome_patch(name: str) -> Patch:
    words = {"win": "win (the human one is taken for AI)", "unparsed": "unparsed verdict"}.get(name, name)
    return Patch(label=words, **_outcome_look(name))
