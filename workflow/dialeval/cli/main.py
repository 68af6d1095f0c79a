"""The command line, `dialeval` or `python -m dialeval`: it runs one of its commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from dialeval import __version__
from dialeval.errors import UserError
from dialeval.jobs.process_setup import escape_control_characters, replace_unencodable
from dialeval.paths import PROJECT

COMMANDS = {
    "init": "create a folder with a configuration that `snakemake` runs",
    "check": "test the configuration, files, models, keys, GPUs and disk space of a run",
    "summary": "print the results",
    "compare": "compare the numbers, settings and verdicts of two runs",
    "tables": "list the tables of a run, describe their columns, or write one as CSV",
    "export": "export a run to Hugging Face, MLflow or Weights & Biases, or its labelling tasks to a labelling tool",
}
"""The commands and what they do. `cli.<module>` has `add_<command>(parser)` and `<command>(arguments)`."""
_MODULES = {"summary": "results", "compare": "results", "tables": "results"}
"""The modules of commands that have none of their own name; a module is imported when its command is typed."""
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the arguments after `dialeval`; None for those of the process.

    Returns:
        The exit status: 0, or 1 after an error message.
    """
    replace_unencodable(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        escape_control_characters(stream)
    try:
        try:
            return _run(parsed(list(sys.argv[1:] if arguments is None else arguments)))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: argparse.Namespace) -> int:
    command = arguments.command
    try:
        status: int = getattr(_module(command), command)(arguments)
    except UserError as error:
        print(f"error in {command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{command}: stopped", file=sys.stderr)
        return INTERRUPTED
    return status


def _module(command: str) -> ModuleType:
    return import_module(f"dialeval.cli.{_MODULES.get(command, command)}")


def parsed(typed: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments; arguments that no command has end the process with a message.

    Args:
        typed: the arguments after `dialeval`.
    """
    command = next((word for word in typed if not word.startswith("-")), "")
    parser = argparse.ArgumentParser(
        prog="dialeval",
        description="Evaluates dialogue systems, and the LLM judges that score them. `snakemake` runs the evaluation.",
        epilog=f"Documentation: {PROJECT / 'docs'}",
    )
    parser.add_argument("--version", action="version", version=f"dialeval {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, sentence in COMMANDS.items():
        own = commands.add_parser(name, help=sentence)
        if name == command:
            add_options(name, own)
    return parser.parse_args(typed)


def add_options(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of a command to its parser."""
    parser.description = f"{COMMANDS[command][0].upper()}{COMMANDS[command][1:]}."
    getattr(_module(command), f"add_{command}")(parser)
