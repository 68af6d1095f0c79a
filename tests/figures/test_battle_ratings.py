"""The forest plot of a table of battles."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from dialeval.figures.pairwise import figure_battle_ratings

from dialeval.figures.style import save_figure
from dialeval.tables.files import to_table
from dialeval.tables.measures import BATTLE_RATINGS

INTERVAL = "95 % interval (resampled by prompt)"


def ratings(n_models: int) -> pd.DataFrame:
    rows = []
    for number in range(n_models):
        row = {"model": f"model {number:02}, tuned", "n_comparisons": 50}
        for name, low, high in (
            ("elo", "low", "high"),
            *((m, f"{m}_low", f"{m}_high") for m in ("bradley_terry", "davidson")),
        ):
            row |= {name: 1300.0 - 10 * number, low: 1280.0 - 10 * number, high: 1320.0 - 10 * number}
        rows.append(row)
    frame: pd.DataFrame = to_table(BATTLE_RATINGS, rows).to_pandas()
    return frame


@pytest.mark.parametrize("n_models", [2, 60])
def test_every_model_has_a_row_best_first(n_models: int, tmp_path: Path) -> None:
    table = ratings(n_models)
    figure = figure_battle_ratings(table.sample(frac=1, random_state=0), "mine", INTERVAL)
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_yticklabels()] == list(table["model"])
    assert panel.get_title(loc="left") == "mine"
    assert figure.get_supxlabel().endswith(f"bars: {INTERVAL}")


def test_an_end_that_lies_far_off_is_left_out_of_the_axis_and_said() -> None:
    table = ratings(10)
    table.loc[3, "davidson_low"] = -4000.0
    figure = figure_battle_ratings(table, "mine", INTERVAL)
    assert figure.axes[0].get_xlim()[0] > 1000
    assert figure.get_supxlabel().endswith("a bar that meets the edge goes on")


def test_no_battles_are_one_sentence() -> None:
    (sentence,) = figure_battle_ratings(ratings(0), "mine", INTERVAL).texts
    assert "no battles" in sentence.get_text()
