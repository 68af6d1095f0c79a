"""Lists what lies in the results and the configuration no longer makes, and removes it where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.provenance.graph import read_graph
from dialeval.provenance.leftovers import Leftover, list_leftovers, remove
from dialeval.text.counting import counted

AT_MOST = 10
"""How many files are named that no record tells of."""


class Settings(BaseModel, defer_build=True):
    """What is asked for.

    Attributes:
        remove: whether what is listed is removed.
    """

    remove: bool


def stage(settings: Settings, results: Path, store: Path, graph: Path) -> None:
    """Prints a line for each leftover, with its size, and what became of it.

    Args:
        settings: what is asked for.
        results: the folder of the results.
        store: of the answers; nothing in it is touched.
        graph: what the configuration makes, as the run that started this job wrote it down; it is removed.

    Raises:
        UserError: there is no such list, or the configuration is not whole, so that nothing may be removed.
    """
    about = read_graph(graph)
    listing = list_leftovers(results, set(about["made"]), store, about["configuration"])
    removable = [one for one in listing.leftovers if not one.reason]
    for one in listing.leftovers:
        print(_line(results, one))
    _tell_of_unknown(results, listing.unknown)
    for words in about["left_out"]:
        print(f"{words}; what was made of it is listed too")
    if not listing.leftovers:
        print(f"{results} holds nothing that the configuration does not make")
    elif not settings.remove:
        print(f"{_total(removable)} can be removed: snakemake --cores 1 tidy_remove, with the same configuration")
    elif about["left_out"]:
        raise UserError(
            "nothing is removed, since the configuration names what is not there; take it out, or put it there"
        )
    else:
        print(f"removed {_total(remove(results, removable))}")


def _line(results: Path, one: Leftover) -> str:
    stays = f"; stays: {one.reason}" if one.reason else ""
    return f"{_in_words(one.size):>9}  {results / one.name}  ({one.stage}{stays})"


def _tell_of_unknown(results: Path, unknown: list[str]) -> None:
    if unknown:
        more = f" and {len(unknown) - AT_MOST} more" if len(unknown) > AT_MOST else ""
        names = ", ".join(unknown[:AT_MOST])
        print(f"of these in {results} no run has left a record, and they stay: {names}{more}")


def _total(leftovers: Iterable[Leftover]) -> str:
    sizes = [one.size for one in leftovers]
    return f"{counted(len(sizes), 'file')} or folder{'s' * (len(sizes) != 1)} of {_in_words(sum(sizes))}"


def _in_words(size: int) -> str:
    """Returns a number of bytes as it is read."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
