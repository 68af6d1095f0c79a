"""Rated items in files: our JSON Lines, and xDial-Eval's CSV.

    {"item_id": "kitchen-1", "context": ["Is there any milk?"], "response": "Behind the jam.",
     "ratings": {"relevance": 4.5, "overall": {"values": [4, 5, null], "scale": [1, 5]}}, "scale": [1, 7]}
    {"item_id": "train-1", "language": "de", "cluster": "train", "ratings": {"coherence": [2, 3]}, "scale": [0, 3],
     "dialogue": [{"speaker": "human", "text": "Hält er in Ulm?"}, {"speaker": "chatbot", "text": "Ja, um neun."}]}

A line is a response in its context (which may be left out) or a dialogue. A rating is a number (a mean), a list with
one number per rater (null where one is missing), an object with `value` or `values`, or a list of such objects where
several types of raters rated one dimension. An item in several languages has a line for each, with one id.

A row of xDial-Eval has all languages. Turn level: `<language>_ctx` (utterances parted by line feeds) and
`<language>_res`; dialogue level: `<language>_dial`, each cell of which begins with a line feed. No speakers: at turn
level the response is the chatbot's, dialogues are begun by the human. Items have the same id in every language: data
set and row, counted from 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator
from pydantic_core import PydanticCustomError

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, RaterKind, Rating, speakers_before_response, speakers_in_turn
from dialeval.corpora.json_records import Name, Record, RecordFields, Text, parsed, records_of, refuse_table
from dialeval.corpora.rated_sources import PEOPLE, RatedReading, Scale, advice, check, rating_value, repeated_ratings
from dialeval.corpora.rating_scales import N_RATERS, is_missing, scales_of, single_dimension
from dialeval.corpora.text_files import JsonLine, listed, read_columns
from dialeval.criteria import DIMENSIONS, Level
from dialeval.errors import UserError, nearest

_LANGUAGE = "en"
"""Of lines that do not name theirs."""


def read_rated_lines(
    corpus: str, path: Path, languages: Iterable[str] | None = None, own_criteria: Collection[str] = ()
) -> RatedReading:
    """Read a file of the user's own ratings (JSON Lines).

    Args:
        languages: codes of the languages to read; None for all.
        own_criteria: names of the user's criteria that are rated besides the papers'.
    """
    refuse_table(path, "rated_jsonl", "write each row as a JSON object on a line (docs/rated-corpora.md)")
    lines = [
        _line(corpus, path, line, own_criteria) for line in records_of(path, RecordFields(("response", "dialogue")))
    ]
    found = list(dict.fromkeys(line.language for line in lines))
    wanted = found if languages is None else list(languages)
    if lines and not set(found) & set(wanted):
        raise UserError(
            f"{path}: no item is in {listed(wanted)}; the file has: {listed(found)}; correct the field `languages`"
        )
    ratings = _ratings_by_item(path, lines)
    reading = RatedReading(str(path))
    for line, cluster in zip(lines, _clusters(lines), strict=True):
        item_id, language = line.item_id, line.language
        if language not in wanted:
            reading.leave_out(language, item_id, "lines in other languages")
        elif item_id and not ratings[item_id]:
            reading.leave_out(language, item_id, "lines without a rating")
        else:
            item = Item(corpus, item_id, language, line.level, cluster, line.speakers, line.utterances)
            reading.add(item, line.place)
    for item_id in dict.fromkeys(item.item_id for item in reading.items):
        reading.ratings += ratings[item_id]
    return check(reading)


def _line(corpus: str, path: Path, line: JsonLine, own_criteria: Collection[str]) -> _Line:
    record = parsed(_RatedItem, line.record, line.where, partial(advice, tried="rated_jsonl"))
    if (record.dialogue is None) == (record.response is None):
        there = "there is neither" if record.dialogue is None else "both are there"
        raise UserError(f"{line.where}: an item has either 'response' (and 'context') or 'dialogue'; {there}")
    level: Level = "dialogue" if record.response is None else "turn"
    parts = record.dialogue or [] if record.response is None else [*(record.context or []), record.response]
    default = speakers_in_turn(len(parts), "A", "B") if level == "dialogue" else speakers_before_response(len(parts))
    return _Line(
        place=line.where.removeprefix(f"{path}, "),
        item_id=record.item_id,
        language=record.language or _LANGUAGE,
        level=level,
        cluster=record.cluster,
        speakers=tuple(part.speaker or other for part, other in zip(parts, default, strict=True)),
        utterances=tuple(part.text for part in parts),
        ratings=tuple(_ratings(corpus, record, level, own_criteria, line.where)),
    )


class _Spoken(Record):
    """An utterance; a plain text names no speaker."""

    speaker: Name | None = None
    text: Text


def _spoken(value: object) -> object:
    if not isinstance(value, str | dict):
        raise PydanticCustomError("utterance", "a text or an object with 'speaker' and 'text'")
    return {"text": value} if isinstance(value, str) else value


_Utterance = Annotated[_Spoken, BeforeValidator(_spoken)]


def _scale(value: object) -> Scale:
    numbers = isinstance(value, list) and all(type(bound) in (int, float) and math.isfinite(bound) for bound in value)
    if not isinstance(value, list) or not numbers or len(value) != 2 or not value[0] < value[1]:
        raise PydanticCustomError("scale", "[lowest, highest]")
    return Scale(float(value[0]), float(value[1]))


_Scale = Annotated[Scale, PlainValidator(_scale)]


class _RatedItem(Record):
    """A line: a response with its context, or a dialogue."""

    item_id: Name
    language: Text | None = None
    cluster: Name | None = None
    context: list[_Utterance] | None = None
    response: _Utterance | None = None
    dialogue: list[_Utterance] | None = None
    ratings: dict[str, Any] | None = None
    scale: _Scale | None = None


class _Line(NamedTuple):
    """A line before its cluster is known."""

    place: str
    item_id: str
    language: str
    level: Level
    cluster: str | None
    speakers: tuple[str, ...]
    utterances: tuple[str, ...]
    ratings: tuple[Rating, ...]


def _ratings(
    corpus: str, record: _RatedItem, level: Level, own_criteria: Collection[str], where: str
) -> Iterable[Rating]:
    """Yield the ratings of a line."""
    known = [*DIMENSIONS[level], *own_criteria]
    for dimension, value in (record.ratings or {}).items():
        if dimension not in known:
            remedy = (
                f"{nearest(f'{dimension:.60}', known)}; rename it or remove it. Define a criterion of your own "
                f"under criteria, and name it in metaeval.corpora.{corpus}.dimensions"
            )
            raise UserError(f"{where}: level {level} has no dimension '{dimension:.60}'; {remedy}")
        several = isinstance(value, list) and any(isinstance(part, dict) for part in value)
        for part in value if several else [value]:
            yield from _ratings_of((corpus, record.item_id, dimension), part, record.scale, f"{where}, {dimension}")


def _ratings_of(item: tuple[str, str, str], value: Any, scale: Scale | None, place: str) -> list[Rating]:
    rater: tuple[RaterKind, str] = ("human", PEOPLE)
    n_raters, several = None, isinstance(value, list)
    if isinstance(value, dict):
        rating = parsed(_OneRating, value, place)
        if ("value" in value) == ("values" in value):
            raise UserError(f"{place}: a rating needs either 'value' (a mean) or 'values' (one per rater)")
        if rating.rater_kind == "model" and not rating.rater:
            raise UserError(f"{place}: a model's rating needs its name, in 'rater'")
        rater = rating.rater_kind, rating.rater or (PEOPLE if rating.rater_kind == "human" else rating.rater_kind)
        n_raters, several, scale = rating.n_raters, "values" in value, rating.scale or scale
        value = rating.values if several else rating.value
    if scale is None:
        raise UserError(
            f'{place}: the scale is missing; write "scale": [lowest, highest] in the rating or, for all ratings of the '
            "line, beside 'ratings'"
        )
    if not several:
        return [Rating(*item, *rater, None, rating_value(value, scale, place), n_raters, *scale)]
    checked = [
        None if is_missing(one) else rating_value(one, scale, f"{place}, rater {number}")
        for number, one in enumerate(value, start=1)
    ]
    n_given = len(checked) - checked.count(None)
    if n_raters not in (None, n_given):
        raise UserError(f"{place}: 'n_raters' is {n_raters}, but there are {n_given} values; leave 'n_raters' out")
    return repeated_ratings(item, rater, checked, scale)


class _OneRating(Record):
    """A mean, or a number per rater, of one type of raters."""

    model_config = ConfigDict(extra="forbid")

    value: Any = None
    values: list[Any] = Field(default_factory=list)
    scale: _Scale | None = None
    n_raters: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    rater: Text | None = None
    rater_kind: RaterKind = "human"


def _ratings_by_item(path: Path, lines: list[_Line]) -> dict[str, tuple[Rating, ...]]:
    """Return the ratings of every item, from whichever of its languages has them."""
    ratings: dict[str, tuple[Rating, ...]] = {}
    places: dict[str, str] = {}
    for line in lines:
        item_id = line.item_id
        known = ratings.setdefault(item_id, ())
        if known and line.ratings and known != line.ratings:
            raise UserError(
                f"{path}, {line.place}: the ratings of item '{item_id:.60}' differ from those at {places[item_id]}. "
                f"Ratings do not depend on the language: give them once"
            )
        if line.ratings:
            ratings[item_id] = line.ratings
            places.setdefault(item_id, line.place)
    return ratings


def _clusters(lines: list[_Line]) -> list[str]:
    """Return the cluster of every line: its own or that of its item elsewhere, else found from the texts."""
    ids = [line.item_id for line in lines]
    named = {line.item_id: line.cluster for line in lines if line.cluster}
    texts = [() if line.item_id in named else line.utterances for line in lines]
    groups = clusters.item_clusters(texts, [line.level == "turn" for line in lines], ids)
    return [
        line.cluster or named.get(item_id) or ids[group]
        for item_id, line, group in zip(ids, lines, groups, strict=True)
    ]


# xDial-Eval's rated data sets: one CSV per set, with a column per language.

LANGUAGES = {
    "en": "english",
    "zh": "chinese",
    "es": "spanish",
    "de": "german",
    "fr": "french",
    "ja": "japanese",
    "ko": "korean",
    "hi": "hindi",
    "ar": "arabic",
    "ru": "russian",
}
"""Codes and the names in the files, in the paper's order."""

