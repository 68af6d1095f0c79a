"""DialogBench: accuracies by task, domain, position and model, and what written dialogues are like."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dialeval.figures.panels import (
    LABEL_WIDTH,
    SHARE_INTERVAL,
    ShareMap,
    caption,
    check_columns,
    counts_behind,
    draw_published,
    interval_lengths,
    legend_marker,
    percent_axis,
    published_marker,
    stacked,
)
from dialeval.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PURPLE,
    SKY,
    SMALL,
    TINY,
    VERMILLION,
    new_figure,
    readable_on,
    sentence_figure,
    styled,
    wrapped,
)
from dialeval.text import counted

# DialogBench's accuracies as heat maps: by task, by domain, and by place of the right option.

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


# What the rows of DialogBench's figures are called, and the marks that their names carry.

PEOPLE_OF_PAPER = "people (the paper's items)"
EXPERTS = "people"
"""Kind of the rows of one's own experts."""
MARK = " †"
_LANGUAGES = {"en": "English", "zh": "Chinese"}


def groups(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yields the rows of each source and language with a title, in the table's order."""
    for (source, language), rows in table.groupby(["source", "language"], sort=False):
        yield f"{source} items, {_LANGUAGES.get(str(language), language)}", rows


def examinees(rows: pd.DataFrame) -> pd.Series:
    """Returns the name of each row: model and method, marked where the model wrote or filtered the items."""
    names = rows["model"] + " (" + rows["method"].str.replace("_", ", ") + ")"
    if "part" in rows:
        names = names.where(rows["part"].isna(), names + MARK)
    if "kind" in rows:
        names = names.where(rows["kind"] != EXPERTS, "people (" + rows["method"] + ")")
    return names


def what_the_mark_means(table: pd.DataFrame) -> str:
    """Returns the words that explain the mark, if a row carries it."""
    marked = table.loc[table["part"].notna()]
    if marked.empty:
        return ""
    told = "; ".join(
        f"{model} {part}" for model, part in sorted(set(zip(marked["model"], marked["part"], strict=True)))
    )
    return f"†: had a part in these items ({told}) and is not to be compared with others on them"


# DialogBench's accuracies with their intervals beside chance: of each model, and of kinds of models by domain.

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


# What written dialogues are like, by a judge's word: styles and domains, by the procedure that wrote them.

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
