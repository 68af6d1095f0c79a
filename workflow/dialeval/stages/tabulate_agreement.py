"""Says how far annotators agree, and who of them differs."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.labels.agreement import agreement
from dialeval.aggregation.labels.annotators import annotators
from dialeval.schemas.labels import AGREEMENT, ANNOTATORS, LABELS
from dialeval.tables import read_table, to_table, write_for_people


class Settings(BaseModel, defer_build=True):
    """How intervals are made."""

    resamples: int = 1000
    confidence: float = 0.95
    random_seed: int = 0


def stage(
    settings: Settings,
    labels: Path,
    table: Path,
    csv: Path,
    annotators_table: Path,
    annotators_csv: Path,
) -> None:
    """Writes the tables `agreement` and `annotators`."""
    said = read_table(labels, LABELS).to_pandas()
    write_for_people(table, csv, AGREEMENT, to_table(AGREEMENT, agreement(said, **settings.model_dump())))
    beside = annotators(said, confidence=settings.confidence)
    write_for_people(annotators_table, annotators_csv, ANNOTATORS, to_table(ANNOTATORS, beside))
