"""DSTC11's Chinese sets: ratings in CSV and in JSON.

    UID,UID_TEST,CID,SID,LANGUAGE,SUPERVISED,APPROPRIATENESS,CONTENT_RICHNESS,GRAMMATICAL_CORRECTNESS,RELEVANCE
    UID_TEST,CID,LANGUAGE,SUPERVISED,COHERENCE,ENGAGENESS,INFORMATIVENESS,OVERALL
    UID,SID,SEG

The first has a row for every utterance, of which those by `Chatbot` are judged; the second a row for every dialogue;
the third, the utterances, is the file beside them that has these three columns. An id is `TEST-<dialogue>-<utterance>`,
six and four digits, without the last at dialogue level. `CID` names the set (`HCCHNS`) and `LANGUAGE` the language
(`ZH`): other sets, and translations, are left out.

One list of objects, the form that the track took over from DSTC10:

    {"context": "A:Is it raining?\nB:Since this morning.", "response": "A:Then I stay in.",
     "annotations": {"relevant": [5, 4, 4]}}
    {"dialog": [{"speaker": "A", "text": "Is it raining?"}, {"speaker": "B", "text": "Since this morning."}],
     "annotations": {"coherent": [3, 4, 4]}, "dialogue_id": "17"}

A line of a context begins with the speaker, A or B; a line without one goes on with the utterance before. A dialogue
may also be given as context and response. Annotations are lists with one number per annotator.

Tencent's annotators rated replies people had given each other (ECM, KdConv, LCCC) and talks of people with chatbots
(HCChinese): relevance, appropriateness, content richness and grammatical correctness of a reply; coherence,
engagingness, informativeness and overall quality of a dialogue (Rodríguez-Cantelar et al., 2023).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from dialeval.corpora.items import Item, Rating, speakers_in_turn
from dialeval.corpora.json_records import Name, Record, Text, Utterance, parsed
from dialeval.corpora.rated_sources import (
    PEOPLE,
    Gathering,
    RatedReading,
    Scale,
    before_response,
    check,
    only,
    rating_value,
    repeated_ratings,
)
from dialeval.corpora.rating_scales import is_missing
from dialeval.corpora.text_files import listed, read_columns, read_json
from dialeval.criteria import SHIPPED, Level
from dialeval.errors import UserError, nearest

DIMENSIONS: Mapping[Level, tuple[str, ...]] = {
    "turn": ("APPROPRIATENESS", "CONTENT_RICHNESS", "GRAMMATICAL_CORRECTNESS", "RELEVANCE"),
    "dialogue": ("COHERENCE", "ENGAGENESS", "INFORMATIVENESS", "OVERALL"),
}
_UTTERANCES = ("UID", "SID", "SEG")
_IDS = ("UID_TEST", "DID_TEST", "UID", "DID")
_ID = re.compile(r"(.+-[0-9]{6})(?:-([0-9]{4,9}))?")
_SPEAKERS = {"human": "human", "user": "human", "chatbot": "chatbot", "system": "chatbot", "bot": "chatbot"}
_CHATBOT = "chatbot"
_LONGEST_HEADER = 10_000


def read_dstc11_csv(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Read the ratings of replies or of dialogues.

    Args:
        languages: the wanted languages, which must include `zh`; None for all.
    """
    only(LANGUAGE, languages, str(path))
    rows = list(read_columns(path))
    if not rows:
        raise UserError(f"{path} has no rows; download it again")
    columns = tuple(rows[0][1])
    level = _level(path, columns)
    id_column = next((name for name in _IDS if name in columns), None)
    if id_column is None or "CID" not in columns:
        needed = "CID" if id_column else f"ids ({' or '.join(_IDS)})"
        raise UserError(f"{path}: the column of {needed} is missing; its columns: {listed(columns)}; download it again")
    file = _file_of_utterances(path)
    dialogues = _dialogues(file)
    reading = RatedReading(str(path))
    sets: dict[str, None] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        item_id = row[id_column].strip()
        sets.setdefault(row["CID"].strip())
        if SETS.get(row["CID"].strip().casefold()) != CHATBOTS:
            reading.leave_out(LANGUAGE, item_id, "rows of other sets")
        elif row.get("LANGUAGE", LANGUAGE).strip().casefold() != LANGUAGE:
            reading.leave_out(row["LANGUAGE"].strip().casefold(), item_id, "rows in other languages")
        elif level == "turn" and _speaker(row.get("SID", _CHATBOT)) != _CHATBOT:
            reading.leave_out(LANGUAGE, item_id, "utterances that are not the chatbot's")
        elif not (ratings := list(_ratings((corpus, item_id), level, row, where))):
            reading.leave_out(LANGUAGE, item_id, "rows without a rating")
        else:
            dialogue, utterances = _shown(item_id, level, dialogues, where, file)
            who, texts = tuple(one.speaker for one in utterances), tuple(one.text for one in utterances)
            reading.add(Item(corpus, item_id, LANGUAGE, level, dialogue, who, texts), f"line {line}")
            reading.ratings += ratings
    if all(SETS.get(name.casefold()) != CHATBOTS for name in sets):
        raise UserError(f"{path}: the column CID has no set HCCHNS; it has: {listed(sets)}; download it again")
    return check(reading)


