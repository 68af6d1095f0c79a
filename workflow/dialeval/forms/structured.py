"""Structured answers: a JSON object whose fields the model cannot but fill in, where the engine can see to it.

A form describes the fields that it wants. They become the schema of a request and a paragraph behind its prompt, since
a schema alone tells a model nothing of what belongs in a field. The papers ask for free text, as do we by default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialeval.engines.request import Request
from dialeval.forms.verdict_text import plain_text
from dialeval.prompts.rendering import Templates

TEMPLATE = "structured_answer.j2"
_MOST_LISTED = 21
"""Whole numbers up to this many are listed one by one, which every endpoint's schemas allow; bounds some refuse."""


@dataclass(frozen=True)
class Field:
    """One field of the object.

    Attributes:
        name: its name.
        says: what belongs in it, for the prompt.
        schema: its part of the JSON schema.
    """

    name: str
    says: str
    schema: Mapping[str, Any]


def option(name: str, options: Sequence[str]) -> Field:
    """Returns a field that holds one of some texts."""
    return Field(name, "one of " + ", ".join(map(_quoted, options)), {"type": "string", "enum": list(options)})


def number(name: str, low: float, high: float, *, whole: bool) -> Field:
    """Returns a field that holds a number on a scale."""
    says = f"a {'whole ' if whole else ''}number from {low:g} to {high:g}"
    if whole and high - low < _MOST_LISTED:
        return Field(name, says, {"type": "integer", "enum": list(range(int(low), int(high) + 1))})
    return Field(name, says, {"type": "integer" if whole else "number"})


def place(name: str, of: str) -> Field:
    """Returns a field that holds the number of an utterance, or null."""
    return Field(name, f"the number of {of}, or null if there is none", {"type": ["integer", "null"]})


def places(name: str, of: str) -> Field:
    """Returns a field that holds the numbers of utterances."""
    says = f"a list of the numbers of {of}, empty if there are none"
    return Field(name, says, {"type": "array", "items": {"type": "integer"}})


def text(name: str, says: str) -> Field:
    """Returns a field that holds free text."""
    return Field(name, says, {"type": "string"})


def structured(request: Request, templates: Templates, fields: Sequence[Field]) -> Request:
    """Returns a request whose answer must be a JSON object of some fields, all of them, in their order.

    Args:
        request: a request for text, whose last message is the prompt.
        templates: the prompts.
        fields: what the object holds.
    """
    *before, last = request.messages
    prompt = f"{last.content}\n\n{templates.render(TEMPLATE, fields=fields)}"
    schema = {
        "type": "object",
        "properties": {field.name: dict(field.schema) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }
    return replace(
        request,
        messages=(*before, last._replace(content=prompt)),
        answer_schema=json.dumps(schema, ensure_ascii=False, separators=(",", ":")),
    )


def read_object(answer: str) -> dict[str, Any] | None:
    """Returns the fields of an answer that is one JSON object, in a code fence or not; None for any other answer.

    An object that names a field twice is none, since it may say two things.
    """
    plain = plain_text(answer).strip()
    if plain.startswith("```") and plain.endswith("```"):
        plain = plain.strip("`").removeprefix("json").strip()
    try:
        found = json.loads(plain, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def number_in(found: Mapping[str, Any], name: str) -> float | None:
    """Returns the number in a field, None where there is none: a text of digits is not a number, nor is true."""
    value = found.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def places_in(found: Mapping[str, Any], name: str) -> tuple[int, ...] | None:
    """Returns the numbers in a field, ascending; None where it is no list of whole numbers."""
    value = found.get(name)
    if not isinstance(value, list) or any(isinstance(one, bool) or not isinstance(one, int) for one in value):
        return None
    return tuple(sorted(set(value)))


def text_in(found: Mapping[str, Any], name: str) -> str:
    """Returns the text in a field, empty where there is none."""
    value = found.get(name)
    return value.strip() if isinstance(value, str) else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field stands twice")
    return found
