"""The plain format for anyone's rated items: JSON Lines, one item per line.

    {"item_id": "kitchen-1", "context": ["Is there any milk?"], "response": "Behind the jam.",
     "ratings": {"relevance": 4.5, "overall": {"values": [4, 5, null], "scale": [1, 5]}}, "scale": [1, 7]}
    {"item_id": "train-1", "language": "de", "cluster": "train", "ratings": {"coherence": [2, 3]}, "scale": [0, 3],
     "dialogue": [{"speaker": "human", "text": "Hält er in Ulm?"}, {"speaker": "chatbot", "text": "Ja, um neun."}]}

A line is a response in its context (which may be left out) or a dialogue. A rating is a number (a mean), a list with
one number per rater (null where one is missing), an object with `value` or `values`, or a list of such objects where
several kinds of raters rated one dimension. An item in several languages has a line for each, with one id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.corpora import clusters
from dialeval.corpora.authors_files import advice
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.json_fields import name_of, optional_text
from dialeval.corpora.json_line_ratings import ratings_of
from dialeval.corpora.json_records import Wanted, records_of
from dialeval.corpora.rated import RatedReading, check, speakers_before_response, speakers_in_turn
from dialeval.corpora.text_files import JsonLine, listed
from dialeval.criteria import Level
from dialeval.errors import UserError

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
