"""Makes rated items of people's dialogues by damaging them step by step; their reference is known by construction."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.dialogue_items import chosen, items_of_dialogues, not_between_two
from dialeval.corpora.items import item_rows
from dialeval.corpora.rated import rating_rows
from dialeval.corpora.speakers import left_out
from dialeval.perturbations.constructed import constructed_items
from dialeval.perturbations.registry import find_strategy
from dialeval.schemas.metaeval import ITEMS, RATINGS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import TableWriter, read_table, to_table, write_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """The corpus to make, how its dialogues are damaged, and which of the user's criteria that lowers."""

    name: str
    languages: list[str] | None
    strategies: list[str]
    steps: int
    limit: int | None
    random_seed: int
    hurt: dict[str, list[str]] = {}


def stage(settings: Settings, utterances: Path, items: Path, ratings: Path) -> None:
    """Writes the tables `items` and `ratings`."""
    people = read_table(utterances, UTTERANCES)
    if others := not_between_two(people):
        print(left_out("dialogues", others, "since not just two speak in them"))
    dialogues = [
        item
        for item in items_of_dialogues(people)
        if item.level == "dialogue" and (settings.languages is None or item.language in settings.languages)
    ]
    made = list(
        constructed_items(
            settings.name,
            chosen(dialogues, settings.limit, settings.random_seed),
            [find_strategy(name) for name in settings.strategies],
            n_steps=settings.steps,
            random_seed=settings.random_seed,
            hurt=settings.hurt,
        )
    )
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(item for item, _ in made))
    references = [rating for _, given in made for rating in given]
    write_table(ratings, RATINGS, to_table(RATINGS, list(rating_rows(references))))
    print(f"{counted(len(made), 'item')} made, each with a reference by construction; no person rated them")
