"""The plain JSON Lines format for anyone's rated items.

    {"item_id": "kitchen-1", "context": ["Is there any milk?"], "response": "Behind the jam.",
     "ratings": {"relevance": 4.5, "overall": {"values": [4, 5, null], "scale": [1, 5]}}, "scale": [1, 7]}
    {"item_id": "train-1", "language": "de", "cluster": "train", "ratings": {"coherence": [2, 3]}, "scale": [0, 3],
     "dialogue": [{"speaker": "human", "text": "Hält er in Ulm?"}, {"speaker": "chatbot", "text": "Ja, um neun."}]}

A line is a response in its context (which may be left out) or a dialogue. A rating is a number (a mean), a list with
one number per rater (null where one is missing), an object with `value` or `values`, or a list of such objects where
several kinds of raters rated one dimension. An item in several languages has a line for each, with one id.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, RaterKind, Rating
from dialeval.corpora.json_records import Wanted, name_of, optional_text, records_of
from dialeval.corpora.rated_items import (
    PEOPLE,
    RatedReading,
    Scale,
    check,
    rating_value,
    repeated_ratings,
    speakers_before_response,
    speakers_in_turn,
)
from dialeval.corpora.rating_scales import advice
from dialeval.corpora.text_files import JsonLine, listed
from dialeval.criteria import DIMENSIONS, Level
from dialeval.errors import UserError, nearest

# The plain format for anyone's rated items: JSON Lines, one item per line.

_RATED = Wanted(("response", "dialogue"))
_LANGUAGE = "en"
"""Of lines that do not name theirs."""


@dataclass(frozen=True)
class _Line:
    """One line, before it is known which others it depends on."""

    place: str
    item_id: str
    language: str
    level: Level
    cluster: str | None
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]
    ratings: tuple[Rating, ...]


def read(
    corpus: str, path: Path, languages: Iterable[str] | None = None, own_criteria: Collection[str] = ()
) -> RatedReading:
    """Reads a file.

    Args:
        corpus: its name in the configuration.
        path: the file.
        languages: codes of the languages to read; None for all.
        own_criteria: names of the user's criteria that are rated besides the papers'.

    Raises:
        UserError: the file, the line, what is wrong there, and the remedy.
    """
    lines = [_line(corpus, path, line, own_criteria) for line in records_of(path, _RATED)]
    found = list(dict.fromkeys(line.language for line in lines))
    wanted = found if languages is None else list(languages)
    if lines and not set(found) & set(wanted):
        raise UserError(f"{path}: no item is in {listed(wanted)}; the file has: {listed(found)}")
    ratings = _by_item(path, lines)
    reading = RatedReading(str(path))
    for line, cluster in zip(lines, _clusters(lines), strict=True):
        if line.language not in wanted:
            reading.leave_out(line.language, line.item_id, "lines in other languages")
        elif line.item_id and not ratings[line.item_id]:
            reading.leave_out(line.language, line.item_id, "lines without a rating")
        else:
            item = Item(corpus, line.item_id, line.language, line.level, cluster, line.speakers, line.utterances)
            reading.add(item, line.place)
    for item_id in dict.fromkeys(item.item_id for item in reading.items):
        reading.ratings += ratings[item_id]
    return check(reading)


def _by_item(path: Path, lines: list[_Line]) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of every item; they may stand at one of its languages or at several."""
    ratings: dict[str, tuple[Rating, ...]] = {}
    places: dict[str, str] = {}
    for line in lines:
        known = ratings.setdefault(line.item_id, ())
        if known and line.ratings and known != line.ratings:
            raise UserError(
                f"{path}, {line.place}: item '{line.item_id:.60}' has other ratings than at {places[line.item_id]}; "
                "ratings do not depend on the language, so give them once"
            )
        if line.ratings:
            ratings[line.item_id] = line.ratings
            places.setdefault(line.item_id, line.place)
    return ratings


