"""BotChat's figures: lengths, pass rates, arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from dialeval.figures.pairwise import IN_BATTLES, PAIR_COLUMNS, RATING_COLUMNS, draw_win_maps, forest_plot
from dialeval.figures.panels import (
    INTERVAL,
    SHARE_INTERVAL,
    best_first,
    caption,
    check_columns,
    counts_behind,
    distinct,
    draw_published,
    in_order,
    interval_lengths,
    label_rows,
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
    LIGHT_GREY,
    ON_LIGHT_COLOUR,
    ORANGE,
    SKY,
    SMALL,
    mixed,
    model_colours,
    new_figure,
    sentence_figure,
    styled,
)
from dialeval.tables.files import HUMAN

# BotChat's Arena: Figure 5, who wins against whom, and the ratings that follow from it.


@styled
def figure5_arena(win_rates: pd.DataFrame, n: int, order: Sequence[str] = ()) -> Figure:
    """Draws how often each model wins, and wins or ties, against each other one (BotChat, Figure 5).

    Panels per judge. A pair that the table has in one direction only is shown in both.

    Args:
        win_rates: `arena/win_rates`: judge, n_utterances, system, opponent, win, tie, lose, unparsed, n.
        n: the length N whose comparisons are shown.
        order: the models as other figures have them; those that it lacks follow, sorted by wins plus half the ties.
    """
    check_columns(win_rates, "judge", "n_utterances", *PAIR_COLUMNS)
    rates = win_rates[win_rates["n_utterances"] == n]
    if rates.empty:
        return sentence_figure(f"The Arena has no comparisons at N = {n}, so there are no win rates to show.")
    of_judges = {f"judge: {judge}": rates[rates["judge"] == judge] for judge in distinct(rates, "judge")}
    return draw_win_maps(of_judges, f"Row's model against column's model at N = {n}", order)


@styled
def figure_arena_ratings(ratings: pd.DataFrame, interval: str = INTERVAL, order: Sequence[str] = ()) -> Figure:
    """Draws all ratings of the models side by side, one panel per judge and length N.

    A star marks a model that has a note, which is
    where the comparisons set no limit on its rating; such a rating is written at the edge where it lies far off.

    Args:
        ratings: `arena/ratings`: judge, n_utterances, system, estimate (Elo), bradley_terry, davidson, each with low
            and high, note, published, n, n_unparsed.
        interval: what the intervals are, for the axis.
        order: the models as other figures have them; those that it lacks follow, by Elo at the largest N.
    """
    check_columns(ratings, "judge", *IN_BATTLES, "note", "n_unparsed")
    arena_elo = ratings.rename(columns=IN_BATTLES)
    check_columns(arena_elo, *RATING_COLUMNS)
    if arena_elo.empty:
        return sentence_figure("The Arena has no comparisons, so there are no ratings to show.")
    sizes, judges = sorted({int(n) for n in arena_elo["n_utterances"]}), distinct(arena_elo, "judge")
    longest = arena_elo[arena_elo["n_utterances"] == sizes[-1]]
    models = in_order(best_first(longest, "elo", distinct(arena_elo, "model")), order)
    panels = {
        f"N = {n}, judge: {judge}": arena_elo[(arena_elo["judge"] == judge) & (arena_elo["n_utterances"] == n)]
        for judge in judges
        for n in sizes
    }
    return forest_plot(panels, models, interval, columns=len(sizes))


# BotChat's Figures 2 and 3: how long the human dialogues are, and how long everyone's utterances.

_LOG_TICKS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
_LOG_IF_LONGEST_EXCEEDS_MEDIAN = 8.0
_VIOLIN_HALF_HEIGHT = 0.42
_MEAN: Mapping[str, Any] = MappingProxyType(
    {"marker": "o", "markerfacecolor": "white", "markeredgecolor": BLACK, "linestyle": "none"}
)
_MEDIAN: Mapping[str, Any] = MappingProxyType({"marker": "|", "markeredgecolor": BLACK, "linestyle": "none"})


@styled
def figure2_seed_lengths(seeds_counts: pd.DataFrame, arena_min: int = 4) -> Figure:
    """Draws how many human dialogues have how many utterances (BotChat, Figure 2).

    Args:
        seeds_counts: `botchat/seeds`: n_utterances, n_dialogues.
        arena_min: utterances that a dialogue needs for its seed to serve Arena and GTEval.
    """
    check_columns(seeds_counts, "n_utterances", "n_dialogues")
    counts = seeds_counts.groupby("n_utterances")["n_dialogues"].sum()
    if counts.sum() == 0:
        return sentence_figure("There are no seeds, so there are no human dialogues whose length could be shown.")
    lengths, heights = counts.index.to_numpy(dtype=int), counts.to_numpy(dtype=int)
    serves = lengths >= arena_min
    figure = new_figure(2.9)
    axes = figure.subplots()
    bars = axes.bar(
        lengths, heights, width=0.8, color=np.where(serves, BLUE, LIGHT_GREY), edgecolor=GREY, linewidth=0.4
    )
    axes.bar_label(bars, fmt="{:,.0f}", fontsize=SMALL if len(lengths) <= 25 else 4.5, padding=1.5)
    axes.set_xlim(lengths.min() - 0.8, lengths.max() + 0.8)
    axes.xaxis.set_major_locator(MaxNLocator(20, integer=True))
    axes.set_xlabel("Utterances in the human dialogue")
    axes.set_ylabel("Dialogues")
    axes.margins(y=0.1)
    total, serving = int(heights.sum()), int(heights[serves].sum())
    words = f"serve Arena and GTEval (at least {arena_min} utterances): {serving:,} of {total:,} dialogues"
    others = f"serve UniEval only: {total - serving:,}"
    figure.legend(
        handles=[
            Patch(facecolor=BLUE, edgecolor=GREY, linewidth=0.4, label=words),
            Patch(facecolor=LIGHT_GREY, edgecolor=GREY, linewidth=0.4, label=others),
        ],
        loc="outside upper center",
        ncols=2,
    )
    return figure


@styled
def figure3_utterance_lengths(tokens: pd.DataFrame, order: Sequence[str] = ()) -> Figure:
    """Draws the distribution of utterance lengths of every model as a violin (BotChat, Figure 3).

    The axis is logarithmic, as log(1 + tokens), where the longest utterance is many times as long as the usual one.

    Args:
        tokens: `botchat/utterance_tokens`: model, tokens, tokenizer.
        order: the models as other figures have them; those that it lacks follow, the shortest utterances first.
    """
    check_columns(tokens, "model", "tokens", "tokenizer")
    if tokens.empty:
        return sentence_figure("There are no utterances, so there are no lengths to show.")
    tokenizer = str(tokens["tokenizer"].iloc[0])
    lengths = {
        str(model): group.to_numpy(dtype=np.float64) for model, group in tokens.groupby("model")["tokens"] if len(group)
    }
    models = in_order(sorted(lengths, key=lambda model: (lengths[model].mean(), model)), order)
    everything = np.concatenate(list(lengths.values()))
    logarithmic = bool(everything.max() > _LOG_IF_LONGEST_EXCEEDS_MEDIAN * max(float(np.median(everything)), 1.0))
    figure = new_figure(1.1 + 0.36 * max(len(models), 2))
    axes = figure.subplots()
    _set_length_axis(axes, everything, logarithmic, tokenizer)
    colours = model_colours(models)
    for row, model in enumerate(models):
        _violin(axes, row, lengths[model], colours[model], logarithmic)
    label_rows(axes, models)
    write_beside(axes, "mean", {row: f"{lengths[model].mean():,.1f}" for row, model in enumerate(models)})
    write_beside(axes, "n", {row: f"{len(lengths[model]):,}" for row, model in enumerate(models)}, column=1)
    mean = Line2D([], [], **_MEAN, markersize=4, label="mean")
    median = Line2D([], [], **_MEDIAN, markersize=8, label="median")
    figure.legend(handles=[mean, median], loc="outside lower center", ncols=2)
    return figure


def _set_length_axis(axes: Axes, lengths: NDArray[np.float64], logarithmic: bool, tokenizer: str) -> None:
    longest = max(float(lengths.max()), 1.0)
    left, scale = 0.0, ""
    if logarithmic:
        axes.set_xscale("function", functions=(np.log1p, np.expm1))
        axes.set_xticks([tick for tick in _LOG_TICKS if tick <= 1.2 * longest])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:,.0f}")
        left, scale = 0.8 * float(lengths.min()), " (logarithmic axis)"
    axes.set_xlim(left, 1.1 * longest)
    unit = tokenizer if " " in tokenizer else f"{tokenizer} tokens"  # without a vocabulary it is a unit in words
    axes.set_xlabel(f"Utterance length in {unit}{scale}; n: utterances")


def _violin(axes: Axes, row: int, lengths: NDArray[np.float64], colour: str, logarithmic: bool) -> None:
    """Draws one model's violin, from its shortest utterance to its longest, with mean and median."""
    shortest, longest = float(lengths.min()), float(lengths.max())
    if longest > shortest:
        at, density = _density(lengths, logarithmic)
        half = _VIOLIN_HALF_HEIGHT * density / density.max()
        axes.fill_between(at, row - half, row + half, facecolor=colour, edgecolor=GREY, linewidth=0.5)
    else:
        axes.vlines(shortest, row - _VIOLIN_HALF_HEIGHT, row + _VIOLIN_HALF_HEIGHT, color=colour, linewidth=2.0)
    axes.plot(np.median(lengths), row, **_MEDIAN, markersize=8)
    axes.plot(lengths.mean(), row, **_MEAN, markersize=4)


def _density(lengths: NDArray[np.float64], logarithmic: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns places in tokens and the density of lengths there, smoothed on the scale that is shown.

    Scott's rule sets the width of the kernel. Equal lengths are merged first, as there are few distinct ones.
    """
    distinct, counts = np.unique(np.log1p(lengths) if logarithmic else lengths, return_counts=True)
    places = np.linspace(distinct[0], distinct[-1], 160)
    share = counts / len(lengths)
    width = len(lengths) ** -0.2 * np.sqrt(np.cov(distinct, aweights=share))
    density = np.exp(-0.5 * ((places[:, np.newaxis] - distinct) / width) ** 2) @ (
        share / (np.sqrt(2.0 * np.pi) * width)
    )
    return (np.expm1(places) if logarithmic else places), density


# BotChat's Figures 4, 6 and 7: how often a model's dialogues pass for human, alone and beside the human one.

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
