"""Takes over the dialogues of a chatbot that others let talk to itself and published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.botchat_published import read_dialogues
from dialeval.protocols.imported import turns
from dialeval.protocols.selfchat import rows
from dialeval.schemas.botchat import GENERATED, SEEDS
from dialeval.tables import TableWriter, read_table
from dialeval.text.counting import counted, noted


class Settings(BaseModel, defer_build=True):
    """The chatbot, its column in the file, and how long dialogues are; `seeds_limit` as in the configuration."""

    name: str
    column: str
    n_utterances: int
    seeds_limit: int | None = None


def stage(settings: Settings, seeds: Path, published: Path, generated: Path) -> None:
    """Writes the table `generated`, as self-chat does, and says what was counted."""
    by_id = {row["seed_id"]: tuple(row["utterances"]) for row in read_table(seeds, SEEDS).to_pylist()}
    notes: Counter[str] = Counter()
    dialogues = turns(
        by_id,
        read_dialogues(published, settings.column),
        n_utterances=settings.n_utterances,
        only_some_seeds=settings.seeds_limit is not None,
        source=f"{published}, column {settings.column}",
        notes=notes,
    )
    with TableWriter(generated, GENERATED) as table:
        table.write_all(rows(settings.name, by_id, dialogues))
    print(f"{published}, column {settings.column}: {counted(len(dialogues), 'dialogue')} of {settings.name}")
    for note, count in (+notes).items():
        print(noted(count, note))