def _clusters(lines: list[_Line]) -> list[str]:
    """Returns the cluster of every line: its own or that of its item elsewhere, else found from the texts."""
    named = {line.item_id: line.cluster for line in lines if line.cluster is not None}
    alone: tuple[str, ...] = ()
    turns = [line.utterances if line.level == "turn" and line.item_id not in named else alone for line in lines]
    dialogues = [
        line.utterances if line.level == "dialogue" and line.item_id not in named else (str(number),)
        for number, line in enumerate(lines)
    ]
    groups = clusters.merged(
        clusters.context_clusters(turns), clusters.identical_clusters(dialogues), [line.item_id for line in lines]
    )
    return [
        line.cluster or named.get(line.item_id) or lines[group].item_id
        for line, group in zip(lines, groups, strict=True)
    ]


def _line(corpus: str, path: Path, line: JsonLine, own_criteria: Collection[str]) -> _Line:
    where, record = line.where, line.record
    if "item_id" not in record:
        remedy = advice(record, "rated_jsonl")
        raise UserError(f"{where}: the field 'item_id' is missing; present: {listed(record)}{remedy}")
    item_id = name_of(record["item_id"], "item_id", where)
    if ("dialogue" in record) == ("response" in record):
        there = "both are there" if "dialogue" in record else "there is neither"
        raise UserError(f"{where}: an item has either 'response' (and 'context') or 'dialogue'; {there}")
    level: Level = "dialogue" if "dialogue" in record else "turn"
    cluster = record.get("cluster")
    if level == "turn":
        context = record.get("context")
        parts = _utterances([] if context is None else context, "context", where)
        parts += _utterances([record["response"]], "response", where)
        default = speakers_before_response(len(parts))
    else:
        parts = _utterances(record["dialogue"], "dialogue", where)
        default = speakers_in_turn(len(parts), "A", "B")
    return _Line(
        place=line.where.removeprefix(f"{path}, "),
        item_id=item_id,
        language=optional_text(record, "language", where) or _LANGUAGE,
        level=level,
        cluster=None if cluster is None else name_of(cluster, "cluster", where) or None,
        speakers=tuple(speaker or other for (speaker, _), other in zip(parts, default, strict=True)),
        utterances=tuple(said for _, said in parts),
        ratings=tuple(
            ratings_of(corpus, item_id, (level, own_criteria), record.get("ratings"), record.get("scale"), where)
        ),
    )


def _utterances(value: Any, field: str, where: str) -> list[tuple[str, str]]:
    """Returns speaker (empty where it is not named) and text of each utterance."""
    if not isinstance(value, list):
        raise UserError(f"{where}: '{field}' must be a list of utterances, not {value!r:.60}")
    parts = []
    for number, entry in enumerate(value, start=1):
        if isinstance(entry, str):
            parts.append(("", entry.strip()))
        elif isinstance(entry, dict) and isinstance(entry.get("text"), str):
            speaker = entry.get("speaker")
            place = f"{where}, '{field}', utterance {number}"
            parts.append(("" if speaker is None else name_of(speaker, "speaker", place), entry["text"].strip()))
        else:
            raise UserError(
                f"{where}: '{field}', utterance {number} must be a text or an object with 'speaker' and 'text', not "
                f"{entry!r:.60}"
            )
    return parts


# The ratings in one line of the plain format: a mean, a list by rater, or an object that says more.

_KINDS: tuple[RaterKind, ...] = get_args(RaterKind)
_MOST_RATERS = 1_000_000
_FIELDS = ("value", "values", "scale", "n_raters", "rater", "rater_kind")


