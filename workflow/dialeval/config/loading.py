"""Loads and saves a configuration: one message has all mistakes, and secrets are not written.

It can be given to a run again: relative paths in it are seen, as in any configuration, from the folder of the run.
"""

from __future__ import annotations

import difflib
import os
import re
import reprlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from dialeval.config.configuration import WITHOUT_CHATBOTS, Config
from dialeval.config.consistency import inconsistencies
from dialeval.config.corpora import READERS_OF, Columns, absent_corpora, is_there
from dialeval.config.endpoints import is_secret_text
from dialeval.config.files import WRITTEN_DOWN
from dialeval.config.models import ENGINES
from dialeval.config.protocol_settings import JudgedData, Protocol
from dialeval.config.protocols import Protocols
from dialeval.config.section import Mistake
from dialeval.config.training import EncoderTraining
from dialeval.config.without_effect import idle_fields
from dialeval.errors import UserError, nearest
from dialeval.paths import write_new

Place = tuple[str | int, ...]
Check = Callable[[Config], Iterable[Mistake]]
"""Finds further mistakes in a configuration; names in it need not be defined."""
ROUNDS = 20
"""How often what is wrong is taken out to look at the rest; a part in a part in a part is at most so deep."""


def load_config(
    raw: Mapping[str, Any], *, files_are_there: bool = True, further: Sequence[Check] = (), source: str = ""
) -> Config:
    """Return the checked configuration.

    The error lists all mistakes, except those that follow from other mistakes.

    Args:
        raw: the configuration as read from YAML.
        files_are_there: whether the files that the configuration names must exist.
        further: additional checks.
        source: name of the file, for the message.

    Raises:
        UserError: the configuration has mistakes; the message has the field, the value and the remedy of each.
    """
    config, wrong, lines = _fields(dict(raw))
    if config is not None:
        checks: tuple[Check, ...] = (inconsistencies, missing_files, *further) if files_are_there else (
            inconsistencies, *further
        )  # fmt: skip
        for check in checks:
            found = [mistake for mistake in check(config) if not _follows(mistake, wrong)]
            lines += [_in_line(f"  {mistake}") for mistake in found]
            if found and check is missing_files and config.public_corpora:
                names = ", ".join(config.public_corpora)
                lines[-1] += (
                    f"\n  `snakemake --cores 1 download` with the same configuration fetches {names} into data_dir"
                )
    if lines or config is None:
        lines = list(dict.fromkeys(lines))
        raise UserError(f"the configuration{source} has {_count(lines)}:\n" + "\n".join(lines))
    return config


def _in_line(mistake: str) -> str:
    """Return a mistake in one line: a name of the file may have lines of its own."""
    return mistake.replace("\n", "\\n")


def missing_files(config: Config) -> Iterator[Mistake]:
    """Yield the files and folders that a configuration names and that are not there."""
    corpora = [name for name in config.used_corpora() if name in config.corpora]
    sources = {f"corpora.{name}.path": config.corpus_path(name) for name in corpora}
    sources |= {f"battles.{name}.path": config.battles_path(name) for name in config.battles}
    sources |= {f"transcripts.{name}.path": config.transcripts_path(name) for name in config.transcripts}
    sources |= config.published_sources()
    needed = [name for name in config.rated_corpora if name not in absent_corpora(config)]
    sources |= {f"metaeval.corpora.{name}.path": config.rated_path(name) for name in needed}
    sources |= {f"metaeval.score_files.{name}.path": config.score_path(name) for name in config.score_files}
    sources |= {"selfchat.scenarios.path": config.scenarios_path()}
    sources |= {"robustness.published": config.published_perturbations()}
    sources |= {"dialogbench.experts.answers": config.expert_answers()}
    if config.dialogbench:
        sources |= {
            f"dialogbench.published.{name}.path": config.item_path(name) for name in config.dialogbench.published
        }
    for field, path in sources.items():
        if path is not None and not is_there(path):
            if {"hf:", "http:", "https:"} & {*path.parts}:
                words = (
                    "a run reads local files, and this is an address; download the file, or let `dialeval init FOLDER "
                    "--dialogues hf://datasets/OWNER/NAME@REVISION` fetch a data set of the Hugging Face Hub"
                )
            else:
                words = (
                    f"{path} does not exist; correct the path or `data_dir` (now '{config.data_dir}'), for example "
                    "with --config data_dir=FOLDER"
                )
            yield Mistake(field, words, ("data_dir",))
    for field, path in (
        ("prompts.directory", config.prompts.directory),
        ("tokens.cl100k_file", config.tokens.cl100k_file),
    ):
        if path is not None and not is_there(path.expanduser()):
            yield Mistake(field, f"{path} does not exist; correct the path or remove the field")


