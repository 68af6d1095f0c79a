"""Reads which options a model chose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.corpora.clusters import beginning_clusters
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.examination import Method, parse_all
from dialeval.protocols.joining import answered
from dialeval.protocols.statuses import with_statuses_said
from dialeval.schemas.dialogbench import TEST_ANSWERS, TEST_ITEMS
from dialeval.stages.command import run
from dialeval.tables import Provenance, TableWriter, iterate_rows

_ABOUT = ("request_id", "case_id")
_ANSWER = ("request_id", "status", "text", "finish_reason", "label_logprobs", "label_mass", "logprob", "n_tokens")


class Settings(BaseModel):
    """Whose answers they are, and how they were given."""

    model: str
    method: Method


def stage(
    settings: Settings, items: Path, requests: Path, responses: list[Path], answers: Path, provenance: Provenance
) -> None:
    """Writes the table `test_answers`."""
    item_of: dict[str, TestItem] = {}
    origin_of: dict[str, dict[str, str]] = {}
    for row in iterate_rows(items, TEST_ITEMS):
        item_of[row["item_id"]] = TestItem.from_row(row)
        origin_of[row["item_id"]] = {"source": row["source"], "variant": row["variant"]}
    names = list(item_of)
    for name, first in zip(names, beginning_clusters([item_of[name].utterances for name in names]), strict=True):
        origin_of[name]["cluster"] = names[first]

    def rows() -> Iterator[dict[str, Any]]:
        pairs = answered(requests, responses, _ABOUT, _ANSWER)
        for row in parse_all(settings.model, settings.method, item_of, pairs):
            yield origin_of[row["item_id"]] | row

    with TableWriter(answers, TEST_ANSWERS, provenance) as table:
        table.write_all(with_statuses_said(rows(), settings.model))


if __name__ == "__main__":
    run(stage)
