"""Every figure of the registry with 1, 4 and 14 systems: no text overlaps or is cut, and files have the same bytes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path

import metaeval_example
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import robustness_example
from drawn_figures import (
    DRAWINGS,
    JUDGES,
    NAMES,
    OPTIONS,
    PARTS,
    all_tables,
    means,
    plot,
    rates,
    rows,
    schema_of,
    settings,
    specification,
)
from matplotlib.figure import Figure as Picture
from matplotlib.text import Text

from dialeval.errors import UserError
from dialeval.figures import registry
from dialeval.figures.panels import HeatMap, Lines
from dialeval.figures.plot import Missing, figure_of_plot, save_plot
from dialeval.figures.registry import drawings, values_of
from dialeval.figures.row_panels import Forest
from dialeval.figures.style import FONT_SIZE, save_figure, styled
from dialeval.stages.figures import OTHER_PROMPTS, Drawing, DrawSettings
from dialeval.stages.figures import draw as stage
from dialeval.tables.catalogue import TABLES


@cache
def _tables(number: int, n_judges: int) -> dict[str, pd.DataFrame]:
    return all_tables(NAMES[:number], JUDGES[:n_judges])


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    return _tables(4, 1)


def _texts(figure: Picture) -> list[Text]:
    """Return the text that is drawn; labels of ticks beyond the limits are not."""
    axes = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    beyond = {tick.label1 for axis in axes for tick in axis.get_major_ticks()}
    beyond -= {tick.label1 for axis in axes for tick in axis._update_ticks()}
    found = [one for one in figure.findobj(Text) if isinstance(one, Text) and one not in beyond]
    return [one for one in found if one.get_text().strip() and one.get_visible()]


@styled
def _assert_readable(figure: Picture) -> None:
    """Assert that all text has the one size, lies inside the figure, and overlaps no other text that is not slanted."""
    figure.draw_without_rendering()
    page = figure.bbox
    corners = []
    for text in _texts(figure):
        box = text.get_window_extent()
        if box.width == 0:
            continue
        words = repr(text.get_text())
        assert text.get_fontsize() >= FONT_SIZE, words
        assert min(box.x0, box.y0, page.x1 - box.x1, page.y1 - box.y1) >= -0.5, f"{words} is cut"
        if text.get_rotation() in (0, 90):
            corners.append((words, box))
    for (one, box), (other, against) in combinations(corners, 2):
        width = min(box.x1, against.x1) - max(box.x0, against.x0)
        height = min(box.y1, against.y1) - max(box.y0, against.y0)
        assert width < 1.0 or height < 2.0, f"{one} overlaps {other}"
    for axis in (panel.xaxis for panel in figure.axes):
        ticks = [tick.label1 for tick in axis._update_ticks() if tick.label1.get_text()]
        if all(one.get_rotation() == 0 for one in ticks):
            boxes = sorted((one.get_window_extent() for one in ticks), key=lambda box: float(box.x0))
            gaps = [after.x0 - before.x1 for before, after in pairwise(boxes)]
            assert min(gaps, default=9.0) > 0.03 * figure.dpi, [one.get_text() for one in ticks]


@pytest.mark.parametrize("number", [1, 14])  # the usual 4, with two judges: test_a_file_has_title_...
@pytest.mark.parametrize("name", DRAWINGS)
def test_no_text_overlaps_or_is_cut(name: str, number: int) -> None:
    found = plot(name, _tables(number, 1))
    assert found.title
    assert found.caption.endswith(".")
    assert found.text.count("n = ") == 1
    _assert_readable(figure_of_plot(found))


_OF_SYSTEMS = ("botchat/figure4_unieval", "measures/means", "measures/ratings")
"""Figures in which the order of the table's rows says nothing."""
_DRAWN_TWICE = {*_OF_SYSTEMS, *{drawing.module: name for name, drawing in DRAWINGS.items()}.values()}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_file_has_title_and_values_and_a_second_draw_has_the_same_bytes(name: str, tmp_path: Path) -> None:
    tables = _tables(4, 2)
    before = {table: tables[table].copy() for table in DRAWINGS[name].tables}
    found = plot(name, tables)
    figure = figure_of_plot(found)
    _assert_readable(figure)
    save_figure(figure, tmp_path / "0.svg", tmp_path / "0.pdf", found.title, found.text)
    assert (tmp_path / "0.pdf").stat().st_size > 0
    assert f"<title>{found.title}</title>" in (tmp_path / "0.svg").read_text(encoding="utf-8").replace("&apos;", "'")
    for table, copy in before.items():
        pd.testing.assert_frame_equal(tables[table], copy)
    view, values = values_of((tmp_path / "0.svg").read_text(encoding="utf-8"))
    assert float(view.split()[2]) == pytest.approx(72 * found.width)
    panels = [panel for section in found.sections for panel in section.panels]
    for panel in panels:
        if isinstance(panel, (Forest, Lines)):
            shown = panel.table[panel.table["estimate"].notna()]
            wanted = {panel.unit.exact(row) for row in shown.itertuples()}
            assert wanted <= {text.rpartition(": ")[2] for text, _ in values}
    assert values or all(isinstance(panel, HeatMap) for panel in panels)  # which has its numbers in its cells
    if name in _DRAWN_TWICE:
        if name in _OF_SYSTEMS:
            tables = {table: before[table].sort_values("system", ascending=False, kind="stable") for table in before}
        save_plot(plot(name, tables), tmp_path / "1.svg", tmp_path / "1.pdf")
        for suffix in ("svg", "pdf"):
            assert (tmp_path / f"0.{suffix}").read_bytes() == (tmp_path / f"1.{suffix}").read_bytes()


