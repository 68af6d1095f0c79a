"""The stage that draws figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.figures.plot import Plot, save_plot
from dialeval.figures.style import PUBLISHED_WORDS

OTHER_PROMPTS = "other prompts"
_MOST_NAMED = 5


class Drawing(BaseModel, defer_build=True):
    """A picture: its files' name, its tables (`<folder>/<table>`), and the function that draws it with its options."""

    name: str
    tables: list[str]
    draw: str
    options: dict[str, Any]


class DrawSettings(BaseModel, defer_build=True):
    """What to draw; `other_prompts`: the run's prompts are not those of the papers' published numbers."""

    drawings: list[Drawing]
    other_prompts: bool = False


def draw(settings: DrawSettings, tables: list[Path], folder: Path) -> None:
    """Write each figure into the folder, as SVG and PDF; warn of texts that the PDF cannot show."""
    paths = {f"{path.parent.name}/{path.stem}": path for path in tables}
    for drawing in settings.drawings:
        for name in drawing.tables:
            if name not in paths:
                raise UserError(f"figure {drawing.name} needs the table '{name}'; given: {', '.join(paths)}")
    read = {name: _read(path, name) for name, path in paths.items()}
    in_boxes: set[str] = set()
    for drawing in settings.drawings:
        found = _function(drawing.draw)(*(read[name] for name in drawing.tables), **drawing.options)
        if settings.other_prompts and isinstance(found, Plot):
            marked = found.caption.replace(PUBLISHED_WORDS, f"{PUBLISHED_WORDS} ({OTHER_PROMPTS})")
            found = replace(found, caption=marked)
        in_boxes |= save_plot(found, folder / f"{drawing.name}.svg", folder / f"{drawing.name}.pdf")
    if in_boxes:
        named = ", ".join(sorted(in_boxes)[:_MOST_NAMED])
        more = f" and {len(in_boxes) - _MOST_NAMED} more" if len(in_boxes) > _MOST_NAMED else ""
        print(
            f"warning: the font of the PDF figures in {folder} lacks characters of {named}{more}, and shows boxes; the "
            "SVG figures are complete. For a complete PDF, install a font family of this script (such as Noto Sans CJK "
            "or Noto Sans Devanagari), open the SVG figure in a browser, and print it as PDF"
        )


def _function(name: str) -> Callable[..., Any]:
    """Return a function of the package of figures by `<module>.<function>`."""
    module, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"dialeval.figures.{module}"), function)
    return found


def _read(path: Path, name: str) -> pd.DataFrame:
    if not path.exists():
        raise UserError(f"{path} does not exist; it should be a table '{name}': run the same command again")
    frame: pd.DataFrame = pq.ParquetFile(path).read().to_pandas()
    return frame
