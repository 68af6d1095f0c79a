"""The fields of one JSON object of a user's: what is not of its kind is refused, never turned into text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialeval.corpora.text_files import listed
from dialeval.errors import UserError


def required(record: Mapping[str, Any], name: str, where: str) -> Any:
    """Returns a field that must be there.

    Raises:
        UserError: it is not; the message begins with `where` and lists the fields that are.
    """
    if name not in record:
        raise UserError(f"{where}: the field '{name}' is missing; present: {listed(record)}")
    return record[name]


def name_of(value: Any, field: str, where: str) -> str:
    """Returns what names something (an id, a speaker, a model): a text, or a whole number as its digits (7.0 is 7).

    Raises:
        UserError: it is anything else, such as null, a fraction or a list.
    """
    if isinstance(value, float) and value.is_integer():  # as pandas writes a column that has gaps
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise UserError(f"{where}: '{field}' is {_said(value)}; it must be a text or a whole number")
    return value.strip()


def text_of(value: Any, field: str, where: str) -> str:
    """Returns a text, without blanks around it.

    Raises:
        UserError: it is something else.
    """
    if not isinstance(value, str):
        raise UserError(f"{where}: '{field}' is {_said(value)}; it must be a text, in double quotes")
    return value.strip()


def optional_text(record: Mapping[str, Any], name: str, where: str) -> str:
    """Returns a text that may be left out or null; then it is empty.

    Raises:
        UserError: it is there and no text.
    """
    return "" if record.get(name) is None else text_of(record[name], name, where)


def _said(value: Any) -> str:
    """Returns a value as JSON has it, cut short."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else f"{value!r:.60}"
