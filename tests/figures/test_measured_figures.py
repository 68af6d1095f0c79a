"""Figures of any protocol's measures: panels by what was asked, a row per system, whatever a run has."""

from __future__ import annotations

from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dialeval.figures.pairwise import figure_ratings, figure_win_rates
from matplotlib.figure import Figure

from dialeval.figures.style import PAGE_WIDTH, save_figure
from dialeval.figures.systems import figure_means, figure_shares, groups_of

SYSTEMS = ["support-v1", "support-v2", "human"]


def means(systems: list[str], judges: list[str], criteria: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "judge": judge, "criterion": criterion, "system": system, "estimate": 3.0 + place + 0.1 * number,
            "low": 2.5 + place, "high": 3.6 + place, "n": 40 + place, "n_clusters": 40, "n_missing": place,
        }
        for number, judge in enumerate(judges)
        for criterion in criteria
        for place, system in enumerate(systems)
    )  # fmt: skip


def comparisons(systems: list[str], opponents: list[str] | None = None) -> pd.DataFrame:
    pairs = permutations(systems, 2) if opponents is None else ((a, b) for a in systems for b in opponents if a != b)
    return pd.DataFrame(
        {
            "judge": "gpt", "criterion": None, "system": a, "opponent": b, "estimate": 0.5, "low": 0.4, "high": 0.6,
            "n": 30, "win": 0.4, "tie": 0.2, "lose": 0.3, "unparsed": 0.1,
        }
        for a, b in pairs
    )  # fmt: skip


def ratings(systems: list[str]) -> pd.DataFrame:
    rows = pd.DataFrame({"judge": "gpt", "n_utterances": [8] * len(systems), "system": systems})
    values = 1000.0 + 20.0 * np.arange(len(systems))
    for name in ("", "bradley_terry", "davidson"):
        rows[name or "estimate"] = values
        rows[f"{name}_low" if name else "low"] = values - 15
        rows[f"{name}_high" if name else "high"] = values + 15
    return rows.assign(n=60, n_unparsed=0, note=None, published=None)


def titles(figure: Figure) -> list[str]:
    return [panel.get_title(loc="left").replace("\n", "") for panel in figure.axes if panel.get_title(loc="left")]


def rows_of(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def assert_nothing_is_cut(figure: Figure) -> None:
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= PAGE_WIDTH
    assert box.y1 <= figure.get_figheight()


def test_means_have_a_panel_per_criterion_the_best_system_first_and_a_marker_per_judge(tmp_path: Path) -> None:
    figure = figure_means(means(SYSTEMS, ["gpt", "qwen"], ["empathy", "goal_reached"]), "felt")
    assert titles(figure) == ["empathy", "goal reached"]
    assert rows_of(figure) == ["human", "support-v2", "support-v1"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["gpt", "qwen"]
    assert "felt; 40 to 42 judgements each" in figure.get_supxlabel()
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    assert_nothing_is_cut(figure)


def test_answers_that_could_not_be_read_stand_beside_their_system() -> None:
    words = [text.get_text() for text in figure_means(means(SYSTEMS, ["gpt"], ["empathy"]), "felt").axes[0].texts]
    assert words == ["not read", "2", "1", "0"]


@pytest.mark.parametrize("n_systems", [1, 30])
@pytest.mark.parametrize("n_criteria", [1, 40])
def test_one_and_many_have_room(n_systems: int, n_criteria: int) -> None:
    systems = [f"my-lab/support-system-{place:02}" for place in range(n_systems)]
    figure = figure_means(means(systems, ["gpt"], [f"criterion {place}" for place in range(n_criteria)]), "felt")
    assert len(figure.axes) == min(n_criteria, 24)
    assert ("16 more panels are in the table" in figure.get_supxlabel().replace("\n", " ")) == (n_criteria == 40)
    assert_nothing_is_cut(figure)
    names = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert all(above.y0 >= below.y1 - 0.5 for above, below in pairwise(names))


def test_shares_are_in_percent_and_a_system_that_lacks_one_is_told() -> None:
    table = means(SYSTEMS, ["gpt"], ["refusal", "contradiction"]).assign(estimate=0.4, low=0.3, high=0.5, n_missing=0)
    figure = figure_shares(table.iloc[1:], "faults")
    assert figure.axes[0].get_xlim() == (0.0, 1.0)
    assert "no value" in [text.get_text() for text in figure.axes[0].texts]


def test_win_rates_against_each_other_are_a_map_and_against_one_a_forest(tmp_path: Path) -> None:
    figure = figure_win_rates(comparisons(SYSTEMS), "helpful")
    assert titles(figure) == ["Win rate, judge: gpt", "Win + tie rate, judge: gpt"]
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    assert_nothing_is_cut(figure)
    figure = figure_win_rates(comparisons(SYSTEMS, ["human"]), "helpful")
    assert sorted(rows_of(figure)) == ["support-v1", "support-v2"]
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    assert_nothing_is_cut(figure)


def test_ratings_have_a_panel_per_judge_and_length(tmp_path: Path) -> None:
    figure = figure_ratings(ratings(SYSTEMS), "helpful")
    assert titles(figure) == ["judge: gpt, N = 8"]
    assert rows_of(figure) == ["human", "support-v2", "support-v1"]
    save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
    assert_nothing_is_cut(figure)


@pytest.mark.parametrize(
    ("draw", "table"),
    [
        (figure_means, means(SYSTEMS, ["gpt"], ["empathy"])),
        (figure_shares, means(SYSTEMS, ["gpt"], ["empathy"])),
        (figure_win_rates, comparisons(SYSTEMS)),
        (figure_ratings, ratings(SYSTEMS)),
    ],
)
def test_without_a_row_there_is_a_sentence_and_without_a_column_a_refusal(draw, table: pd.DataFrame) -> None:  # type: ignore[no-untyped-def]
    figure = draw(table.iloc[:0], "mine")
    assert figure.axes == []
    assert figure.texts[0].get_text().startswith("mine has no ")
    with pytest.raises(ValueError, match="the table has no column"):
        draw(table.drop(columns="judge"), "mine")


def test_what_a_number_is_of_parts_the_rows() -> None:
    table = means(["a"], ["gpt", "qwen"], ["x"]).assign(n_utterances=None)
    table = table[["judge", "criterion", "n_utterances", "system", "estimate"]]
    assert [title for title, _ in groups_of(table, "judge")] == ["x"]
    assert [title for title, _ in groups_of(table)] == ["judge: gpt, x", "judge: qwen, x"]
