"""comp-analysis's rated turns and dialogues.

Beside `<name>-dial_text.txt` lie `<name>_gpt4_annotations.json` (lists `<dimension>_<round>`, and `indices` where only
a sample of the dialogues was rated) and `<name>_human_annotations.json` (FED's own form, in the order of the texts).

Beside `<dataset>_text.txt` lie `turn_<dimension>_ratings.json`, each an object of data set -> ratings in the order of
the text's rows. A data set that is in none of them may have its only rating in `turn_ratings.json`; where it is in
both, that one repeats a dimension and is not read.

    FEDDIAL-000007<TAB>human: Hello?<TAB>model: Hello!        dialogues: each utterance with its speaker
    FEDTURN-000012<TAB>Hello?<TAB>Hello!                      turns: context, and the response in the last field

Records end with a line feed and fields with a TAB, nothing else does: quotes are ordinary text, and so are the other
characters at which Python would end a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.corpora import clusters
from dialeval.corpora.items import Item, Rating, speakers_before_response
from dialeval.corpora.json_records import Record, Utterance, parsed
from dialeval.corpora.rated_sources import (
    PEOPLE,
    RatedReading,
    Scale,
    check,
    only,
    rating_value,
    repeated_ratings,
)
from dialeval.corpora.rating_scales import (
    FED_DIALOGUE,
    MODEL_SCALE,
    N_RATERS,
    ratings_of,
    scales_of,
    single_dimension,
)
from dialeval.corpora.text_files import read_json, read_text
from dialeval.criteria import DIMENSIONS
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


class RatedDialogue(Record):
    """A dialogue with a list of ratings for each dimension, as FED's file and DSTC10's have it."""

    dialog: list[Utterance]
    annotations: dict[str, list[Any]] | None


_OWN_SPEAKERS = {"ieval-dial": {"a": "human", "b": "chatbot"}}
_ROUND = re.compile(r"([a-z]+)_([0-9]{1,4})")
_INDICES = "indices"


def read_dialogues(
    corpus: str, path: Path, languages: Iterable[str] | None = None, *, include_unrated: bool = False
) -> RatedReading:
    """Read a data set.

    Args:
        languages: the wanted languages, which must include `en`; None for all.
        include_unrated: whether dialogues without a rating become items too, which judges would score in vain.
    """
    only("en", languages, str(path))
    records = read_records(path)
    speakers, texts = _dialogues(path, records)
    reading = RatedReading(str(path))
    by_model, by_humans = _annotation_files(path)
    if by_humans is not None and _short_name(path) == "fed":
        reading.ratings += _human_ratings(corpus, by_humans, records, texts, reading.notes)
    elif by_humans is not None:
        reading.notes[f"file {by_humans.name} is skipped: only the scales of FED's ratings are known"] += 1
    if by_model is not None:
        reading.ratings += _rounds(corpus, by_model, records)
    if not reading.ratings:
        candidates = ", ".join(str(file) for file in _candidates(path, "gpt4"))
        raise UserError(f"{path}: a file of ratings must be beside it; add one of: {candidates}")

    rated = {rating.item_id for rating in reading.ratings}
    firsts = clusters.identical_clusters(texts)
    for record, turn_speakers, utterances, first in zip(records, speakers, texts, firsts, strict=True):
        item = Item(corpus, record.record_id, "en", "dialogue", records[first].record_id, turn_speakers, utterances)
        if include_unrated or record.record_id in rated:
            reading.add(item, f"row {record.row}")
        else:
            reading.leave_out("en", record.record_id, "dialogues without a rating")
    return check(reading)


def dialogue_source_files(path: Path) -> list[Path]:
    """Return the files that a data set is read from."""
    return [path, *(file for file in _annotation_files(path) if file is not None)]


def _dialogues(path: Path, records: list[TabRecord]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Return the speakers and the texts of every dialogue."""
    names = SPEAKERS | _OWN_SPEAKERS.get(path.stem.removesuffix("_text"), {})
    speakers, texts = [], []
    for record in records:
        parts = [
            split_speaker(text, f"{path}, row {record.row} ({record.record_id:.60}), utterance {number}")
            for number, text in enumerate(record.fields, start=1)
        ]
        speakers.append(tuple(names.get(tag.lower(), tag) for tag, _ in parts))
        texts.append(tuple(utterance for _, utterance in parts))
    return speakers, texts


def _annotation_files(path: Path) -> tuple[Path | None, Path | None]:
    """Return the files of GPT-4's ratings and of human ratings."""
    by_model, by_humans = (
        next((file for file in _candidates(path, kind) if file.is_file()), None) for kind in ("gpt4", "human")
    )
    return by_model, by_humans


def _candidates(path: Path, kind: str) -> list[Path]:
    """Return where annotations may lie: those of `persona-see` are kept under `see`."""
    full = path.stem.removesuffix("_text")
    short = _short_name(path)
    names = dict.fromkeys((short, full, short.replace("-", "_"), short.rpartition("-")[2], short.partition("-")[0]))
    return [path.parent / f"{name}_{kind}_annotations.json" for name in names]