@pytest.mark.parametrize("name", DRAWINGS)
def test_an_empty_table_gives_one_sentence(name: str) -> None:
    found = specification(name, {})
    assert isinstance(found, Missing)
    assert found.reason.endswith(".")


def _nulls(name: str, table: pd.DataFrame, of: Callable[[str], bool]) -> pd.DataFrame:
    """Return a table in which the nullable fractional columns of some names are null."""
    fields = [one for one in schema_of(name).schema if one.nullable and pa.types.is_floating(one.type)]
    return table.assign(**{one.name: float("nan") for one in fields if of(one.name)})


_POOR = {
    "no estimates": lambda name, table: _nulls(name, table, lambda _: True),
    "no intervals": lambda name, table: _nulls(name, table, lambda column: column.endswith(("ci_low", "ci_high"))),
    "the last row": lambda _, table: table.tail(1),
    "every seventh row": lambda _, table: table.iloc[2::7],
}


@pytest.mark.parametrize("poor", _POOR)
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_poor_table_is_drawn_or_has_a_reason(name: str, poor: str) -> None:
    tables = {table: _POOR[poor](table, _tables(2, 2)[table]) for table in DRAWINGS[name].tables}
    found = specification(name, tables)
    if isinstance(found, Missing):
        assert found.reason.endswith(".")
        return
    figure = figure_of_plot(found)
    if poor.startswith("no "):
        _assert_readable(figure)
    else:
        figure.draw_without_rendering()


SCORERS = (
    ("gpt-x", "rating"), ("gpt-x", "yes_no"), ("GPT-4 of the corpus", "annotation"), ("metric", "file"),
    ("trained", "yes_no"), ("mean", "rating"), ("cheap-then-strong", "my-protocol"),
)  # fmt: skip
"""Judges with every method of tables of judges: models, annotations of a corpus, score files, ensembles, cascades."""


@pytest.mark.parametrize("part", ["METAEVAL", "ROBUSTNESS"])
def test_judges_with_one_dimension_stand_beside_a_judge_with_all(part: str) -> None:
    tables = {
        **{name: table.to_pandas() for name, table in metaeval_example.tables().items()},
        "metaeval/averages": metaeval_example.averages(SCORERS).to_pandas(),
        "metaeval/correlations": metaeval_example.correlations(SCORERS, "construction").to_pandas(),
        "metaeval/matrices": metaeval_example.matrices(SCORERS).to_pandas(),
        "metaeval/dimension_ensemble": metaeval_example.dimension_ensemble(SCORERS).to_pandas(),
        "metaeval/ranking_agreement": metaeval_example.ranking_agreement().to_pandas(),
        "metaeval/ceilings": metaeval_example.ceilings(SCORERS).to_pandas(),
        **{name: table.to_pandas() for name, table in robustness_example.tables(SCORERS).items()},
    }
    for name, table in tables.items():
        if "method" in table and "dimension" in table:
            has_all = (table["judge"] == SCORERS[0][0]) & (table["method"] == SCORERS[0][1])
            tables[name] = table[has_all | (table["dimension"] == "coherence")]
    for one in drawings(PARTS[part], OPTIONS):
        found = plot(f"{part.lower()}/{one.name}", tables)
        figure_of_plot(found).draw_without_rendering()
        panels = [panel for section in found.sections for panel in section.panels if isinstance(panel, Forest)]
        for panel in panels:
            assert set(panel.table["row"]) <= {row.key for row in panel.rows}
    for section in plot("metaeval/judges", tables).sections[-2:]:
        assert set(rows(section.panels[0])) == {f"{judge} ({method})" for judge, method in SCORERS}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_function_takes_its_tables_and_options(name: str) -> None:
    drawing = DRAWINGS[name]
    draw = getattr(import_module(drawing.module), drawing.draw.partition(".")[2])
    inspect.signature(draw).bind(*drawing.tables, **drawing.options)
    assert "{" not in drawing.name + "".join(drawing.tables)


