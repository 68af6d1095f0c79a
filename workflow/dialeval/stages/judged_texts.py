"""Writes down which passages are judged in a run, so that no judge learns from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import iterate_items
from dialeval.corpora.seeds import dialogues_of
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.shared import UTTERANCES
from dialeval.schemas.training import JUDGED_TEXTS
from dialeval.tables import iterate_rows, read_table, to_table, write_table
from dialeval.training.pairs.overlap import Texts, judged_rows


class Settings(BaseModel, defer_build=True):
    """Nothing is to be set."""


def stage(
    settings: Settings,
    items: list[Path],
    seeds: list[Path],
    human: list[Path],
    texts: Path,
) -> None:
    """Writes the table `judged_texts`: of items, and of people's dialogues that give the ChatSEEDs."""
    rows = judged_rows(_judged(items, seeds, human))
    print(f"{len(rows)} passages are judged")
    write_table(texts, JUDGED_TEXTS, to_table(JUDGED_TEXTS, rows))


def _judged(items: list[Path], seeds: list[Path], human: list[Path]) -> Iterator[Texts]:
    for path in items:
        for item in iterate_items(path):
            yield item.corpus, item.item_id, item.utterances
    named = {row["seed_id"] for path in seeds for row in iterate_rows(path, SEEDS, ["seed_id"])}
    for path in human:
        table = read_table(path, UTTERANCES)
        corpus = table["corpus"][0].as_py() if len(table) else ""
        for dialogue_id, utterances in dialogues_of(table).items():
            if dialogue_id in named:
                yield corpus, dialogue_id, utterances
