"""Looks at all that a run needs and that can be seen without asking anyone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from dialeval.config.absent import told, without_absent
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
