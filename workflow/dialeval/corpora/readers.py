"""Which reader reads which kind of source."""

from __future__ import annotations

from pathlib import Path

from dialeval.corpora import any_format, botchat_workbook, bundled, json_lines, mutual_folder
from dialeval.corpora.dialogues import Reading
from dialeval.corpora.transcripts.readers import AUTO
from dialeval.corpora.transcripts.readers import source_files as transcript_files
from dialeval.errors import UserError

READERS = {
    "botchat_workbook": botchat_workbook.read,
    "mutual_folder": mutual_folder.read,
    "jsonl": json_lines.read,
    AUTO: any_format.read,
}


def read_corpus(reader: str, path: Path | None, language: str) -> Reading:
    """Reads a corpus.

    Args:
        reader: `bundled` or a name in `READERS`.
        path: where the source lies; None for the bundled corpus.
        language: language of what does not name its own.

    Raises:
        UserError: something is wrong with the source.
    """
    if reader == "bundled":
        return bundled.read(language)
    if path is None:
        raise UserError(f"reader '{reader}' needs a path")
    return READERS[reader](path, language)


def source_files(reader: str, path: Path | None) -> list[Path]:
    """Returns the files that a corpus is read from, so that a change in one of them is noticed."""
    if reader == "bundled" or path is None:
        return []
    if reader == AUTO:
        return transcript_files(AUTO, path)
    return mutual_folder.files_in(path) if reader == "mutual_folder" else [path]
