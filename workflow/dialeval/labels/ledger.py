"""The sampling record of a protocol (ledger): all units and which of them were drawn.

It lies beside the labels, since their inclusion probabilities follow from it. Rows are only ever
added: the file is written anew beside the old one, with every byte of that before what is added, and takes its place. A
later row of the same key says that it was drawn after all.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from dialeval.corpora.text_files import number_in, read_csv
from dialeval.criteria import LEVELS, Level
from dialeval.errors import UserError
from dialeval.labels.units import Identity
from dialeval.paths import replacing
from dialeval.tables.files import escaped_cell, unescaped_cell

COLUMNS = (
    "draw", "by", "key", "level", "corpus", "item_id", "case_id", "system", "opponent", "n_utterances", "stratum",
    "place", "drawn",
)  # fmt: skip
ACTIVE_COLUMNS = (*COLUMNS, "relative_probability")
"""Columns under `sampling_design: active`."""
BY_CASES = "cases"
"""The sampling design that draws all units of a case together."""
ACTIVE = "active"
"""The sampling design with an inclusion probability of each unit by the judge's predicted error."""
DRAWN = ("no", "yes")
_REMEDY = "only the target `annotation_pages` writes this record; restore the file"


@dataclass
class Ledger:
    """The content of a ledger's file.

    Attributes:
        path: the file, which may be missing.
        entries: entries by key; the last row of a key counts.
        content: its bytes.
    """

    path: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    content: bytes = b""

    def draws(self) -> dict[Level, str]:
        """Return the id of the draw of each level."""
        return {entry.level: entry.draw for entry in self.entries.values()}

    def by(self) -> str:
        """Return the sampling design; empty without entries."""
        return next((entry.by for entry in self.entries.values()), "")

    def add(self, entries: Iterable[Entry]) -> int:
        """Write more rows behind those that are there, all or none, and return how many.

        Raises:
            UserError: the folder cannot be written, or the file was changed meanwhile by another run.
        """
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        added = list(entries)
        if added and not self.content:
            writer.writerow(ACTIVE_COLUMNS if added[0].by == ACTIVE else COLUMNS)
        writer.writerows(entry.cells() for entry in added)
        if not added:
            return 0
        between = b"" if self.content[-1:] in (b"", b"\n") else b"\n"
        content = self.content + between + rows.getvalue().encode()
        with replacing(self.path) as temporary:
            temporary.write_bytes(content)
            if (self.path.read_bytes() if self.path.exists() else b"") != self.content:
                raise UserError(f"{self.path} was changed while this run drew a sample; run the same command again")
        self.content = content
        self.entries |= {entry.key: entry for entry in added}
        return len(added)


@dataclass(frozen=True, slots=True)
class Entry:
    """A unit in the ledger.

    Attributes:
        draw: id of the draw of its level.
        by: the sampling design.
        key: key of the unit.
        identity: identity of the unit.
        stratum: stratum; its units have equal probabilities, except under `active`.
        place: in the stratum's random order, from 1; units of one case that are drawn together share it.
        drawn: whether it was drawn.
        relative_probability: under `active`, inclusion probability relative to the stratum's mean.
    """

    draw: str
    by: str
    key: str
    identity: Identity
    stratum: str
    place: int
    drawn: bool
    relative_probability: float = 1.0

    @property
    def priority(self) -> float:
        """Return the number by which units are drawn under `active`, smallest first."""
        return priority(self.key, self.relative_probability)

    @property
    def level(self) -> Level:
        """Return the level of the unit: turn or dialogue."""
        return self.identity[-1]

    @property
    def system(self) -> str:
        """Return the system of the unit."""
        return self.identity[3]

    def cells(self) -> list[object]:
        """Return the row of the file."""
        corpus, item_id, case_id, system, opponent, n, level = self.identity
        about = (self.draw, self.by, self.key, level, corpus, item_id, case_id, system, opponent)
        texts = (*map(escaped_cell, about), "" if n is None else n, escaped_cell(self.stratum))
        active = [repr(self.relative_probability)] if self.by == ACTIVE else []
        return [*texts, self.place, DRAWN[self.drawn], *active]


def ledger_path(folder: Path, protocol: str) -> Path:
    """Return the path of a protocol's ledger."""
    return folder / f"draw-{protocol}.csv"


