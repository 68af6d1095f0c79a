"""A folder with a file for each system, whose name, without its ending, is the system's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from dialeval.corpora.text_files import listed
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".parquet")
PACKED = (".gz", ".bz2")
ReadFile = Callable[[Path], Iterator[Transcript]]


def read(path: Path, notes: Counter[str], read_file: ReadFile) -> Iterator[Transcript]:
    """Yields the dialogues of all files; a file may call its system otherwise, but not two systems.

    Raises:
        UserError: the folder has no file that can be read, or something is wrong with one of them.
    """
    for file in files_in(path):
        names: set[str] = set()
        for transcript in read_file(file):
            names |= {transcript.system} - {""}
            if len(names) > 1:
                raise UserError(
                    f"{transcript.place}: a second system, {listed(sorted(names))}; in a folder each file is of one "
                    "system, by the file's name: give this file alone as path, or part it"
                )
            yield replace(transcript, system=_plain(file).stem)
        if names - {_plain(file).stem}:
            notes[f"systems called by their file's name, {_plain(file).stem}, not {names.pop():.60}"] += 1


def files_in(path: Path) -> list[Path]:
    """Returns the files of a folder that are read, in the order of their names.

    Raises:
        UserError: there is none, or two are of one system.
    """
    try:
        files = sorted(file for file in path.iterdir() if _plain(file).suffix.lower() in ENDINGS and file.is_file())
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    files = [file for file in files if not file.name.startswith(".")]
    if not files:
        raise UserError(f"{path}: no file in this folder ends in {', '.join(ENDINGS)}; put one there for each system")
    for file, other in zip(files[1:], files, strict=False):
        if _plain(file).stem == _plain(other).stem:
            name = _plain(file).stem
            raise UserError(f"{path}: {other.name} and {file.name} are both of system '{name}'; rename one")
    return files


def _plain(file: Path) -> Path:
    """Returns a file without the ending of what packed it."""
    return file.with_suffix("") if file.suffix.lower() in PACKED else file
