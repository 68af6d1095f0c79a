"""Finds the dialogues of a training set that are judged later, and refuses them or lets them be left out."""

from __future__ import annotations

from pathlib import Path

from dialeval.schemas.training import TRAINING_OVERLAP
from dialeval.tables import to_table, write_table
from dialeval.training.pairs.data import known_dialogues
from dialeval.training.pairs.overlap import overlap_rows, refuse_overlap
from dialeval.training.pairs.recipe import Recipe


def stage(settings: Recipe, utterances: list[Path], judged: Path, overlap: Path) -> None:
    """Writes the table `training_overlap`, which is empty where overlap is refused."""
    known = known_dialogues(settings, utterances)
    rows = list(overlap_rows(settings.name, known, judged))
    if settings.overlap == "refuse":
        refuse_overlap(settings.name, rows, len(known))
    print(f"{settings.name}: {len(rows)} of {len(known)} dialogues are judged later, or hold text of such")
    write_table(overlap, TRAINING_OVERLAP, to_table(TRAINING_OVERLAP, rows))
