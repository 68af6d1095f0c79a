"""Averages the scores of an ensemble's members into the table `judgements` of the ensemble."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
from pydantic import BaseModel

from dialeval.aggregation.ensemble import COLUMNS, ensemble_judgements
from dialeval.schemas.judgements import JUDGEMENTS
from dialeval.tables import read_tables, write_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """The ensemble, the method of its scores, and the methods of each member's own, the first before the others."""

    name: str
    method: str
    members: dict[str, list[str]]


def stage(settings: Settings, members: list[Path], ensemble: Path) -> None:
    """Writes the table `judgements`, and says of how many items somebody's score is missing."""
    given = read_tables(members, JUDGEMENTS, COLUMNS)
    by_member = {
        member: [
            given.filter(pc.and_(pc.equal(given["judge"], member), pc.equal(given["protocol"], method)))
            for method in methods
        ]
        for member, methods in settings.members.items()
    }
    table = ensemble_judgements(settings.name, settings.method, by_member)
    write_table(ensemble, JUDGEMENTS, table)
    words = f"{settings.name}: {counted(len(table), 'score')}, each the mean of {', '.join(settings.members)}"
    print(f"{words}; {table['value'].null_count} missing, where a member gave none")
