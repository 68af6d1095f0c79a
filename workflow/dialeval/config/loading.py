"""Reading a configuration: every mistake in one message, worded for the person who wrote the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from dialeval.config.models import ENGINES
from dialeval.config.whole import Config
from dialeval.errors import UserError, nearest


def load_config(raw: Mapping[str, Any], *, files_are_there: bool = True) -> Config:
    """Checks a configuration and the files it names.

    Args:
        raw: the configuration as read from YAML.
        files_are_there: whether what it names must exist by now; before a download it need not.

    Raises:
        UserError: one message with every mistake: the field, the value, and what would be right.
    """
    try:
        config = Config.model_validate(dict(raw))
    except ValidationError as error:
        lines = [_in_words(dict(details)) for details in error.errors()]
        raise UserError("the configuration has " + _count(lines) + ":\n" + "\n".join(lines)) from None
    if not files_are_there:
        return config
    sources = {f"corpora.{name}.path": config.corpus_path(name) for name in config.used_corpora()}
    sources |= {f"battles.{name}.path": config.battles_path(name) for name in config.battles}
    sources |= config.published_sources()
    if config.metaeval:
        sources |= {f"metaeval.corpora.{name}.path": config.rated_path(name) for name in config.metaeval.corpora}
        sources |= {
            f"metaeval.score_files.{name}.path": config.score_path(name) for name in config.metaeval.score_files
        }
    sources |= {"robustness.published": config.published_damage()}
    if config.dialogbench:
        sources |= {
            f"dialogbench.published.{name}.path": config.item_path(name) for name in config.dialogbench.published
        }
    missing = [
        f"  {field}: {path} does not exist; correct the path or `data_dir` "
        f"(now '{config.data_dir}'), for example with --config data_dir=FOLDER"
        for field, path in sources.items()
        if path is not None and not path.exists()
    ]
    for field, path in (
        ("prompts.directory", config.prompts.directory),
        ("tokens.cl100k_file", config.tokens.cl100k_file),
    ):
        if path is not None and not path.expanduser().exists():
            missing.append(f"  {field}: {path} does not exist; correct the path or leave the field out")
    if missing:
        if config.public_corpora:
            names = ", ".join(config.public_corpora)
            missing.append(f"  `snakemake download` with the same configuration fetches {names} into data_dir")
        raise UserError("the configuration names what is not there:\n" + "\n".join(missing))
    return config


def refuse_repeated_keys(path: Path) -> None:
    """Refuses a YAML file that says one name twice, of which YAML readers would silently keep the last.

    Raises:
        UserError: the file, the name and the line of its second occurrence.
    """

    def check(node: yaml.Node, place: str) -> None:
        if isinstance(node, yaml.SequenceNode):
            for item in node.value:
                check(item, place)
        if not isinstance(node, yaml.MappingNode):
            return
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise UserError(
                    f"{path}, line {key.start_mark.line + 1}: '{place}{name}' is there twice; "
                    "rename or remove one of them"
                )
            seen.add(name)
            check(value, f"{place}{name}.")

    try:
        with path.open(encoding="utf-8") as file:
            root = yaml.compose(file, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not readable YAML: {error}") from None
    if root is not None:
        check(root, "")


def _count(lines: list[str]) -> str:
    return "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"


def _in_words(details: dict[str, Any]) -> str:
    """Returns one mistake as the field's path, the value and the remedy."""
    place = [str(part) for part in details["loc"]]
    if place[:1] == ["models"] and len(place) > 2 and place[2] in ENGINES:
        del place[2]  # the name of the discriminated class is no field of the file
    field = ".".join(place) or "configuration"
    value = details["input"]
    match details["type"]:
        case "extra_forbidden":
            known = _known_fields(place[:-1], details)
            return f"  {field}: there is no such field; {nearest(place[-1], known)}"
        case "missing":
            return f"  {field}: this field is needed and missing"
        case "union_tag_invalid" | "union_tag_not_found":
            given = value.get("engine") if isinstance(value, Mapping) else value
            return f"  {field}.engine: {given!r} is not an engine; {nearest(str(given), ENGINES)}"
        case "value_error":
            message = str(details["ctx"]["error"])
            return f"  {message}" if field == "configuration" else f"  {field}: {message}"
        case "literal_error":
            allowed = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
            return f"  {field}: {value!r} is not allowed; {nearest(str(value), allowed)}"
        case _:
            return f"  {field}: {value!r}: {details['msg'][0].lower()}{details['msg'][1:]}"


def _known_fields(place: list[str], details: dict[str, Any]) -> list[str]:
    """Returns the fields that the section at a place of the configuration has."""
    if place[:1] == ["models"]:
        return list(ENGINES[str(details["loc"][2])].model_fields)
    section: type[BaseModel] = Config
    for part in place:
        if part in section.model_fields:  # else it is a name of the user's, in a dictionary of sections
            section = _section_of(section.model_fields[part].annotation)
    return list(section.model_fields)


def _section_of(annotation: Any) -> type[BaseModel]:
    """Returns the section that a field holds, as it is, as an option, or as the values of a dictionary."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(_section_of(part) for part in reversed(get_args(annotation)) if part is not type(None))
