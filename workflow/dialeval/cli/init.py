"""`dialeval init FOLDER`: a folder in which `snakemake` runs."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from dialeval.cli.new_folder import DEFAULT_KEY, Wish, as_column, as_model, make_folder
from dialeval.errors import UserError

MODEL = "NAME=MODEL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command understands."""
    parser.epilog = (
        "Without options the folder is for the default run: embedded models on bundled dialogues, offline. In place of "
        f"{MODEL} an embedded model may be named, such as forest."
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="is made; nothing in it is overwritten")
    parser.add_argument(
        "--base-url", metavar="URL", help="endpoint that speaks OpenAI's protocol (without it: OpenAI itself)"
    )
    parser.add_argument(
        "--api-key-env",
        metavar="NAME",
        help=f"NAME of the variable with the key (without it: {DEFAULT_KEY}, and with --base-url none)",
    )
    parser.add_argument("--chatbot", action="append", default=[], metavar=MODEL, help="may be given several times")
    parser.add_argument("--judge", action="append", default=[], metavar=MODEL, help="may be given several times")
    parser.add_argument("--dialogues", type=Path, metavar="FILE", help="dialogues of your own systems, in any format")
    parser.add_argument("--system", metavar="NAME", help="whose they are, where the file does not say it")
    parser.add_argument("--judged", metavar="NAME", help="the speaker who is the system, where nothing tells")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="WHAT=NAME",
        help="a column that is not called as it commonly is, such as text=Body; may be given several times",
    )


def run(arguments: argparse.Namespace) -> int:
    """Makes the folder and says what to type next."""
    wish = _wish(arguments)
    notes: list[str] = []
    made = make_folder(arguments.folder, wish, notes)
    for note in notes:
        print(f"read: {note}")
    for path in made:
        print(f"made {arguments.folder / path}")
    print("next:")
    if arguments.folder.resolve() != Path.cwd():
        print(f"  cd {shlex.quote(str(arguments.folder))}")
    if wish.asks and wish.api_key_env and wish.api_key_env not in os.environ:
        print(f"  export {wish.api_key_env}=...")
    if wish.asks:
        print("  dialeval check --ask     # asks each model once\n  snakemake estimate       # what it will cost")
    print("  snakemake")
    return 0


def _wish(arguments: argparse.Namespace) -> Wish:
    """Returns what the options ask for.

    Raises:
        UserError: an option is of no use without another.
    """
    for option in ("system", "judged", "column"):
        if getattr(arguments, option) and arguments.dialogues is None:
            raise UserError(f"--{option} is about dialogues of your own systems; add --dialogues FILE")
    key = arguments.api_key_env or (None if arguments.base_url else DEFAULT_KEY)
    wish = Wish(
        base_url=arguments.base_url,
        api_key_env=key,
        chatbots=[as_model(text) for text in arguments.chatbot],
        judges=[as_model(text) for text in arguments.judge],
        dialogues=arguments.dialogues,
        system=arguments.system,
        judged=arguments.judged,
        columns=dict(as_column(text) for text in arguments.column),
    )
    if wish.is_default and arguments.api_key_env:
        raise UserError(
            "--api-key-env is of a model behind an endpoint; add --chatbot NAME=MODEL or --judge NAME=MODEL"
        )
    return wish