def ledger_digest(path: Path) -> str:
    """Return a digest of a ledger; empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def read_ledger(path: Path) -> Ledger:
    """Read a ledger; an empty one if the file is missing.

    Raises:
        UserError: the file is no ledger, or was changed by hand; with its line.
    """
    if not path.exists():
        return Ledger(path)
    rows = [(line, row) for line, row in read_csv(path) if row]
    if not rows or tuple(rows[0][1]) not in (COLUMNS, ACTIVE_COLUMNS):
        raise UserError(f"{path} is not the record of a sample: its columns are not {', '.join(COLUMNS)}; {_REMEDY}")
    ledger = Ledger(path, content=path.read_bytes())
    columns = tuple(rows[0][1])
    for line, row in rows[1:]:
        entry = _entry(row, columns, f"{path}, line {line}")
        before = ledger.entries.get(entry.key)
        if before and (before.drawn or not entry.drawn or replace(before, drawn=True) != entry):
            raise UserError(f"{path}, line {line}: key '{entry.key}' is repeated; {_REMEDY}")
        ledger.entries[entry.key] = entry
    _check_one_draw(ledger)
    return ledger


def _entry(row: list[str], columns: tuple[str, ...], where: str) -> Entry:
    if len(row) != len(columns):
        raise UserError(f"{where}: {len(row)} cells, but {len(columns)} columns; {_REMEDY}")
    cells = dict(zip(columns, map(unescaped_cell, row), strict=True))
    for column in ("n_utterances", "place"):
        if not (cells[column].isdecimal() or (column == "n_utterances" and not cells[column])):
            raise UserError(f"{where}: {column} is '{cells[column]:.40}', not an integer; {_REMEDY}")
    level = next((level for level in LEVELS if level == cells["level"]), None)
    if level is None or cells["drawn"] not in DRAWN or not cells["key"]:
        column = "level" if level is None else "drawn" if cells["key"] else "key"
        raise UserError(f"{where}: {column} is '{cells[column]:.40}', which is not valid; {_REMEDY}")
    if emptied := [column for column in ("draw", "by", "system", "stratum") if not cells[column]]:
        raise UserError(f"{where}: {' and '.join(emptied)} of key '{cells['key']:.40}' is empty; {_REMEDY}")
    relative = number_in(cells.get("relative_probability", "1")) or 0.0
    if not 0.0 < relative < math.inf or (cells["by"] == ACTIVE) != (columns == ACTIVE_COLUMNS):
        raise UserError(
            f"{where}: relative_probability is '{cells.get('relative_probability', ''):.40}' under the design "
            f"'{cells['by']:.40}'; the design {ACTIVE} has a positive number there, other designs do not have this "
            f"column; {_REMEDY}"
        )
    n = int(cells["n_utterances"]) if cells["n_utterances"] else None
    identity = (
        cells["corpus"], cells["item_id"], cells["case_id"], cells["system"], cells["opponent"], n, level
    )  # fmt: skip
    return Entry(
        cells["draw"], cells["by"], cells["key"], identity, cells["stratum"], int(cells["place"]),
        cells["drawn"] == DRAWN[True], relative,
    )  # fmt: skip


def _check_one_draw(ledger: Ledger) -> None:
    draws, places = ledger.draws(), dict[tuple[str, str, int], str]()
    for entry in ledger.entries.values():
        first = places.setdefault((entry.level, entry.stratum, entry.place), entry.key)
        if first != entry.key and entry.by != BY_CASES:
            raise UserError(
                f"{ledger.path}: keys '{first}' and '{entry.key}' both have position {entry.place} of stratum '"
                f"{entry.stratum:.40}'; one column was changed or sorted without the others: {_REMEDY}"
            )
        if entry.draw != draws[entry.level] or entry.by != ledger.by():
            raise UserError(f"{ledger.path} has two samples, '{entry.draw}' and '{draws[entry.level]}'; {_REMEDY}")
    if ledger.by() == ACTIVE:
        _check_priorities(ledger)


def _check_priorities(ledger: Ledger) -> None:
    """Check that positions follow the priorities: else relative probabilities were changed, and weights are wrong."""
    ordered = sorted(ledger.entries.values(), key=lambda entry: (entry.level, entry.stratum, entry.place))
    for before, entry in pairwise(ordered):
        same = (before.level, before.stratum) == (entry.level, entry.stratum)
        if same and before.priority > entry.priority:
            raise UserError(
                f"{ledger.path}: keys '{before.key}' and '{entry.key}' of stratum '{entry.stratum:.40}' are not in the "
                f"order of their relative_probability; a column was changed: {_REMEDY}"
            )


def priority(key: str, relative_probability: float) -> float:
    """Return a uniform number of a key, divided by its relative probability (Duffield, Lund and Thorup 2007)."""
    return uniform("place", key) / relative_probability


def uniform(*parts: object) -> float:
    """Return a number from 0 to 1 that a hash of the parts gives."""
    return int(digest(*parts)[:13], 16) / 16**13


def digest(*parts: object) -> str:
    """Return a hash of the parts in hexadecimal digits."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()
