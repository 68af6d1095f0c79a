"""Takes over the answers of a judge that others asked and published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.botchat_published import PublishedAnswer, read_answers
from dialeval.protocols.imported import Key, responses
from dialeval.schemas.shared import REQUESTS, RESPONSES
from dialeval.tables import TableWriter, iterate_rows
from dialeval.text.counting import counted, noted

COLUMNS = ("request_id", "protocol", "case_id", "left", "right", "n_utterances", "subject")


class Settings(BaseModel, defer_build=True):
    """How the files name columns and models; `arena_lengths` are the N of Arena's files."""

    protocol: str
    judge_column: str
    names: dict[str, str]
    arena_lengths: list[int] = []


def stage(settings: Settings, requests: Path, published: list[Path], answers: Path) -> None:
    """Writes the table `responses`, in the order of the requests, and says what was counted."""
    lengths = settings.arena_lengths if settings.protocol == "arena" else [None]
    known: dict[Key, PublishedAnswer] = {}
    for path, n in zip(published, lengths, strict=True):
        found = read_answers(path, settings.judge_column, settings.names, pairs=settings.protocol != "unieval")
        known |= {(shown, n): answer for shown, answer in found.items()}
    source = ", ".join(str(path) for path in published)
    notes: Counter[str] = Counter()
    with TableWriter(answers, RESPONSES) as table:
        table.write_all(responses(iterate_rows(requests, REQUESTS, COLUMNS), known, source, notes))
    print(f"{source}: {counted(len(known), 'answer')}, for {counted(table.rows, 'request')}")
    for note, count in (+notes).items():
        print(noted(count, note))
