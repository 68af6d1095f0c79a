"""Draws what the second judge of a cascade is asked: half of it where the first is least sure."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from dialeval.aggregation.cascades import COLUMNS, drawn
from dialeval.config.cascades import Cascade
from dialeval.schemas.judgements import JUDGEMENTS, Form
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import TableWriter, chosen_rows, read_table


class Settings(BaseModel, defer_build=True):
    """The cascade, and the form of what is asked."""

    form: Form
    cascade: Cascade


def stage(settings: Settings, requests: Path, judgements: Path, chosen: Path) -> None:
    """Writes the table `requests` of the second judge."""
    asked = drawn(read_table(judgements, JUDGEMENTS, COLUMNS), settings.form, settings.cascade.share)
    is_asked = [name in asked for name in read_table(requests, REQUESTS, ["request_id"])["request_id"].to_pylist()]
    with TableWriter(chosen, REQUESTS) as table:
        table.write_all(chosen_rows(requests, REQUESTS, is_asked))
    cascade = settings.cascade
    print(
        f"{cascade.then} is asked {sum(is_asked):,} of {len(is_asked):,} requests, drawn at random, half of them from "
        f"those of which {cascade.first} is least sure"
    )