def csv_source_files(path: Path) -> list[Path]:
    """Return the files that are read: the ratings, and the utterances beside them where they are there."""
    return [path, *_files_of_utterances(path)]


def _level(path: Path, columns: tuple[str, ...]) -> Level:
    levels: list[Level] = [level for level, names in DIMENSIONS.items() if set(names) & set(columns)]
    if len(levels) != 1:
        both = "of responses and of dialogues" if levels else "neither of responses nor of dialogues"
        raise UserError(
            f"{path}: the file has ratings {both}; its columns must be {', '.join(DIMENSIONS['turn'])} (responses) or "
            f"{', '.join(DIMENSIONS['dialogue'])} (dialogues), and are {listed(columns)}"
        )
    return levels[0]


def _file_of_utterances(path: Path) -> Path:
    files = _files_of_utterances(path)
    if len(files) != 1:
        there = f"there are {listed(file.name for file in files)}: keep one" if files else "there is none"
        raise UserError(
            f"{path}: its folder must also have the CSV file of the utterances, with the columns "
            f"{', '.join(_UTTERANCES)}; "
            f"{there}"
        )
    return files[0]


def _files_of_utterances(path: Path) -> list[Path]:
    """Return the other CSV files in the folder whose header has the columns of utterances."""
    if not path.parent.is_dir():
        return []
    others = sorted(file for file in path.parent.glob("*.csv") if file.name != path.name and file.is_file())
    return [file for file in others if set(_UTTERANCES) <= set(_header(file))]


def _header(file: Path) -> list[str]:
    with file.open("rb") as content:
        line = content.readline(_LONGEST_HEADER).decode("utf-8-sig", errors="replace")
    return [name.strip().strip('"') for name in line.split(",")]


def _dialogues(file: Path) -> dict[str, list[_Numbered]]:
    """Return the utterances of every dialogue, in their order."""
    found: dict[str, list[_Numbered]] = {}
    lines: dict[tuple[str, int], int] = {}
    for line, row in read_columns(file):
        match = _ID.fullmatch(row["UID"].strip())
        if match is None or match[2] is None:
            raise UserError(
                f"{file}, line {line}: the id '{row['UID']:.60}' is not of the form <set>-<six digits>-<four digits>; "
                f"correct it"
            )
        key = (match[1], int(match[2]))
        if lines.setdefault(key, line) != line:
            raise UserError(
                f"{file}, line {line}: the id '{row['UID'].strip():.60}' already occurs at line {lines[key]}; ids "
                "must be unique"
            )
        found.setdefault(match[1], []).append(_Numbered(key[1], _speaker(row["SID"]), row["SEG"].strip()))
    return {name: sorted(utterances) for name, utterances in found.items()}


class _Numbered(NamedTuple):
    """An utterance with its number in the dialogue."""

    number: int
    speaker: str
    text: str


def _speaker(name: str) -> str:
    return _SPEAKERS.get(name.strip().casefold(), name.strip())


