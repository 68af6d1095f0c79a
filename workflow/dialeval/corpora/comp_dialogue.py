"""Comp-analysis at dialogue level: whole dialogues, rated by GPT-4 in rounds and, for FED, by people.

Beside `<name>-dial_text.txt` lie `<name>_gpt4_annotations.json` (lists `<dimension>_<round>`, and `indices` where only
a sample of the dialogues was rated) and `<name>_human_annotations.json` (FED's own form, in the order of the texts).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, Rating
from dialeval.corpora.rated import PEOPLE, RatedReading, check, only_english, rating_value, repeated_ratings
from dialeval.corpora.rating_scales import FED_DIALOGUE, MODEL_SCALE
from dialeval.corpora.tab_texts import TabRecord, read_records, split_speaker
from dialeval.corpora.text_files import read_json
from dialeval.errors import UserError, nearest

MODEL_DIMENSIONS = {
    "coh": "coherence",
    "eng": "engagingness",
    "div": "diversity",
    "inf": "informativeness",
    "ovr": "overall",
}

SPEAKERS = {
    "human": "human",
    "user": "human",
    "human_evaluator": "human",
    "model": "chatbot",
    "chatbot": "chatbot",
    "bot": "chatbot",
    "system": "chatbot",
}
"""Names in the files, in small letters, and ours."""
_OWN_SPEAKERS = {"ieval-dial": {"a": "human", "b": "chatbot"}}
_ROUND = re.compile(r"([a-z]+)_([0-9]{1,4})")
_INDICES = "indices"


def read(corpus: str, path: Path, languages: Iterable[str] | None = None, *, unrated_too: bool = False) -> RatedReading:
    """Reads a data set.

    Args:
        corpus: its name in the configuration.
        path: the file of its texts.
        languages: must hold `en` where it is given.
        unrated_too: whether dialogues without a rating become items too; judges would be asked about them for nothing.

    Raises:
        UserError: the file, the row or position, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    records = read_records(path)
    speakers, texts = _dialogues(path, records)
    reading = RatedReading(str(path))
    by_model, by_people = _annotation_files(path)
    if by_people is not None and _short_name(path) == "fed":
        reading.ratings += _people(corpus, by_people, records, texts, reading.notes)
    elif by_people is not None:
        reading.notes[f"file {by_people.name} is not read: only the scales of FED's are known"] += 1
    if by_model is not None:
        reading.ratings += _rounds(corpus, by_model, records)
    if not reading.ratings:
        looked_for = ", ".join(str(file) for file in _candidates(path, "gpt4"))
        raise UserError(f"{path}: there are no ratings beside it; looked for: {looked_for}")

    rated = {rating.item_id for rating in reading.ratings}
    firsts = clusters.identical_clusters(texts)
    for record, said_by, said, first in zip(records, speakers, texts, firsts, strict=True):
        item = Item(corpus, record.record_id, "en", "dialogue", records[first].record_id, said_by, said)
        if unrated_too or record.record_id in rated:
            reading.add(item, f"row {record.row}")
        else:
            reading.leave_out("en", record.record_id, "dialogues without a rating")
    return check(reading)


def source_files(path: Path) -> list[Path]:
    """Returns the files that a data set is read from."""
    return [path, *(file for file in _annotation_files(path) if file is not None)]


