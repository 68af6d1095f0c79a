"""Looks at all that a run needs and that can be seen without asking anyone, and at what it would give away."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dialeval.config.absent import told, without_absent
from dialeval.config.openai_model import OpenAIModel
from dialeval.config.origin import configuration_file, shown
from dialeval.config.reading import read_config_file
from dialeval.config.vllm_model import VllmModel
from dialeval.config.whole import Config
from dialeval.engines.availability import cannot_compute_here, unavailable, without_key
from dialeval.engines.cl100k_vocabulary import at_hand
from dialeval.errors import UserError
from dialeval.processes import runlock
from dialeval.project import PROJECT
from dialeval.readiness.finding import Finding, State
from dialeval.readiness.preflight import check_transcripts, checked_config

LEAST_FREE = 1e9
"""Bytes; the default run leaves a tenth of that behind."""
_MOST_PATHS = 8


def configuration_here(given: Path | None) -> tuple[Config, list[Finding]]:
    """Returns the configuration that a run in this folder would follow, and what is to be told of it.

    Args:
        given: the file that the run would name; None for the folder's own.

    Raises:
        UserError: there is none, or it has mistakes: one message with all of them.
    """
    path, note = (given, "") if given else configuration_file(Path.cwd(), PROJECT)
    whole = checked_config(
        read_config_file(path), [given] if given else [], asks=False, reads=True, own_environments=False
    )
    config = without_absent(whole)
    found = [Finding(State.OK, "configuration", f"{shown(path)}, and the files that it names are there")]
    found += [
        Finding(State.NOTE, "configuration", line.removeprefix("note: "))
        for line in (note, *told(config, whole))
        if line
    ]
    return config, found


def findings(config: Config) -> Iterator[Finding]:
    """Yields what is here and what is missing, in the order in which a run needs it."""
    yield from _transcripts(config)
    yield from _models(config)
    yield from (Finding(State.NOTE, "keys", words) for words in keys_sent(config))
    yield from _rights(config)
    if config.talks():
        yield _vocabulary(config)
    yield from _disk([config.results_dir, config.store_dir])
    yield _other_run(config.results_dir)


def _transcripts(config: Config) -> Iterator[Finding]:
    for name in config.transcripts:
        about = f"transcripts.{name}"
        try:
            check_transcripts(config, [name])
            yield Finding(State.OK, about, f"{config.transcripts_path(name)} can be read")
        except UserError as error:
            yield Finding(State.MISSING, about, str(error).removeprefix(f"{about}: "))


def _models(config: Config) -> Iterator[Finding]:
    for name in config.models_in_use():
        model = config.models[name]
        reason = unavailable(model) or without_key(model)
        device = None if reason else cannot_compute_here(model)
        if reason:
            yield Finding(State.MISSING, f"models.{name}", reason)
        elif device:  # a cluster's nodes may have what this machine has not
            words = f"{device} (jobs on a cluster's nodes need it there, not here)"
            yield Finding(State.MISSING, f"models.{name}", words)
        else:
            has_gpu = isinstance(model, VllmModel)
            yield Finding(State.OK, f"models.{name}", f"engine {model.engine}{', with a GPU' if has_gpu else ''}")


def keys_sent(config: Config) -> list[str]:
    """Returns a sentence for every environment variable and every host that a run sends its value to."""
    told: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name in config.models_in_use():
        model = config.models[name]
        if isinstance(model, OpenAIModel):
            variables = {"as the key": [model.api_key_env] if model.api_key_env else []}
            for header, variable in model.headers_env.items():
                variables.setdefault(f"in the header {header}", []).append(variable)
            for how, names in variables.items():
                for variable in names:
                    told[variable, _host(model.base_url), how].append(f"models.{name}")
    return [
        f"the value of ${variable} is sent to {host} {how}, by {', '.join(names)}"
        for (variable, host, how), names in told.items()
    ]


def _host(address: str) -> str:
    """Returns the host of an address, in the ASCII form of its name: other letters may look like those of another."""
    parts = urlsplit(address)
    try:
        host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except UnicodeError:
        host = parts.netloc.encode("ascii", "backslashreplace").decode()
    return host if parts.scheme == "https" else f"{host} (unencrypted, http)"


def _rights(config: Config) -> Iterator[Finding]:
    """Yields what a configuration of someone else could do with the rights of the user."""
    for name in config.models_in_use():
        if getattr(config.models[name], "trust_remote_code", False):
            words = "trust_remote_code: Python code that comes with the model runs with your rights"
            yield Finding(State.NOTE, f"models.{name}", words)
    outside = sorted({str(path) for path in _paths(config.model_dump()) if _is_outside(path)})
    if outside:
        shown = ", ".join(outside[:_MOST_PATHS]) + ("" if len(outside) <= _MOST_PATHS else ", ...")
        words = (
            f"files outside of this folder are named: {shown}; a run reads them, and writes results and labels there"
        )
        yield Finding(State.NOTE, "files", words)


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _paths(part)


def _is_outside(path: Path) -> bool:
    place = path.expanduser().resolve()
    return not any(place.is_relative_to(folder) for folder in (Path.cwd().resolve(), PROJECT.resolve()))


def _vocabulary(config: Config) -> Finding:
    try:
        if at_hand(config.tokens.cl100k_file):
            return Finding(State.OK, "tokens", "the vocabulary is here")
    except UserError as error:
        return Finding(State.MISSING, "tokens.cl100k_file", str(error))
    if config.tokens.fetch:
        return Finding(State.NOTE, "tokens", "the first run fetches a vocabulary (0.8 MB), or counts words without it")
    return Finding(State.NOTE, "tokens", "no vocabulary is here, so that lengths are counted in words")


def _disk(folders: Sequence[Path]) -> Iterator[Finding]:
    for folder in dict.fromkeys(folders):
        place = folder.expanduser().absolute()
        there = next(path for path in (place, *place.parents) if path.exists())
        free = shutil.disk_usage(there).free
        words = f"{free / 1e9:,.1f} GB are free"
        if free < LEAST_FREE:
            yield Finding(State.MISSING, str(folder), f"only {words}; make room, or name another folder")
        else:
            yield Finding(State.OK, str(folder), words)


def _other_run(results: Path) -> Finding:
    try:
        runlock.refuse_second_run(results)
    except UserError as error:
        return Finding(State.MISSING, str(results), str(error))
    return Finding(State.OK, str(results), "no other run is under way there")
