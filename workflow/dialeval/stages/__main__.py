"""Runs a stage as a job of the workflow and writes down where its files come from: `python -m dialeval.stages STAGE`.

The job's own options are `--makes FILE ...`, what it makes; `--rule NAME`; and `--content DIGEST`, of files that it
reads without being told them. All others are the stage's. Where the results lie is in DIALEVAL_RESULTS; without it,
nothing is written down.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from dialeval.provenance import Job, write_record

RESULTS = "DIALEVAL_RESULTS"


def main() -> None:
    """Runs the stage that the command line names."""
    if len(sys.argv) < 2 or not sys.argv[1].isidentifier():
        sys.exit("say which stage: python -m dialeval.stages STAGE ...; python -m dialeval.stages.STAGE --help")
    stage, arguments = sys.argv[1], sys.argv[2:]
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--makes", nargs="*", type=Path, default=[])
    parser.add_argument("--rule", default="")
    parser.add_argument("--content", default="")
    own, rest = parser.parse_known_args(arguments)
    results, makes = os.environ.get(RESULTS), tuple(own.makes)
    sys.argv = [str(Path(__file__).with_name(f"{stage}.py")), *rest]
    command = import_module("dialeval.stages.command")
    command.run(import_module(f"dialeval.stages.{stage}").stage)
    if results and makes:
        write_record(Job(stage, Path(results), makes, own.rule, own.content, _options(rest)))


def _options(arguments: list[str]) -> dict[str, list[str]]:
    """Returns the values behind each option."""
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
    main()
