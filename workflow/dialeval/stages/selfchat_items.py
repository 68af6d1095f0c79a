"""Puts the dialogues on all ChatSEEDs, of people and of chatbots, into one table of items to be judged."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.items import item_rows
from dialeval.corpora.selfchat_items import chatbot_items, human_items
from dialeval.schemas.botchat import SEEDS
from dialeval.schemas.metaeval import ITEMS
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import TableWriter, read_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """Whether chatbots talk with a simulated user."""

    partnered: bool = False


def stage(settings: Settings, human: Path, seeds: Path, dialogues: list[Path], items: Path) -> None:
    """Writes the table `items`: the human dialogues, then each chatbot's, in the order of the seeds."""
    of_seeds = read_table(seeds, SEEDS)
    everything = chain(
        human_items(read_table(human, UTTERANCES), of_seeds, partnered=settings.partnered),
        chatbot_items(dialogues, of_seeds, partnered=settings.partnered),
    )
    with TableWriter(items, ITEMS) as table:
        table.write_all(item_rows(everything), group_size=512)
    print(f"{counted(table.rows, 'dialogue')} of people and {counted(len(dialogues), 'chatbot')}")
