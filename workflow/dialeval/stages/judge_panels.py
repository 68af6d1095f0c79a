"""Stages that join several judges: cascades and ensembles."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
from pydantic import BaseModel

from dialeval.config.protocol_settings import Cascade
from dialeval.measures import combined_judges
from dialeval.measures.combined_judges import CASCADE_COLUMNS, as_one, drawn
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, Form
from dialeval.tables.files import TableWriter, chosen_rows, read_table, read_tables, write_table
from dialeval.text import counted


class SampleCascadeSettings(BaseModel, defer_build=True):
    """The cascade and the form of its questions."""

    form: Form
    cascade: Cascade


def sample_cascade(settings: SampleCascadeSettings, requests: Path, judgements: Path, chosen: Path) -> None:
    """Write the table `requests` of a cascade's second judge: half of it where the first is least sure."""
    chosen_ids = drawn(read_table(judgements, JUDGEMENTS, CASCADE_COLUMNS), settings.form, settings.cascade.share)
    is_requested = [
        name in chosen_ids for name in read_table(requests, REQUESTS, ["request_id"])["request_id"].to_pylist()
    ]
    with TableWriter(chosen, REQUESTS) as table:
        table.write_all(chosen_rows(requests, REQUESTS, is_requested))
    cascade = settings.cascade
    print(
        f"{cascade.then} answers {sum(is_requested):,} of {len(is_requested):,} requests: a random sample, half of "
        f"it from those on which {cascade.first} is least certain"
    )


class CascadeJudgementsSettings(BaseModel, defer_build=True):
    """The cascade's name as a judge."""

    name: str


def cascade_judgements(settings: CascadeJudgementsSettings, first: Path, then: Path, cascade: Path) -> None:
    """Write the table `judgements` of a cascade: the second judge's if there is one, else the first's."""
    table = as_one(read_table(first, JUDGEMENTS), read_table(then, JUDGEMENTS), settings.name)
    write_table(cascade, JUDGEMENTS, table)


class EnsembleJudgementsSettings(BaseModel, defer_build=True):
    """The ensemble, the method of its scores, and the methods of each member's own, the first before the others."""

    name: str
    method: str
    members: dict[str, list[str]]


def ensemble_judgements(settings: EnsembleJudgementsSettings, members: list[Path], ensemble: Path) -> None:
    """Write the table `judgements` of an ensemble: the mean of its members' scores."""
    given = read_tables(members, JUDGEMENTS, combined_judges.ENSEMBLE_COLUMNS)
    by_member = {
        member: [
            given.filter(pc.and_(pc.equal(given["judge"], member), pc.equal(given["protocol"], method)))
            for method in methods
        ]
        for member, methods in settings.members.items()
    }
    table = combined_judges.ensemble_judgements(settings.name, settings.method, by_member)
    write_table(ensemble, JUDGEMENTS, table)
    words = f"{settings.name}: {counted(len(table), 'score')}, each the mean of {', '.join(settings.members)}"
    print(f"{words}; {table['value'].null_count} missing, since a member has no score")
