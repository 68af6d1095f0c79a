"""Draws the figures of one part from its tables, all in one job: starting it costs more than drawing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.figures.saving import save_figure
from dialeval.stages.command import run


class Drawing(BaseModel):
    """A picture: its files' name, its tables (`<folder>/<table>`), and the function that draws it with its options."""

    name: str
    tables: list[str]
    draw: str
    options: dict[str, Any]


class Settings(BaseModel):
    """What to draw."""

    drawings: list[Drawing]


def stage(settings: Settings, tables: list[Path], folder: Path) -> None:
    """Writes each figure into the folder, as SVG and PDF."""
    paths = {f"{path.parent.name}/{path.stem}": path for path in tables}
    for drawing in settings.drawings:
        module, _, function = drawing.draw.partition(".")
        draw = getattr(import_module(f"dialeval.figures.{module}"), function)
        frames = [_read(paths, name, drawing.name) for name in drawing.tables]
        figure = draw(*frames, **drawing.options)
        save_figure(figure, folder / f"{drawing.name}.svg", folder / f"{drawing.name}.pdf")


def _read(paths: dict[str, Path], name: str, figure: str) -> pd.DataFrame:
    """Returns a table, whose columns the function that draws it checks."""
    if name not in paths:
        raise UserError(f"figure {figure} needs the table '{name}'; given: {', '.join(paths)}")
    if not paths[name].exists():
        raise UserError(f"{paths[name]} does not exist; it should be a table '{name}'")
    frame: pd.DataFrame = pq.ParquetFile(paths[name]).read().to_pandas()
    return frame


if __name__ == "__main__":
    run(stage)
