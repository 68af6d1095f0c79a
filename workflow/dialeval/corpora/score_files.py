"""Ready scores of a metric of the user's: a CSV file with one score a row, joined to items by key.

Columns: `corpus`, `item_id`, `dimension`, `value`; `language` where the items are not English; `repeat` where a metric
scored an item more than once. An empty value is a score that is missing.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora.dialogues import read_text
from dialeval.errors import UserError

NEEDED = ("corpus", "item_id", "dimension", "value")


def read_scores(
    path: Path, name: str, scale: tuple[float, float], corpora: Container[str], known: Container[tuple[str, str, str]]
) -> Iterator[dict[str, Any]]:
    """Yields rows of the table `scores`.

    Args:
        path: the file.
        name: of the metric.
        scale: the lowest and the highest value it can give.
        corpora: names of the rated corpora.
        known: (corpus, language, item_id) of every rated item.

    Raises:
        UserError: with the file and the row: a missing column, an unknown corpus or item, a value that is no number or
            off the scale, or an item that has its score twice.
    """
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
    header = rows.fieldnames or []
    for column in NEEDED:
        if column not in header:
            raise UserError(f"{path}: the column '{column}' is missing; the columns are: {', '.join(header) or 'none'}")
    seen: dict[tuple[str, ...], int] = {}
    for row in rows:
        number = rows.line_num
        where = f"{path}, line {number}"
        if None in row or None in row.values():
            raise UserError(f"{where}: the row has more or fewer cells than the header")
        language, repeat = row.get("language") or "en", row.get("repeat") or "0"
        key = (row["corpus"], language, row["item_id"])
        if row["corpus"] not in corpora:
            raise UserError(f"{where}: corpus '{row['corpus']}' is not one of metaeval.corpora")
        if key not in known:
            raise UserError(f"{where}: corpus '{key[0]}' has no item '{key[2]}' in language '{language}'")
        if not repeat.isdecimal():
            raise UserError(f"{where}: repeat '{repeat}' is no whole number")
        first = seen.setdefault((*key, row["dimension"], repeat), number)
        if first != number:
            raise UserError(f"{where}: item '{key[2]}' has its score on '{row['dimension']}' before, in line {first}")
        value = _value(row["value"], scale, where)
        yield {
            "judge": name,
            "method": "file",
            "corpus": key[0],
            "language": language,
            "item_id": key[2],
            "dimension": row["dimension"],
            "repeat": int(repeat),
            "value": value,
            "scale_min": scale[0],
            "scale_max": scale[1],
            "mass": None,
            "status": "missing" if value is None else "ok",
        }


def _value(text: str, scale: tuple[float, float], where: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        raise UserError(f"{where}: value '{text}' is no number; leave it empty where a score is missing") from None
    if math.isnan(value):
        return None
    if not scale[0] <= value <= scale[1]:
        raise UserError(
            f"{where}: value {value:g} is outside the scale {scale[0]:g} to {scale[1]:g}; give the metric's scale as "
            "scale_min and scale_max"
        )
    return value
