"""Figures of robustness on small tables: what they show, and that they show it for every shape of table."""

from __future__ import annotations

from itertools import pairwise
from math import nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import robustness_example as example
from drawn_figures import by_name, settings
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from dialeval.errors import UserError
from dialeval.figures import registry
from dialeval.figures.robustness import blocks_of, figure_drops, figure_ladders, figure_ratios
from dialeval.figures.style import BLUE, PAGE_WIDTH, VERMILLION, save_figure
from dialeval.stages.figures import draw as stage
from dialeval.tables.catalogue import TABLES
from dialeval.tables.files import empty_table, write_table
from dialeval.tables.robustness import ROBUSTNESS

DRAWINGS = by_name(registry.ROBUSTNESS)
SEVEN = tuple((f"my-lab/judge-{place}", "yes_no") for place in range(7))
THIRTY = tuple((f"my-lab/judge-{place:02}", "rating" if place % 2 else "yes_no") for place in range(30))
TURN_ROWS = ["Random Response, relevance", "Dullness, interestingness", "Dullness, specificity"]


def drawn(name: str, judges: tuple[tuple[str, str], ...] = example.JUDGES) -> Figure:
    tables = example.tables(judges)
    draw, needed = DRAWINGS[name]
    return draw(*(tables[table.name].to_pandas() for table in needed))


def panels(figure: Figure) -> list[Axes]:
    """The panels that have a title, in order: not the scale of colours."""
    return [panel for panel in figure.axes if panel.get_title(loc="left")]


def titles(figure: Figure) -> list[str]:
    return [panel.get_title(loc="left").replace("\n", " ") for panel in panels(figure)]


def rows_of(panel: Axes) -> list[str]:
    return [label.get_text().replace("\n", "") for label in panel.get_yticklabels()]


def words_in(panel: Axes) -> list[str]:
    return [text.get_text() for text in panel.texts]


def across(line: Line2D) -> list[float]:
    """The x of a line's points."""
    values: list[float] = np.asarray(line.get_xdata(), dtype=np.float64).tolist()
    return values


def block_titles(figure: Figure) -> list[str]:
    return [part._suptitle.get_text() for part in figure.subfigs]  # type: ignore[attr-defined]


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def assert_nothing_is_cut(figure: Figure) -> None:
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= PAGE_WIDTH
    assert box.y1 <= figure.get_figheight()


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_is_the_same_bytes_each_time(name: str, tmp_path: Path) -> None:
    contents = []
    for _ in range(2):
        figure = drawn(name)
        save_figure(figure, tmp_path / "f.svg", tmp_path / "f.pdf")
        contents.append((tmp_path / "f.svg").read_bytes() + (tmp_path / "f.pdf").read_bytes())
    assert contents[0] == contents[1]
    assert_nothing_is_cut(figure)


