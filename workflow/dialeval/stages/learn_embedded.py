"""Lets an embedded model learn from human dialogues, fold by fold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.seeds import dialogues_of
from dialeval.engines.embedded.learned_file import learned_bytes
from dialeval.engines.embedded.learning import learn
from dialeval.schemas.shared import JUDGE_REPORT, UTTERANCES
from dialeval.tables import read_table, replacing, to_table, write_for_people
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """The model that learns."""

    name: str
    method: str
    folds: int
    random_seed: int


def stage(settings: Settings, corpora: list[Path], learned: Path, report: Path, report_csv: Path) -> None:
    """Writes what the model learned, and how well a judge tells true from damaged dialogues that were held back."""
    dialogues = [dialogue for path in corpora for dialogue in dialogues_of(read_table(path, UTTERANCES)).values()]
    print(
        f"{settings.name} ({settings.method}) learns from {counted(len(dialogues), 'dialogue')} in "
        f"{counted(settings.folds, 'fold')}"
    )
    result = learn(settings.method, dialogues, random_seed=settings.random_seed, folds=settings.folds)
    with replacing(learned) as temporary:
        temporary.write_bytes(learned_bytes(result))
    rows = [{"judge": settings.name, **asdict(row)} for row in result.report]
    write_for_people(report, report_csv, JUDGE_REPORT, to_table(JUDGE_REPORT, rows))
