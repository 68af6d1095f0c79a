"""DSTC11's development sets in Chinese: `<set>-turn_eval.json` and `<set>-dial_eval.json` under `metadata/dev/zh`.

One list of objects, the form that the track took over from DSTC10:

    {"context": "A:Is it raining?\\nB:Since this morning.", "response": "A:Then I stay in.",
     "annotations": {"relevant": [5, 4, 4]}}
    {"dialog": [{"speaker": "A", "text": "Is it raining?"}, {"speaker": "B", "text": "Since this morning."}],
     "annotations": {"coherent": [3, 4, 4]}, "dialogue_id": "17"}

A line of a context begins with the speaker, A or B; a line without one goes on with the utterance before. A dialogue
may also be given as context and response. Annotations are lists with one number per annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.corpora import clusters
from dialeval.corpora.dstc11_sets import CHATBOTS, LANGUAGE, SCALE, dimension_named, only_chinese, set_named
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.json_fields import name_of, required, text_of
from dialeval.corpora.rated import (
    PEOPLE,
    RatedReading,
    check,
    rating_value,
    repeated_ratings,
    speakers_before_response,
    speakers_in_turn,
)
from dialeval.corpora.text_files import read_json
from dialeval.criteria import Level
from dialeval.errors import UserError

_TAG = re.compile(r"([AB])\s*[:：](.*)", re.DOTALL)
_NAME = re.compile(r"(.+?)(?:[-_](turn|dial))?(?:[-_]eval.*)?", re.IGNORECASE)
_Said = list[tuple[str, str]]
"""Speaker, empty where none is named, and text of each utterance."""


@dataclass(frozen=True)
class _Entry:
    """One rated entry of the list."""

    number: int
    item_id: str
    level: Level
    dialogue: str
    speakers: tuple[str, ...]
    texts: tuple[str, ...]


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a set.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `zh` where it is given.

    Raises:
        UserError: the file, the entry, what is wrong there, and the remedy.
    """
    only_chinese(languages, str(path))
    name, whole_dialogues = _named(path)
    content = read_json(path)
    if not isinstance(content, list):
        raise UserError(f"{path}: a JSON list of rated entries is needed, not {type(content).__name__}")
    reading = RatedReading(str(path))
    entries = []
    for number, record in enumerate(content):
        where = f"{path}, entry {number}"
        if not isinstance(record, dict):
            raise UserError(f"{where}: an object with 'response' or 'dialog' and 'annotations' is needed")
        level: Level = "dialogue" if whole_dialogues or "dialog" in record else "turn"
        said = _dialogue(record, where) if level == "dialogue" else _turn(record, where)
        item_id = f"{name}-{'turn' if level == 'turn' else 'dial'}-{number:06d}"
        ratings = _ratings((corpus, item_id), level, record.get("annotations"), where)
        if not ratings:
            reading.leave_out(LANGUAGE, item_id, "entries without a rating")
        elif not all(text for _, text in said):
            reading.leave_out(LANGUAGE, item_id, "entries with an empty utterance")
        else:
            speakers = _speakers(said, level, chatbot=name == CHATBOTS)
            dialogue = "" if record.get("dialogue_id") is None else name_of(record["dialogue_id"], "dialogue_id", where)
            entries.append(_Entry(number, item_id, level, dialogue, speakers, tuple(text for _, text in said)))
            reading.ratings += ratings
    for entry, first in zip(entries, _clusters(path, entries), strict=True):
        cluster = entries[first].item_id
        item = Item(corpus, entry.item_id, LANGUAGE, entry.level, cluster, entry.speakers, entry.texts)
        reading.add(item, f"entry {entry.number}")
    return check(reading)


def _named(path: Path) -> tuple[str, bool]:
    """Returns the set that a file is named after, and whether it is said to be of dialogues."""
    match = _NAME.fullmatch(path.stem)
    name, level = (match[1], match[2]) if match else (path.stem, None)
    return set_named(name, str(path)), (level or "").casefold() == "dial"


