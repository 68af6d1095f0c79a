"""Runs stages' functions as a command, and turns their failures into messages.

A function's parameters are the command's options: a `Path` becomes `--name FILE`, a
`list[Path]` becomes `--name FILE ...` (it may be empty), a `str` becomes `--name TEXT`, `settings`, a pydantic model,
becomes `--settings JSON`, `templates` becomes `--prompts SET:FOLDER`, either part of which may be empty; `code` is
filled in. Several stages share the options that both have. `__main__` runs a job of the workflow and records the
provenance of its files.
"""

from __future__ import annotations

import argparse
import errno
import inspect
import json
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from dialeval.errors import UserError
from dialeval.jobs import lifecycle
from dialeval.jobs.lifecycle import INTERRUPTED, exit_immediately, is_stopping
from dialeval.jobs.process_setup import with_run_settings
from dialeval.prompts.rendering import PromptSet

Stage = Callable[..., None]


def run(*stages: Stage, errors: Path | None = None) -> None:
    """Run stages, one after the other, with the arguments of the command line and end the process.

    Args:
        stages: the stages' functions.
        errors: the file for the error message, which goes to the stage's log; None for standard error.
    """
    signal.signal(signal.SIGTERM, _terminate)
    lifecycle.exit_with_run()
    name = Path(sys.argv[0]).stem
    try:
        for stage, arguments in zip(stages, _arguments(stages, name), strict=True):
            stage(**arguments)
    except UserError as error:
        _fail(name, str(error), errors=errors)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, exit_immediately)
        _fail(name, "stopped; responses are stored. Run the same command again to resume", INTERRUPTED)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        _fail(
            name,
            f"{error.filename or 'a file'}: {error.strerror}; fix this and run the same command again",
            errors=errors,
        )


def _fail(name: str, message: str, status: int = 1, errors: Path | None = None) -> None:
    words = f"error in {name}: {message}"
    try:
        if errors is None:
            raise FileNotFoundError
        errors.write_text(f"{words}\n", encoding="utf-8", errors="replace")
    except OSError:
        print(words, file=sys.stderr, flush=True)
    sys.exit(status)


def _terminate(*_: object) -> None:
    """End as the first Ctrl-C does, so that an event loop closes in order."""
    if is_stopping():
        return
    if callable(signal.getsignal(signal.SIGINT)):
        signal.raise_signal(signal.SIGINT)
    else:  # Ctrl-C is ignored here
        raise KeyboardInterrupt


def _arguments(stages: Iterable[Stage], name: str) -> list[dict[str, Any]]:
    """Return the arguments of each stage."""
    parser = argparse.ArgumentParser(
        prog=f"python -m dialeval.stages {name}",
        description="\n\n".join(inspect.getdoc(stage) or "" for stage in stages),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--code", default="", help="fingerprint of the stage's code")
    parser.add_argument("--settings", default="{}", metavar="JSON", help="the stage's part of the configuration")
    parser.add_argument("--prompts", default="", metavar="SET:FOLDER", help="set of prompts, and folder of your own")
    types_of = [get_type_hints(stage) for stage in stages]
    for key, kind in {key: kind for types in types_of for key, kind in types.items()}.items():
        option = "--" + key.replace("_", "-")
        if key in ("settings", "templates", "code", "return"):
            continue
        if kind == list[Path]:
            parser.add_argument(option, nargs="*", type=Path, default=[], metavar="FILE")
        else:
            parser.add_argument(option, required=True, type=kind, metavar="FILE" if kind is Path else "TEXT")
    values = vars(parser.parse_args())
    prompt_set, _, folder = values["prompts"].partition(":")
    if prompt_set not in ("", *get_args(PromptSet)):
        parser.error(f"--prompts: '{prompt_set}' is not a set of prompts; write ours:FOLDER or papers:FOLDER")
    given = []
    for types in types_of:
        own = {key: values[key] for key in types if key in values}
        if "templates" in types:  # where prompts lie is no setting: a folder that moves changes nothing
            own["templates"] = types["templates"](Path(folder) if folder else None, prompt_set or "ours")
        if "settings" in types:
            own["settings"] = _settings(types["settings"], values["settings"], takes_all=len(types_of) == 1)
        given.append(own)
    return given


def _settings(kind: type[BaseModel], text: str, takes_all: bool) -> BaseModel:
    """Return the settings of a stage; where not all are its own, those of its fields."""
    try:
        given = {name: one for name, one in json.loads(text).items() if takes_all or name in kind.model_fields}
        return kind.model_validate(with_run_settings(given, kind.model_fields))
    except json.JSONDecodeError as error:
        raise UserError(f"--settings is not valid JSON: {error}") from None
    except ValidationError as error:
        raise UserError(f"--settings: {error}") from None
