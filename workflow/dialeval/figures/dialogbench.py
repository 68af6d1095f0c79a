"""Figures of DialogBench: accuracies by task, domain, position and kind of model; and the written dialogues."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from dialeval.figures.panels import HeatMap
from dialeval.figures.plot import Missing, Plot, Section
from dialeval.figures.row_panels import Forest, Reference, Row, StackedBars, by_value, rows_of
from dialeval.figures.style import CI, COLUMN, PAGE, PERCENT, per, published_note, series_marks

EXPERTS = "people"
"""Type of the rows of the user's own experts."""
ALL_TASKS = {
    "SF": "Slot filling", "IC": "Intent classification", "KRG": "Knowledge-grounded", "CRG": "Commonsense-aware",
    "DI": "Dialogue infilling", "MRG": "Multi-turn response", "PRG": "Personality-grounded",
    "RC": "Relation classification", "ED": "Emotion detection", "NLI": "Dialogue NLI", "DS": "Summarization",
    "OD": "Offensive detection",
}  # fmt: skip
_CHANCE, _HUMAN, _OVERALL, _MEAN = "chance", "human (paper)", "Overall", "mean"
_FEW = 10
_LEAST = 5
_UNANSWERED = "No model was examined."
_UNDESCRIBED = "No model classified the written dialogues; set dialogbench.classifier to a model."
_GROUPS = {"daily life": "Daily life", "professional knowledge": "Professional knowledge"}
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_STYLES = {"friendly": 0.85, "neutral": 0.15, "unfriendly": 0.5}
_VARIANTS = {"full": "full procedure", "-styles": "without personalities", "-domains": "basic prompt"}
_N_DOMAINS = 20


def tasks(accuracy: pd.DataFrame) -> Plot | Missing:
    """Return the accuracy by task, best model on top, chance and people below (DialogBench, Tables 2 and 3).

    Of fewer than 10 items, a cell shows the counts (2/4) instead of a percentage.
    """
    ours = accuracy[(accuracy["source"] != "paper") & (accuracy["scope"] != "dimension")]
    if ours.empty:
        return Missing(_UNANSWERED)
    sections = [Section([_task_map(accuracy, rows)], title) for title, rows in _by_source(ours)]
    by_task = ours.loc[ours["scope"] == "task", "n"]
    few = f". Cells of fewer than {_FEW} items show correct/all" if (by_task < _FEW).any() else ""
    return Plot(
        sections,
        title="DialogBench accuracy by task",
        caption=f"Accuracy in percent. Overall is the mean over tasks{few}. Human accuracy is the paper's"
        f"{_part_note(ours)}.",
        n=per(by_task, "item", "task"),
        width=PAGE,
    )


def _task_map(accuracy: pd.DataFrame, rows: pd.DataFrame) -> HeatMap:
    names = [name for name in ALL_TASKS if (rows["name"] == name).any()]
    rows = rows.assign(row=_examinees(rows), name=rows["name"].where(rows["scope"] == "task", _OVERALL))
    wide, counts = (
        rows.pivot(index="row", columns="name", values=one).reindex(columns=[_OVERALL, *names])
        for one in ("accuracy", "n")
    )
    wide = wide.sort_values(_OVERALL, ascending=False, kind="stable")
    counts = counts.loc[wide.index]
    correct = (wide * counts).map("{:.0f}".format) + "/" + counts.map("{:.0f}".format)
    texts = wide.map(PERCENT.text).mask(counts < _FEW, correct)
    bottom = pd.DataFrame({_CHANCE: rows.groupby("name")["chance"].mean()}).T
    people = accuracy[(accuracy["source"] == "paper") & (accuracy["language"] == rows["language"].iloc[0])]
    if len(names) == len(ALL_TASKS) and len(people):
        people = people.assign(name=people["name"].where(people["scope"] == "task", _OVERALL))
        bottom.loc[_HUMAN] = people.drop_duplicates("name").set_index("name")["accuracy"]
    bottom = bottom.reindex(columns=wide.columns).astype(float)
    values = pd.concat([wide.astype(float), bottom])
    texts = pd.concat([texts, bottom.map(PERCENT.text)])
    values.insert(1, "", float("nan"))
    texts.insert(1, "", "")
    return HeatMap(
        values=values.rename(columns=ALL_TASKS), texts=texts.rename(columns=ALL_TASKS), unit=PERCENT, rules=[len(wide)]
    )


