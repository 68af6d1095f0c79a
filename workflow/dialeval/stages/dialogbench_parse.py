"""Reads which options a model chose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.dialogbench.examination import Method, parse_all
from dialeval.dialogbench.item_table import read_items
from dialeval.protocols.joining import answered
from dialeval.protocols.statuses import with_statuses_said
from dialeval.schemas.dialogbench import TEST_ANSWERS
from dialeval.tables import TableWriter

_ABOUT = ("request_id", "case_id")
_ANSWER = ("request_id", "status", "text", "finish_reason", "label_logprobs", "label_mass", "logprob", "n_tokens")


class Settings(BaseModel, defer_build=True):
    """Whose answers they are, and how they were given."""

    model: str
    method: Method


def stage(settings: Settings, items: Path, requests: Path, responses: list[Path], answers: Path) -> None:
    """Writes the table `test_answers`."""
    item_of, origin_of = read_items(items)

    def rows() -> Iterator[dict[str, Any]]:
        pairs = answered(requests, responses, _ABOUT, _ANSWER)
        for row in parse_all(settings.model, settings.method, item_of, pairs):
            yield {**origin_of[row["item_id"]], **row}

    with TableWriter(answers, TEST_ANSWERS) as table:
        table.write_all(with_statuses_said(rows(), settings.model))
