"""The stage that draws figures."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.figures import matplotlib_without_docs  # noqa: F401  (before what loads Matplotlib)
from dialeval.figures.panels import mark_printed
from dialeval.figures.style import save_figure


class Drawing(BaseModel, defer_build=True):
    """A picture: its files' name, its tables (`<folder>/<table>`), and the function that draws it with its options.

    `order` is the function that puts the rows in order, from all tables that the stage is given.
    """

    name: str
    tables: list[str]
    draw: str
    options: dict[str, Any]
    order: str = ""


class DrawSettings(BaseModel, defer_build=True):
    """What to draw; `other_prompts` says that the papers' printed numbers were asked in others than the run's."""

    drawings: list[Drawing]
    other_prompts: bool = False


def draw(settings: DrawSettings, tables: list[Path], order: list[Path], folder: Path) -> None:
    """Writes each figure into the folder, as SVG and PDF; `order` has further tables by which rows are put in order."""
    paths = {f"{path.parent.name}/{path.stem}": path for path in [*order, *tables]}
    read: dict[str, pd.DataFrame] = {}
    for drawing in settings.drawings:
        for name in drawing.tables:
            if name not in paths:
                raise UserError(f"figure {drawing.name} needs the table '{name}'; given: {', '.join(paths)}")
    for name, path in paths.items():
        read[name] = _read(path, name)
    for drawing in settings.drawings:
        options = dict(drawing.options)
        if drawing.order:
            options["order"] = _function(drawing.order)(read)
        figure = _function(drawing.draw)(*(read[name] for name in drawing.tables), **options)
        if settings.other_prompts:
            mark_printed(figure)
        save_figure(figure, folder / f"{drawing.name}.svg", folder / f"{drawing.name}.pdf")


def _function(name: str) -> Callable[..., Any]:
    """Returns a function of the package of figures by `<module>.<function>`."""
    module, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"dialeval.figures.{module}"), function)
    return found


def _read(path: Path, name: str) -> pd.DataFrame:
    """Returns a table, whose columns the function that draws it checks."""
    if not path.exists():
        raise UserError(f"{path} does not exist; it should be a table '{name}'")
    frame: pd.DataFrame = pq.ParquetFile(path).read().to_pandas()
    return frame
