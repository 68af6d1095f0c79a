"""What every part of the configuration is: typed fields, described, and no others."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator


def _no_boolean(value: Any) -> Any:
    """Refuses true and false where Python would read them as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError(
            f"a number is needed, and YAML reads this as {str(value).lower()} (as it does yes, no, on, off)"
        )
    return value


Whole = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
Share = Annotated[Number, Field(ge=0, le=1)]
Temperature = Annotated[Number, Field(ge=0, le=10)]
Count = Annotated[Whole, Field(ge=1, le=1_000_000_000)]
TokenCount = Annotated[Whole, Field(ge=1, le=10_000_000)]
Resamples = Annotated[Whole, Field(ge=1, le=100_000)]
Length = Annotated[Whole, Field(ge=2, le=1_000)]
"""Utterances of a dialogue."""
Steps = Annotated[Whole, Field(ge=2, le=100)]
Repeats = Annotated[Whole, Field(ge=1, le=1_000)]
"""How often the same is done again: what is paid for, or computed, so many times over."""


class Section(BaseModel):
    """A part of the configuration: unknown fields are refused, and so are entries of a list that are there twice."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @field_validator("*")
    @classmethod
    def _can_be_written(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuses repeated entries, and what neither a path nor a table can hold."""
        for name, listed in value.items() if isinstance(value, dict) else [("", value)]:
            if twice := _twice(listed):
                under = f" under {name}" if name else ""
                raise ValueError(f"{', '.join(twice)} is listed twice{under}; list every name or number once")
        if isinstance(value, Path):
            _check_path(str(value))
        if cls.model_fields[info.field_name or ""].annotation == dict[str, Any]:
            _check_json(value)
        else:
            for text in _texts(value):
                _check_text(text)
        return value

    def canonical(self) -> str:
        """Returns the part as canonical JSON: the same settings always give the same string."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)


def _twice(value: Any) -> list[str]:
    """Returns the names and numbers that a list has more than once; of anything else nothing."""
    entries = [entry for entry in value if isinstance(entry, (str, int, float))] if isinstance(value, list) else []
    return sorted({str(entry) for entry in entries if entries.count(entry) > 1})


def _texts(value: Any) -> list[str]:
    """Return the texts of a field that holds one, a list of them, or names with values."""
    match value:
        case str():
            return [value]
        case list():
            return [entry for entry in value if isinstance(entry, str)]
        case dict():
            return [text for pair in value.items() for part in pair for text in _texts(part)]
        case Path():
            return [str(value)]
    return []


def _check_text(text: str) -> None:
    if any(unicodedata.category(mark) in ("Cc", "Cs", "Zl", "Zp") for mark in text):
        raise ValueError("a line break, a TAB, a control character or half an emoji stands in it; take it out")


def _check_path(path: str) -> None:
    if "{" in path or "}" in path:
        raise ValueError(f"{path!r} holds braces, which Snakemake takes for a wildcard; rename the file or folder")
    if path.startswith("-"):
        raise ValueError(f"{path!r} begins with a hyphen, as options of commands do; write the whole path, or rename")
    try:
        Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"there is no home folder for {path!r}; write the whole path") from None


def _check_json(value: dict[str, Any]) -> None:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "it holds what JSON cannot: texts, numbers, true, false, null, lists and names with values are possible, "
            "but no date (put it in quotes), no .inf or .nan, and nothing that holds itself"
        ) from None
