"""DSTC10's human evaluation data in English, `<set>_eval.json`, which DSTC11 gives out again under `metadata/dev/en`.

    {"context": "is it raining ?\\nsince six .", "response": "i take the bus .", "annotations": {"relevance": [5, 4]}}
    {"dialog": [{"speaker": "human", "text": "Hi!"}, {"speaker": "model", "text": "Hello."}],
     "annotations": {"Coherent": [2, 1]}, "dialogue_id": "fed-dial_00017"}

The track put other people's data sets into one form. The scales are those of their authors; *appropriateness* of Zhao's
sets is what their authors call *overall*. Ids count a file's records from 0, as xDial-Eval's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dialeval.corpora import authors_files
from dialeval.corpora.comp_dialogue import SPEAKERS
from dialeval.corpora.fed import names_speakers, said_in
from dialeval.corpora.gathering import Gathering, before_response
from dialeval.corpora.json_fields import name_of, required, text_of
from dialeval.corpora.rated import RatedReading, Scale, only_english
from dialeval.corpora.rating_scales import FED_DIALOGUE, FED_TURN, USR, ZHAO, Dimensions
from dialeval.corpora.single_ratings import ratings_of
from dialeval.errors import UserError, nearest

_ONE_TO_FIVE = Scale(1.0, 5.0)
_GRADE: Dimensions = {"relevance": ("relevance", _ONE_TO_FIVE)}
_ZHAO: Dimensions = {**ZHAO, "appropriateness": ZHAO["overall"]}
SETS: Mapping[str, Dimensions] = {
    "convai2-grade": _GRADE,
    "dailydialog-grade": _GRADE,
    "empathetic-grade": _GRADE,
    "dailydialog-gupta": {"overall": ("overall", _ONE_TO_FIVE)},
    "dailydialog-zhao": _ZHAO,
    "persona-zhao": _ZHAO,
    "persona-usr": USR,
    "topical-usr": USR,
    "fed-turn": FED_TURN,
    "fed-dial": FED_DIALOGUE,
}
"""What was rated in the sets whose scales are known."""
_DIALOGUES = "fed-dial"
_NAME = re.compile(r"(.+?)_eval.*", re.IGNORECASE)


def read(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads a set.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the record, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    name = _set_of(path)
    field = "dialog" if name == _DIALOGUES else "response"
    gathering = Gathering(corpus, path, "dialogue" if name == _DIALOGUES else "turn")
    for number, line in enumerate(authors_files.records(path, "dstc10_json", (field,))):
        said = _dialogue(line.record, line.where) if name == _DIALOGUES else _reply(line.record, line.where)
        item_id = f"{name}-{number:06d}"
        annotations = line.record.get("annotations")
        ratings = ratings_of((corpus, item_id), annotations, SETS[name], line.where, gathering.reading.notes)
        gathering.take(item_id, line.where, said, ratings)
    return gathering.checked()


def _set_of(path: Path) -> str:
    match = _NAME.fullmatch(path.stem)
    name = (match[1] if match else path.stem).casefold()
    if name not in SETS:
        raise UserError(
            f"{path}: '{name:.60}' is none of DSTC10's sets whose scales are known ({nearest(name, SETS)}); the file "
            "is named <set>_eval.json. Another set is read from JSON Lines (reader rated_jsonl), where every rating "
            "names its scale"
        )
    return name


def _reply(record: dict[str, Any], where: str) -> list[tuple[str, str]]:
    if names_speakers(record.get("context")):
        return said_in(record, where)
    context = "" if record.get("context") is None else text_of(record["context"], "context", where)
    parts = [part.strip() for part in context.split("\n") if part.strip()]
    return before_response([*parts, text_of(record["response"], "response", where)])


def _dialogue(record: dict[str, Any], where: str) -> list[tuple[str, str]]:
    if not isinstance(record["dialog"], list):
        raise UserError(f"{where}: 'dialog' must be a list of utterances, not {record['dialog']!r:.60}")
    said = []
    for number, part in enumerate(record["dialog"], start=1):
        place = f"{where}, 'dialog', utterance {number}"
        if not isinstance(part, dict):
            raise UserError(f"{place} must be an object with 'speaker' and 'text', not {part!r:.60}")
        speaker = name_of(required(part, "speaker", place), "speaker", place)
        said.append((SPEAKERS.get(speaker.lower(), speaker), text_of(required(part, "text", place), "text", place)))
    return said
