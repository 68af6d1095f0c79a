"""One mistake that pydantic found, in the words of the person who wrote the configuration."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Mapping
from datetime import date
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from dialeval.config.models import ENGINES
from dialeval.config.protocol import Protocol
from dialeval.config.protocols import Protocols
from dialeval.config.whole import Config
from dialeval.errors import nearest

_LOOKS_LIKE_KEY = re.compile(r"(?=\S*[A-Za-z])(?=\S*[0-9])\S{20,}")
_LONGEST = 80
"""Characters of a name that are shown whole."""
_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = _shown.maxlong = 80


def place_of(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns where a mistake is, as the names in the file from the top level down."""
    place = [str(part) for part in details["loc"]]
    if place[-1:] == ["[key]"] and len(place) > 1 and details["type"] != "extra_forbidden":
        place.pop()  # pydantic's mark of a name that is wrong itself
    if place[:1] == ["models"] and len(place) > 2 and place[2] in ENGINES:
        del place[2]  # the name of the discriminated class is no field of the file
    return tuple(part for part in place if not _is_branch(part))


def is_of_other_branch(details: Mapping[str, Any]) -> bool:
    """Return whether a mistake is of a type that the value does not have, where a text or names with texts may be."""
    branch, value = str(details["loc"][-1]), details["input"]
    return _is_branch(branch) and (branch.startswith("dict[") or isinstance(value, Mapping))


def _is_branch(part: str) -> bool:
    """Return whether a part of a place is pydantic's name of a type, of several that a field may have."""
    return part == "constrained-str" or part.startswith(("dict[literal[", "dict[constrained-str"))


def in_words(details: dict[str, Any]) -> str:
    """Returns one mistake as the field's path, the value and the remedy."""
    place = list(place_of(details))
    field = ".".join(part if len(part) <= _LONGEST else f"{part:.60}..." for part in place) or "configuration"
    value = details["input"]
    match details["type"]:
        case "extra_forbidden":
            return f"  {field}: there is no such field; {nearest(place[-1], _known_fields(place[:-1], details))}"
        case "missing" if place[:1] == ["protocols"] and place[2:] == ["form"]:
            shipped = nearest(place[1], Protocols.model_fields)
            words = f"'{place[1]}' is not a shipped protocol ({shipped}); one of your own needs this field, and `of`"
            return f"  {field}: {words}"
        case "missing":
            return f"  {field}: this field is needed and missing"
        case "union_tag_not_found" if isinstance(value, Mapping):
            like = difflib.get_close_matches("engine", map(str, value), n=1)
            remedy = f"'{like[0]}' is there; did you mean 'engine'?" if like else f"known: {', '.join(ENGINES)}"
            return f"  {field}.engine: this field is needed and missing; {remedy}"
        case "union_tag_invalid":
            given = value["engine"]
            return f"  {field}.engine: {_show(given)} is not an engine; {nearest(str(given), ENGINES)}"
        case "value_error":
            message = str(details["ctx"]["error"])
            return f"  {message}" if field == "configuration" else f"  {field}: {message}"
        case "literal_error":
            allowed = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
            return f"  {field}: {_show(value)} is not allowed; {nearest(str(value), allowed)}"
        case "string_pattern_mismatch":
            return (
                f"  {field}: {_show(value)} cannot be a name; names become files and have letters (a to z), digits, "
                "_ . + and -, and begin with a letter or digit"
            )
        case "string_type" if isinstance(value, (bool, int, float, date)):
            return f"  {field}: YAML reads {_show(value)} as {_kind(value)}, where a text is meant; put it in quotes"
        case "model_type" | "model_attributes_type" | "dict_type" | "list_type" | "union_tag_not_found" if (
            value is None
        ):
            return f"  {field}: nothing stands there; leave the field out, or write what belongs to it"
        case "union_tag_not_found" | "model_type" | "model_attributes_type" | "dict_type":
            return f"  {field}: {_show(value)} stands where names with values must"
        case "list_type" | "tuple_type" if isinstance(value, (str, int, float)):
            return f"  {field}: {_show(value)} stands where a list must; write [{_unquoted(value)}]"
        case "path_type":
            return f"  {field}: {_show(value)} stands where a path must; write it as a text, in quotes where needed"
        case "finite_number":
            return f"  {field}: {_show(value)}: a finite number is needed"
        case _:
            return f"  {field}: {_show(value)}: {details['msg'][0].lower()}{details['msg'][1:]}"


def meant_field(details: Mapping[str, Any]) -> str | None:
    """Return the field that an unknown field most likely means; None where none is like it, or for other mistakes."""
    if details["type"] != "extra_forbidden":
        return None
    *section, name = place_of(details)
    return next(iter(difflib.get_close_matches(name, sorted(_known_fields(section, details)), n=1)), None)


def _show(value: object) -> str:
    """Returns a value for the message, cut where it is long; what may be a key is not shown."""
    shown = _shown.repr(value)
    return "(a text that is not shown, as it may be a key)" if _LOOKS_LIKE_KEY.search(shown) else shown


def _unquoted(value: object) -> str:
    return _show(value).strip("'\"") if isinstance(value, str) else _show(value)


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case date():
            return "a date"
    return "a number"


def _known_fields(place: list[str], details: Mapping[str, Any]) -> list[str]:
    """Returns the fields that the section at a place of the configuration has."""
    held: Any = Config
    if place[:1] == ["models"]:
        held, place = ENGINES[str(details["loc"][2])], place[2:]
    for part in place:
        if held is Protocols and part not in held.model_fields:
            held = Protocol
            continue
        held = _inner(held.model_fields[part].annotation) if _is_section(held) else _inner(get_args(held)[1])
    return list(held.model_fields)


def _is_section(held: Any) -> bool:
    return isinstance(held, type) and issubclass(held, BaseModel)


def _inner(annotation: Any) -> Any:
    """Returns the section or dictionary of sections that a field holds, as it is or as an option."""
    options = [part for part in get_args(annotation) if part is not type(None)]
    return annotation if _is_section(annotation) or get_origin(annotation) is dict else options[0]
