"""Bounds on the differences of two runs, by which a comparison fails: the gate of continuous integration.

A bound is written `TABLE < NUMBER` or `TABLE > NUMBER`. `unieval/pass_rates < -0.05` fails where the 95% interval of a
difference, second run minus first, reaches below -0.05: the second run is not shown to be at most 0.05 worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from dialeval.errors import UserError, nearest
from dialeval.tables import HUMAN
from dialeval.text import counted

_BOUND = re.compile(
    r"\s*(?P<table>[^\s:\[<>]+)(?::(?P<measure>[^\s\[<>]+))?(?:\[(?P<system>[^\]]+)\])?"
    r"\s*(?P<side>[<>])\s*(?P<value>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
SYNTAX = "write TABLE < NUMBER, such as 'unieval/pass_rates < -0.05' or 'gteval/win_rates:win[heron] < -0.1'"


@dataclass(frozen=True)
class Bound:
    """A bound on differences.

    Attributes:
        text: the bound as the user wrote it.
        table: table below `tables`, or a pattern of these; a protocol alone stands for all of its tables.
        measure: column or measure of the table, or a pattern.
        system: system, or a pattern.
        below: whether the bound is a lower one.
        value: the bound.
    """

    text: str
    table: str
    measure: str
    system: str
    below: bool
    value: float

    def is_met_by(self, row: Mapping[str, Any]) -> bool:
        """Return whether the whole interval of a difference is within the bound; False without an interval."""
        if row["ci_low"] is None and row["p"] != 1.0:
            return False
        limits = row["ci_low"], row["ci_high"]
        low, high = (row["difference"],) * 2 if row["ci_low"] is None else limits  # equal values have no interval
        return bool(low >= self.value if self.below else high <= self.value)

    def covers(self, row: Mapping[str, Any]) -> bool:
        """Return whether the bound is on a row of `comparison/numbers`; human dialogues count only if named."""
        is_reference = row["system"] == HUMAN and self.system == "*"
        return not is_reference and (
            any(fnmatchcase(row["table"], pattern) for pattern in (self.table, f"{self.table}/*"))
            and fnmatchcase(row["measure"], self.measure)
            and fnmatchcase(row["system"], self.system)
        )


def parse_bounds(texts: Sequence[str]) -> list[Bound]:
    """Return bounds from their texts; `@FILE` stands for the lines of a file, in which `#` begins a comment.

    Raises:
        UserError: a text is no bound, or a file cannot be read.
    """
    lines: list[str] = []
    for text in texts:
        lines += _lines_of(Path(text[1:])) if text.startswith("@") else [text]
    return [_parse(line) for line in lines]


def exceeded(bounds: Iterable[Bound], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each difference that is not shown to be within its bound.

    Args:
        bounds: the bounds.
        rows: rows of `comparison/numbers`, read from the table: None for a missing number.

    Raises:
        UserError: the two runs have no number that a bound is on.
    """
    lines = []
    for bound in bounds:
        covered = [row for row in rows if bound.covers(row)]
        if not covered:
            tables = sorted({row["table"] for row in rows})
            hint = nearest(bound.table, tables) if tables else "they have no number in common"
            raise UserError(f"--fail-if '{bound.text}': the two runs have no such number in common; {hint}")
        lines += [_line(bound, row) for row in covered if not bound.is_met_by(row)]
    return lines


def verdict(bounds: Sequence[Bound], failed: Sequence[str]) -> str:
    """Return the result of all bounds in words."""
    if not failed:
        return f"All differences are within {counted(len(bounds), 'bound')}."
    return "\n".join([f"{counted(len(failed), 'difference')} not within bounds:", *(f"  {line}" for line in failed)])


def _lines_of(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--fail-if @{path}: the file cannot be read: {error}; name a text file of bounds") from error
    lines = [line for row in text.splitlines() if (line := row.partition("#")[0].strip())]
    if not lines:
        raise UserError(f"--fail-if @{path}: the file has no bound; {SYNTAX}")
    return lines


def _parse(text: str) -> Bound:
    found = _BOUND.fullmatch(text)
    if found is None:
        raise UserError(f"--fail-if '{text}' is no bound; {SYNTAX}")
    return Bound(
        text,
        found["table"],
        found["measure"] or "*",
        found["system"] or "*",
        found["side"] == "<",
        float(found["value"]),
    )


def _line(bound: Bound, row: Mapping[str, Any]) -> str:
    about = ", ".join(part for part in (row["system"], row["judge"], row["scope"]) if part)
    result = f"no interval ({row['note'] or 'not identifiable'})"
    if row["ci_low"] is not None:
        result = f"{row['difference']:+.3g} (95% CI {row['ci_low']:+.3g} to {row['ci_high']:+.3g})"
    return f"{row['table']}:{row['measure']} of {about}: {result}, bound {bound.text}"
