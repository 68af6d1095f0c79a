"""Draws the figures of robustness from its tables, all in one job: starting it costs more than drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure
from pydantic import BaseModel

from dialeval.errors import UserError, nearest
from dialeval.figures.robustness_drops import figure_drops
from dialeval.figures.robustness_ladders import figure_ladders
from dialeval.figures.robustness_ratios import figure_ratios
from dialeval.figures.style import save_figure
from dialeval.schemas.robustness import DROPS, LADDERS, ROBUSTNESS
from dialeval.schemas.table import Table
from dialeval.stages.command import run
from dialeval.tables import read_provenance, read_table


class Settings(BaseModel):
    """Which figures to draw, by the name of their files, and the confidence of the tables' intervals."""

    figures: list[str]
    confidence: float


DRAWINGS: dict[str, tuple[Callable[..., Figure], tuple[Table, ...], bool]] = {
    "ratios": (figure_ratios, (ROBUSTNESS,), True),
    "drops": (figure_drops, (DROPS, ROBUSTNESS), False),
    "ladders": (figure_ladders, (LADDERS, ROBUSTNESS), True),
}
"""For each figure what draws it, from which tables, and whether it has intervals."""


def stage(settings: Settings, tables: list[Path], folder: Path) -> None:
    """Writes each figure into the folder, as SVG and PDF."""
    paths = {read_provenance(path).get("table", str(path)): path for path in tables}
    interval = f"{100 * settings.confidence:g} % interval (clustered by dialogue)"
    for name in settings.figures:
        if name not in DRAWINGS:
            raise UserError(f"there is no figure '{name}'; {nearest(name, DRAWINGS)}")
        draw, needed, has_intervals = DRAWINGS[name]
        for table in needed:
            if table.name not in paths:
                raise UserError(f"figure {name} needs the table '{table.name}'; given: {', '.join(paths)}")
        frames = [read_table(paths[table.name], table).to_pandas() for table in needed]
        figure = draw(*frames, interval) if has_intervals else draw(*frames)
        save_figure(figure, folder / f"{name}.svg", folder / f"{name}.pdf")


if __name__ == "__main__":
    run(stage)
