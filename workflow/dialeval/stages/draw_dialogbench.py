"""Draws DialogBench's figures from its tables, all in one job: starting it costs more than drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from pydantic import BaseModel

from dialeval.errors import UserError, nearest
from dialeval.figures.dialogbench_accuracy import figure_domains, figure_positions, figure_tasks
from dialeval.figures.dialogbench_shares import figure_domain_counts, figure_styles
from dialeval.figures.style import save_figure
from dialeval.schemas.dialogbench import ACCURACY, DOMAIN_COUNTS, DOMAINS, POSITIONS, STYLES
from dialeval.schemas.table import Table
from dialeval.stages.command import run
from dialeval.tables import read_provenance, read_table


class Settings(BaseModel):
    """Which figures to draw, by the name of their files."""

    figures: list[str]


DRAWINGS: dict[str, tuple[Callable[[pd.DataFrame], Figure], Table]] = {
    "tasks": (figure_tasks, ACCURACY),
    "domains": (figure_domains, DOMAINS),
    "positions": (figure_positions, POSITIONS),
    "styles": (figure_styles, STYLES),
    "domain_counts": (figure_domain_counts, DOMAIN_COUNTS),
}
"""For each figure what draws it, and from which table."""


def stage(settings: Settings, tables: list[Path], folder: Path) -> None:
    """Writes each figure into the folder, as SVG and PDF."""
    paths = {read_provenance(path).get("table", str(path)): path for path in tables}
    for name in settings.figures:
        if name not in DRAWINGS:
            raise UserError(f"there is no figure '{name}'; {nearest(name, DRAWINGS)}")
        draw, table = DRAWINGS[name]
        if table.name not in paths:
            raise UserError(f"figure {name} needs the table '{table.name}'; given: {', '.join(paths)}")
        figure = draw(read_table(paths[table.name], table).to_pandas())
        save_figure(figure, folder / f"{name}.svg", folder / f"{name}.pdf")


if __name__ == "__main__":
    run(stage)
