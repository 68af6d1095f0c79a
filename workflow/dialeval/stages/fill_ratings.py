"""Fills in what nobody rated with a judge's own repeated ratings (comp-analysis, "Fill up missing annotations")."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.metaeval.filling import filled_ratings
from dialeval.corpora.rated import rating_rows
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.tables import read_tables, to_table, write_table

_JUDGED = ("corpus", "language", "item_id", "criterion", "repeat", "value", "scale_min", "scale_max")


class Settings(BaseModel, defer_build=True):
    """The judge that fills in, and the dimensions that corpora are limited to, by corpus."""

    judge: str
    dimensions: dict[str, list[str]] = {}


def stage(
    settings: Settings,
    items: list[Path],
    ratings: list[Path],
    judgements: Path,
    filled: Path,
) -> None:
    """Writes a table `ratings` of what was filled in, and says what that is."""
    rated = read_tables(ratings, RATINGS, ["corpus", "dimension"])
    found = list(
        filled_ratings(
            settings.judge,
            read_tables(items, ITEMS, ["corpus", "language", "item_id"]).to_pylist(),
            {(row["corpus"], row["dimension"]) for row in rated.to_pylist()},
            read_tables([judgements], JUDGEMENTS, list(_JUDGED)).to_pylist(),
            settings.dimensions,
        )
    )
    write_table(filled, RATINGS, to_table(RATINGS, rating_rows(found)))
    means = [rating for rating in found if rating.round is None]
    for corpus, dimension in dict.fromkeys((rating.corpus, rating.dimension) for rating in means):
        n = sum((rating.corpus, rating.dimension) == (corpus, dimension) for rating in means)
        print(f"{corpus}: {dimension}, which nobody rated, is filled in by {settings.judge} on {n} items")
    if not means:
        print(f"every dimension on which {settings.judge} gave ratings is rated in its corpus; nothing is filled in")
