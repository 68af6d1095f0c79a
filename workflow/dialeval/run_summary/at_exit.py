"""What a run that succeeded says last: what came out of all parts, and what this run asked for it."""

from __future__ import annotations

import atexit
import sys
from functools import partial
from pathlib import Path

from dialeval.errors import UserError, visible
from dialeval.processes.terminal_letters import bear_all_letters
from dialeval.progress.whole_run import Whole
from dialeval.run_summary.told import words_of_results
from dialeval.text.counting import counted


def say_at_exit(results_dir: Path, whole: Whole | None, spent: float | None, *, finished: bool) -> None:
    """Has the last words of a run printed behind everything that Snakemake says.

    Args:
        results_dir: the folder of results.
        whole: what this run asked; None where it had nothing to do.
        spent: money that this run spent; None where no model has prices.
        finished: whether everything that the configuration asks for is there, and so its summary.
    """
    words = []
    if finished:
        try:
            words.append(words_of_results(results_dir))
        except UserError as error:
            words.append(f"note: {error}")
    if whole is not None and (finished or whole.done):
        words.append(words_of_this_run(whole, spent))
    if words:
        bear_all_letters(sys.stderr)
        atexit.register(partial(print, visible("\n" + "\n\n".join(words)), file=sys.stderr, flush=True))


def words_of_this_run(whole: Whole, spent: float | None) -> str:
    """Returns what a run asked and spent."""
    if not whole.done:
        return "This run asked no model anything."
    parts = [f"{counted(whole.asked, 'request')} asked", f"{counted(whole.stored, 'answer')} from the store"]
    if whole.failed:
        parts.append(f"{whole.failed:,} without an answer")
    money = f"; {spent:,.4g} spent, in the currency of the prices" if spent is not None else ""
    return f"In this run: {', '.join(parts)}{money}."