def _fields(raw: dict[str, Any]) -> tuple[Config | None, set[Place], list[str]]:
    """Return the configuration without wrong fields, the places of these fields, and their messages.

    A field that is misspelt is read as the field that it means, so that nothing else seems to be missing; what is wrong
    in it is reported once its name is right.
    """
    wrong: set[Place] = set()
    lines: list[str] = []
    for _ in range(ROUNDS):
        try:
            return Config.model_validate(raw, context={"parts_alone": True}), wrong, lines
        except ValidationError as error:
            mistakes = [dict(details) for details in error.errors() if not is_of_other_branch(dict(details))]
            if meant := _misspelt(mistakes, raw):
                lines += [_in_line(in_words(details)) for details in mistakes if place_of(details) in meant]
                wrong |= {*meant, *meant.values()}
                raw = _renamed(raw, meant)
                continue
            found: set[Place] = set()
            missing = {place_of(details) for details in mistakes if details["type"] == "missing"}
            for details in mistakes:
                place = place_of(details)
                if place[-1:] == ("data",) and (*place[:-1], "form") in missing:
                    continue  # reported with the form
                # what holds a part that was left out before, or lies in one, may be wrong by that alone
                if not _touches(place, wrong):
                    lines.append(_in_line(in_words(details)))
                found.add(place if details["type"] != "missing" or len(place) == 1 else place[:-1])
            wrong |= found
            needed = {name: part for name, part in WITHOUT_CHATBOTS.items() if (name,) in found}
            raw = _without(raw, found) | needed
    return None, wrong, lines


def _misspelt(mistakes: Iterable[dict[str, Any]], raw: Mapping[str, Any]) -> dict[Place, Place]:
    """Return the places of unknown fields with those of the fields that they mean and that are not there."""
    meant: dict[Place, Place] = {}
    for details in mistakes:
        place, field = place_of(details), meant_field(details)
        if field and field not in _names_at(raw, place[:-1]) and (*place[:-1], field) not in meant.values():
            meant[place] = (*place[:-1], field)
    return meant


def _names_at(part: Any, place: Place) -> set[str]:
    for key in place:
        entries = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
        part = next((value for name, value in entries if str(name) == key), None)
    return {str(name) for name in part} if isinstance(part, Mapping) else set()


def _renamed(part: Any, meant: Mapping[Place, Place]) -> Any:
    """Return a part of the configuration with new names for the fields at some places."""
    if isinstance(part, list):
        return [_renamed(entry, _inside(meant, str(number))) for number, entry in enumerate(part)]
    if not isinstance(part, Mapping):
        return part
    names = {key: str(meant[str(key),][0]) if (str(key),) in meant else key for key in part}
    return {names[key]: _renamed(value, _inside(meant, str(key))) for key, value in part.items()}


def _inside(meant: Mapping[Place, Place], key: str) -> dict[Place, Place]:
    return {place[1:]: other[1:] for place, other in meant.items() if len(place) > 1 and place[0] == key}


def _without(part: Any, places: set[Place]) -> Any:
    """Return a part of the configuration without the fields at some places."""
    if isinstance(part, Mapping):
        kept = {key: value for key, value in part.items() if (str(key),) not in places}
        return {key: _without(value, _below(places, str(key))) for key, value in kept.items()}
    if isinstance(part, list):
        kept_entries = [(number, entry) for number, entry in enumerate(part) if (str(number),) not in places]
        return [_without(entry, _below(places, str(number))) for number, entry in kept_entries]
    return part


def _below(places: set[Place], key: str) -> set[Place]:
    return {place[1:] for place in places if len(place) > 1 and place[0] == key}


def _follows(mistake: Mistake, wrong: set[Place]) -> bool:
    """Return whether a mistake may follow from a field that is wrong itself: around its own, or one it is about."""
    own = tuple(mistake.field.split("."))
    if any(own[: len(other)] == other for other in wrong):
        return True
    return any(_touches(tuple(field.split(".")), wrong) for field in mistake.about)


def _touches(place: Place, others: Iterable[Place]) -> bool:
    """Return whether a place is one of others, lies in one, or holds one."""
    return any(place[: len(other)] == other[: len(place)] for other in others)


def _count(lines: list[str]) -> str:
    return "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"


