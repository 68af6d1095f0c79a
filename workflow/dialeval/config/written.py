"""A configuration written down beside the results: every field as the run had it, and nothing that is secret.

It can be given to a run again: relative paths in it are seen, as in any configuration, from the folder of the run.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from dialeval.config.extra_body import looks_secret
from dialeval.config.protocol import Of, Protocol
from dialeval.config.reading import WRITTEN_DOWN
from dialeval.config.training import EncoderTraining
from dialeval.config.transcripts import Columns
from dialeval.config.whole import Config
from dialeval.config.without_effect import idle_fields
from dialeval.whole_files import write_new

HIDDEN = "(secret, not written down)"
_AS_SAID = (Columns, EncoderTraining, Of, Protocol)
"""Sections with fields that only some of their kind may name: what nobody said in one is not written either."""
_LEAST = 6
"""Characters of a value that is looked for: a shorter one is no key, and would be found everywhere."""
_HEAD = (
    "# The configuration of this run with every default filled in, as the run wrote it down when it began.\n"
    "# To follow it again: snakemake --cores 8 --configfile {place}\n"
)


def written(config: Config, environment: Mapping[str, str] = os.environ) -> str:
    """Returns a configuration as the text of a YAML file; the same one is always the same text.

    Args:
        config: the configuration, whose models name the variables that hold keys and never the keys.
        environment: of this process: a value of one of these variables is hidden wherever it stands.
    """
    secrets = [value for name in _variables(config) if len(value := environment.get(name, "")) >= _LEAST]
    content = _hidden(_plain(config), secrets)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return _HEAD.format(place=shlex.quote(str(config.results_dir / WRITTEN_DOWN))) + text


def write_configuration(config: Config) -> None:
    """Writes the configuration of a run into the folder of its results; one that stands there already is left alone."""
    path, text = config.results_dir / WRITTEN_DOWN, written(config)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    write_new(path, text)


def _plain(part: Any) -> Any:
    """Returns a part as YAML has it, without fields that are null by default; fields that no dump has are there."""
    if isinstance(part, BaseModel):
        fields = type(part).model_fields
        said = part.model_fields_set if isinstance(part, _AS_SAID) else fields.keys() - idle_fields(part).keys()
        values = {name: getattr(part, name) for name in fields if name in said} | (part.__pydantic_extra__ or {})
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
    is_secret = isinstance(part, str) and (looks_secret(part) or any(secret in part for secret in secrets))
    return HIDDEN if is_secret else part


def _variables(config: Config) -> Iterator[str]:
    """Yields the names of the variables that hold keys."""
    for model in config.models.values():
        if name := getattr(model, "api_key_env", None):
            yield name
        yield from getattr(model, "headers_env", {}).values()
