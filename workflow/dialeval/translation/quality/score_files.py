"""Ratings and scores of translations that others made: a CSV file with a row for each utterance of the sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from dialeval.corpora.text_files import listed, number_in, read_csv
from dialeval.errors import UserError
from dialeval.tables import unescaped_cell
from dialeval.text.counting import counted

NEEDED = ("corpus", "language", "utterance_id")
Key = tuple[str, str, str]
"""Corpus, language and id of an utterance."""


def read_translation_scores(
    path: Path, column: str, known: Mapping[Key, str], low: float | None = None, high: float | None = None
) -> dict[Key, float]:
    """Returns the mean of the numbers that a file has about each utterance; empty cells are passed over.

    Args:
        path: a CSV file such as the sample itself, with a column more.
        column: its name.
        known: the utterances of the sample.
        low, high: what a number can be; None for any.

    Raises:
        UserError: with the file and the line: a missing column, an unknown utterance, or a value that is no number or
            off the scale.
    """
    rows = read_csv(path)
    _, head = next(rows, (0, []))
    names = [name.strip().removeprefix("\ufeff") for name in head]
    missing = [name for name in (*NEEDED, column) if name not in names]
    if missing:
        raise UserError(
            f"{path}: {counted(len(missing), 'column')} missing ({', '.join(missing)}); it has {listed(names)}: take "
            f"the sample's CSV file and add a column '{column}'"
        )
    found: dict[Key, list[float]] = defaultdict(list)
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise UserError(f"{path}, line {line}: {len(cells)} cells where the first line has {len(names)}")
        row = dict(zip(names, cells, strict=True))
        written = (row["corpus"], row["language"], row["utterance_id"])
        plain = (unescaped_cell(row["corpus"]), row["language"], unescaped_cell(row["utterance_id"]))
        key = plain if plain in known else written  # the sample's CSV file has them escaped, others may not
        if key not in known:
            raise UserError(
                f"{path}, line {line}: the sample has no utterance '{key[2]}' of '{key[0]}' in '{key[1]}'; it may "
                "be of another sample (sample, random_seed), or of a translation that has changed"
            )
        if not row[column].strip():
            continue
        number = number_in(row[column])
        if number is None or not (low or number) <= number <= (high or number):
            scale = "" if low is None else f" from {low:g} to {high:g}"
            raise UserError(f"{path}, line {line}: {column} is {row[column]!r:.40}; a number{scale} is needed")
        found[key].append(number)
    return {key: sum(numbers) / len(numbers) for key, numbers in found.items()}
