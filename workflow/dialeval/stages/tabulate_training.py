"""The record of trainings: what judges tell on dialogues that were held back, how learning went, and on what."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

from dialeval.aggregation.training import SCORED_EXAMPLES, record_rows, sample_rows
from dialeval.schemas.training import (
    TRAINING_CURVE,
    TRAINING_EXAMPLES,
    TRAINING_RECORD,
    TRAINING_RUNS,
    TRAINING_SAMPLES,
    TRAINING_SCORES,
)
from dialeval.tables import read_table, read_tables, write_rows


class Settings(BaseModel, defer_build=True):
    """The sets that each judge is trained on, and how intervals are made and samples drawn."""

    judges: dict[str, list[str]]
    confidence: float = 0.95
    random_seed: int = 0


def stage(settings: Settings, examples: list[Path], trained: list[Path], folder: Path) -> None:
    """Writes the tables `training/record`, `curve`, `runs` and `samples` into a folder, each as Parquet and as CSV.

    Args:
        settings: see `Settings`.
        examples: of every set that is trained on.
        trained: folder of every judge, which is called as the judge.
        folder: where the tables go.
    """
    known = read_tables(examples, TRAINING_EXAMPLES, SCORED_EXAMPLES)
    record = [
        row
        for path in trained
        for row in record_rows(
            path.name,
            _of_sets(known, settings.judges[path.name]),
            read_table(path / "scores.parquet", TRAINING_SCORES),
            settings.confidence,
        )
    ]
    curve, runs = (
        read_tables([path / f"{kind.file.removesuffix('s')}.parquet" for path in trained], kind).to_pylist()
        for kind in (TRAINING_CURVE, TRAINING_RUNS)
    )
    samples = [
        row for path in examples for row in sample_rows(read_table(path, TRAINING_EXAMPLES), settings.random_seed)
    ]
    for table, rows in (
        (TRAINING_RECORD, record),
        (TRAINING_CURVE, curve),
        (TRAINING_RUNS, runs),
        (TRAINING_SAMPLES, samples),
    ):
        write_rows(folder, table, rows)


def _of_sets(examples: pa.Table, sets: list[str]) -> pa.Table:
    return examples.filter(pc.is_in(examples["training"], value_set=pa.array(sets, pa.string())))
