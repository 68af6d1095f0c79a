"""Which files of the folder of labels hold labels, and which are ledgers of draws."""

from __future__ import annotations

from pathlib import Path

from dialeval.errors import UserError
from dialeval.labels.ledger import COLUMNS

TABLES = (".csv", ".tsv", ".xlsx")
READ = (*TABLES, ".json")
UNREADABLE = (".xls", ".ods", ".numbers")
"""Of tables that people fill in and that are not read: they are refused, since passing over them would lose labels."""
_HEADER = ",".join(COLUMNS).encode()


def label_files(folder: Path) -> list[Path]:
    """Returns the files that hold labels, by name; none where there is no folder.

    Hidden files and the locks of spreadsheet programs are none, nor are ledgers and files of other kinds.

    Raises:
        UserError: the folder cannot be looked into, or a name has a sign in it that Snakemake takes for something else.
    """
    return [path for path in _files(folder) if not _is_ledger(path)]


def ledger_files(folder: Path) -> list[Path]:
    """Returns the ledgers of draws, by name; of protocols that are not configured any more, too."""
    return [path for path in _files(folder) if _is_ledger(path)]


def passed_over(folder: Path) -> list[str]:
    """Returns the names of what is not looked into: folders, and files of kinds that hold no labels."""
    if not folder.is_dir():
        return []
    read = {path.name for path in _files(folder)}
    return sorted(path.name for path in folder.iterdir() if path.name not in read and not _is_hidden(path.name))


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    try:
        there = [path for path in folder.iterdir() if path.suffix.lower() in (*READ, *UNREADABLE)]
        found = sorted(path for path in there if path.is_file() and not _is_hidden(path.name))
    except OSError as error:
        raise UserError(f"{folder} cannot be looked into: {error.strerror}; see to its rights") from error
    if odd := [path.name for path in found if not path.name.isprintable() or {"{", "}"} & {*path.name}]:
        raise UserError(
            f"{folder}: files of labels are called {', '.join(map(repr, odd))}; take braces, line breaks and control "
            "characters out of their names"
        )
    return found


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~"))


def _is_ledger(path: Path) -> bool:
    """Returns whether a file is called as a ledger is, or begins as one does."""
    if path.suffix.lower() != ".csv":
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except OSError:
        return False  # reading it will say what is wrong
