"""Which reader reads which kind of rated source."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from dialeval.corpora import (
    comp_analysis,
    dstc11,
    fed,
    rated_json_lines,
    response_ratings,
    xdial_eval,
)
from dialeval.corpora import (
    fed as dstc10_json,
)
from dialeval.corpora.rated_items import RatedReading
from dialeval.errors import UserError, nearest

RATED_READERS: dict[str, Callable[..., RatedReading]] = {
    "comp_turn": comp_analysis.read_turns,
    "comp_dialogue": comp_analysis.read_dialogues,
    "xdial": xdial_eval.read,
    "dstc11_json": dstc11.read_dstc11_json,
    "dstc11_csv": dstc11.read_dstc11_csv,
    "fed_turn": fed.read_turns,
    "fed_dialogue": fed.read_dialogues,
    "usr": response_ratings.read_usr,
    "conture_turn": response_ratings.read_turns,
    "conture_dialogue": response_ratings.read_dialogues,
    **response_ratings.READERS,
    "grade_texts": response_ratings.read_grade_texts,
    "dstc10_json": dstc10_json.read_dstc10,
    "zhao": response_ratings.read_zhao,
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
        return comp_analysis.turn_source_files(path)
    if reader == "comp_dialogue":
        return comp_analysis.dialogue_source_files(path)
    if reader == "grade_texts":
        return response_ratings.grade_text_files(path)
    if reader == "dstc11_csv":
        return dstc11.csv_source_files(path)
    return [path]