def _short_name(path: Path) -> str:
    return path.stem.removesuffix("_text").removesuffix("-dial")


def _human_ratings(
    corpus: str, file: Path, records: list[TabRecord], texts: list[tuple[str, ...]], notes: Counter[str]
) -> list[Rating]:
    """Return the ratings of FED's annotators, each singly, and their mean."""
    content = read_json(file)
    if not isinstance(content, list):
        raise UserError(
            f"{file}: a JSON list of dialogues with 'annotations' is needed, not {type(content).__name__}; "
            "download it again"
        )
    if len(content) != len(records):
        raise UserError(
            f"{file}: {len(content)} dialogues, but the texts have {len(records)} rows; both must come from one release"
        )
    ratings = []
    for position, (value, record, utterances) in enumerate(zip(content, records, texts, strict=True)):
        place = f"{file}, position {position} ({record.record_id:.60})"
        rated = parsed(RatedDialogue, value, place)
        if tuple(one.text for one in rated.dialog) != utterances:
            raise UserError(
                f"{place}: the dialogue differs from the dialogue in the same row of the texts; both files must have "
                f"the same order"
            )
        ratings += ratings_of((corpus, record.record_id), rated.annotations or {}, FED_DIALOGUE, place, notes)
    return ratings


def _rounds(corpus: str, file: Path, records: list[TabRecord]) -> list[Rating]:
    """Return GPT-4's ratings, every round and the mean over rounds."""
    content = read_json(file)
    if not isinstance(content, dict) or not all(isinstance(values, list) for values in content.values()):
        raise UserError(
            f"{file}: a JSON object that maps <dimension>_<round> to lists of ratings is needed; download it again"
        )
    rows = _rated_rows(content.pop(_INDICES, None), file, len(records))
    rounds: dict[str, dict[int, list[Any]]] = {}
    for key, values in content.items():
        match = _ROUND.fullmatch(key)
        if match is None or match[1] not in MODEL_DIMENSIONS:
            remedy = nearest(match[1] if match else key, MODEL_DIMENSIONS)
            raise UserError(f"{file}: '{key:.60}' is not a <dimension>_<round> of a known dimension; {remedy}")
        if len(values) != len(rows):
            against = f"{_INDICES} has" if len(rows) != len(records) else "the texts have"
            raise UserError(
                f"{file}: '{key}' has {len(values)} ratings, but {against} {len(rows)} rows; both must come from "
                "one release"
            )
        by_round = rounds.setdefault(match[1], {})
        if by_round.setdefault(int(match[2]), values) is not values:
            raise UserError(f"{file}: '{key}' repeats a round of its dimension; remove one of the two keys")
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
    """Return the 0-based row of the texts for every position."""
    if indices is None:
        return list(range(n_rows))
    seen: dict[int, int] = {}
    for position, row in enumerate(indices):
        place = f"{file}, '{_INDICES}', position {position}"
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < n_rows:
            raise UserError(
                f"{place}: {row!r:.40} is not a row of the texts; a whole number from 0 to {n_rows - 1} is needed"
            )
        if row in seen:
            raise UserError(f"{place}: row {row} already occurs at position {seen[row]}; rate each row once")
        seen[row] = position
    return list(seen)


# Comp-analysis at turn level: responses in context, with one mean rating per dimension.

_FILE_NAMES = {"interestingness": "interesting"}
_SINGLE_FILE = "turn_ratings.json"


