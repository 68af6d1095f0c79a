"""What the rated corpora consist of, and how far their raters agree (comp-analysis, Table 1)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.rated_corpora import annotator_rows, corpus_rows
from dialeval.corpora.items import Rating, iterate_items
from dialeval.schemas.metaeval import RATINGS
from dialeval.schemas.raters import ANNOTATOR_AGREEMENT, RATED_CORPORA
from dialeval.tables import read_tables, to_table, write_for_people


class Settings(BaseModel, defer_build=True):
    """How intervals are made, and by corpus and language which model translated."""

    translated: dict[str, dict[str, str]] = {}
    resamples: int
    confidence: float
    random_seed: int


def stage(
    settings: Settings,
    items: list[Path],
    ratings: list[Path],
    filled: list[Path],
    corpora: Path,
    annotator_agreement: Path,
) -> None:
    """Writes both tables, each as Parquet and, beside it, as CSV."""
    every = list(chain.from_iterable(iterate_items(path) for path in items))
    given, stood_in = (
        [Rating(**row) for row in read_tables(paths, RATINGS).to_pylist()] for paths in (ratings, filled)
    )
    intervals = settings.model_dump(exclude={"translated"})
    between = annotator_rows(every, [*given, *stood_in], **intervals)
    for path, table, rows in (
        (corpora, RATED_CORPORA, corpus_rows(every, given, settings.translated, stood_in, between)),
        (annotator_agreement, ANNOTATOR_AGREEMENT, between),
    ):
        write_for_people(path, path.with_suffix(".csv"), table, to_table(table, rows))
