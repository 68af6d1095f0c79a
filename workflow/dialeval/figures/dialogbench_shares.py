"""What written dialogues are like, by a judge's word: styles and domains, by the procedure that wrote them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dialeval.figures.panels import caption, check_columns, percent_axis
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    SMALL,
    TINY,
    VERMILLION,
    new_figure,
    readable_on,
    sentence_figure,
    styled,
)

_STYLES = {"friendly": BLUE, "neutral": LIGHT_GREY, "unfriendly": VERMILLION}
_VARIANTS = {
    "full": (BLUE, "full procedure"),
    "-styles": (ORANGE, "without personalities"),
    "-domains": (GREEN, "basic prompt"),
}
_NOTHING = "No model described the written dialogues; name one under dialogbench.classifier."
_LEAST_NOTED = 0.06
_N_DOMAINS = 20


@styled
def figure_styles(styles: pd.DataFrame) -> Figure:
    """Draws the share of friendly, neutral and unfriendly speakers, by speaker and variant (DialogBench, Figure 5).

    Args:
        styles: `dialogbench/styles`: variant, judge, language, speaker, style, n, share, n_unparsed.
    """
    check_columns(styles, "variant", "judge", "language", "speaker", "style", "n", "share", "n_unparsed")
    if styles.empty:
        return sentence_figure(_NOTHING)
    groups = _judges(styles)
    rows = [_rows_of(own) for _, own in groups]
    heights = [0.4 + 0.28 * len(names) for names in rows]
    figure = new_figure(0.9 + sum(heights))
    panels = figure.subplots(len(groups), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for panel, (title, own), names in zip(panels, groups, rows, strict=True):
        _stack(panel, own, names)
        panel.set_title(title, loc="left")
        percent_axis(panel)
    entries = [Patch(color=colour, label=style) for style, colour in _STYLES.items()]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries))
    caption(figure, f"share of speakers in percent; {_described(styles)}")
    return figure


@styled
def figure_domain_counts(domain_counts: pd.DataFrame) -> Figure:
    """Draws the share of dialogues that a judge sees in each domain, by variant (DialogBench, Figure 6).

    Args:
        domain_counts: `dialogbench/domain_counts`: variant, judge, language, domain, n, share, low, high, n_unparsed.
    """
    check_columns(domain_counts, "variant", "judge", "language", "domain", "n", "share", "low", "high", "n_unparsed")
    if domain_counts.empty:
        return sentence_figure(_NOTHING)
    groups = _judges(domain_counts)
    domains = list(dict.fromkeys(domain_counts["domain"]))
    variants = [name for name in _VARIANTS if (domain_counts["variant"] == name).any()]
    figure = new_figure(1.0 + (0.13 + 0.06 * len(variants)) * len(domains))
    panels = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    height = 0.8 / len(variants)
    for panel, (title, own) in zip(panels, groups, strict=True):
        for number, variant in enumerate(variants):
            found = own[own["variant"] == variant].set_index("domain").reindex(domains)
            places = [row - 0.4 + height * (number + 0.5) for row in range(len(domains))]
            panel.barh(places, 100 * found["share"].fillna(0.0), height=height, color=_VARIANTS[variant][0])
            panel.hlines(places, 100 * found["low"], 100 * found["high"], color=BLACK, linewidth=0.6)
        panel.axvline(100 / _N_DOMAINS, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)), zorder=3)
        panel.set_title(title, loc="left")
        panel.set_yticks(range(len(domains)), domains)
        panel.set_ylim(len(domains) - 0.4, -0.6)
        panel.tick_params(axis="y", length=0)
        panel.grid(axis="x")
    entries = [Patch(color=_VARIANTS[name][0], label=_VARIANTS[name][1]) for name in variants]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries))
    basic = "; the basic prompt gives neither domain nor personalities" if "-domains" in variants else ""
    caption(
        figure,
        f"share of dialogues in percent, with intervals; {_described(domain_counts)}",
        f"dashed: all twenty domains alike{basic}",
    )
    return figure


def _judges(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Returns the rows of each judge and language with a title."""
    groups = table.groupby(["judge", "language"], sort=False)
    return [(f"seen by {judge}, {language}", rows) for (judge, language), rows in groups]


def _rows_of(table: pd.DataFrame) -> list[tuple[str, int]]:
    present = set(zip(table["variant"], table["speaker"], strict=True))
    return [(variant, speaker) for variant in _VARIANTS for speaker in (1, 2) if (variant, speaker) in present]


def _stack(panel: Axes, table: pd.DataFrame, rows: Sequence[tuple[str, int]]) -> None:
    """Draws one bar per variant and speaker, its styles one after the other."""
    shares = table.set_index(["variant", "speaker", "style"])["share"].astype(float).fillna(0.0)
    for place, (variant, speaker) in enumerate(rows):
        left = 0.0
        for style, colour in _STYLES.items():
            share = float(shares.get((variant, speaker, style), 0.0))
            panel.barh(place, share, left=left, height=0.7, color=colour)
            if share >= _LEAST_NOTED:
                panel.text(left + share / 2, place, f"{100 * share:.0f}", ha="center", va="center", fontsize=TINY,
                           color=readable_on(colour))  # fmt: skip
            left += share
    names = [f"speaker {speaker}, {_VARIANTS[variant][1]}" for variant, speaker in rows]
    panel.set_yticks(range(len(rows)), names, fontsize=SMALL)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)


def _described(table: pd.DataFrame) -> str:
    """Returns how many dialogues there are behind the shares, and how many descriptions could not be read."""
    one = table.drop_duplicates(["variant", "judge", "language", *(["speaker"] if "speaker" in table else [])])
    keys = ["variant", "judge", "language", *(["speaker"] if "speaker" in table else [])]
    totals = table.groupby(keys)["n"].sum()
    low, high = int(totals.min()), int(totals.max())
    n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{n} dialogues, {int(one['n_unparsed'].sum()):,} could not be read"
