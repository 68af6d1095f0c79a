"""Public rated data sets: how their files are known, what people rated, and on which scale.

The files hold bare numbers. The scales are those of the data sets' own publications as far as the values bear them
out; FED's public files count from zero where its paper counts from one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dialeval.corpora.items import Rating
from dialeval.corpora.json_records import Wanted, is_table, records_of
from dialeval.corpora.rated_items import PEOPLE, Scale, rating_value, repeated_ratings
from dialeval.corpora.text_files import JsonLine, is_western, listed, read_lines
from dialeval.errors import UserError, nearest

# What people rated in the public data sets, and on which scale: in the papers' copies and in the authors' own files.

Dimensions = Mapping[str, tuple[str, Scale]]
"""By the name in a file: ours, and the scale that raters had."""
MODEL_SCALE = Scale(1.0, 5.0)
"""GPT-4 was always asked for 1 to 5 (comp-analysis, Table 2)."""

_ONE_TO_FIVE = Scale(1.0, 5.0)
_TWO = Scale(0.0, 2.0)
_THREE = Scale(1.0, 3.0)
_OR_NOT = Scale(0.0, 1.0)

FED_TURN: Dimensions = {
    "Interesting": ("interestingness", _TWO),
    "Engaging": ("engaging", _TWO),
    "Specific": ("specificity", _TWO),
    "Relevant": ("relevance", _TWO),
    "Correct": ("correct", _TWO),
    "Semantically appropriate": ("semantically appropriate", _TWO),
    "Understandable": ("understandability", _OR_NOT),
    "Fluent": ("fluent", _TWO),
    "Overall": ("overall", Scale(0.0, 4.0)),
}
FED_DIALOGUE: Dimensions = {
    "Coherent": ("coherence", _TWO),
    "Error recovery": ("error recovery", _TWO),
    "Consistent": ("consistent", _OR_NOT),
    "Diverse": ("diversity", _TWO),
    "Depth": ("depth", _TWO),
    "Likeable": ("engagingness", _TWO),
    "Understanding": ("understanding", _TWO),
    "Flexible": ("flexible", _TWO),
    "Informative": ("informativeness", _TWO),
    "Inquisitive": ("inquisitive", _TWO),
    "Overall": ("overall", Scale(0.0, 4.0)),
}
"""FED's names: ours, and the scale in its public file."""
USR: Dimensions = {
    "Understandable": ("understandability", _OR_NOT),
    "Natural": ("natural", _THREE),
    "Maintains Context": ("relevance", _THREE),
    "Engaging": ("interestingness", _THREE),
    "Uses Knowledge": ("uses knowledge", _OR_NOT),
    "Overall": ("overall", _ONE_TO_FIVE),
}
CONTURE_DIALOGUE: Dimensions = {
    "coherent": ("coherence", _THREE),
    "error recovery": ("error recovery", _THREE),
    "consistent": ("consistent", _OR_NOT),
    "diverse": ("diversity", _THREE),
    "topic depth": ("topic depth", _THREE),
    "likeable": ("engagingness", _THREE),
    "understanding": ("understanding", _THREE),
    "flexible": ("flexible", _THREE),
    "informative": ("informativeness", _THREE),
    "inquisitive": ("inquisitive", _THREE),
    "human (overall)": ("overall", _ONE_TO_FIVE),
}
ZHAO: Dimensions = {
    "content": ("content", _ONE_TO_FIVE),
    "grammar": ("grammar", _ONE_TO_FIVE),
    "relevance": ("relevance", _ONE_TO_FIVE),
    "fact": ("fact", _OR_NOT),
    "overall": ("overall", _ONE_TO_FIVE),
}

RATED_BY_PEOPLE: dict[str, dict[str, Scale]] = {
    "persona-usr": dict(USR.values()),
    "topical-usr": dict(USR.values()),
    "persona-zhao": {"overall": _ONE_TO_FIVE},
    "dailydialog-zhao": {"relevance": _ONE_TO_FIVE, "overall": _ONE_TO_FIVE},
    "fed-turn": dict(FED_TURN.values()),
    "conture-turn": {"overall": Scale(0.0, 2.0)},
    "convai2-grade": {"overall": _ONE_TO_FIVE},
    "dailydialog-grade": {"overall": _ONE_TO_FIVE},
    "empathetic-grade": {"overall": _ONE_TO_FIVE},
    "dailydialog-gupta": {"overall": _ONE_TO_FIVE},
    "dstc10-persona_clean": {"overall": _ONE_TO_FIVE},
    "dstc10-topical_clean": {"overall": _ONE_TO_FIVE},
    "fed-dial": {"overall": Scale(0.0, 4.0)},
    "conture-dial": {"overall": Scale(0.0, 5.0)},  # published as 1 to 5, but FED's files of that kind count from zero
}
"""By data set and dimension; what is not here and has a rating was rated by GPT-4."""

N_RATERS: dict[str, int] = {"persona-usr": 3, "topical-usr": 3, "dailydialog-zhao": 4}
"""People behind each mean, where it is one number for all items (comp-analysis, appendix)."""

_SINGLE_DIMENSION = {"persona-usr": "relevance", "topical-usr": "relevance"}


def scales_of(dataset: str, source: str) -> dict[str, Scale]:
    """Returns the scales on which people rated a data set, by dimension.

    Raises:
        UserError: nothing is known of it; the message begins with `source`.
    """
    if dataset not in RATED_BY_PEOPLE:
        raise UserError(
            f"{source}: the scales of the data set '{dataset}' are not known ({nearest(dataset, RATED_BY_PEOPLE)}); a "
            "set of your own is read from JSON Lines (reader rated_jsonl), where every rating names its scale"
        )
    return RATED_BY_PEOPLE[dataset]


