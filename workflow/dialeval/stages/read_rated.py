"""Reads a rated corpus into the tables `items`, `ratings` and `left_out_items`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.dialogue_items import drawn_dialogues
from dialeval.corpora.items import item_rows
from dialeval.corpora.rated import RatedReading, check_joined, left_out_rows, rating_rows
from dialeval.corpora.rated_readers import read_rated
from dialeval.schemas.metaeval import ITEMS, LEFT_OUT_ITEMS, RATINGS
from dialeval.tables import TableWriter, to_table, write_table


class Settings(BaseModel, defer_build=True):
    """The corpus to read, the user's criteria on which it is rated, and what is asked about beside what was rated.

    Attributes:
        limit: dialogues of each language to keep, drawn with `random_seed`; None for all.
    """

    name: str
    reader: str
    path: Path
    languages: list[str] | None
    own_criteria: list[str] = []
    asks: dict[str, str] = {}
    limit: int | None = None
    random_seed: int = 0


def stage(settings: Settings, items: Path, ratings: Path, left_out: Path) -> None:
    """Writes the tables and says what was read, what was left out, and what is odd about the rest."""
    reading = read_rated(settings.reader, settings.name, settings.path, settings.languages, settings.own_criteria)
    check_joined(reading, settings.asks, f"metaeval.corpora.{settings.name}.asks")
    if settings.limit is not None:
        _keep_drawn(reading, settings.limit, settings.random_seed)
    print(reading.summary())
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(reading.items))
    write_table(ratings, RATINGS, to_table(RATINGS, list(rating_rows(reading.ratings))))
    rows = left_out_rows(settings.name, reading)
    write_table(left_out, LEFT_OUT_ITEMS, to_table(LEFT_OUT_ITEMS, rows))


def _keep_drawn(reading: RatedReading, limit: int, random_seed: int) -> None:
    """Leave out the items and ratings of all dialogues but `limit` of each language."""
    drawn = drawn_dialogues(reading.items, limit, random_seed)
    for item in reading.items:
        if (item.language, item.cluster) not in drawn:
            reading.leave_out(item.language, item.item_id, f"not among the {limit} dialogues of `limit`")
    reading.items = [item for item in reading.items if (item.language, item.cluster) in drawn]
    kept = {item.item_id for item in reading.items}
    reading.ratings = [rating for rating in reading.ratings if rating.item_id in kept]
