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
    "init": "make a folder in which `snakemake` runs an evaluation",
    "check": "check that everything a run needs is here",
    "summary": "print the results in the terminal",
    "compare": "show what differs between two runs",
    "tables": "list the tables of a run, describe their columns, export them",
}
"""The commands and what they do. `cli.<module>` has `add_<command>(parser)` and `<command>(arguments)`."""
_MODULES = {"summary": "results", "compare": "results", "tables": "results"}
"""The modules of commands that have none of their own name; a module is imported when its command is typed."""
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

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
    """Returns the parsed arguments; arguments that no command has end the process with a message.

    Args:
        typed: the arguments after `dialeval`.
    """
    command = next((word for word in typed if not word.startswith("-")), "")
    parser = argparse.ArgumentParser(
        prog="dialeval",
        description="Evaluates dialogues of chatbots, and the judges that judged them. `snakemake` runs what these "
        "commands prepare and read.",
        epilog=f"Documentation: {PROJECT / 'docs'}",
    )
    parser.add_argument("--version", action="version", version=f"dialeval {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, sentence in COMMANDS.items():
        own = commands.add_parser(name, help=sentence, description=f"{sentence[0].upper()}{sentence[1:]}.")
        if name == command:
            getattr(_module(name), f"add_{name}")(own)
    return parser.parse_args(typed)