def _turn(record: dict[str, Any], where: str) -> _Said:
    context = record.get("context")
    response = text_of(required(record, "response", where), "response", where)
    return [*_lines("" if context is None else text_of(context, "context", where)), _tagged(response)]


def _dialogue(record: dict[str, Any], where: str) -> _Said:
    if "dialog" not in record:
        *before, last = _turn(record, where)
        return [*before, last] if last[1] or not before else before
    if not isinstance(record["dialog"], list) or not record["dialog"]:
        raise UserError(f"{where}: 'dialog' must be a list of utterances, not {record['dialog']!r:.60}")
    said = []
    for number, part in enumerate(record["dialog"], start=1):
        place = f"{where}, 'dialog', utterance {number}"
        if not isinstance(part, dict):
            raise UserError(f"{place} must be an object with 'speaker' and 'text', not {part!r:.60}")
        speaker = name_of(required(part, "speaker", place), "speaker", place)
        said.append((speaker, text_of(required(part, "text", place), "text", place)))
    return said


def _lines(context: str) -> _Said:
    """Returns the utterances of a context; one may have several lines where speakers are named."""
    parts = [_tagged(line.strip()) for line in context.split("\n") if line.strip()]
    if not any(speaker for speaker, _ in parts):
        return parts
    said: _Said = []
    for speaker, text in parts:
        if speaker or not said:
            said.append((speaker, text))
        else:
            said[-1] = (said[-1][0], f"{said[-1][1]}\n{text}")
    return said


def _tagged(text: str) -> tuple[str, str]:
    match = _TAG.fullmatch(text)
    return (match[1], match[2].strip()) if match else ("", text)


def _speakers(said: _Said, level: Level, *, chatbot: bool) -> tuple[str, ...]:
    """Returns who says what: as the source names them, and others in turn with their neighbours."""
    who = [speaker for speaker, _ in said]
    if not any(who):
        if level == "turn":
            return speakers_before_response(len(said))
        return speakers_in_turn(len(said)) if chatbot else speakers_in_turn(len(said), "A", "B")
    first = next(place for place, speaker in enumerate(who) if speaker)
    for place in range(first - 1, -1, -1):
        who[place] = "A" if who[place + 1] == "B" else "B"
    for place in range(first + 1, len(who)):
        who[place] = who[place] or ("A" if who[place - 1] == "B" else "B")
    return tuple(who)


def _ratings(item: tuple[str, str], level: Level, annotations: Any, where: str) -> list[Rating]:
    if annotations is None:
        return []
    if not isinstance(annotations, dict):
        raise UserError(f"{where}: 'annotations' must be an object of dimension -> list of ratings")
    names: dict[str, str] = {}
    ratings: list[Rating] = []
    for name, values in annotations.items():
        place = f"{where}, '{name:.60}'"
        dimension = dimension_named(name, level)
        if names.setdefault(dimension, name) != name:
            raise UserError(f"{place}: '{names[dimension]:.60}' before it is {dimension}, too; remove one of them")
        several = values if isinstance(values, list) else [values]
        checked = [None if value is None else rating_value(value, SCALE, place) for value in several]
        ratings += repeated_ratings((*item, dimension), ("human", PEOPLE), checked, SCALE)
    return ratings


def _clusters(path: Path, entries: Sequence[_Entry]) -> list[int]:
    """Returns the first entry of each one's cluster: of the same dialogue, by its id or by what was said."""
    if not entries:
        return []
    first: dict[str, int] = {}
    for entry in entries:
        if entry.level == "dialogue" and entry.dialogue:
            other = first.setdefault(entry.dialogue, entry.number)
            if other != entry.number:
                raise UserError(
                    f"{path}, entry {entry.number}: the dialogue_id '{entry.dialogue:.60}' is used before, at entry "
                    f"{other}; ids must be unique"
                )
    return clusters.merged(
        clusters.context_clusters([entry.texts if entry.level == "turn" else () for entry in entries]),
        [entry.texts if entry.level == "dialogue" else entry.number for entry in entries],
        [entry.dialogue or entry.number for entry in entries],
    )
