"""Figures of systems under any protocol: means, shares, win rates, ratings, biases, human-corrected estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dialeval.figures.panels import HeatMap, Lines
from dialeval.figures.plot import Missing, Plot, Section
from dialeval.figures.row_panels import Forest, Reference, by_value, in_series, rows_of
from dialeval.figures.style import (
    CI,
    COLUMN,
    CORRELATION,
    PAGE,
    PERCENT,
    POINTS,
    Mark,
    Unit,
    per,
    published_note,
    series_marks,
    system_marks,
)
from dialeval.tables.files import HUMAN

MOST_IN_COLUMN = 8
"""Most systems of a figure of one column's width."""
_BY_CASE = "95% confidence intervals clustered by case"
_MOST_PANELS = 24
_METHODS = {
    "Elo (bootstrap)": ("estimate", "ci_low", "ci_high", "published"),
    "Bradley–Terry": ("bradley_terry", "bradley_terry_ci_low", "bradley_terry_ci_high"),
    "Davidson": ("davidson", "davidson_ci_low", "davidson_ci_high"),
}


def means(table: pd.DataFrame, protocol: str, roster: Sequence[str]) -> Plot | Missing:
    """Return the mean score of every system, a panel per criterion and a series per judge."""
    caption = "Mean score on the scale of each criterion"
    return _estimates(table, f"Mean scores: {protocol}", caption, "Mean score", Unit(1.0, 2), roster)


def shares(table: pd.DataFrame, protocol: str, roster: Sequence[str]) -> Plot | Missing:
    """Return the share of a label, or of checklist questions with yes, of every system; a panel per criterion."""
    caption = "Share of dialogues for which the judge gives the answer above the panel"
    return _estimates(table, f"Shares: {protocol}", caption, "Share (%)", PERCENT, roster)


def pass_rates(table: pd.DataFrame, protocol: str, roster: Sequence[str]) -> Plot | Missing:
    """Return the pass rate of every system over the length N."""
    caption = "Share of dialogues in which the judge detects no AI in the first N utterances"
    return over_length(table, f"Pass rates: {protocol}", caption, roster)


def over_length(table: pd.DataFrame, title: str, caption: str, roster: Sequence[str]) -> Plot | Missing:
    """Return rates over the length N, a line per system and a panel per judge; a forest if there is one length."""
    known = table[table["estimate"].notna()]
    if known.empty:
        return Missing(f"{title}: there are no verdicts.")
    if known["n_utterances"].dropna().nunique() < 2:
        return _estimates(known, title, caption, "Pass rate (%)", PERCENT, roster)
    marks = system_marks(roster, known["system"])
    panels = [
        Lines(
            table=rows.rename(columns={"system": "line", "n_utterances": "x"}),
            marks=marks,
            quantity="Pass rate",
            unit=PERCENT,
            axis="Utterances N",
            title=name,
        )
        for name, rows in groups_of(known[known["n_utterances"].notna()], "n_utterances")
    ]
    chatbots, human = (known[(known["system"] == HUMAN) == is_human] for is_human in (False, True))
    fewer = ", ".join(f"{n:,} at N = {x:g}" for x, n in human.groupby("n_utterances")["n"].max().items())
    return Plot(
        [Section(panels, columns=2)],
        title,
        f"{caption}. Bars are {_BY_CASE}{published_note(known)}.",
        per(chatbots["n"], "dialogue", "system and N")
        + (f"; human dialogues: {fewer}" if fewer else "")
        + unparsed_note(table),
        COLUMN if len(panels) == 1 and known["system"].nunique() <= MOST_IN_COLUMN else PAGE,
    )


def win_rates(table: pd.DataFrame, protocol: str, roster: Sequence[str]) -> Plot | Missing:
    """Return win rates: heat maps of all against all, or a forest against a single opponent."""
    known = table[table["n"] > 0]
    title = f"Win rates: {protocol}"
    if known.empty:
        return Missing(f"{title}: there are no comparisons.")
    if known["opponent"].nunique() == 1:
        caption = f"Share of comparisons with {known['opponent'].iloc[0]} that the system wins; a tie counts half"
        return _estimates(known.drop(columns="opponent"), title, caption, "Win rate (%)", PERCENT, roster)
    return win_maps(known, title, "The dialogues of one case are compared")


