"""FED in its authors' own file, and in DSTC10's human evaluation data.

    {"context": "User: Hi!\nSystem: Good morning.\nUser: Is it raining?", "response": "System: Since six.",
     "system": "Meena", "annotations": {"Relevant": [2, 2, 1], "Overall": [4, 3, "N/A (I do not know)"]}}

A record without `response` is a dialogue. Ids count the replies, and the dialogues, from 0, as xDial-Eval's do.

    {"context": "is it raining ?\nsince six .", "response": "i take the bus .", "annotations": {"relevance": [5, 4]}}
    {"dialog": [{"speaker": "human", "text": "Hi!"}, {"speaker": "model", "text": "Hello."}],
     "annotations": {"Coherent": [2, 1]}, "dialogue_id": "fed-dial_00017"}

The track put other people's data sets into one form. The scales are those of their authors; *appropriateness* of Zhao's
sets is what their authors call *overall*. Ids count a file's records from 0, as xDial-Eval's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.corpora import rating_scales
from dialeval.corpora.comp_analysis import SPEAKERS
from dialeval.corpora.json_records import name_of, required, text_of
from dialeval.corpora.rated_items import Gathering, RatedReading, Scale, before_response, only_english
from dialeval.corpora.rating_scales import FED_DIALOGUE, FED_TURN, USR, ZHAO, Dimensions, ratings_of
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest

# FED in its authors' own file, `fed_data.json`: replies, and whole dialogues, of two chatbots and people in one list.

_KINDS: dict[Level, tuple[str, Dimensions]] = {"turn": ("fed-turn", FED_TURN), "dialogue": ("fed-dial", FED_DIALOGUE)}
"""How ids begin, and what was rated."""
_OTHERS = {"turn": "dialogues, which reader fed_dialogue takes", "dialogue": "replies, which reader fed_turn takes"}
_TAG = re.compile(r"(User|System)\s*:(.*)", re.IGNORECASE | re.DOTALL)
_SPEAKERS = {"user": "human", "system": "chatbot"}


def _read(corpus: str, path: Path, languages: Iterable[str] | None = None, *, level: Level) -> RatedReading:
    """Reads the replies, or the dialogues.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.
        level: which of the two.

    Raises:
        UserError: the file, the record, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    beginning, dimensions = _KINDS[level]
    gathering = Gathering(corpus, path, level)
    number = 0
    for line in rating_scales.records(path, f"fed_{level}", ("context", "annotations")):
        if level != ("dialogue" if line.record.get("response") is None else "turn"):
            gathering.reading.skipped[_OTHERS[level]] += 1
            continue
        item_id = f"{beginning}-{number:06d}"
        number += 1
        said = said_in(line.record, line.where)
        notes = gathering.reading.notes
        ratings = ratings_of((corpus, item_id), line.record["annotations"], dimensions, line.where, notes)
        gathering.take(item_id, line.where, said, ratings)
    return gathering.checked()


read_turns = partial(_read, level="turn")
read_dialogues = partial(_read, level="dialogue")


def names_speakers(context: Any) -> bool:
    """Returns whether a context begins with the name of a speaker."""
    return isinstance(context, str) and _TAG.match(context.strip()) is not None


def said_in(record: dict[str, Any], where: str) -> list[tuple[str, str]]:
    """Returns speaker and text of each utterance; a line that names no speaker goes on with the one before.

    Args:
        record: of the file.
        where: file and record, for messages.

    Raises:
        UserError: the first line names no speaker, or a text is none.
    """
    said: list[tuple[str, str]] = []
    for number, part in enumerate(text_of(record["context"], "context", where).split("\n"), start=1):
        match = _TAG.fullmatch(part.strip())
        if match:
            said.append((_SPEAKERS[match[1].lower()], match[2].strip()))
        elif said:
            speaker, before = said[-1]
            said[-1] = (speaker, f"{before}\n{part.strip()}".strip())
        elif part.strip():
            raise UserError(
                f"{where}: line {number} of 'context' begins with neither 'User:' nor 'System:' ({part!r:.60}); write "
                "there who speaks"
            )
    if record.get("response") is not None:
        response = text_of(record["response"], "response", where)
        match = _TAG.fullmatch(response)
        said.append(("chatbot", match[2].strip() if match else response))
    return said


# DSTC10's human evaluation data in English, `<set>_eval.json`, which DSTC11 gives out again under `metadata/dev/en`.

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


def read_dstc10(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
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
    for number, line in enumerate(rating_scales.records(path, "dstc10_json", (field,))):
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
