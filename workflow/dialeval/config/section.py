"""The base of all sections: typed fields, and mistakes as text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


def _no_boolean(value: Any) -> Any:
    """Refuse true and false where Python would read them as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError(
            f"a number is needed, and YAML reads this value as {str(value).lower()} (like yes, no, on and off)"
        )
    return value


Integer = Annotated[int, BeforeValidator(_no_boolean)]
Number = Annotated[float, BeforeValidator(_no_boolean)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
NameOrNames = Annotated[list[Name], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
Share = Annotated[Number, Field(ge=0, le=1)]
Temperature = Annotated[Number, Field(ge=0, le=10)]
Count = Annotated[Integer, Field(ge=1, le=1_000_000_000)]
TokenCount = Annotated[Integer, Field(ge=1, le=10_000_000)]
Resamples = Annotated[Integer, Field(ge=1, le=100_000)]
Length = Annotated[Integer, Field(ge=2, le=1_000)]
"""Utterances of a dialogue."""
Steps = Annotated[Integer, Field(ge=2, le=100)]
Repeats = Annotated[Integer, Field(ge=1, le=1_000)]
"""How often the same is done again: what is paid for, or computed, so many times over."""


MAY_HAVE_LINES = "may have lines"
"""Metadata of a text that may have line breaks."""


class Section(BaseModel):
    """A part of the configuration: unknown fields are refused, and so are entries of a list that are there twice."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @field_validator("*")
    @classmethod
    def _can_be_written(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse repeated entries, and names that a path or table cannot contain."""
        for name, listed in value.items() if isinstance(value, dict) else [("", value)]:
            if twice := _twice(listed):
                under = f" under {name}" if name else ""
                raise ValueError(f"{', '.join(twice)} is listed twice{under}; list every name or number once")
        if isinstance(value, Path):
            _check_path(str(value))
        field = cls.model_fields[info.field_name or ""]
        if field.annotation == dict[str, Any]:
            _check_json(value)
        else:
            for text in _texts(value):
                _check_text(text.replace("\n", "") if MAY_HAVE_LINES in field.metadata else text)
        return value

    def canonical(self) -> str:
        """Return the part as canonical JSON: the same settings always give the same string."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)


def _twice(value: Any) -> list[str]:
    """Return the names and numbers that a list has more than once; of anything else nothing."""
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
        raise ValueError("it contains a line break, a TAB, a control character or half of a surrogate pair; remove it")


def _check_path(path: str) -> None:
    if "{" in path or "}" in path:
        raise ValueError(f"{path!r} contains braces, which Snakemake reads as a wildcard; rename the file or folder")
    if path.startswith("-"):
        raise ValueError(
            f"{path!r} begins with a hyphen, like an option of a command; write the absolute path, or rename it"
        )
    try:
        Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"no home folder is known for {path!r}; write the absolute path") from None


def _check_json(value: dict[str, Any]) -> None:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "it must have only what JSON allows: texts, numbers, true, false, null, lists and sections; no date "
            "(put it in quotes), no .inf or .nan, and no section that contains itself"
        ) from None


# Cluster resources of models

Word = Annotated[str, Field(min_length=1, max_length=200)]


class JobResources(Section):
    """Resources that a job requests from the scheduler, by Snakemake's names. A change re-runs no job.

    With null, a job requests the engine's default or, without one, the profile's `default-resources`.
    """

    mem_mb: Annotated[Integer, Field(ge=100, le=100_000_000)] | None = Field(None, description="Memory in MB.")
    runtime: Annotated[Integer, Field(ge=1, le=1_000_000)] | None = Field(None, description="Maximum time in minutes.")
    cpus_per_task: Annotated[Integer, Field(ge=1, le=10_000)] | None = Field(None, description="Number of CPU cores.")
    gpu_model: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$", max_length=80)] | None = Field(
        None, description="Kind of GPU by the cluster's name, such as a100."
    )
    slurm_partition: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.,-]+$", max_length=200)] | None = Field(
        None, description="Partition of a Slurm cluster."
    )
    slurm_extra: Word | None = Field(None, description="Further options of sbatch, such as --qos=long.")

    @field_validator("slurm_extra")
    @classmethod
    def _are_options(cls, value: str | None) -> str | None:
        if value is not None and (not value.startswith("-") or "\n" in value):
            raise ValueError(f"'{value}' is not an option of sbatch; options begin with a dash, such as --qos=long")
        return value


# Penalties on repeated tokens

Penalty = Annotated[Number, Field(ge=-2, le=2)]


class Penalties(Section):
    """Penalties on repeated tokens; 0, the default, is not sent."""

    presence_penalty: Penalty = Field(
        0.0, description="Penalty on tokens that occurred before, from -2 to 2; 0: not sent."
    )
    frequency_penalty: Penalty = Field(
        0.0, description="Penalty on tokens for each earlier occurrence, from -2 to 2; 0: not sent."
    )


# Mistakes, and what several checks share


class Mistake(NamedTuple):
    """What is wrong with a configuration whose fields are all right by themselves.

    Attributes:
        field: where it shows.
        words: what is wrong and what would be right.
        about: fields that it depends on besides; a mistake in one of them can be the cause.
    """

    field: str
    words: str
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.field}: {self.words}"


class Mistakes(ValueError):
    """All mistakes of a configuration that are between its parts."""

    def __init__(self, found: Iterable[Mistake]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(map(str, self.found)))


def unknown(field: str, names: Iterable[str], known: Collection[str], kind: str, *sections: str) -> Iterator[Mistake]:
    """Yield names in a field that mean nothing.

    Args:
        field: where they stand.
        names: what stands there.
        known: the names that would be right.
        kind: what they are names of.
        sections: where such names are defined.
    """
    for name in names:
        if name not in known:
            words = f"'{name}' is not a {kind} of this configuration; {nearest(name, known)}"
            yield Mistake(field, words, tuple(f"{section}.{name}" for section in sections))


def differing_in_case(field: str, names: Iterable[str]) -> Iterator[Mistake]:
    """Yield names in a field that some disks would take for one file."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.lower(), name)
        if other != name:
            words = f"'{other}' and '{name}' differ only in case, and some file systems ignore case; rename one"
            yield Mistake(field, words)


def writers(config: Config) -> dict[str, list[str]]:
    """Return the models that are to write or to choose among options, by the field that names them."""
    partner, robustness = config.selfchat.partner, config.robustness
    return {
        "chatbots": config.chatbots,
        "selfchat.partner": [partner] if partner else [],
        "robustness.rewriter": [robustness.rewriter] if robustness and robustness.rewriter else [],
        **(config.dialogbench.models() if config.dialogbench else {}),
    }


def judges_by_field(config: Config) -> dict[str, list[str]]:
    """Return the judges that the configuration names, by the field that names them."""
    own = {f"protocols.{name}.judges": own_judges(config, name) for name in config.resolved_protocols()}
    return {"judges": config.judges, **own}


def judges_field(config: Config, protocol: str) -> str:
    """Return the field that names the judges of a protocol."""
    return f"protocols.{protocol}.judges" if own_judges(config, protocol) else "judges"


def own_judges(config: Config, protocol: str) -> list[str]:
    """Return the judges that a protocol names itself."""
    return getattr(getattr(config.protocols, protocol, None), "judges", None) or []