_SUFFIXES: dict[Level, tuple[str, ...]] = {"turn": ("_ctx", "_res"), "dialogue": ("_dial",)}
_RATINGS = "ratings"


def read_xdial(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Read a data set.

    Args:
        languages: codes of the languages to read; None for all that the file has.
    """
    dimension = single_dimension(path.stem)
    scale = scales_of(path.stem, str(path))[dimension]
    columns = _columns(path)
    level = _level(path, columns)
    codes = _selected(path, columns, level, languages)
    texts = {code: _utterances(columns, level, LANGUAGES[code]) for code in codes}
    reference = "en" if _has(columns, level, "english") else codes[0]
    original = texts.get(reference) or _utterances(columns, level, LANGUAGES[reference])
    ids = [f"{path.stem}-{row:06d}" for row in range(len(original))]
    firsts = _clusters_of_contexts(path.stem, level, original)

    reading = RatedReading(str(path))
    kept: set[str] = set()
    for code in codes:
        for row, utterances in enumerate(texts[code]):
            if not utterances or not all(utterances):
                reading.leave_out(code, ids[row], f"{LANGUAGES[code]} texts that are empty")
                continue
            speakers = (
                speakers_before_response(len(utterances)) if level == "turn" else speakers_in_turn(len(utterances))
            )
            reading.add(Item(corpus, ids[row], code, level, ids[firsts[row]], speakers, utterances), f"row {row}")
            kept.add(ids[row])
            if code != reference and len(utterances) != len(original[row]):
                reading.notes[f"{LANGUAGES[code]} texts with another number of utterances than the original"] += 1
            if code != reference and utterances[-1:] == original[row][-1:]:
                reading.notes[f"{LANGUAGES[code]} texts whose last utterance is still in English"] += 1
    for row, cell in enumerate(columns[_RATINGS]):
        value = rating_value(cell, scale, f"{path}, column {_RATINGS}, row {row}")
        if ids[row] in kept:
            n_raters = N_RATERS.get(path.stem)
            reading.ratings.append(Rating(corpus, ids[row], dimension, "human", PEOPLE, None, value, n_raters, *scale))
    return check(reading)


def _columns(path: Path) -> dict[str, list[str]]:
    """Return the cells of every column as text: a response may say 'None' or 'nan'."""
    rows = [row for _, row in read_columns(path, [_RATINGS])]
    if not rows:
        raise UserError(f"{path} has no rows; download it again")
    return {name: [row[name] for row in rows] for name in rows[0]}


def _level(path: Path, columns: dict[str, list[str]]) -> Level:
    for level in _SUFFIXES:
        if any(_has(columns, level, name) for name in LANGUAGES.values()):
            return level
    raise UserError(
        f"{path}: it has no columns <language>_ctx and <language>_res, or <language>_dial, of a known language; its "
        f"columns: {listed(columns)}; rename its columns or download it again"
    )


def _has(columns: dict[str, list[str]], level: Level, language: str) -> bool:
    return all(language + suffix in columns for suffix in _SUFFIXES[level])


def _selected(path: Path, columns: dict[str, list[str]], level: Level, languages: Iterable[str] | None) -> list[str]:
    present = [code for code, name in LANGUAGES.items() if _has(columns, level, name)]
    if languages is None:
        return present
    wanted = list(dict.fromkeys(languages))
    for code in wanted:
        if code not in LANGUAGES:
            raise UserError(f"{path}: '{code}' is not a language of xDial-Eval; {nearest(code, LANGUAGES)}")
        if code not in present:
            names = " and ".join(LANGUAGES[code] + suffix for suffix in _SUFFIXES[level])
            raise UserError(f"{path}: the file has no {names}; remove '{code}' from languages")
    if not wanted:
        raise UserError(f"{path}: languages is empty; choose from {', '.join(present)}")
    return wanted


def _utterances(columns: dict[str, list[str]], level: Level, language: str) -> list[tuple[str, ...]]:
    """Return the utterances of every row; an empty response or dialogue stays empty."""
    if level == "dialogue":
        return [_lines(cell) for cell in columns[f"{language}_dial"]]
    pairs = zip(columns[f"{language}_ctx"], columns[f"{language}_res"], strict=True)
    return [(*_lines(context), response.strip()) for context, response in pairs]


def _lines(cell: str) -> tuple[str, ...]:
    """Return the lines between line feeds, without empty ones at both ends; other line ends are ordinary text."""
    cell = cell.strip()
    return tuple(line.strip() for line in cell.split("\n")) if cell else ()


def _clusters_of_contexts(dataset: str, level: Level, original: list[tuple[str, ...]]) -> list[int]:
    if level == "dialogue":
        return clusters.identical_clusters(original)
    if dataset == "conture-turn":  # three utterances of context before each response of a dialogue, in order
        return clusters.continuation_clusters(original)
    return clusters.context_clusters(original)
