"""What is typed as `dialeval`, or as `python -m dialeval`: one of its commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from dialeval import __version__
from dialeval.errors import UserError
from dialeval.jobs.process_setup import bear_all_letters, show_controls
from dialeval.paths import PROJECT

COMMANDS = {
    "init": "make a folder in which `snakemake` runs an evaluation",
    "check": "say whether all that a run needs is here",
    "summary": "tell the results in the terminal",
    "compare": "say what differs between two runs",
    "tables": "list the tables of a run, tell their columns, export them",
}
"""Each is a module of this package with `add_arguments(parser)` and `run(arguments)`, imported when it is asked for."""
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: what is typed behind `dialeval`; None for what was typed.

    Returns:
        What the process ends with: 0, or 1 with words on what is wrong.
    """
    bear_all_letters(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        show_controls(stream)
    try:
        try:
            return _run(parsed(list(sys.argv[1:] if arguments is None else arguments)))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read, such as `head`, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(asked: argparse.Namespace) -> int:
    try:
        status: int = import_module(f"dialeval.cli.{asked.command}").run(asked)
    except UserError as error:
        print(f"error in {asked.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{asked.command}: stopped", file=sys.stderr)
        return INTERRUPTED
    return status


def parsed(typed: Sequence[str]) -> argparse.Namespace:
    """Returns what is typed, as its command understands it; what none understands ends the process with words.

    Args:
        typed: what stands behind `dialeval`.
    """
    asked = next((word for word in typed if not word.startswith("-")), "")
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
        if name == asked:
            import_module(f"dialeval.cli.{name}").add_arguments(own)
    return parser.parse_args(typed)