def win_maps(table: pd.DataFrame, title: str, detail: str) -> Plot:
    """Return win rates and win-or-tie rates of each system against each other one; a line of panels per group."""
    pairs = _both_directions(table)
    names = by_value(pairs.assign(points=pairs["win"] + pairs["tie"] / 2), "points", "system")
    panels = [
        HeatMap(
            values=rows.pivot(index="system", columns="opponent", values=column).reindex(index=names, columns=names),
            unit=PERCENT,
            numbered=True,
            axis="Opponent",
            title=", ".join(filter(None, [word, group])),
        )
        for group, rows in groups_of(pairs)[:_MOST_PANELS]
        for column, word in (("win", "Win"), ("win_or_tie", "Win or tie"))
    ]
    unparsed = float((pairs["unparsed"] * pairs["n"]).sum() / max(pairs["n"].sum(), 1))
    return Plot(
        [Section(panels, columns=2 if len(names) <= MOST_IN_COLUMN else 1)],
        title,
        "Percentage of comparisons that the row's system wins, and wins or ties, against the column's system. "
        f"{detail}. Grey cells have no comparisons.",
        f"{per(pairs['n'], 'comparison', 'pair')}; unparsed verdicts: {unparsed:.1%}",
        COLUMN if len(names) <= 5 and len(panels) == 2 else PAGE,
    )


def _both_directions(table: pd.DataFrame) -> pd.DataFrame:
    """Return each pair from both systems' side, also where the table has one direction only."""
    turned = table.rename(columns={"system": "opponent", "opponent": "system", "win": "lose", "lose": "win"})
    keys = [name for name in ("judge", "criterion", "n_utterances", "system", "opponent") if name in table]
    both = pd.concat([table, turned]).drop_duplicates(keys)[table.columns]
    return both.assign(win_or_tie=both["win"] + both["tie"])


def ratings(table: pd.DataFrame, protocol: str, interval: str = f"{CI} (cases resampled)") -> Plot | Missing:
    """Return the ratings of the systems by three methods, a panel per judge and length (BotChat, Table 2)."""
    if table.empty:
        return Missing(f"Ratings: {protocol}: there are no comparisons.")
    methods = {name: columns for name, columns in _METHODS.items() if table[columns[0]].notna().any()}
    if not methods:
        return Missing(f"Ratings: {protocol}: the comparisons identify no rating.")
    if "published" not in table:
        methods = {name: columns[:3] for name, columns in methods.items()}
    names = by_value(table, key="system")
    long = in_series(table, methods)
    marks = series_marks(methods)
    panels = [
        Forest(
            table=rows.rename(columns={"system": "row"}),
            rows=rows_of(names),
            series=marks,
            unit=POINTS,
            title=title,
            axis="Rating (Elo points)",
            references=[Reference(1000.0)],
            limits=_rating_limits(long),
        )
        for title, rows in groups_of(long)[:_MOST_PANELS]
    ]
    return Plot(
        [Section(panels, columns=2)],
        f"Ratings: {protocol}",
        f"Ratings with the {interval}. The thin line is at 1000. An arrow marks a rating or limit beyond the axis. "
        f"A dash marks a rating or limit that the comparisons do not identify{published_note(table)}.",
        per(table["n"], "comparison", "system") + unparsed_note(table),
        COLUMN if len(panels) <= 2 and len(names) <= MOST_IN_COLUMN else PAGE,
        key=marks,
    )


def battles(table: pd.DataFrame, title: str, interval: str) -> Plot | Missing:
    """Return the ratings of the models of a table of battles."""
    names = {"elo": "estimate", "n_comparisons": "n"}
    return ratings(table.rename(columns=names), f"battles '{title}'", interval)


def _rating_limits(long: pd.DataFrame) -> tuple[float, float]:
    """Return an axis that holds all identifiable ratings, and intervals that are not much longer than the others."""
    known = long[~long["note"].fillna("").str.contains("set no|not identifiable")]
    known = known if known["estimate"].notna().any() else long
    elo = long[long["series"] == next(iter(_METHODS))]
    values = np.concatenate(
        [known["estimate"].to_numpy(float), elo[["estimate", "ci_low", "ci_high"]].to_numpy(float).ravel()]
    )
    values = values[np.isfinite(values)]
    if not len(values):
        return 900.0, 1100.0
    reach = max(float(np.ptp(values)), 2.0 * float((elo["ci_high"] - elo["ci_low"]).max()))
    interval_limits = known[["ci_low", "ci_high"]].to_numpy(float).ravel()
    near = interval_limits[(interval_limits >= values.min() - reach) & (interval_limits <= values.max() + reach)]
    values = np.concatenate([values, near])
    margin = max(0.05 * float(np.ptp(values)), 5.0)
    return float(values.min()) - margin, float(values.max()) + margin


class _Measure(NamedTuple):
    """How a measure of bias is shown: title, unit, value without a bias, and limits; None: symmetric about it."""

    title: str
    unit: Unit
    neutral: float | None
    limits: tuple[float, float] | None = None