def read_turns(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Read a data set.

    Args:
        languages: the wanted languages, which must include `en`; None for all.
    """
    only("en", languages, str(path))
    dataset = path.stem.removesuffix("_text")  # the name under which its ratings are kept
    scales = scales_of(dataset, str(path))
    records = read_records(path)
    reading = RatedReading(str(path))
    groups = _clusters(records)
    for record, first in zip(records, groups, strict=True):
        cluster = clusters.dialogue_of_turn(record.record_id) or records[first].record_id
        speakers = speakers_before_response(len(record.fields))
        item = Item(corpus, record.record_id, "en", "turn", cluster, speakers, record.fields)
        reading.add(item, f"row {record.row}")
    for dimension, source, values in _rated_dimensions(path, dataset):
        if len(values) != len(records):
            raise UserError(
                f"{source}: {len(values)} ratings for '{dataset}', but {path} has {len(records)} rows; both must come "
                "from the same release"
            )
        reading.ratings += _ratings((corpus, dataset, dimension), records, values, scales.get(dimension), source)
        if source.name == _SINGLE_FILE:
            reading.notes[f"ratings without a dimension in the files, used as {dimension}"] += len(values)
    return check(reading)


def turn_source_files(path: Path) -> list[Path]:
    """Return the files that a data set is read from: a rating could come into any of them."""
    return [path, *_rating_files(path)]


def _clusters(records: list[TabRecord]) -> list[int]:
    dialogues = [clusters.dialogue_of_turn(record.record_id) for record in records]
    if None not in dialogues:
        return clusters.merged(dialogues)
    return clusters.context_clusters([record.fields for record in records])


def _rated_dimensions(path: Path, dataset: str) -> list[tuple[str, Path, list[Any]]]:
    """Return the ratings of a data set: dimension, file and values."""
    found: dict[str, tuple[str, Path, list[Any]]] = {}
    known: set[str] = set()
    files = _rating_files(path)
    for file in files:
        single = file.name == _SINGLE_FILE
        if single and found:
            continue
        content = _content(file)
        known |= set(content)
        if dataset in content:
            dimension = single_dimension(dataset) if single else _dimension_of(file)
            if not isinstance(content[dataset], list):
                raise UserError(f"{file}: '{dataset}' must be a list of ratings, not {content[dataset]!r:.60}")
            found.setdefault(dimension, (dimension, file, content[dataset]))
    if found:
        return list(found.values())
    if not files:
        raise UserError(
            f"{path}: no file of ratings beside it; turn_<dimension>_ratings.json or {_SINGLE_FILE} of "
            f"comp-analysis must be in {path.parent} or in {path.parent.parent / 'turn_level_texts'}"
        )
    raise UserError(
        f"{path}: '{dataset}' has no ratings in {', '.join(str(file) for file in files)}; {nearest(dataset, known)}"
    )


def _rating_files(path: Path) -> list[Path]:
    """Return the files of ratings, dimensions in the paper's order, then the single one; the texts' folder first."""
    names = [f"turn_{_FILE_NAMES.get(dimension, dimension)}_ratings.json" for dimension in DIMENSIONS["turn"]]
    folders = dict.fromkeys((path.parent, path.parent.parent / "turn_level_texts"))
    return [folder / name for name in (*names, _SINGLE_FILE) for folder in folders if (folder / name).is_file()]


def _content(file: Path) -> dict[str, Any]:
    content = read_json(file)
    if not isinstance(content, dict):
        raise UserError(
            f"{file}: a JSON object that maps data sets to lists of ratings is needed, not {type(content).__name__}; "
            "download it again"
        )
    return content


def _dimension_of(file: Path) -> str:
    name = file.name.removeprefix("turn_").removesuffix("_ratings.json")
    return next(dimension for dimension in DIMENSIONS["turn"] if _FILE_NAMES.get(dimension, dimension) == name)


def _ratings(
    name: tuple[str, str, str], records: list[TabRecord], values: list[Any], scale: Scale | None, source: Path
) -> Iterable[Rating]:
    """Yield the ratings of one dimension: human ratings if their scale is known, else GPT-4's."""
    corpus, dataset, dimension = name
    for position, (record, value) in enumerate(zip(records, values, strict=True)):
        place = f"{source}, '{dataset}', position {position} ({record.record_id:.60})"
        key = (corpus, record.record_id, dimension)
        if scale is None:
            yield Rating(*key, "model", "gpt-4", None, rating_value(value, MODEL_SCALE, place), None, *MODEL_SCALE)
        else:
            rating = rating_value(value, scale, place)
            yield Rating(*key, "human", PEOPLE, None, rating, N_RATERS.get(dataset), *scale)


# The TAB-separated texts of comp-analysis: an id, then one utterance per field.

_LONGEST_TAG = 40
"""Characters of a speaker's name; what stands before a colon further on is text."""


class TabRecord(NamedTuple):
    """One record: its number in the file, counted from 1, its id, and its fields, without blanks around them."""

    row: int
    record_id: str
    fields: tuple[str, ...]


def read_records(path: Path) -> list[TabRecord]:
    """Read a file; ratings refer to records by position, so nothing is passed over.

    Raises:
        UserError: the file cannot be read, is empty, or has a blank row or one without a TAB, with its number.
    """
    records = []
    for row, (record_id, *texts) in enumerate(read_fields(path), start=1):
        records.append(TabRecord(row, record_id.strip(), tuple(text.strip() for text in texts)))
    return records


def read_fields(path: Path) -> list[list[str]]:
    """Read the fields of every row, with the blanks around them."""
    lines = read_text(path).split("\n")
    if not lines[-1].strip():
        lines.pop()
    if not lines:
        raise UserError(f"{path}: the file is empty; download it again")
    rows = []
    for row, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if len(fields) < 2 or not line.strip():
            what = "is blank" if not line.strip() else f"has no TAB: {line!r:.60}"
            raise UserError(f"{path}, row {row} {what}; write an id and the utterances, with a TAB before each")
        rows.append(fields)
    return rows


def split_speaker(text: str, place: str) -> tuple[str, str]:
    """Return speaker and text of a field `speaker: text`.

    Raises:
        UserError: there is no speaker.
    """
    speaker, colon, utterance = text.partition(":")
    if not colon or not speaker.strip() or len(speaker) > _LONGEST_TAG:
        raise UserError(
            f"{place}: {text!r:.60} does not begin with a speaker and a colon; replace a TAB inside an utterance "
            f"with a blank, since it would split the utterance"
        )
    return speaker.strip(), utterance.strip()
