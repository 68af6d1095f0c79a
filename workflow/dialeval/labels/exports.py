"""What a labelling page exports: a JSON file with an annotator's answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora.text_files import parse_json, read_text
from dialeval.errors import UserError
from dialeval.labels.said import Said

FORMAT, VERSION = "dialeval-labels", 1
_NAMES = ("protocol", "annotator", "draw")


def read_json(path: Path) -> Any:
    """Returns what a JSON file in the folder of labels holds.

    Raises:
        UserError: it is empty or no JSON.
    """
    text = read_text(path)
    if not text.strip():
        raise UserError(f"{path.name} is empty; export it again from the page, or take it away")
    return parse_json(text, path.name)


def read_export(path: Path, told: Any) -> Iterator[Said]:
    """Yields the answers of a page's export; what was neither answered nor skipped is none.

    Args:
        path: the file.
        told: what it holds.

    Raises:
        UserError: with file and place: it is no export, of another version, or a field is missing or of another kind.
    """
    if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("labels"), list):
        raise UserError(
            f"{path.name} is no export of a labelling page (its format is not {FORMAT}), nor a tool's list of answers; "
            "take it away"
        )
    if told.get("version") != VERSION:
        raise UserError(
            f"{path.name} is of version {told.get('version')!s:.20}, and this dialeval reads {VERSION}; export it "
            "again from a page of this version"
        )
    for name in _NAMES:
        if not isinstance(told.get(name), str) or not told[name].strip():
            raise UserError(f"{path.name}: the field '{name}' is missing; export it again from the page")
    for row, entry in enumerate(told["labels"], start=1):
        where = f"{path.name}, row {row}"
        if not isinstance(entry, dict):
            raise UserError(f"{where}: {entry!r:.40} is no answer; export it again from the page")
        said = Said(
            file=path.name,
            row=row,
            annotator=told["annotator"].strip(),
            protocol=told["protocol"],
            draw=told["draw"],
            key=_text(entry, "key", where),
            criterion=_text(entry, "criterion", where),
            label=_text(entry, "label", where),
            place=_text(entry, "place", where),
            skipped=entry.get("skipped") is True,
            comment=_text(entry, "comment", where),
            round=_round(entry, where),
            options=_text(entry, "options", where),
            exported=True,
            question=_text(entry, "question", where),
            rubric=_text(entry, "rubric", where),
        )
        if said.label or said.skipped:
            yield said


def _text(entry: dict[str, Any], name: str, where: str) -> str:
    value = entry.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UserError(f"{where}: '{name}' is {value!r:.40}, neither text nor number; export it again from the page")
    return str(value).strip()


def _round(entry: dict[str, Any], where: str) -> int:
    value = entry.get("round", 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1000:
        raise UserError(f"{where}: 'round' is {value!r:.40}; rounds are counted from 0")
    return value
