"""Figures by their entries, as tests draw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from matplotlib.figure import Figure as Picture

from dialeval.figures.registry import Figure, drawings
from dialeval.stages.figures import DrawSettings
from dialeval.tables.catalogue import TABLES
from dialeval.tables.schema import Table

OPTIONS: dict[str, Any] = {"interval": "90 % interval"}


class Drawn(NamedTuple):
    """What draws a figure, and from which tables."""

    draw: Callable[..., Picture]
    tables: tuple[Table, ...]


def by_name(figures: Sequence[Figure]) -> dict[str, Drawn]:
    """Returns figures by the name of their files."""
    found = {}
    for one in drawings(figures, OPTIONS):
        draw = getattr(import_module(one.modules[0]), one.draw.partition(".")[2])
        found[one.name] = Drawn(draw, tuple(TABLES[name] for name in one.tables))
    return found


def settings(figures: Sequence[Figure], *names: str) -> DrawSettings:
    """Returns the settings of the stage that draws the figures of these names."""
    wanted = [one.settings() for one in drawings(figures, OPTIONS) if one.name in names]
    return DrawSettings.model_validate({"drawings": wanted})
