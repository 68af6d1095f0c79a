"""`dialeval check`: whether the requirements of a run are met; with `--ask`, one request to each endpoint model."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from dialeval.config.configuration import Config
from dialeval.config.corpora import absence_in_words, without_absent
from dialeval.config.endpoints import OpenAIModel
from dialeval.config.files import configuration_file, read_config_file, shown
from dialeval.config.models import VllmModel
from dialeval.engines.answering import open_engine, run_in_order
from dialeval.engines.availability import cannot_compute_here, unavailable, without_key
from dialeval.engines.cl100k import is_available
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.engines.spending import prices
from dialeval.engines.spending.prices import prices_of
from dialeval.errors import UserError
from dialeval.jobs import lifecycle
from dialeval.paths import PROJECT
from dialeval.planning.preflight import check_transcripts, checked_config

LEAST_FREE = 1e9
"""Bytes; the default run leaves a tenth of that behind."""
_MOST_PATHS = 8
MAX_TOKENS = 16
"""The least that all endpoints take."""
LONGEST_WAIT = 60.0
"""Seconds."""
PROTOCOL = "check"
ENOUGH = "empty"
"""A failure of a model that was reached: its few tokens went to its reasoning."""
REMEDIES = {
    "authentication": "; set the variable that `api_key_env` names to the right key",
    "not_found": "; correct `model`, or `base_url`",
    "bad_request": "; check `model`, the key and `base_url` (a proxy may answer 400 for each of them)",
    "connection": "; start the endpoint, or correct `base_url`",
    "timeout": "; check whether the endpoint is overloaded",
    "quota": "; check your account at the endpoint",
}
"""Remedies by type of failure, added to the endpoint's message."""


class Finding(NamedTuple):
    """One line.

    Attributes:
        state: whether it is here.
        about: what was looked at, as the configuration names it.
        words: what was found, and the remedy where it is missing.
    """

    state: State
    about: str
    words: str


