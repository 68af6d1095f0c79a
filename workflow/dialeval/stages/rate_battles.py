"""Rates the models of a plain table of battles."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.battles import battle_ratings
from dialeval.config.botchat import Elo
from dialeval.corpora.battles import read
from dialeval.schemas.battles import BATTLE_DIFFERENCES, BATTLE_RATINGS
from dialeval.tables import write_for_people
from dialeval.text.counting import counted, noted


class Settings(BaseModel, defer_build=True):
    """The names of the columns, what words for winners mean, and the settings of Elo."""

    left: str | None
    right: str | None
    winner: str | None
    cluster: str | None
    outcomes: dict[str, str]
    elo: Elo
    random_seed: int


def stage(
    settings: Settings,
    battles: Path,
    table: Path,
    csv: Path,
    differences: Path,
    differences_csv: Path,
) -> None:
    """Writes the tables `battles/ratings` and `battles/differences`, and says what was read."""
    found = read(battles, **settings.model_dump(exclude={"elo", "random_seed"}))
    ratings, compared = battle_ratings(found, settings.elo, settings.random_seed)
    clusters = f" in {counted(found.n_clusters, 'cluster')}" if settings.cluster else ""
    print(f"{battles}: {counted(len(found), 'battle')}{clusters} between {counted(len(ratings), 'model')}")
    print("".join(f"{noted(count, note)}\n" for note, count in found.notes.items()), end="")
    write_for_people(table, csv, BATTLE_RATINGS, ratings)
    write_for_people(differences, differences_csv, BATTLE_DIFFERENCES, compared)
