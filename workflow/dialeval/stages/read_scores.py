"""Reads a file of ready scores into the table `judgements`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.score_files import rated_corpora, read_scores
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS, LEFT_OUT_ITEMS, RATINGS
from dialeval.tables import TableWriter, read_tables
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """The metric, the lowest and highest value that it can give, and by corpus what is asked and what was rated."""

    name: str
    scale_min: float
    scale_max: float
    joined: dict[str, dict[str, str]] = {}


def stage(
    settings: Settings,
    file: Path,
    items: list[Path],
    ratings: list[Path],
    left_out: list[Path],
    judgements: Path,
) -> None:
    """Writes the table `judgements`, and says which scores are left out or serve less than one may think."""
    about = rated_corpora(
        read_tables(items, ITEMS, ["corpus", "language", "item_id", "level"]).to_pydict(),
        read_tables(ratings, RATINGS, ["corpus", "dimension"]).to_pydict(),
        read_tables(left_out, LEFT_OUT_ITEMS).to_pydict(),
        settings.joined,
    )
    notes: Counter[str] = Counter()
    scale = (settings.scale_min, settings.scale_max)
    with TableWriter(judgements, JUDGEMENTS) as table:
        table.write_all(read_scores(file, settings.name, scale, about, notes))
    print(f"{file}: {counted(table.rows, 'score')} read")
    for note, count in notes.items():
        print(f"{file}: {counted(count, 'score')} {note}")