@pytest.mark.parametrize("judges", [SEVEN, THIRTY], ids=["seven", "thirty"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_many_judges_have_room(name: str, judges: tuple[tuple[str, str], ...]) -> None:
    figure = drawn(name, judges)
    figure.draw_without_rendering()
    assert_nothing_is_cut(figure)
    first, *others = panels(figure)
    names = [label.get_window_extent() for label in first.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 0.5 for above, below in pairwise(names))
    headings = [panel.title.get_window_extent() for panel in (first, *others)]
    in_one_line = [(left, right) for left, right in pairwise(headings) if left.x1 < right.x1 and left.y0 == right.y0]
    assert all(left.x1 <= right.x0 for left, right in in_one_line)


@pytest.mark.parametrize("name", DRAWINGS)
def test_empty_tables_give_one_sentence(name: str) -> None:
    draw, tables = DRAWINGS[name]
    figure = draw(*(empty_table(table).to_pandas() for table in tables))
    assert figure.axes == []
    (sentence,) = figure.texts
    assert sentence.get_text().startswith("No ")


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_table_without_a_column_is_refused(name: str) -> None:
    draw, tables = DRAWINGS[name]
    with pytest.raises(ValueError, match="the table has no column"):
        draw(*(pd.DataFrame({"other": []}) for _ in tables))


def test_ratios_have_a_block_per_level_a_panel_per_judge_and_a_row_per_target() -> None:
    figure = drawn("ratios")
    assert block_titles(figure) == ["small-talk, turn level (en)", "small-talk, dialogue level (en)"]
    assert titles(figure) == ["gpt-x (rating)", "gpt-x (yes_no)", "random (yes_no)"] * 2
    assert rows_of(panels(figure)[0]) == TURN_ROWS
    assert rows_of(panels(figure)[3]) == ["Order Shuffle, coherence", "Self-Contradiction, engagingness"]


def test_a_panel_shows_the_ratio_what_noise_gives_and_the_published_number() -> None:
    figure = drawn("ratios")
    best, _, worst, *_ = panels(figure)
    rises = next(line for line in best.get_lines() if line.get_marker() == "|")
    ratio = best.containers[0][0]
    assert across(rises) == [0.1] * 3
    assert across(ratio) == pytest.approx([0.8] * 3)
    assert ratio.get_color() == BLUE
    diamonds = [line for line in best.get_lines() if line.get_marker() == "D"]
    assert [across(line) for line in diamonds] == [[0.62] * 3]
    (none,) = [line for line in worst.get_lines() if line.get_marker() == "D"]
    assert np.isnan(across(none)).all()
    assert len(legend_of(figure)) == 3


def test_the_legend_names_published_numbers_only_where_there_are_any() -> None:
    unpublished = example.robustness().to_pandas().assign(published_ratio=nan)
    assert not any("published" in label for label in legend_of(figure_ratios(unpublished)))


def test_judges_are_sorted_by_what_they_notice_beyond_noise() -> None:
    table = example.robustness().to_pandas()
    table.loc[table["method"] == "rating", "rises"] = 0.75  # its ratio is the highest, but worth .05
    table.loc[table["judge"] == "random", ["ratio", "rises"]] = nan
    assert titles(figure_ratios(table))[:3] == ["gpt-x (yes_no)", "gpt-x (rating)", "random (yes_no)"]


def test_a_ratio_that_is_missing_is_said_to_be_and_one_that_is_nowhere_too() -> None:
    table = example.robustness().to_pandas()
    table.loc[(table["method"] == "rating") & (table["dimension"] == "specificity"), ["ratio", "low", "high"]] = nan
    table = table[(table["judge"] != "random") | (table["strategy"] != "random_response")]
    first, _, last = panels(figure_ratios(table))[:3]
    assert [(text.get_text(), text.get_position()[1]) for text in first.texts] == [("no value", 2)]
    assert [(text.get_text(), text.get_position()[1]) for text in last.texts] == [("no value", 0)]


def test_more_than_eight_judges_are_rows_of_a_heat_map_with_noise_at_the_right() -> None:
    figure = drawn("ratios", THIRTY)
    turn, dialogue = panels(figure)
    assert titles(figure) == ["small-talk, turn level (en)", "small-talk, dialogue level (en)"]
    assert rows_of(turn)[:2] == ["my-lab/judge-00 (yes_no)", "my-lab/judge-01 (rating)"]
    assert [label.get_text() for label in turn.get_xticklabels()] == [*TURN_ROWS, "", *TURN_ROWS]
    assert words_in(turn)[:6] == ["80", "80", "80", "10", "10", "10"]
    assert len(rows_of(dialogue)) == 30


def test_eight_judges_still_have_panels() -> None:
    assert len(panels(drawn("ratios", THIRTY[:8]))) == 16


def test_one_language_of_each_corpus_is_shown() -> None:
    table = example.robustness(languages=("zh", "en"), corpora=("b", "a")).to_pandas()
    assert [block.title for block in blocks_of(table, table)] == [
        "a, turn level (en)", "b, turn level (en)", "a, dialogue level (en)", "b, dialogue level (en)",
    ]  # fmt: skip
    assert "one language of each corpus" in figure_ratios(table)._supxlabel.get_text()  # type: ignore[attr-defined]
    assert "one language" not in drawn("ratios")._supxlabel.get_text()  # type: ignore[attr-defined]


def test_strategies_keep_the_order_of_the_ratios_and_unknown_ones_come_last() -> None:
    ratios = example.robustness().to_pandas()
    shuffled = example.drops().to_pandas().iloc[::-1]
    own = shuffled[shuffled["level"] == "turn"].assign(strategy="typing_errors", dimension="relevance").iloc[:1]
    (turn, _) = blocks_of(pd.concat([own, shuffled]), ratios)
    assert turn.names == [*TURN_ROWS, "typing_errors, relevance"]


def test_a_box_holds_the_middle_half_and_each_row_has_its_own_theta() -> None:
    panel = panels(drawn("drops"))[0]
    boxes = [(bar.get_x(), bar.get_width()) for bar in panel.patches if isinstance(bar, Rectangle)]
    assert [end for box in boxes for end in box] == pytest.approx([0.2, 0.4] * 3)
    whiskers, medians, thetas = panel.collections
    assert [tuple(segment[:, 0]) for segment in whiskers.get_segments()] == [  # type: ignore[attr-defined]
        (pytest.approx(-0.2), pytest.approx(0.9))
    ] * 3
    assert [segment[0, 0] for segment in medians.get_segments()] == pytest.approx([0.4] * 3)  # type: ignore[attr-defined]
    assert [segment[0, 0] for segment in thetas.get_segments()] == pytest.approx([0.3, 0.2, 0.2])  # type: ignore[attr-defined]
    assert to_hex(thetas.get_color()[0]).upper() == VERMILLION  # type: ignore[attr-defined]


def test_drops_that_are_missing_have_no_box() -> None:
    drops = example.drops().to_pandas()
    drops.loc[drops["dimension"] == "interestingness", ["p05", "p25", "median", "p75", "p95"]] = nan
    panel = panels(figure_drops(drops, example.robustness().to_pandas()))[0]
    assert len(panel.patches) == 2
    assert [(text.get_text(), text.get_position()[1]) for text in panel.texts] == [("no value", 1)]


def test_the_axis_of_drops_holds_every_whisker() -> None:
    ratios, drops = example.robustness().to_pandas(), example.drops().to_pandas()
    low, high = panels(figure_drops(drops.assign(p05=-0.9, p95=0.2), ratios))[0].get_xlim()
    assert low < -0.9
    assert 0.5 < high < 0.6


def test_ladders_show_both_shares_with_their_intervals() -> None:
    figure = drawn("ladders")
    assert block_titles(figure) == ["small-talk (en)"]
    first = panels(figure)[0]
    falling, not_rising = (container[0] for container in first.containers)
    assert across(falling) == pytest.approx([0.8])
    assert across(not_rising) == pytest.approx([0.9])
    assert falling.get_ydata()[0] < not_rising.get_ydata()[0]


def test_ladders_without_any_ratio_are_drawn() -> None:
    figure = figure_ladders(example.ladders().to_pandas(), empty_table(ROBUSTNESS).to_pandas())
    assert rows_of(panels(figure)[0]) == ["order_shuffle, coherence"]


def test_the_stage_writes_every_figure_and_names_a_missing_table(tmp_path: Path) -> None:
    paths = []
    for name, table in example.tables().items():
        paths.append(tmp_path / f"{name}.parquet")
        write_table(paths[-1], TABLES[name], table)
    stage(settings(registry.ROBUSTNESS, *DRAWINGS), paths, [], tmp_path / "figures")
    written = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert written == sorted(f"{name}.{suffix}" for name in DRAWINGS for suffix in ("pdf", "svg"))
    assert "90 % interval" in (tmp_path / "figures" / "ratios.svg").read_text()
    with pytest.raises(UserError, match="figure drops needs the table 'robustness/drops'"):
        stage(settings(registry.ROBUSTNESS, "drops"), paths[:1], [], tmp_path)