# Mistakes in words

_LIKE_KEY = re.compile(r"(?=\S*[A-Za-z])(?=\S*[0-9])\S{20,}")
_LONGEST = 80
"""Characters of a name that are shown whole."""
RENAMED: dict[str, tuple[str, ...]] = {
    "against": ("opponent",),
    "asks": ("criterion_map",),
    "at": ("n_utterances",),
    "by": ("translator", "sampling_design"),
    "cut": ("n_utterances",),
    "fill": ("imputer",),
    "kinds": ("perturbations", "criteria"),
    "ladders": ("severity_levels",),
    "per": ("error_control",),
    "together": ("criteria_in_one_request",),
    "people": ("human_corpora",),
    "strategies": ("perturbations",),
    "thetas": ("thresholds",),
    "words": ("translations",),
    "ask_again": ("retry_unparsed",),
    "each": ("annotators_per_item",),
    "held_back": ("held_out",),
    "hurt_by": ("sensitive_to",),
    "judged": ("evaluated_role",),
    "labels": ("scale",),
    "levels": ("rubric",),
    "of": ("data",),
}
"""Earlier names of fields with the new ones, of which a section has one."""
RENAMED_VALUES: dict[str, dict[str, str]] = {
    "error_control": {"pair": "per_comparison", "family": "familywise"},
    "form": {"mark": "annotate", "detect": "locate"},
    "reader": {"ladder": "severity_levels"},
    "target": {"new": "new_cases", "these": "given_cases"},
}
"""By field, earlier names of values with the new ones."""
_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = _shown.maxlong = 80


def in_words(details: dict[str, Any]) -> str:
    """Return one mistake as the field's path, the value and the remedy."""
    place = list(place_of(details))
    field = ".".join(part if len(part) <= _LONGEST else f"{part:.60}..." for part in place) or "configuration"
    value = details["input"]
    match details["type"]:
        case "extra_forbidden" if new := _new_name(details):
            return f"  {field}: this field has a new name; write {new}"
        case "extra_forbidden":
            return f"  {field}: there is no such field; {nearest(place[-1], _known_fields(place[:-1], details))}"
        case "missing" if place[:1] == ["protocols"] and place[2:] == ["form"]:
            shipped = nearest(place[1], Protocols.model_fields)
            words = f"'{place[1]}' is not a shipped protocol ({shipped}); your own needs this field, and `data`"
            return f"  {field}: {words}"
        case "missing":
            return f"  {field}: this field is needed and missing; add it"
        case "union_tag_not_found" if isinstance(value, Mapping):
            like = difflib.get_close_matches("engine", map(str, value), n=1)
            remedy = f"it has the field '{like[0]}'; did you mean 'engine'?" if like else f"known: {', '.join(ENGINES)}"
            return f"  {field}.engine: this field is needed and missing; {remedy}"
        case "union_tag_invalid":
            given = value["engine"]
            return f"  {field}.engine: {_show(given)} is not an engine; {nearest(str(given), ENGINES)}"
        case "value_error":
            message = str(details["ctx"]["error"])
            return f"  {message}" if field == "configuration" else f"  {field}: {message}"
        case "literal_error" if new := RENAMED_VALUES.get(place[-1], {}).get(str(value)):
            return f"  {field}: {_show(value)} has a new name; write {new}"
        case "literal_error":
            allowed = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
            others = READERS_OF if place[0] == "transcripts" and place[-1] == "reader" else {}
            return f"  {field}: {_show(value)} is not allowed; {nearest(str(value), allowed, others)}"
        case "string_pattern_mismatch":
            return (
                f"  {field}: {_show(value)} cannot be a name; names become files and have letters (a to z), digits, "
                "_ . + and -, and begin with a letter or digit"
            )
        case "string_type" if isinstance(value, (bool, int, float, date)):
            return (
                f"  {field}: YAML reads {_show(value)} as {_kind(value)}, but the field needs a text; put it in quotes"
            )
        case "model_type" | "model_attributes_type" | "dict_type" | "list_type" | "union_tag_not_found" if (
            value is None
        ):
            return f"  {field}: empty; remove the field, or give it a value"
        case "union_tag_not_found" | "model_type" | "model_attributes_type" | "dict_type":
            return f"  {field}: {_show(value)} is not a section with names and values"
        case "list_type" | "tuple_type" if isinstance(value, (str, int, float)):
            return f"  {field}: {_show(value)} is not a list; write [{_unquoted(value)}]"
        case "path_type":
            return f"  {field}: {_show(value)} is not a path; write a text, in quotes if needed"
        case "finite_number":
            return f"  {field}: {_show(value)}: a finite number is needed"
        case _:
            return f"  {field}: {_show(value)}: {details['msg'][0].lower()}{details['msg'][1:]}"


