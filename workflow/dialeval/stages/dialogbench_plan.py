"""Plans an examination: every test item becomes the requests of one method (DialogBench 4)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.examination import Method, Presentation, plan
from dialeval.engines.request import Sampling
from dialeval.prompts.rendering import Templates
from dialeval.schemas.dialogbench import TEST_ITEMS
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import TableWriter, iterate_rows
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """How models answer, and where other prompts lie."""

    method: Method
    circular: bool
    presentation: Presentation
    max_tokens: int
    presence_penalty: float
    frequency_penalty: float


def stage(settings: Settings, items: Path, requests: Path, templates: Templates) -> None:
    """Writes the table `requests`."""
    planned = plan(
        (TestItem.from_row(row) for row in iterate_rows(items, TEST_ITEMS)),
        settings.method,
        templates,
        Sampling(
            max_tokens=settings.max_tokens,
            presence_penalty=settings.presence_penalty,
            frequency_penalty=settings.frequency_penalty,
        ),
        circular=settings.circular,
        presentation=settings.presentation,
    )
    with TableWriter(requests, REQUESTS) as table:
        table.write_all(one.to_row() for one in planned)
    print(f"{counted(table.rows, 'request')} planned")
