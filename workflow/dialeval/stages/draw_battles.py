"""Draws the ratings from a table of battles."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.figures.ratings import figure_battle_ratings
from dialeval.figures.style import save_figure
from dialeval.schemas.battles import BATTLE_RATINGS
from dialeval.stages.command import run
from dialeval.tables import read_table


class Settings(BaseModel):
    """The name of the battles, and the column whose values were resampled, if there is one."""

    name: str
    cluster: str | None


def stage(settings: Settings, ratings: Path, svg: Path, pdf: Path) -> None:
    """Writes the figure as SVG and PDF."""
    interval = f"95 % interval (resampled by {settings.cluster or 'row'})"
    table = read_table(ratings, BATTLE_RATINGS).to_pandas()
    save_figure(figure_battle_ratings(table, settings.name, interval), svg, pdf)


if __name__ == "__main__":
    run(stage)