def ratings_of(
    corpus: str, item_id: str, about: tuple[Level, Collection[str]], ratings: Any, scale: Any, where: str
) -> list[Rating]:
    """Returns the ratings of one line.

    Args:
        corpus: name of the corpus.
        item_id: the item.
        about: level of the item, which says which dimensions there are, and the user's criteria that are rated besides.
        ratings: the line's field `ratings`; None for none.
        scale: the line's field `scale`, for ratings that do not have their own; None for none.
        where: file and line, for messages.

    Raises:
        UserError: a dimension is unknown, a scale missing, a rating off its scale, or a field not of its form.
    """
    if ratings is None:
        return []
    if not isinstance(ratings, dict):
        raise UserError(f"{where}: 'ratings' must be an object of dimension -> rating, not {ratings!r:.60}")
    level, own = about
    known = [*DIMENSIONS[level], *own]
    found: list[Rating] = []
    for dimension, value in ratings.items():
        if dimension not in known:
            remedy = (
                f"{nearest(f'{dimension:.60}', known)}; rename it or leave it out; a criterion of your own is defined "
                f"under criteria and named in metaeval.corpora.{corpus}.dimensions"
            )
            raise UserError(f"{where}: at {level} level there is no dimension '{dimension:.60}'; {remedy}")
        place = f"{where}, {dimension}"
        several = isinstance(value, list) and any(isinstance(part, dict) for part in value)
        for part in value if several else [value]:
            found += _one(corpus, item_id, dimension, part, scale, place)
    return found


def _one(corpus: str, item_id: str, dimension: str, rating: Any, scale: Any, place: str) -> list[Rating]:
    if not isinstance(rating, dict):
        rating = {"values" if isinstance(rating, list) else "value": rating}
    for name in rating:
        if name not in _FIELDS:
            raise UserError(f"{place}: a rating has no field '{name:.60}'; {nearest(f'{name:.60}', _FIELDS)}")
    if ("value" in rating) == ("values" in rating):
        raise UserError(f"{place}: a rating needs either 'value' (a mean) or 'values' (one per rater)")
    bounds = _scale(rating.get("scale", scale), place)
    kind, rater = _rater(rating, place)
    n_raters = rating.get("n_raters")
    if n_raters is not None and (type(n_raters) is not int or not 1 <= n_raters <= _MOST_RATERS):
        raise UserError(f"{place}: 'n_raters' is {n_raters!r:.40}; a whole number from 1 to {_MOST_RATERS} is needed")
    if "value" in rating:
        value = rating_value(rating["value"], bounds, place)
        return [Rating(corpus, item_id, dimension, kind, rater, None, value, n_raters, *bounds)]
    values = rating["values"]
    if not isinstance(values, list):
        raise UserError(f"{place}: 'values' must be a list with one number per rater, not {values!r:.60}")
    checked = [
        None if value is None else rating_value(value, bounds, f"{place}, rater {number}")
        for number, value in enumerate(values, start=1)
    ]
    given = sum(value is not None for value in checked)
    if n_raters is not None and n_raters != given:
        raise UserError(f"{place}: 'n_raters' is {n_raters}, but there are {given} values; leave 'n_raters' out")
    return repeated_ratings((corpus, item_id, dimension), (kind, rater), checked, bounds)


def _scale(scale: Any, place: str) -> Scale:
    if scale is None:
        raise UserError(
            f'{place}: the scale is missing; write "scale": [lowest, highest] in the rating or, for all ratings of the '
            "line, beside 'ratings'"
        )
    numbers = isinstance(scale, list) and all(type(bound) in (int, float) and math.isfinite(bound) for bound in scale)
    if not numbers or len(scale) != 2 or not scale[0] < scale[1]:
        raise UserError(f"{place}: the scale is {scale!r:.40}; it must be [lowest, highest]")
    return Scale(float(scale[0]), float(scale[1]))


def _rater(rating: dict[str, Any], place: str) -> tuple[RaterKind, str]:
    name = rating.get("rater_kind", "human")
    kind = next((kind for kind in _KINDS if kind == name), None)
    if kind is None:
        raise UserError(f"{place}: 'rater_kind' is {name!r:.40}; {nearest(f'{name!s:.40}', _KINDS)}")
    rater = optional_text(rating, "rater", place)
    if kind == "model" and not rater:
        raise UserError(f"{place}: a model's rating needs its name, in 'rater'")
    return kind, rater or (PEOPLE if kind == "human" else kind)
