"""`dialeval check`: what a run needs, and whether it is here."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from dialeval.cli.environment_checks import Finding, State, asked_once, configuration_here, findings, keys_sent
from dialeval.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command understands."""
    parser.epilog = (
        "It ends with 1 where something is missing. Nothing is asked, and no key is sent, without --ask; with it you "
        "say first whether keys may be sent to the hosts that are listed."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="of the run (this one)")
    parser.add_argument("--configfile", type=Path, metavar="FILE", help="the configuration, if not the folder's own")
    parser.add_argument("--ask", action="store_true", help="ask every model behind an endpoint one short question")
    parser.add_argument("--yes", action="store_true", help="with --ask: send the keys to the hosts that are listed")


def run(arguments: argparse.Namespace) -> int:
    """Looks, and tells line by line."""
    given = arguments.configfile.resolve() if arguments.configfile else None
    try:
        os.chdir(arguments.folder)  # paths of a configuration are seen from there
    except OSError as error:
        raise UserError(f"{arguments.folder} cannot be entered: {error.strerror}; name the folder of a run") from None
    config, told = configuration_here(given)
    told += findings(config)
    _print(told)
    if arguments.ask:
        if not arguments.yes:
            _confirm(keys_sent(config))
        missing = {one.about for one in told if one.state is State.MISSING}
        asked = [one for one in asked_once(config) if one.about not in missing]
        _print(asked)
        told += asked
    return int(any(one.state is State.MISSING for one in told))


def _confirm(sent: Sequence[str]) -> None:
    """Returns if the user lets keys be sent.

    Raises:
        UserError: the user does not, or nobody is there to ask.
    """
    if not sent:
        return
    remedy = "see that each host is the one that the key is for, then add --yes"
    if not sys.stdin.isatty():
        raise UserError(f"nothing was asked, as keys would be sent: {'; '.join(sent)}; {remedy}")
    print("Send these keys to these hosts?", *sent, sep="\n  ")
    if input("[y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError(f"nothing was asked, and no key was sent; {remedy}")


def _print(told: Sequence[Finding]) -> None:
    width = max((len(one.about) for one in told), default=0)
    for one in told:
        indented = one.words.replace("\n", "\n" + " " * (width + 11))
        print(f"{one.state:<7}  {one.about:<{width}}  {indented}")
