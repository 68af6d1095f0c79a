"""Draws the figures of meta-evaluation from its tables, all in one job: starting it costs more than drawing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure
from pydantic import BaseModel

from dialeval.errors import UserError, nearest
from dialeval.figures.metaeval_forest import figure_judges
from dialeval.figures.metaeval_heat import figure_judges_by_corpus, figure_judges_by_language
from dialeval.figures.metaeval_matrices import figure_dimensions, figure_judges_among_themselves, figure_languages
from dialeval.figures.metaeval_raters import figure_annotators, figure_ensembles
from dialeval.figures.style import save_figure
from dialeval.schemas.metaeval import ANNOTATOR_AGREEMENT, AVERAGES, CORRELATIONS, MATRICES, MODEL_ENSEMBLE
from dialeval.schemas.table import Table
from dialeval.stages.command import run
from dialeval.tables import read_provenance, read_table


class Settings(BaseModel):
    """Which figures to draw, by the name of their files, and the confidence of the tables' intervals."""

    figures: list[str]
    confidence: float


DRAWINGS: dict[str, tuple[Callable[..., Figure], tuple[Table, ...], bool]] = {
    "judges": (figure_judges, (AVERAGES, CORRELATIONS), True),
    "judges_by_corpus": (figure_judges_by_corpus, (CORRELATIONS,), False),
    "judges_by_language": (figure_judges_by_language, (AVERAGES,), False),
    "dimensions": (figure_dimensions, (MATRICES,), False),
    "languages": (figure_languages, (MATRICES,), False),
    "judges_among_themselves": (figure_judges_among_themselves, (MATRICES,), False),
    "ensembles": (figure_ensembles, (MODEL_ENSEMBLE,), True),
    "annotators": (figure_annotators, (ANNOTATOR_AGREEMENT,), True),
}
"""For each figure what draws it, from which tables, and whether it has intervals."""


def stage(settings: Settings, tables: list[Path], folder: Path) -> None:
    """Writes each figure into the folder, as SVG and PDF."""
    paths = {read_provenance(path).get("table", str(path)): path for path in tables}
    interval = f"{100 * settings.confidence:g} % interval (dialogues resampled)"
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