def _dialogues(path: Path, records: list[TabRecord]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Returns the speakers and the texts of every dialogue."""
    names = SPEAKERS | _OWN_SPEAKERS.get(path.stem.removesuffix("_text"), {})
    speakers, texts = [], []
    for record in records:
        parts = [
            split_speaker(text, f"{path}, row {record.row} ({record.record_id:.60}), utterance {number}")
            for number, text in enumerate(record.fields, start=1)
        ]
        speakers.append(tuple(names.get(tag.lower(), tag) for tag, _ in parts))
        texts.append(tuple(said for _, said in parts))
    return speakers, texts


def _short_name(path: Path) -> str:
    return path.stem.removesuffix("_text").removesuffix("-dial")


def _candidates(path: Path, kind: str) -> list[Path]:
    """Returns where annotations may lie: those of `persona-see` are kept under `see`."""
    whole = path.stem.removesuffix("_text")
    short = _short_name(path)
    names = dict.fromkeys((short, whole, short.replace("-", "_"), short.rpartition("-")[2], short.partition("-")[0]))
    return [path.parent / f"{name}_{kind}_annotations.json" for name in names]


def _annotation_files(path: Path) -> tuple[Path | None, Path | None]:
    """Returns the files of GPT-4's and of people's ratings."""
    by_model, by_people = (
        next((file for file in _candidates(path, kind) if file.is_file()), None) for kind in ("gpt4", "human")
    )
    return by_model, by_people


def _rounds(corpus: str, file: Path, records: list[TabRecord]) -> list[Rating]:
    """Returns GPT-4's ratings, every round and the mean over rounds."""
    content = read_json(file)
    if not isinstance(content, dict) or not all(isinstance(values, list) for values in content.values()):
        raise UserError(f"{file}: one JSON object of <dimension>_<round> -> list of ratings is needed")
    rows = _rated_rows(content.pop(_INDICES, None), file, len(records))
    rounds: dict[str, dict[int, list[Any]]] = {}
    for key, values in content.items():
        match = _ROUND.fullmatch(key)
        if match is None or match[1] not in MODEL_DIMENSIONS:
            remedy = nearest(match[1] if match else key, MODEL_DIMENSIONS)
            raise UserError(f"{file}: '{key:.60}' is no <dimension>_<round> of a known dimension; {remedy}")
        if len(values) != len(rows):
            against = f"{_INDICES} has" if len(rows) != len(records) else "the texts have"
            raise UserError(
                f"{file}: '{key}' has {len(values)} ratings, but {against} {len(rows)} rows; both must come from "
                "one release"
            )
        by_round = rounds.setdefault(match[1], {})
        if by_round.setdefault(int(match[2]), values) is not values:
            raise UserError(f"{file}: '{key}' is a round that is there before; remove one")
    ratings = []
    for name, by_round in rounds.items():
        ordered = sorted(by_round.items())
        for position, row in enumerate(rows):
            item_id = records[row].record_id
            values = [
                rating_value(
                    values[position], MODEL_SCALE, f"{file}, '{name}_{number}', position {position} ({item_id:.60})"
                )
                for number, values in ordered
            ]
            item = (corpus, item_id, MODEL_DIMENSIONS[name])
            ratings += repeated_ratings(item, ("model", "gpt-4"), values, MODEL_SCALE)
    return ratings


def _rated_rows(indices: list[Any] | None, file: Path, n_rows: int) -> list[int]:
    """Returns the 0-based row of the texts for every position."""
    if indices is None:
        return list(range(n_rows))
    seen: dict[int, int] = {}
    for position, row in enumerate(indices):
        place = f"{file}, '{_INDICES}', position {position}"
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < n_rows:
            raise UserError(
                f"{place}: {row!r:.40} is no row of the texts; a whole number from 0 to {n_rows - 1} is needed"
            )
        if row in seen:
            raise UserError(f"{place}: row {row} is there before, at position {seen[row]}; a row can be rated once")
        seen[row] = position
    return list(seen)


def _people(
    corpus: str, file: Path, records: list[TabRecord], texts: list[tuple[str, ...]], notes: Counter[str]
) -> list[Rating]:
    """Returns the ratings of FED's annotators, each singly, and their mean."""
    content = read_json(file)
    if not isinstance(content, list):
        raise UserError(f"{file}: a JSON list of dialogues with 'annotations' is needed")
    if len(content) != len(records):
        raise UserError(
            f"{file}: {len(content)} dialogues, but the texts have {len(records)} rows; both must come from one release"
        )
    ratings = []
    for position, (entry, record, said) in enumerate(zip(content, records, texts, strict=True)):
        place = f"{file}, position {position} ({record.record_id:.60})"
        annotations = _annotations(entry, said, place)
        for name, values in annotations.items():
            if name not in FED_DIALOGUE:
                raise UserError(f"{place}: the dimension '{name:.60}' is not known; {nearest(name, FED_DIALOGUE)}")
            dimension, scale = FED_DIALOGUE[name]
            if not isinstance(values, list):
                raise UserError(f"{place}: '{name:.60}' must be a list of ratings, not {values!r:.60}")
            checked = [rating_value(value, scale, f"{place}, '{name:.60}'") for value in values]
            ratings += repeated_ratings((corpus, record.record_id, dimension), ("human", PEOPLE), checked, scale)
            if not checked:
                notes[f"dialogues that nobody rated on {dimension}"] += 1
    return ratings


def _annotations(entry: Any, said: tuple[str, ...], place: str) -> dict[str, Any]:
    """Returns the ratings of one dialogue, after a look whether it is the one in the texts."""
    try:
        annotations, turns = entry["annotations"], entry["dialog"]
        dialogue = tuple(turn["text"].strip() for turn in turns)
    except (KeyError, TypeError, AttributeError):
        raise UserError(
            f"{place}: an object with 'dialog' (a list of speaker and text) and 'annotations' is needed"
        ) from None
    if not isinstance(annotations, dict):
        raise UserError(f"{place}: 'annotations' must be an object of dimension -> list of ratings")
    if dialogue != said:
        raise UserError(f"{place}: the dialogue is not the one in the same row of the texts; both must be in one order")
    return annotations