class State(StrEnum):
    """Whether a requirement is met; a note does not stop a run."""

    OK = "ok"
    NOTE = "note"
    MISSING = "missing"


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dialeval check`."""
    parser.epilog = (
        "Each line is `ok`, `note` or `missing` with a remedy. The exit status is 1 if something is missing. Without "
        "--ask, the command makes no model calls and sends no key. With --ask, it first lists the keys and the hosts "
        "that receive them, and waits for `y`. Its requests have at most 16 response tokens, are not stored, and count "
        "towards a budget."
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder of the run (default: this folder)",
    )
    parser.add_argument("--configfile", type=Path, metavar="FILE", help="configuration (default: the folder's)")
    parser.add_argument("--ask", action="store_true", help="send each model behind an endpoint one short request")
    parser.add_argument("--yes", action="store_true", help="with --ask: do not wait for `y`")


def check(arguments: argparse.Namespace) -> int:
    """Print a line for each requirement; returns 1 if one is missing."""
    given = arguments.configfile.resolve() if arguments.configfile else None
    try:
        os.chdir(arguments.folder)  # paths of a configuration are seen from there
    except OSError as error:
        raise UserError(f"{arguments.folder} cannot be entered: {error.strerror}; name the folder of a run") from None
    config, found = configuration_here(given)
    found += findings(config)
    _print(found)
    if arguments.ask:
        if not arguments.yes:
            _confirm(keys_sent(config))
        missing = {one.about for one in found if one.state is State.MISSING}
        answers = [one for one in probe_models(config) if one.about not in missing]
        _print(answers)
        found += answers
    is_missing = any(one.state is State.MISSING for one in found)
    print("next:")
    if is_missing:
        print("  fix the lines that begin with `missing`, then run the same command again")
    else:
        folder = [f"cd {shlex.quote(str(arguments.folder))} &&"] if arguments.folder != Path() else []
        file = ["--configfile", shlex.quote(str(given))] if given else []
        print(" ", *folder, "snakemake estimate", *file)
        print(" ", *folder, "snakemake", *file)
    return int(is_missing)


def _confirm(sent: Sequence[str]) -> None:
    """Ask the user whether keys may be sent.

    Raises:
        UserError: the user does not, or standard input is no terminal.
    """
    if not sent:
        return
    remedy = "check that each key belongs to its host, then add --yes"
    if not sys.stdin.isatty():
        raise UserError(f"no request was sent, because the requests would send keys: {'; '.join(sent)}; {remedy}")
    print("Send these keys to these hosts?", *sent, sep="\n  ")
    if input("[y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError(f"no request and no key was sent; {remedy}")


def _print(found: Sequence[Finding]) -> None:
    width = max((len(one.about) for one in found), default=0)
    for one in found:
        indented = one.words.replace("\n", "\n" + " " * (width + 11))
        print(f"{one.state:<7}  {one.about:<{width}}  {indented}")


def configuration_here(given: Path | None) -> tuple[Config, list[Finding]]:
    """Return the configuration that a run in this folder would follow, and findings about it.

    Args:
        given: the file that the run would name; None for the folder's own.

    Raises:
        UserError: there is none, or it has mistakes: one message with all of them.
    """
    path, note = (given, "") if given else configuration_file(Path.cwd(), PROJECT)
    with_absent = checked_config(
        read_config_file(path), [given] if given else [], asks=False, reads=True, own_environments=False
    )
    config = without_absent(with_absent)
    found = [Finding(State.OK, "configuration", f"{shown(path)} is valid, and its files exist")]
    found += [
        Finding(State.NOTE, "configuration", line.removeprefix("note: "))
        for line in (note, *absence_in_words(config, with_absent))
        if line
    ]
    return config, found


def findings(config: Config) -> Iterator[Finding]:
    """Yield the met and missing requirements of a run, in the order in which the run needs them."""
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
            (notes,) = check_transcripts(config, [name]).values()
            yield Finding(State.OK, about, "\n".join([f"{config.transcripts_path(name)} can be read", *notes]))
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
            words = f"{device} (for jobs on a cluster, only its nodes need it)"
            yield Finding(State.MISSING, f"models.{name}", words)
        else:
            has_gpu = isinstance(model, VllmModel)
            yield Finding(State.OK, f"models.{name}", f"engine {model.engine}{', with a GPU' if has_gpu else ''}")


def keys_sent(config: Config) -> list[str]:
    """Return a sentence for every environment variable and every host that a run sends its value to."""
    sent: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name in config.models_in_use():
        model = config.models[name]
        if isinstance(model, OpenAIModel):
            variables = {"as the key": [model.api_key_env] if model.api_key_env else []}
            for header, variable in model.headers_env.items():
                variables.setdefault(f"in the header {header}", []).append(variable)
            for how, names in variables.items():
                for variable in names:
                    sent[variable, _host(model.base_url), how].append(f"models.{name}")
    return [
        f"the value of ${variable} is sent to {host} {how}, by {', '.join(names)}"
        for (variable, host, how), names in sent.items()
    ]


def _host(address: str) -> str:
    """Return the host of an address, in the ASCII form of its name: other letters may look like those of another."""
    parts = urlsplit(address)
    try:
        host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except UnicodeError:
        host = parts.netloc.encode("ascii", "backslashreplace").decode()
    return host if parts.scheme == "https" else f"{host} (unencrypted, http)"


def _rights(config: Config) -> Iterator[Finding]:
    """Yield the uses of keys, files and code that a foreign configuration would make with the user's rights."""
    for name in config.models_in_use():
        if getattr(config.models[name], "trust_remote_code", False):
            words = "trust_remote_code: Python code that comes with the model runs with your rights"
            yield Finding(State.NOTE, f"models.{name}", words)
    outside = sorted({str(path) for path in _paths(config.model_dump()) if _is_outside(path)})
    if outside:
        shown = ", ".join(outside[:_MOST_PATHS]) + ("" if len(outside) <= _MOST_PATHS else ", ...")
        words = (
            f"the configuration names files outside this folder: {shown}; a run reads them, or writes results or "
            "labels there"
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
        if is_available(config.tokens.cl100k_file):
            return Finding(State.OK, "tokens", "the cl100k vocabulary is available")
    except UserError as error:
        return Finding(State.MISSING, "tokens.cl100k_file", str(error))
    if config.tokens.fetch:
        return Finding(
            State.NOTE,
            "tokens",
            "the first run fetches the cl100k vocabulary (0.8 MB); without it, lengths are counted in words",
        )
    return Finding(State.NOTE, "tokens", "the cl100k vocabulary is missing; lengths are counted in words")


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
        lifecycle.refuse_second_run(results)
    except UserError as error:
        return Finding(State.MISSING, str(results), str(error))
    return Finding(State.OK, str(results), "no other run is active")


def probe_models(config: Config) -> list[Finding]:
    """Ask every model behind an endpoint one short question, all at once; only the cost is stored.

    Args:
        config: the configuration; its budgets hold.
    """
    prices.announce(prices.run_terms(config.models, config.budget))
    models = {name: config.models[name] for name in config.models_in_use()}
    return run_in_order(
        _ask_all({name: one for name, one in models.items() if isinstance(one, OpenAIModel)}, config.store_dir)
    )


async def _ask_all(models: dict[str, OpenAIModel], store: Path) -> list[Finding]:
    return list(await asyncio.gather(*(_ask(name, model, store) for name, model in models.items())))


async def _ask(name: str, model: OpenAIModel, store: Path) -> Finding:
    about = f"models.{name}"
    once = {"batch": False, "max_tries": 1, "timeout_seconds": min(model.timeout_seconds, LONGEST_WAIT)}
    hurried = model.model_copy(update=once)
    request = Request(PROTOCOL, PROTOCOL, "chat", (Message("user", "Say yes."),), Sampling(max_tokens=MAX_TOKENS))
    try:
        engine = open_engine(hurried, [], store, PROTOCOL)
        try:
            return Finding(State.OK, about, _usage(model, await engine.answer(request)))
        finally:
            await engine.close()
    except AnswerFailure as failure:
        if failure.kind == ENOUGH:
            return Finding(State.OK, about, f"was sent a request; the response has no text in {MAX_TOKENS} tokens")
        words = f"'{model.model}' at {model.base_url} did not respond: {failure}{REMEDIES.get(failure.kind, '')}"
        return Finding(State.MISSING, about, words)
    except UserError as error:
        return Finding(State.MISSING, about, str(error))


def _usage(model: OpenAIModel, response: Response) -> str:
    """Return the beginning of an answer, its tokens and its cost."""
    text = "".join(mark for mark in " ".join(response.text.split()) if mark.isprintable())
    words = f"was sent a request; response: '{text[:40]}'"
    if response.prompt_tokens is not None and response.completion_tokens is not None:
        words += f" ({response.prompt_tokens} tokens read, {response.completion_tokens} written)"
    cost = prices_of(model).cost(response.prompt_tokens, response.completion_tokens)
    return words if cost is None else f"{words} for {cost:.6f}"