_MEASURES = {
    "order_inconsistency": _Measure("Order inconsistency (%)", PERCENT, None, (0.0, 1.0)),
    "first_position_win_rate": _Measure("First position wins (% of decided)", PERCENT, 0.5, (0.0, 1.0)),
    "longer_win_rate": _Measure("Longer dialogue wins (% of decided)", PERCENT, 0.5, (0.0, 1.0)),
    "length_slope_equal_ratings": _Measure("Length slope, systems fixed (log-odds)", CORRELATION, 0.0),
    "length_slope": _Measure("Length slope (log-odds)", CORRELATION, 0.0),
    "self_preference": _Measure("Self-preference (% points)", PERCENT, 0.0),
    "retest_inconsistency": _Measure("Changed verdicts in a retest (%)", PERCENT, None, (0.0, 1.0)),
    "unparsed": _Measure("Unparsed verdicts (%)", PERCENT, None, (0.0, 1.0)),
}
_AGREEMENT = _Measure("Agreement: Cohen's kappa, Krippendorff's alpha", CORRELATION, 0.0, (-0.1, 1.0))


def bias(table: pd.DataFrame, protocol: str) -> Plot | Missing:
    """Return the biases of the judges, a panel per measure and a row per judge, and their agreement."""
    known = table[table["estimate"].notna()]
    about = [
        ", ".join(
            _title(name, value)
            for name, value in zip(("criterion", "n_utterances"), pair, strict=True)
            if pd.notna(value)
        )
        for pair in zip(known["criterion"], known["n_utterances"], strict=True)
    ]
    known = known.assign(row=known["judge"], series=about)
    agreement = known[known["measure"].isin(["kappa", "alpha"])]
    shown = {
        measure: rows
        for measure in _MEASURES
        if len(rows := known[known["measure"] == measure]) and (measure != "unparsed" or (rows["estimate"] > 0).any())
    }
    if not shown and agreement.empty:
        return Missing(f"There are no verdicts under {protocol}.")
    series = series_marks(dict.fromkeys(known.sort_values(["criterion", "n_utterances"])["series"]))
    judges = sorted({judge for rows in shown.values() for judge in rows["judge"]})
    sections = []
    if shown:
        panels = [_bias_panel(rows, judges, series, _MEASURES[measure]) for measure, rows in shown.items()]
        sections.append(Section(panels, columns=3))
    if len(agreement):
        others = [f" & {other}" if pd.notna(other) else "" for other in agreement["other_judge"]]
        pairs = agreement["judge"] + others
        rows = agreement.assign(row=pairs)
        sections.append(Section([_bias_panel(rows, sorted(set(pairs)), series, _AGREEMENT)]))
    absent = [
        _MEASURES[name].title.split(" (")[0]
        for name in ("self_preference", "retest_inconsistency")
        if name not in shown
    ]
    missing = f". Not available: {', '.join(absent).lower()} (see the notes of the table)" if absent else ""
    return Plot(
        sections,
        f"Biases of the judges: {protocol}",
        f"Bars are {_BY_CASE}; thin lines mark no bias. “Systems fixed” adjusts for the systems’ ratings{missing}.",
        per(known["n"], "comparison", "number"),
        PAGE if len(shown) > 1 else COLUMN,
        key=series if len(series) > 1 else {},
    )


def _bias_panel(rows: pd.DataFrame, names: Sequence[str], series: Mapping[str, Mark], measure: _Measure) -> Forest:
    reach = 1.15 * float(rows[["estimate", "ci_low", "ci_high"]].abs().max().max()) or 1.0
    return Forest(
        table=rows, rows=rows_of(names), series=series, unit=measure.unit, title=measure.title,
        references=[] if measure.neutral is None else [Reference(measure.neutral)],
        limits=measure.limits or (-reach, reach),
    )  # fmt: skip


_CORRECTED = {
    "judge only": ("judge_only", "judge_only_ci_low", "judge_only_ci_high"),
    "human labels only": ("human_only", "human_only_ci_low", "human_only_ci_high"),
    "human-corrected": ("estimate", "ci_low", "ci_high"),
}
_SHARES = ("pass_rate", "rate", "checklist", "win_rate", "win_or_tie")
_ESTIMAND = ["protocol", "measure", "criterion", "answer", "n_utterances", "opponent"]


def corrected(table: pd.DataFrame, interval: str) -> Plot | Missing:
    """Return three estimates of every system: judge only, human labels only, and human-corrected.

    A panel judge replaces its members. Rates against single systems are left out if there are rates against all.
    """
    groups = list(_estimands(table))
    if not groups:
        return Missing("No judge scored a dialogue that was labelled.")
    series = series_marks(_CORRECTED)
    sections = []
    for title, rows in groups[:_MOST_PANELS]:
        long = in_series(rows.rename(columns={"system": "row"}), _CORRECTED)
        is_share = rows["measure"].iloc[0] in _SHARES
        panel = Forest(
            table=long, rows=rows_of(by_value(rows, key="system")), series=series, unit=PERCENT if is_share else Unit(),
            limits=(0.0, 1.0) if is_share else None, axis=_axis(rows["measure"].iloc[0]), title=title,
        )  # fmt: skip
        sections.append(Section([panel]))
    simulated = set(table["annotators"]) == {"simulated"}
    return Plot(
        sections,
        "Human-corrected estimates",
        f"Estimates from a judge's scores, from {'labels of simulated annotators' if simulated else 'human labels'}, "
        f"and from both (prediction-powered). Bars are the {interval}{_more(groups)}.",
        per(table["n_labelled"], "label", "system"),
        key=series,
    )


