"""Figures of trainings on made-up records: what they show, and that they show it for every shape of table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import training_example as example
from drawn_figures import by_name, settings
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dialeval.figures import registry
from dialeval.figures.style import PAGE_WIDTH, save_figure
from dialeval.stages.figures import draw as stage
from dialeval.tables.catalogue import TABLES
from dialeval.tables.files import write_table

DRAWINGS = by_name(registry.TRAINING)


def drawn(name: str, judges: tuple[str, ...] = ("poe", "fined")) -> Figure:
    tables = example.tables(judges)
    draw, needed = DRAWINGS[name]
    options = {"interval": "95 % interval"} if name == "record" else {}
    return draw(*(tables[table.name].to_pandas() for table in needed), **options)


def panel_of(figure: Figure, title: str) -> Axes:
    (found,) = [panel for panel in figure.axes if panel.get_title(loc="left").replace("\n", " ") == title]
    return found


def rows_of(panel: Axes) -> list[str]:
    return [label.get_text().replace("\n", "") for label in panel.get_yticklabels()]


def test_the_record_shows_before_and_after_by_criterion_and_kind() -> None:
    figure = drawn("record")
    assert [part._suptitle.get_text() for part in figure.subfigs] == ["trained on dialogues", "trained on turns"]  # type: ignore[attr-defined]
    poe, fined = panel_of(figure, "poe"), panel_of(figure, "fined")
    assert rows_of(poe) == ["all", "relevance: random", "relevance: shuffled"]
    assert rows_of(fined)[:4] == ["all", "coherence: all", "coherence: generic utterance", "coherence: order"]
    record = example.tables()["training/record"].to_pandas()
    mine = record[(record["judge"] == "poe") & (record["language"] == "all")].set_index(["moment", "kind"])["auc"]
    for container, moment in zip(poe.containers, ("before", "after"), strict=True):
        dots = np.asarray(container[0].get_xdata(), dtype=float)
        np.testing.assert_allclose(dots, [mine[moment, kind] for kind in ("all", "random", "shuffled")])


def test_the_curve_shows_losses_and_auc_of_every_judge() -> None:
    figure = drawn("curve")
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles == ["poe: loss", "poe: AUC, in percent", "fined: loss", "fined: AUC, in percent"]
    losses = panel_of(figure, "poe: loss")
    training, development, kept = losses.lines
    assert np.asarray(training.get_ydata())[0] == pytest.approx(0.66)
    assert np.argmin(np.asarray(development.get_ydata())) == 6
    assert list(np.asarray(kept.get_xdata())) == [70.0, 70.0]


@pytest.mark.parametrize("judges", [(), ("poe",), tuple(f"my-lab/judge-{place}" for place in range(11))])
@pytest.mark.parametrize("name", [*DRAWINGS])
def test_figures_of_any_number_of_judges_fit(tmp_path: Path, name: str, judges: tuple[str, ...]) -> None:
    figure = drawn(name, judges)
    save_figure(figure, tmp_path / "a.svg", tmp_path / "a.pdf")
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= PAGE_WIDTH
    assert ("No judge was trained" in "".join(text.get_text() for text in figure.texts)) == (not judges)


def test_a_judge_that_was_never_scored_before_has_what_it_has() -> None:
    record = example.tables(("poe",))["training/record"].to_pandas()
    after = record[record["moment"] == "after"]
    figure = DRAWINGS["record"].draw(after, interval="95 % interval")
    assert len(panel_of(figure, "poe").containers) == 1
    missing = record.assign(auc=np.nan, low=np.nan, high=np.nan)
    words = [text.get_text() for text in panel_of(DRAWINGS["record"].draw(missing, interval=""), "poe").texts]
    assert words == ["no value"] * 3


def test_the_stage_draws_both(tmp_path: Path) -> None:
    paths = []
    for name, table in example.tables().items():
        paths.append(tmp_path / "tables" / f"{name}.parquet")
        write_table(paths[-1], TABLES[name], table)
    stage(settings(registry.TRAINING, "record", "curve"), paths, [], tmp_path)
    assert {path.name for path in tmp_path.glob("*.svg")} == {"record.svg", "curve.svg"}
