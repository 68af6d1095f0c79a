"""Runs a stage, by hand or as a job of the workflow: `python -m dialeval.stages STAGE --help`.

A job whose inputs are unchanged restores its cached outputs, and does not import the stage, which takes longest. Other
jobs cache their outputs and write a record of their provenance.

The job's own options are `--makes FILE ...`, its outputs; `--log FILE`; `--content DIGEST` of files that no option
names; and `--always-anew` for outputs that depend on more than the options. All other options are the stage's. The
environment variable DIALEVAL_RESULTS names the results; without it nothing is cached or recorded.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from dialeval.errors import UserError
from dialeval.jobs import progress as progress_files
from dialeval.jobs.lifecycle import INTERRUPTED
from dialeval.jobs.process_setup import (
    continue_without_reader,
    escape_control_characters,
    freeze_loaded_objects,
    skip_pandas,
    write_complete_lines,
)
from dialeval.paths import RESULTS
from dialeval.provenance import records
from dialeval.provenance.records import Job, write_record
from dialeval.stages import stage_functions


def main() -> None:
    """Run the stage that the command line names."""
    stage, arguments = "".join(sys.argv[1:2]), sys.argv[2:]
    functions = stage_functions(stage)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--makes", nargs="*", type=Path, default=[])
    parser.add_argument("--log", type=Path)
    parser.add_argument("--content", default="")
    parser.add_argument("--always-anew", action="store_true")
    own, rest = parser.parse_known_args(arguments)
    results = os.environ.get(RESULTS)
    sys.argv = [str(Path(__file__).with_name(f"{stage}.py")), *rest]
    if not (results and own.makes):
        _start(functions)
        return
    progress_files.report_for(Path(results), own.log)
    job = Job(stage, Path(results), tuple(own.makes), own.content, _options(rest), own.log)
    errors = own.log and own.log.with_name(f"{own.log.name}.error")
    if errors:
        errors.unlink(missing_ok=True)
    before, key = job.file_states(), "" if own.always_anew else job.key
    if not own.always_anew and records.restore_outputs(job):
        print(f"{stage}: inputs unchanged; restored the cached outputs", flush=True)
        return
    _start(functions, errors)
    if os.environ.get("RANK", "0") != "0":  # the first of several processes that share a training records it
        return
    if job.file_states() != before:
        records.disable_caching("an input file appeared or changed during the run")
    write_record(job, key)
    if not own.always_anew:
        records.keep_outputs(job)


def _start(functions: Iterable[str], errors: Path | None = None) -> None:
    named = [function.split(":") for function in functions]
    gc.disable()  # imports make no garbage, and collecting takes a tenth of their time
    try:
        run = import_module("dialeval.stages.command").run
        stages = [getattr(import_module(module), stage) for module, stage in named]
        skip_pandas()
        freeze_loaded_objects()
    finally:
        gc.enable()
    run(*stages, errors=errors)


def _options(arguments: list[str]) -> dict[str, list[str]]:
    """Return the values behind each option."""
    found: dict[str, list[str]] = {}
    values: list[str] = []
    for argument in arguments:
        if argument.startswith("--"):
            name, is_given, value = argument[2:].partition("=")
            values = found.setdefault(name, [])
            values += [value] if is_given else []
        else:
            values.append(argument)
    return found


if __name__ == "__main__":
    named = "".join(sys.argv[1:2])
    write_complete_lines()
    for stream in (sys.stdout, sys.stderr):
        escape_control_characters(stream)
        continue_without_reader(stream)
    try:
        main()
    except UserError as error:
        sys.exit(f"error in {Path(sys.argv[0]).stem}: {error}")
    except KeyboardInterrupt:  # before the stage began, which handles its own
        print(f"error in {named}: stopped before it began; run the same command again to resume", file=sys.stderr)
        sys.exit(INTERRUPTED)
