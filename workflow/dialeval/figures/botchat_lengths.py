"""BotChat's Figures 2 and 3: how long the human dialogues are, and how long everyone's utterances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from dialeval.figures.panels import check_columns, in_order, label_rows, write_beside
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREY,
    LIGHT_GREY,
    SMALL,
    model_colours,
    new_figure,
    sentence_figure,
    styled,
)

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
