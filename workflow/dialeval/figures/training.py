"""Figures of training: AUC of judges on held-out dialogues before and after it, and losses by step."""

from __future__ import annotations

import pandas as pd

from dialeval.figures.panels import Lines
from dialeval.figures.plot import Missing, Plot, Section
from dialeval.figures.row_panels import Forest, Reference, Row
from dialeval.figures.style import COLUMN, GREY, PAGE, PERCENT, Mark, Unit, per, series_marks

_NO_DATA = "No judge was trained."
_ALL = "all"
_MOMENTS = {"before": Mark(GREY, "o", filled=False), "after": Mark()}


def record(table: pd.DataFrame, interval: str) -> Plot | Missing:
    """Return the AUC of every judge before and after its training: a row per criterion and kind, a panel per judge.

    Judges with the same training sets share a panel. Of several languages their mean is shown.
    """
    rows = table[table["language"] == _ALL].rename(columns={"auc": "estimate"})
    rows = rows.assign(row=rows["criterion"] + " " + rows["kind"], series=rows["moment"])
    totals = rows[(rows["criterion"] == _ALL) & (rows["kind"] == _ALL)].drop_duplicates("judge")
    if totals.empty:
        return Missing(_NO_DATA)
    sections = []
    for training, judges in totals.groupby("training")["judge"]:
        own = rows[rows["judge"].isin(judges)]
        keys = sorted(set(zip(own["criterion"], own["kind"], strict=True)),
                      key=lambda key: (key[0] != _ALL, key[0], key[1] != _ALL, key[1]))  # fmt: skip
        order = [Row(f"{criterion} {kind}", kind.replace("_", " "), "" if criterion == _ALL else criterion.capitalize())
                 for criterion, kind in keys]  # fmt: skip
        panels = [
            Forest(table=own[own["judge"] == judge], rows=order, series=_MOMENTS, unit=PERCENT, title=str(judge),
                   limits=(0.0, 1.0), references=[Reference(0.5)], axis="AUC (%)")
            for judge in judges
        ]  # fmt: skip
        sections.append(Section(panels, f"Trained on {training}", columns=4))
    return Plot(
        sections,
        title="AUC before and after training",
        caption="The AUC is the share of pairs of a positive and a negative example in which the positive scores "
        "higher; ties count half. A pair is two held-out examples of one kind, criterion and language, not always of "
        f"one dialogue. Bars are the {interval}. The thin line is chance.",
        n=per(rows["n"], "example", "number"),
        width=COLUMN if max(len(section.panels) for section in sections) == 1 else PAGE,
        key={"before training": _MOMENTS["before"], "after training": _MOMENTS["after"]},
    )


def curve(table: pd.DataFrame, runs: pd.DataFrame) -> Plot | Missing:
    """Return two panels per judge: losses by step, and AUC of the development part."""
    if runs.empty:
        return Missing(_NO_DATA)
    marks = series_marks(["development", "training"])
    sections = []
    for judge, kept in runs.drop_duplicates("judge").set_index("judge")["best_step"].items():
        rows = table[table["judge"] == judge].rename(columns={"measured": "line", "step": "x"})
        losses = rows.assign(estimate=rows["loss"])
        aucs = rows[rows["line"] == "development"].assign(estimate=lambda found: found["auc"])
        lowest = float(aucs["auc"].min()) if aucs["auc"].notna().any() else 0.5
        panels = [
            Lines(table=losses, marks=marks, quantity="Loss", unit=Unit(1.0, 2), axis="Step", at=float(kept),
                  limits=(0.0, 1.05 * float(losses["loss"].max()))),
            Lines(table=aucs, marks=marks, quantity="AUC", unit=PERCENT, axis="Step", at=float(kept), references=[0.5],
                  limits=(min(0.45, lowest - 0.05), 1.02)),
        ]  # fmt: skip
        sections.append(Section(panels, str(judge), columns=2))
    return Plot(
        sections,
        title="Loss and AUC during training",
        caption="Mean training loss since the step before, loss and AUC of the development part. Vertical lines mark "
        "the step whose weights were kept. The horizontal line is chance.",
        n=per(runs["n_examples"], "training example", "judge"),
        width=PAGE,
    )