def overall(accuracy: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return the accuracy over all tasks with chance and people as references (DialogBench, Tables 2 and 3)."""
    found = accuracy[accuracy["scope"] == "overall"].rename(columns={"accuracy": "estimate"})
    ours = found[found["source"] != "paper"]
    if ours.empty:
        return Missing(_UNANSWERED)
    sections = []
    for title, rows in _by_source(ours):
        rows = rows.assign(row=_examinees(rows))
        people = found[(found["source"] == "paper") & (found["language"] == rows["language"].iloc[0])]["estimate"]
        lines = [Reference(float(rows["chance"].mean()), _CHANCE), *(Reference(float(one), "human") for one in people)]
        panel = Forest(table=rows, rows=rows_of(by_value(rows)), unit=PERCENT, numbers=True, limits=(0.0, 1.0),
                       references=lines, axis="Accuracy (%)")  # fmt: skip
        sections.append(Section([panel], title))
    return Plot(
        sections,
        title="DialogBench accuracy over all tasks",
        caption=f"Mean accuracy over tasks with its {interval}. Thin lines are chance and the paper's human accuracy"
        f"{published_note(ours)}{_part_note(ours)}.",
        n=per(ours["n"], "item", "model"),
    )


def domains(table: pd.DataFrame) -> Plot | Missing:
    """Return the accuracy by domain, after the mean of each group of domains (DialogBench, Table 7)."""
    known = table[table["group"] != ""]
    if known.empty:
        return Missing(_UNANSWERED if table.empty else "No item has a domain of DialogBench.")
    sections = []
    for title, rows in _by_source(known):
        rows = rows.assign(row=_examinees(rows))
        is_mean = rows["domain"] == _MEAN
        rows = rows.assign(column=rows["domain"].where(~is_mean, rows["group"].map(_GROUPS)))
        columns: list[str] = []
        for group in dict.fromkeys(rows["group"]):
            own = rows[(rows["group"] == group) & ~is_mean]
            columns += [*([""] if columns else []), _GROUPS[group], *dict.fromkeys(own["domain"])]
        is_few = ~is_mean & (rows["n"] < _LEAST)
        rows = rows.assign(accuracy=rows["accuracy"].mask(is_few))
        order = list(dict.fromkeys([*by_value(rows[rows["column"] == columns[0]], "accuracy"), *sorted(rows["row"])]))
        wide = rows.pivot(index="row", columns="column", values="accuracy").reindex(index=order, columns=columns)
        sections.append(Section([HeatMap(values=wide.astype(float), unit=PERCENT)], title))
    of_domains = known.loc[known["domain"] != _MEAN, "n"]
    few = f". Grey cells have fewer than {_LEAST} items" if (of_domains < _LEAST).any() else ""
    return Plot(
        sections,
        title="DialogBench accuracy by domain",
        caption="Accuracy in percent by domain. The first column of each group of domains is its mean"
        f"{few}{_part_note(known)}.",
        n=per(of_domains, "item", "domain"),
        width=PAGE,
    )


def positions(table: pd.DataFrame) -> Plot | Missing:
    """Return how often each letter is chosen, and the accuracy by the place of the right option (DialogBench, Fig. 7).

    Only items with the most options of their source count. Models that choose letters least evenly come first.
    """
    if table.empty:
        return Missing(_UNANSWERED)
    table = table[table["n_options"] == table.groupby(["source", "language"])["n_options"].transform("max")]
    sections = []
    for title, rows in _by_source(table):
        rows = rows.assign(row=_examinees(rows))
        chosen, right = (
            rows.pivot(index="row", columns="letter", values=one).astype(float) for one in ("share_chosen", "accuracy")
        )
        order = ((chosen - 1 / chosen.shape[1]) ** 2).sum(axis=1).sort_values(ascending=False, kind="stable").index
        p = rows.drop_duplicates("row").set_index("row")["p_uniform"].astype(float)
        names = {name: f"{name}, {_p_value(p[name])}" for name in order}
        panels = [
            HeatMap(values=wide.loc[order].rename(index=names), unit=PERCENT, title=what, axis=axis)
            for wide, what, axis in (
                (chosen, "Letters chosen", "Letter"),
                (right, "Accuracy", "Position of the correct option"),
            )
        ]
        sections.append(Section(panels, title, columns=2))
    orders = ". Every item is in all positions" if (table["orders"] > 1).all() else ""
    return Plot(
        sections,
        title="DialogBench position bias",
        caption="Share of each letter among the parsed answers, and accuracy by the position of the correct option, in "
        f"percent. p is from a chi-square test of equal shares of letters{orders}.",
        n=per(table["n"], "item", "position"),
        width=PAGE,
    )


def _p_value(p: float) -> str:
    return "p –" if np.isnan(p) else "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def averages(table: pd.DataFrame, interval: str = CI) -> Plot | Missing:
    """Return the mean accuracy of each kind of models by domain (DialogBench, Figure 8)."""
    if table.empty:
        return Missing("No examined model has a kind or a tag (`kind` and `tags` under models).")
    known = table[table["scope"].isin(["domain", "domains"])].rename(columns={"accuracy": "estimate"})
    if known.empty:
        return Missing("No item has a domain of DialogBench.")
    n_models = known.groupby(["group", "method"])["n_models"].transform("max").astype(int)
    named = known["group"] + ", " + known["method"].str.replace("_", ", ")
    known = known.assign(series=named + " (" + n_models.astype(str) + ")", row=known["scope"] + known["name"])
    series = series_marks(dict.fromkeys(known["series"]))
    sections = []
    for title, rows in _by_source(known):
        order: list[Row] = []
        waiting: list[Row] = []
        for scope, name in dict.fromkeys(zip(rows["scope"], rows["name"], strict=True)):
            if scope == "domains":  # the mean of a group follows its domains in the table
                order += [
                    Row(scope + name, "mean", name.capitalize()),
                    *(row._replace(group=name.capitalize()) for row in waiting),
                ]
                waiting = []
            else:
                waiting.append(Row(scope + name, name))
        chance = Reference(float(rows["chance"].astype(float).mean()), _CHANCE)
        panel = Forest(table=rows, rows=order + waiting, series=series, unit=PERCENT, limits=(0.0, 1.0),
                       references=[chance], axis="Accuracy (%)")  # fmt: skip
        sections.append(Section([panel], title))
    return Plot(
        sections,
        title="DialogBench accuracy by type of model and domain",
        caption=f"Mean accuracy of the models of each kind (their number in brackets). Bars are the {interval}"
        f"{published_note(known)}.",
        n=per(known.loc[known["scope"] == "domain", "n"], "item", "domain"),
        key=series,
    )


def styles(table: pd.DataFrame) -> Plot | Missing:
    """Return the share of friendly, neutral and unfriendly speakers, by speaker and variant (DialogBench, Figure 5)."""
    if table.empty:
        return Missing(_UNDESCRIBED)
    panels = []
    for title, rows in _by_classifier(table):
        rows = rows.assign(row=rows["variant"] + rows["speaker"].astype(str))
        shown = set(rows["row"])
        order = [
            Row(f"{variant}{speaker}", f"speaker {speaker}", name)
            for variant, name in _VARIANTS.items()
            for speaker in (1, 2)
            if f"{variant}{speaker}" in shown
        ]
        wide = rows.pivot(index="row", columns="style", values="share").astype(float).reindex(columns=list(_STYLES))
        panels.append(StackedBars(shares=wide, shades=_STYLES, rows=order, unit=PERCENT, title=title,
                                  limits=(0.0, 1.0), axis="Speakers (%)"))  # fmt: skip
    return Plot(
        [Section(panels)],
        title="Styles of the speakers of written dialogues",
        caption="Share of speakers of each style according to a model, by the procedure that wrote the dialogues.",
        n=_described(table, ["speaker"]),
        key=panels[0].key(),
    )


def domain_counts(table: pd.DataFrame) -> Plot | Missing:
    """Return the share of written dialogues in each domain, by variant (DialogBench, Figure 6)."""
    if table.empty:
        return Missing(_UNDESCRIBED)
    table = table.rename(columns={"share": "estimate"})
    table = table.assign(row=table["domain"], series=table["variant"].map(_VARIANTS))
    series = series_marks(name for variant, name in _VARIANTS.items() if (table["variant"] == variant).any())
    rows = rows_of(list(dict.fromkeys(table["domain"])))
    panels = [
        Forest(table=own, rows=rows, series=series, unit=PERCENT, title=title, axis="Dialogues (%)",
               references=[Reference(1 / _N_DOMAINS)])
        for title, own in _by_classifier(table)
    ]  # fmt: skip
    basic = (
        ". The basic prompt gives neither domain nor personalities" if (table["variant"] == "-domains").any() else ""
    )
    return Plot(
        [Section(panels, columns=2)],
        title="Domains of written dialogues",
        caption=f"Share of dialogues in each domain according to a model, with {CI}s. The thin line is an equal "
        f"share of all twenty domains{basic}.",
        n=_described(table, []),
        width=COLUMN if len(panels) == 1 else PAGE,
        key=series,
    )


def _by_classifier(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each model that described dialogues and each language, with a title."""
    groups = table.groupby(["judge", "language"], sort=False)
    return [(f"{judge}, {_LANGUAGES.get(str(language), language)}", rows) for (judge, language), rows in groups]


def _described(table: pd.DataFrame, keys: list[str]) -> str:
    """Return how many dialogues are behind the shares, and how many descriptions were unparsable."""
    keys = ["variant", "judge", "language", *keys]
    unparsed = int(table.drop_duplicates(keys)["n_unparsed"].sum())
    return per(table.groupby(keys)["n"].sum(), "dialogue", "variant") + (
        f"; unparsed: {unparsed:,}" if unparsed else ""
    )


def _by_source(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each source and language with a title, in the table's order."""
    for (source, language), rows in table.groupby(["source", "language"], sort=False):
        yield f"{source} items, {_LANGUAGES.get(str(language), language)}", rows


def _examinees(rows: pd.DataFrame) -> pd.Series:
    """Return the name of each row: model and method, marked where the model wrote or filtered the items."""
    names = rows["model"] + " (" + rows["method"].str.replace("_", ", ") + ")"
    if "part" in rows:
        names = names.where(rows["part"].isna(), names + " †")
    if "kind" in rows:
        names = names.where(rows["kind"] != EXPERTS, "human (" + rows["method"] + ")")
    return names


def _part_note(table: pd.DataFrame) -> str:
    """Return the note of a caption on models that wrote or filtered the items that they answer; else empty."""
    marked = table.loc[table["part"].notna()]
    if marked.empty:
        return ""
    parts = sorted(set(zip(marked["model"], marked["part"], strict=True)))
    return f". † not comparable: the model helped to make the items ({'; '.join(map(' '.join, parts))})"