def place_of(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Return where a mistake is, as the names in the file from the top level down."""
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


def meant_field(details: Mapping[str, Any]) -> str | None:
    """Return the known field that is most similar to an unknown one; None if none is, or for other mistakes."""
    if details["type"] != "extra_forbidden":
        return None
    if new := _new_name(details):
        return new
    *section, name = place_of(details)
    return next(iter(difflib.get_close_matches(name, sorted(_known_fields(section, details)), n=1)), None)


def _new_name(details: Mapping[str, Any]) -> str | None:
    """Return the new name of a field that a configuration calls by an earlier one; None for other fields."""
    *section, name = place_of(details)
    known = _known_fields(section, details)
    return next((new for new in RENAMED.get(name, ()) if new in known), None)


def _show(value: object) -> str:
    """Return a value for a message, shortened; a value that may be a key is not shown."""
    shown = _shown.repr(value)
    return "(not shown, since it may be a key)" if _LIKE_KEY.search(shown) else shown


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
    """Return the fields that the section at a place of the configuration has."""
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
    """Return the section, or dictionary of sections, that a field contains."""
    options = [part for part in get_args(annotation) if part is not type(None)]
    return annotation if _is_section(annotation) or get_origin(annotation) is dict else options[0]


# The configuration as a run writes it down

HIDDEN = "(secret, not written down)"
_ONLY_GIVEN_FIELDS = (Columns, EncoderTraining, JudgedData, Protocol)
"""Sections with fields that only some of their kind may name: fields that a file leaves out are not written either."""
_LEAST = 6
"""Characters of a value that is looked for: a shorter one is no key, and would be found everywhere."""
_HEAD = (
    "# The configuration of this run with all defaults, written when the run began.\n"
    "# To run it again: snakemake --cores 8 --configfile {place}\n"
)


def write_configuration(config: Config) -> None:
    """Write the configuration of a run into its results folder, unless one is there already."""
    path, text = config.results_dir / WRITTEN_DOWN, written(config)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    write_new(path, text)


def written(config: Config, environment: Mapping[str, str] = os.environ) -> str:
    """Return a configuration as the text of a YAML file; the same one is always the same text.

    Args:
        config: the configuration, whose models name the variables that hold keys and never the keys.
        environment: of this process: a value of one of these variables is hidden wherever it stands.
    """
    secrets = [value for name in _variables(config) if len(value := environment.get(name, "")) >= _LEAST]
    content = _hidden(_plain(config), secrets)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return _HEAD.format(place=shlex.quote(str(config.results_dir / WRITTEN_DOWN))) + text


def _plain(part: Any) -> Any:
    """Return a part as YAML has it, without fields that are null by default; fields that no dump has are there."""
    if isinstance(part, BaseModel):
        fields = type(part).model_fields
        given = (
            part.model_fields_set if isinstance(part, _ONLY_GIVEN_FIELDS) else fields.keys() - idle_fields(part).keys()
        )
        values = {name: getattr(part, name) for name in fields if name in given} | (part.__pydantic_extra__ or {})
        return {
            name: _plain(value)
            for name, value in values.items()
            if value is not None or (name in fields and fields[name].get_default(call_default_factory=True) is not None)
        }
    if isinstance(part, Mapping):
        return {_plain(name): _plain(value) for name, value in part.items()}
    if isinstance(part, list | tuple | set | frozenset):
        return [_plain(value) for value in (sorted(part) if isinstance(part, set | frozenset) else part)]
    if isinstance(part, Enum):
        return _plain(part.value)
    return str(part) if isinstance(part, Path) else part


def _hidden(part: Any, secrets: list[str]) -> Any:
    if isinstance(part, dict):
        return {name: _hidden(value, secrets) for name, value in part.items()}
    if isinstance(part, list):
        return [_hidden(value, secrets) for value in part]
    is_secret = isinstance(part, str) and (is_secret_text(part) or any(secret in part for secret in secrets))
    return HIDDEN if is_secret else part


def _variables(config: Config) -> Iterator[str]:
    """Yield the names of the variables that hold keys."""
    for model in config.models.values():
        if name := getattr(model, "api_key_env", None):
            yield name
        yield from getattr(model, "headers_env", {}).values()