def single_dimension(dataset: str) -> str:
    """Returns the dimension of the one rating per item that xDial-Eval correlates with.

    The paper speaks of relevance, but the numbers are those of *overall* for dailydialog-zhao, fed-turn, conture-turn
    and fed-dial, and of *relevance* for persona-usr (so it is taken to be for topical-usr, of the same authors). Of
    sets that have a single rating only, it is the overall one.
    """
    return _SINGLE_DIMENSION.get(dataset, "overall")


# The lists of single ratings in files of data sets' own authors: a number per rater, or words that there is none.

_NOT_APPLICABLE = re.compile(r"\s*n/?a\b.*", re.IGNORECASE | re.DOTALL)
"""As a whole or before the rater's reason, in parentheses."""


def ratings_of(
    item: tuple[str, str], annotations: Any, dimensions: Dimensions, place: str, notes: Counter[str]
) -> list[Rating]:
    """Returns everyone's ratings of an item, each singly, and their means.

    Args:
        item: corpus and id.
        annotations: dimension -> list with a number per rater; None for none.
        dimensions: what people rated.
        place: file and record, for messages.
        notes: counts the ratings that say N/A, and the items that nobody rated on a dimension.

    Raises:
        UserError: a dimension is not known, or a rating is neither a number on its scale nor N/A.
    """
    if annotations is None:
        return []
    if not isinstance(annotations, dict):
        raise UserError(f"{place}: the ratings must be an object of dimension -> list of ratings")
    ratings: list[Rating] = []
    for name, values in annotations.items():
        if name not in dimensions:
            raise UserError(
                f"{place}: '{name:.60}' is not rated in this data set ({nearest(f'{name:.60}', dimensions)}); rename "
                "it, or read the file as rated_jsonl, where every rating names its scale"
            )
        dimension, scale = dimensions[name]
        if not isinstance(values, list):
            raise UserError(f"{place}, '{name}': a list with a number per rater is needed, not {values!r:.60}")
        ratings += ratings_on((*item, dimension), values, scale, f"{place}, '{name}'", notes)
    return ratings


def ratings_on(
    item: tuple[str, str, str], values: Iterable[Any], scale: Scale, place: str, notes: Counter[str]
) -> list[Rating]:
    """Returns everyone's ratings of an item on one dimension, each singly, and their mean.

    Args:
        item: corpus, id and dimension.
        values: a number per rater, null or N/A where one gave none.
        scale: of the numbers.
        place: file, record and field, for messages.
        notes: as of `ratings_of`.

    Raises:
        UserError: a rating is neither a number on the scale nor N/A.
    """
    checked: list[float | None] = []
    for number, value in enumerate(values, start=1):
        if is_missing(value):
            notes["ratings that are missing or N/A"] += 1
            checked.append(None)
        else:
            checked.append(rating_value(value, scale, f"{place}, rater {number}"))
    ratings = repeated_ratings(item, ("human", PEOPLE), checked, scale)
    if not ratings:
        notes[f"items that nobody rated on {item[2]}"] += 1
    return ratings


def is_missing(value: Any) -> bool:
    """Returns whether a rater gave no number: null, or N/A with or without a reason."""
    return value is None or (isinstance(value, str) and _NOT_APPLICABLE.fullmatch(value) is not None)


# Rated data sets as their own authors give them out: how their files are known, and who reads which.

KNOWN_BY: Mapping[str, Collection[str]] = {
    "fed_turn or fed_dialogue": ("context", "system", "annotations"),
    "usr": ("context", "responses", "fact"),
    "conture_turn or conture_dialogue": ("turns", "dialog_ratings"),
    "grade_convai2, grade_dailydialog or grade_empathetic": ("Context", "Response", "HumanScores"),
    "zhao": ("context", "reference", "responses"),
    "dstc10_json or dstc11_json": ("annotations",),
}
"""Readers, by the fields that all objects of their files have."""
_PARTS_OF_USR = ("response", "model", "Maintains Context")


def reader_of(record: Any) -> str:
    """Returns the readers that take a file with such an object; empty where none is known."""
    if not isinstance(record, dict):
        return ""
    if all(name in record for name in _PARTS_OF_USR):
        return "usr"
    for readers, fields in KNOWN_BY.items():
        if all(name in record for name in fields):
            return readers
    inner = next(iter(record.values()), None)
    return "zhao" if isinstance(inner, dict) and reader_of(inner) == "zhao" else ""


def advice(record: Any, tried: str) -> str:
    """Returns the end of a sentence that names the reader of such a file; empty where none other is known.

    Args:
        record: an object of the file.
        tried: the reader that could not take it.
    """
    readers = reader_of(record)
    if not readers or tried in readers:
        return ""
    return f"; a file with these fields is read by {readers}: name that as the reader"


def records(path: Path, reader: str, needed: Collection[str]) -> Iterator[JsonLine]:
    """Yields the objects of a file, each with the fields that are needed.

    Args:
        path: the file.
        reader: who reads it, for messages.
        needed: fields of every object.

    Raises:
        UserError: as of `records_of`, the file is no JSON, or an object lacks a field.
    """
    if is_table(path):
        beginning = next((line.strip() for line in read_lines(path, western=is_western(path)) if line.strip()), "")
        raise UserError(
            f"{path}: reader {reader} needs JSON objects, and the file begins with {beginning!r:.60}; fetch it anew, "
            "or name the reader that it is for"
        )
    for line in records_of(path, Wanted(needed)):
        for name in needed:
            if name not in line.record:
                raise UserError(
                    f"{line.where}: the field '{name}', which reader {reader} needs, is missing; present: "
                    f"{listed(line.record)}{advice(line.record, reader)}"
                )
        yield line