def _ratings(item: tuple[str, str], level: Level, row: Mapping[str, str], where: str) -> Iterator[Rating]:
    for column in DIMENSIONS[level]:
        if cell := row.get(column, "").strip():
            value = rating_value(cell, SCALE, f"{where}, column {column}")
            yield Rating(*item, dimension_named(column, level), "human", PEOPLE, None, value, None, *SCALE)


def _shown(
    item_id: str, level: Level, dialogues: Mapping[str, list[_Numbered]], where: str, file: Path
) -> tuple[str, list[_Numbered]]:
    """Return the dialogue of an id, and its judged utterances: up to the reply, or all."""
    match = _ID.fullmatch(item_id)
    if match is None or (level == "turn" and match[2] is None):
        form = "<set>-<six digits>-<four digits>" if level == "turn" else "<set>-<six digits>"
        raise UserError(f"{where}: the id '{item_id:.60}' is not of the form {form}; correct it")
    utterances = dialogues.get(match[1], [])
    if level == "turn":
        numbers = [one.number for one in utterances]
        utterances = utterances[: numbers.index(int(match[2])) + 1] if int(match[2]) in numbers else []
    if not utterances:
        raise UserError(
            f"{where}: '{item_id:.60}' is rated, but is not in {file}; both files must come from one release"
        )
    return match[1], utterances


# DSTC11's development sets in Chinese: `<set>-turn_eval.json` and `<set>-dial_eval.json` under `metadata/dev/zh`.

_TAG = re.compile(r"([AB])\s*[:：](.*)", re.DOTALL)
_NAME = re.compile(r"(.+?)(?:[-_](turn|dial))?(?:[-_]eval.*)?", re.IGNORECASE)
Turns = list[tuple[str, str]]
"""Speaker, empty where none is named, and text of each utterance."""