def test_names_are_distinct_within_a_part() -> None:
    for part in PARTS.values():
        names = [drawing.name for drawing in drawings(part, OPTIONS)]
        assert len(set(names)) == len(names)


def test_only_figures_whose_tables_a_run_has_are_drawn() -> None:
    found = drawings(
        registry.BOTCHAT, OPTIONS | {"n": [8, 16]}, ["botchat/seeds", "gteval/win_rates", "arena/win_rates"]
    )
    assert [drawing.name for drawing in found] == [
        "figure2_seed_lengths", "figure5_arena_n8", "figure5_arena_n16", "figure6_gteval",
    ]  # fmt: skip
    assert found[2].options == {"n": 16}


def _write(table: pd.DataFrame, path: Path, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pandas(table, TABLES[name].schema, preserve_index=False), path)


def test_the_stage_writes_every_figure_with_its_interval_and_names_a_missing_table(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    names = ("metaeval/averages", "metaeval/correlations", "metaeval/annotator_agreement")
    paths = [tmp_path / f"{name}.parquet" for name in names]
    for name, path in zip(names, paths, strict=True):
        _write(tables[name], path, name)
    stage(settings(registry.METAEVAL, "judges", "annotators"), paths, tmp_path / "figures")
    written = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert written == ["annotators.pdf", "annotators.svg", "judges.pdf", "judges.svg"]
    svg = (tmp_path / "figures" / "judges.svg").read_text()
    assert "90% confidence interval" in svg
    assert OTHER_PROMPTS not in svg
    with pytest.raises(UserError, match="figure languages needs the table 'metaeval/matrices'"):
        stage(settings(registry.METAEVAL, "languages"), paths, tmp_path)


def test_names_that_the_font_lacks_are_warned_of_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "tables" / "mine" / f"{name}.parquet" for name in ("means", "rates")]
    names = ["\u5c0f\u660e", "\u0939\u093f\u0928\u094d\u0926\u0940", "Latin", "\u0645\u0631\u062d\u0628\u0627"]
    for path, made in zip(paths, (means, rates), strict=True):
        _write(made(names, JUDGES[:1]), path, f"measures/{path.stem}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stage(settings(registry.MEASURES, "means", "rates"), paths, tmp_path)
    (warning,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert f"lacks characters of {names[1]}, {names[0]}, and shows boxes" in warning
    assert "install a font family" in warning
    assert names[0] in (tmp_path / "means.svg").read_text(encoding="utf-8")


def test_a_caption_says_that_published_numbers_had_other_prompts(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    path = tmp_path / "gteval" / "win_rates.parquet"
    _write(tables["gteval/win_rates"], path, "measures/win_rates")
    found = settings(registry.BOTCHAT, "figure6_gteval").model_copy(update={"other_prompts": True})
    stage(found, [path], tmp_path)
    assert f"published numbers ({OTHER_PROMPTS})" in (tmp_path / "figure6_gteval.svg").read_text()


def test_a_figure_without_its_table_says_which() -> None:
    drawing = Drawing(**drawings(registry.BATTLES, OPTIONS)[0].settings())
    with pytest.raises(UserError, match="figure battles needs the table 'battles/battles'; given: battles/yours"):
        stage(DrawSettings(drawings=[drawing]), [Path("tables/battles/yours.parquet")], Path())
