"""The figure of the judges' biases: a panel per measure that has a value, for every number of judges."""

from __future__ import annotations

from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from dialeval.figures.judge_bias import figure_bias
from matplotlib.figure import Figure

from dialeval.figures.style import PAGE_WIDTH, save_figure
from dialeval.tables.files import to_table
from dialeval.tables.measures import BIAS

JUDGES = ("gpt-4", "claude", "my-lab.dialogue-model-with-a-long-name-v1.5", "qwen-2.5-72b-instruct")
GROUPS = (8, 16, None)
SHARES = ("unparsed", "flips", "first_both", "second_both", "first_wins", "longer_wins", "retest_flips")
OTHERS = ("length_slope", "length_slope_equal_ratings", "self_preference")


def bias_table(*judges: str) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for n in GROUPS:
        about = {"n_utterances": n, "low": 0.3, "high": 0.5, "estimate": 0.4, "n": 10}
        rows += [about | {"judge": judge, "measure": name} for judge in judges for name in (*SHARES, *OTHERS)]
        pairs = [{"judge": one, "other_judge": other, "measure": "kappa"} for one, other in combinations(judges, 2)]
        alpha = {"judge": "all judges", "measure": "alpha"}
        rows += [about | row for row in (*pairs, alpha if pairs else alpha | {"estimate": None})]
    frame: pd.DataFrame = to_table(BIAS, rows).to_pandas()
    return frame


def titles(figure: Figure) -> list[str]:
    return [panel.get_title(loc="left").replace("\n", " ") for panel in figure.axes]


def assert_nothing_is_cut(figure: Figure) -> None:
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= PAGE_WIDTH
    assert box.y1 <= figure.get_figheight()


@pytest.mark.parametrize("n_judges", [1, 4])
def test_every_judge_has_a_row_and_every_measure_a_panel(n_judges: int, tmp_path: Path) -> None:
    judges = JUDGES[:n_judges]
    figure = figure_bias(bias_table(*judges), "arena")
    assert len(figure.axes) == 8 + (n_judges > 1)
    rows = [label.get_text().replace("\n", "") for label in figure.axes[0].get_yticklabels()]
    assert rows == sorted(judges)
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    assert_nothing_is_cut(figure)
    svg = (tmp_path / "f.svg").read_bytes()
    save_figure(figure_bias(bias_table(*judges).sample(frac=1), "arena"), tmp_path / "f.svg", tmp_path / "f.pdf")
    assert (tmp_path / "f.svg").read_bytes() == svg


def test_agreement_has_a_row_per_pair_and_one_for_all() -> None:
    panel = figure_bias(bias_table(*JUDGES), "arena").axes[-1]
    assert panel.get_title(loc="left").startswith("Agreement")
    assert len(panel.get_yticklabels()) == 7
    assert panel.get_xlim()[1] == 1.0


def test_a_measure_without_values_has_no_panel_and_is_named() -> None:
    table = bias_table("gpt-4")
    table.loc[table["measure"].isin(["self_preference", "retest_flips"]), ["estimate", "low", "high"]] = nan
    table.loc[table["measure"] == "unparsed", "estimate"] = 0.0
    figure = figure_bias(table, "arena")
    assert len(figure.axes) == 5
    assert not any("asked again" in title or "not be read" in title for title in titles(figure))
    assert "No value: self-preference, changes when asked again, agreement" in figure.get_supxlabel()


def test_a_judge_without_a_value_keeps_its_row() -> None:
    table = bias_table(*JUDGES)
    missing = (table["judge"] == "claude") & (table["measure"] == "self_preference")
    table.loc[missing, ["estimate", "low", "high"]] = nan
    figure = figure_bias(table, "arena")
    words = [[text.get_text() for text in panel.texts] for panel in figure.axes]
    without = [title for title, found in zip(titles(figure), words, strict=True) if found == ["no value"]]
    assert without == ["Own family's score, less other judges' (% points)"]


@pytest.mark.parametrize("rows", [0, None])
def test_nothing_to_show_is_one_sentence(rows: int | None) -> None:
    table = bias_table("gpt-4").iloc[:rows].assign(estimate=nan)
    (sentence,) = figure_bias(table, "arena").texts
    assert "no verdicts under arena" in sentence.get_text()


def test_a_table_without_a_column_is_refused() -> None:
    with pytest.raises(ValueError, match="the table has no column judge"):
        figure_bias(pd.DataFrame({"other": []}), "arena")