def read_dstc11_json(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Read a Chinese development set of DSTC11.

    Args:
        languages: the wanted languages, which must include `zh`; None for all.
    """
    only(LANGUAGE, languages, str(path))
    match = _NAME.fullmatch(path.stem)
    name = set_named(match[1] if match else path.stem, str(path))
    only_dialogues = match is not None and (match[2] or "").casefold() == "dial"
    content = read_json(path)
    if not isinstance(content, list):
        raise UserError(
            f"{path}: a JSON list of rated entries is needed, not {type(content).__name__}; download it again"
        )
    gathering = Gathering(corpus, path, LANGUAGE)
    seen: dict[str, int] = {}
    for number, value in enumerate(content):
        where = f"{path}, entry {number}"
        is_dialogue = isinstance(value, dict) and "dialog" in value
        record = parsed(_Dialogue, value, where) if is_dialogue else parsed(_Reply, value, where)
        level: Level = "dialogue" if only_dialogues or is_dialogue else "turn"
        turns = _named(_turns(record, level), level, chatbot=name == CHATBOTS)
        item_id = f"{name}-{'turn' if level == 'turn' else 'dial'}-{number:06d}"
        ratings = _annotated((corpus, item_id), level, record.annotations or {}, where)
        dialogue = record.dialogue_id or ""
        if level == "dialogue" and dialogue and seen.setdefault(dialogue, number) != number:
            raise UserError(
                f"{where}: the dialogue_id '{dialogue:.60}' is used before, at entry {seen[dialogue]}; ids must be "
                "unique"
            )
        gathering.take(item_id, level, where, turns, ratings, dialogue=dialogue)
    return gathering.checked()


class _Dialogue(Record):
    """A whole dialogue."""

    dialog: Annotated[list[Utterance], Field(min_length=1)]
    annotations: dict[str, Any] | None = None
    dialogue_id: Name | None = None


class _Reply(Record):
    """A reply in its context, an utterance a line; a file of dialogues may have these, too."""

    context: Text | None = None
    response: Text
    annotations: dict[str, Any] | None = None
    dialogue_id: Name | None = None


def _turns(record: _Reply | _Dialogue, level: Level) -> Turns:
    if isinstance(record, _Dialogue):
        return [(one.speaker, one.text) for one in record.dialog]
    context, response = _lines(record.context or ""), _tagged(record.response)
    if level == "dialogue" and context and not response[1]:
        return context
    return [*context, response]


def _lines(context: str) -> Turns:
    """Return the utterances of a context; one may have several lines where speakers are named."""
    parts = [_tagged(line.strip()) for line in context.split("\n") if line.strip()]
    if not any(speaker for speaker, _ in parts):
        return parts
    utterances: Turns = []
    for speaker, text in parts:
        if speaker or not utterances:
            utterances.append((speaker, text))
        else:
            utterances[-1] = (utterances[-1][0], f"{utterances[-1][1]}\n{text}")
    return utterances


def _tagged(text: str) -> tuple[str, str]:
    match = _TAG.fullmatch(text)
    return (match[1], match[2].strip()) if match else ("", text)


def _annotated(item: tuple[str, str], level: Level, annotations: Mapping[str, Any], where: str) -> list[Rating]:
    """Return the ratings of an entry: a number, or a list with one per annotator, by dimension."""
    names: dict[str, str] = {}
    ratings: list[Rating] = []
    for name, values in annotations.items():
        place = f"{where}, '{name:.60}'"
        dimension = dimension_named(name, level)
        if names.setdefault(dimension, name) != name:
            raise UserError(
                f"{place}: the entry '{names[dimension]:.60}' has the same dimension, {dimension}; "
                f"remove one of the two"
            )
        several = values if isinstance(values, list) else [values]
        checked = [None if is_missing(value) else rating_value(value, SCALE, place) for value in several]
        ratings += repeated_ratings((*item, dimension), ("human", PEOPLE), checked, SCALE)
    return ratings


def _named(turns: Turns, level: Level, *, chatbot: bool) -> Turns:
    """Return the utterances with their speakers: as the source names them, and others alternating with neighbours."""
    who, texts = [speaker for speaker, _ in turns], [text for _, text in turns]
    if not any(who):
        if level == "turn":
            return before_response(texts)
        names = speakers_in_turn(len(texts)) if chatbot else speakers_in_turn(len(texts), "A", "B")
        return list(zip(names, texts, strict=True))
    first = next(place for place, speaker in enumerate(who) if speaker)
    for place in range(first - 1, -1, -1):
        who[place] = "A" if who[place + 1] == "B" else "B"
    for place in range(first + 1, len(who)):
        who[place] = who[place] or ("A" if who[place - 1] == "B" else "B")
    return list(zip(who, texts, strict=True))


# The natural Chinese sets of DSTC11's fourth track: their names, what people rated in them, and on which scale.

LANGUAGE = "zh"
SCALE = Scale(1.0, 5.0)
"""Of every dimension; ratings off it are refused."""
SETS = {"ecm": "ECM", "kdconv": "KdConv", "lccc": "LCCC", "hc": "HC", "hcchinese": "HC", "hcchns": "HC"}
"""Folded names in the files, and the paper's."""
CHATBOTS = "HC"
"""The set in which one of the two is a chatbot."""

_OWN_NAMES = {
    "engageness": "engagingness",
    "engagement": "engagingness",
    "engageness likeability": "engagingness",
    "likeability": "engagingness",
    "likability": "engagingness",
    "likeable": "engagingness",
}


def set_named(name: str, source: str) -> str:
    """Return the set of a name in a file.

    Raises:
        UserError: it stands for none; the message begins with `source`.
    """
    if name.casefold() not in SETS:
        raise UserError(
            f"{source}: '{name:.60}' is not one of DSTC11's natural Chinese sets "
            f"({nearest(name, {*SETS.values()})}); the scales of other sets are unknown. For sets in English, "
            f"use reader dstc10_json. For your own set, use JSON Lines (reader rated_jsonl), where every rating names "
            f"its scale"
        )
    return SETS[name.casefold()]


def dimension_named(name: str, level: Level) -> str:
    """Return our criterion of an annotation; an unknown name unchanged."""
    plain = " ".join(name.replace("_", " ").replace("/", " ").casefold().split())
    known = {called: one.name for one in SHIPPED.values() if one.is_at(level) for called in one.names}
    own = _OWN_NAMES if level == "dialogue" else {}
    return known.get(plain) or own.get(plain, plain)
