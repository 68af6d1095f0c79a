"""Which reader reads which kind of rated source."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from dialeval.corpora import (
    comp_dialogue,
    comp_turn,
    conture,
    dstc10_json,
    dstc11_csv,
    dstc11_json,
    fed,
    grade,
    grade_texts,
    rated_json_lines,
    usr,
    xdial,
    zhao,
)
from dialeval.corpora.rated import RatedReading
from dialeval.errors import UserError, nearest

RATED_READERS: dict[str, Callable[..., RatedReading]] = {
    "comp_turn": comp_turn.read,
    "comp_dialogue": comp_dialogue.read,
    "xdial": xdial.read,
    "dstc11_json": dstc11_json.read,
    "dstc11_csv": dstc11_csv.read,
    "fed_turn": fed.read_turns,
    "fed_dialogue": fed.read_dialogues,
    "usr": usr.read,
    "conture_turn": conture.read_turns,
    "conture_dialogue": conture.read_dialogues,
    **grade.READERS,
    "grade_texts": grade_texts.read,
    "dstc10_json": dstc10_json.read,
    "zhao": zhao.read,
    "rated_jsonl": rated_json_lines.read,
}


def read_rated(
    reader: str, corpus: str, path: Path, languages: list[str] | None = None, own_criteria: Collection[str] = ()
) -> RatedReading:
    """Reads a rated source.

    Args:
        reader: a name in `RATED_READERS`.
        corpus: name of the corpus in the configuration.
        path: the file of the texts.
        languages: codes of the languages to read; None for all that the source has.
        own_criteria: names of the user's criteria that a corpus of the user's own has ratings on.

    Raises:
        UserError: something is wrong with the source.
    """
    if reader not in RATED_READERS:
        raise UserError(f"there is no reader of rated items named '{reader}'; {nearest(reader, RATED_READERS)}")
    if reader == "rated_jsonl":
        return rated_json_lines.read(corpus, path, languages, own_criteria)
    return RATED_READERS[reader](corpus, path, languages)


def rated_source_files(reader: str, path: Path) -> list[Path]:
    """Returns the files that a source is read from, so that a change in one of them is noticed."""
    if reader == "comp_turn":
        return comp_turn.source_files(path)
    if reader == "comp_dialogue":
        return comp_dialogue.source_files(path)
    if reader == "grade_texts":
        return grade_texts.source_files(path)
    if reader == "dstc11_csv":
        return dstc11_csv.source_files(path)
    return [path]
