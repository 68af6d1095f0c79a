"""The setup of a job's or a run's process: imports, garbage collection, output, settings from the environment.

The first array that PyArrow makes of a list loads pandas, if it is installed, only to ask whether the list is a series:
more than a third of what a small job takes. Checked once where pandas cannot be found, PyArrow goes without. Whoever
turns a table into a frame later (`to_pandas`) loads pandas then, and PyArrow knows series from there on.

The run tells it by its environment, which every process of the run sets that reads the Snakefile, on a cluster's nodes
too. So other values re-run nothing. A stage that someone starts by hand may be given the same fields in its settings,
which come first.
"""

from __future__ import annotations

import codecs
import gc
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TextIO

from dialeval.errors import visible

PANDAS = "pandas"


def skip_pandas() -> None:
    """Make PyArrow work without pandas, unless pandas is loaded already."""
    if PANDAS in sys.modules or "pyarrow" not in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, finder := _NotFound())
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)


class _NotFound(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == PANDAS:
            raise ModuleNotFoundError("not looked for", name=fullname)
        return None


# Garbage collection

SELDOM = 50_000
"""New containers after which Python looks for garbage; its own number is 700.

Of hundreds of requests under way each holds some fifty containers, and of a table each row some. None of them is
garbage, yet Python looked through them every few requests, for a fifth of what a request takes. What is garbage then
waits a little longer: 50,000 containers are some ten megabytes.
"""


def freeze_loaded_objects() -> None:
    """Exclude loaded objects from garbage collection, and make it rarer."""
    gc.freeze()
    gc.set_threshold(SELDOM)


# Characters on a terminal

_PLAIN = {"–": "-", "—": "-", "−": "-", "×": "x", "…": "...", "≥": ">=", "≤": "<=", "’": "'", "“": '"', "”": '"'}
_ERRORS = "dialeval.plain"


def replace_unencodable(stream: TextIO) -> None:
    """Have a stream write every letter in some way: 0.1–0.2 as 0.1-0.2, since 0.1\\u20130.2 reads as other numbers.

    Args:
        stream: standard output or error; one that is no file of text is left as it is.
    """
    if isinstance(stream, io.TextIOWrapper):
        codecs.register_error(_ERRORS, _plain)
        with suppress(OSError):  # a pipe that was put in a file's place: it stays as it is, which is no reason to fail
            stream.reconfigure(errors=_ERRORS)


def escape_control_characters(stream: TextIO) -> None:
    """Make a stream escape control and bidirectional characters, which names and answers may contain.

    A carriage return at an end of what is written stays: so does a progress bar take its line back.

    Args:
        stream: standard output or error; one that is no file of text is left as it is.
    """
    if not isinstance(stream, io.TextIOWrapper) or "write" in vars(stream):
        return
    write = stream.write

    def shown(text: str) -> int:
        start, end = len(text) - len(text.lstrip("\r")), len(text.rstrip("\r"))
        write(text[:start] + visible(text[start:end]) + text[max(start, end) :])
        return len(text)

    stream.write = shown  # type: ignore[method-assign]
    shown.unescaped = write  # type: ignore[attr-defined]


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in letters), error.end


# Lines of several jobs on one terminal or pipe


def write_complete_lines() -> None:
    """Make standard output and error write each line with its end, immediately.

    Unbuffered (the option `-u`, PYTHONUNBUFFERED), Python writes the words and then, on its own, the
    end of the line. Between the two another job may write.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):  # a closed pipe: the next writer gets the error
                stream.reconfigure(line_buffering=True, write_through=False)


def continue_without_reader(stream: TextIO) -> None:
    """Make a stream discard further output after its reader, such as `head`, has ended.

    The error would end the thread in which Snakemake notes a job's end, and the run would wait for that job forever.
    Jobs still fail then, as their `tee` gets the signal, and so the run ends; the next one uses the stored responses.

    Args:
        stream: standard output or error; one that is no file of text is left as it is.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return
    write = stream.write

    def written(text: str) -> int:
        try:
            write(text)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return len(text)

    stream.write = written  # type: ignore[method-assign]


# Settings that change no answer, from the environment

VARIABLE = "DIALEVAL_RUNNING"


def announce(
    models: Mapping[str, Mapping[str, Any]],
    answering: Mapping[str, Any],
    environment: MutableMapping[str, str] = os.environ,
) -> None:
    """Pass the settings to all jobs of this run.

    Args:
        models: how the jobs of each model run, by field, where it is not by default.
        answering: what happens when requests fail.
        environment: of this process.
    """
    content = {"models": {name: fields for name, fields in models.items() if fields}, "answering": answering}
    environment[VARIABLE] = json.dumps(content, sort_keys=True)


def with_run_settings(
    settings: dict[str, Any], fields: Iterable[str], environment: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """Return the settings of a stage, completed by settings of the run that change no result.

    Args:
        settings: of the stage; `name` is the model's under `model`, `selfchat.partner` that under `partner`.
        fields: the names of all settings that the stage has.
        environment: of this process; outside a run it has no such settings, and the defaults are used.
    """
    given = json.loads(environment.get(VARIABLE, "{}"))
    models = given.get("models", {})
    names = {"model": settings.get("name"), "partner": (settings.get("selfchat") or {}).get("partner")}
    filled = dict(settings)
    for part, name in names.items():
        if isinstance(settings.get(part), dict):
            filled[part] = {**models.get(name, {}), **settings[part]}
    if "answering" in fields:
        filled.setdefault("answering", given.get("answering", {}))
    return filled