def _axis(measure: str) -> str:
    words = measure.replace("_", " ").capitalize()
    return f"{words} (%)" if measure in _SHARES else words


def _estimands(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each estimand and judge, with a title."""
    single = table[~table["measure"].str.endswith((" difference", " self_preference"))]
    against_all = set(single.loc[(single["measure"] == "win_rate") & single["opponent"].isna(), "protocol"])
    for values, rows in single.groupby(_ESTIMAND, sort=False, dropna=False):
        about: dict[str, Any] = dict(zip(_ESTIMAND, values, strict=True))
        if about["measure"] == "win_rate" and pd.notna(about["opponent"]) and about["protocol"] in against_all:
            continue
        judges = list(rows["judge"].unique())
        words = [str(about[name]) for name in ("criterion", "answer") if pd.notna(about[name])]
        words += [f"N = {about['n_utterances']:g}"] if pd.notna(about["n_utterances"]) else []
        words += [f"against {about['opponent']}"] if pd.notna(about["opponent"]) else []
        for judge in ["panel"] if "panel" in judges else judges:
            named = [str(about["protocol"]), *words] + [f"judge: {judge}"] * (len(judges) > 1)
            yield ", ".join(named), rows[rows["judge"] == judge].drop_duplicates("system")


def _estimates(
    table: pd.DataFrame, title: str, caption: str, axis: str, unit: Unit, roster: Sequence[str]
) -> Plot | Missing:
    """Return a forest per group, with a series per judge."""
    known = table[table["estimate"].notna()]
    if known.empty:
        return Missing(f"{title}: there are no judgements.")
    judges = sorted(set(known["judge"]))
    series = series_marks(judges) if len(judges) > 1 else {}
    groups = groups_of(known, "judge")
    systems = by_value(known, key="system")
    panels = [
        Forest(
            table=rows.assign(row=rows["system"], series=rows["judge"]),
            rows=rows_of(systems),
            series=series,
            marks=system_marks(roster, systems),
            unit=unit,
            title=name,
            axis=axis,
            numbers=len(groups) == 1 and not series,
            limits=(0.0, 1.0) if unit is PERCENT else None,
        )
        for name, rows in groups[:_MOST_PANELS]
    ]
    return Plot(
        [Section(panels, columns=3)],
        title,
        f"{caption}. Bars are {_BY_CASE}{_more(groups)}{published_note(known)}.",
        per(known["n"], "judgement", "number") + unparsed_note(table),
        COLUMN if len(panels) <= 2 and len(judges) <= 4 else PAGE,
        key=series,
    )


def _more(groups: Sequence[object]) -> str:
    """Return the note of a caption on groups that have no panel; empty without any."""
    return f". {len(groups) - _MOST_PANELS} more panels are in the table" if len(groups) > _MOST_PANELS else ""


def groups_of(table: pd.DataFrame, *without: str) -> list[tuple[str, pd.DataFrame]]:
    """Return groups of rows of a table with titles; one group without a title if all rows belong together.

    Args:
        table: the columns before `system`, and `label`, define the groups.
        without: of these, the ones that part no groups.
    """
    before = list(table.columns[: list(table.columns).index("system")])
    keys = [name for name in (*before, "label") if name in table.columns and name not in without]
    keys = [
        name
        for name in keys
        if table[name].nunique(dropna=False) > 1 or (name in ("criterion", "label") and table[name].notna().any())
    ]
    if len(keys) > 1 and "label" in keys and set(table["label"].str.lower()) == {"yes"}:
        keys.remove("label")  # the criterion names the quantity
    if not keys:
        return [("", table)]
    return [
        (", ".join(_title(name, value) for name, value in zip(keys, values, strict=True)), rows)
        for values, rows in table.groupby(keys, dropna=False, sort=False)
    ]


def _title(name: str, value: Any) -> str:
    if pd.isna(value):
        return "all utterances" if name == "n_utterances" else "all"
    if name == "n_utterances":
        return f"N = {value:g}"
    return str(value) if name == "judge" else str(value).replace("_", " ")


def unparsed_note(table: pd.DataFrame) -> str:
    """Return how many outputs were unparsable, for a caption; empty if there are none."""
    column = next((name for name in ("n_unparsed", "n_missing") if name in table), None)
    number = 0 if column is None else int(table[column].sum())
    return f"; unparsed: {number:,}" if number else ""
