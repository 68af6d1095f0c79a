"""The figure of what people would say: a panel for whatever a number is of, three intervals for each system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from labelled_example import design, judgements_of, labels_of, simulated_scores
from matplotlib.figure import Figure

from dialeval.figures.style import save_figure
from dialeval.figures.systems import figure_corrected
from dialeval.labels.correction import corrected_numbers
from dialeval.labels.joined_judgements import Terms
from dialeval.tables.files import to_table
from dialeval.tables.labels import CORRECTED

INTERVAL = "95 % interval"


def rows(**more: Any) -> pd.DataFrame:
    judged, labelled, _ = simulated_scores(np.random.default_rng(2), n_cases=40, n_labelled=12)
    found, _ = corrected_numbers(judgements_of(judged), labels_of(labelled), design(families={"j": "ada"}), Terms())
    return to_table(CORRECTED, [row | more for row in found]).to_pandas()


def titles(figure: Figure) -> list[str]:
    return [panel.get_title(loc="left").replace("\n", " ") for panel in figure.axes]


def test_each_system_has_three_intervals_and_differences_and_self_preference_none(tmp_path: Path) -> None:
    table = rows()
    assert {"mean difference", "mean self_preference"} < {*table["measure"]}
    figure = figure_corrected(table, INTERVAL)
    assert titles(figure) == ["felt: mean, warm"]
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_yticklabels()] == ["ada", "bob", "cyd"]
    drawn = {
        tuple(np.round(np.asarray(line.get_xdata(), float), 6))
        for line in panel.lines
        if line.get_marker() in set("^so")
    }
    means = table[table["measure"] == "mean"]
    for column in ("estimate", "people_only", "judge_only"):
        assert tuple(means[column].round(6)) in drawn
    save_figure(figure, tmp_path / "a.svg", tmp_path / "a.pdf")
    assert "no people" in (tmp_path / "a.svg").read_text().replace("\n", " ")


def test_a_panel_of_judges_stands_for_them_and_single_pairs_are_left_to_the_table() -> None:
    several = pd.concat([rows(judge=name) for name in ("j", "k")])
    assert titles(figure_corrected(several, INTERVAL)) == ["felt: mean, warm (judge: j)", "felt: mean, warm (judge: k)"]
    with_panel = pd.concat([several, rows(judge="panel")])
    assert titles(figure_corrected(with_panel, INTERVAL)) == ["felt: mean, warm (judge: panel)"]
    field = rows(measure="win_rate", criterion=None)
    pairs = pd.concat([field, rows(measure="win_rate", criterion=None, versus="bob")])
    assert titles(figure_corrected(pairs, INTERVAL)) == ["felt: win rate"]
    against = rows(measure="win_or_tie", criterion=None, versus="human", n_utterances=8)
    assert titles(figure_corrected(against, INTERVAL)) == ["felt: win or tie, N = 8, against human"]


def test_without_labels_a_sentence_says_so_and_many_panels_are_counted() -> None:
    empty = to_table(CORRECTED, []).to_pandas()
    assert "Nobody labelled" in figure_corrected(empty, INTERVAL).texts[0].get_text()
    many = pd.concat([rows(criterion=f"c{number}") for number in range(26)])
    figure = figure_corrected(many, INTERVAL)
    assert len(figure.axes) == 24
    assert "2 more panels" in figure.get_supxlabel()
