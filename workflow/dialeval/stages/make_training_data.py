"""Makes the pairs of true and spoiled dialogues that judges learn from (xDial-Eval, appendix C)."""

from __future__ import annotations

from pathlib import Path

from dialeval.schemas.training import TRAINING_EXAMPLES
from dialeval.tables import TableWriter
from dialeval.training.pairs.data import training_rows
from dialeval.training.pairs.overlap import left_out_dialogues
from dialeval.training.pairs.recipe import Recipe


def stage(settings: Recipe, utterances: list[Path], left_out: list[Path], examples: Path) -> None:
    """Writes the table `training_examples`, and says what it holds and what could not be used."""
    with TableWriter(examples, TRAINING_EXAMPLES) as table:
        table.write_all(training_rows(settings, utterances, left_out_dialogues(left_out), say=print))
