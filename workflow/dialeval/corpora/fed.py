"""FED in its authors' own file, `fed_data.json`: replies, and whole dialogues, of two chatbots and people in one list.

    {"context": "User: Hi!\\nSystem: Good morning.\\nUser: Is it raining?", "response": "System: Since six.",
     "system": "Meena", "annotations": {"Relevant": [2, 2, 1], "Overall": [4, 3, "N/A (I do not know)"]}}

A record without `response` is a dialogue. Ids count the replies, and the dialogues, from 0, as xDial-Eval's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.corpora import authors_files
from dialeval.corpora.gathering import Gathering
from dialeval.corpora.json_fields import text_of
from dialeval.corpora.rated import RatedReading, only_english
from dialeval.corpora.rating_scales import FED_DIALOGUE, FED_TURN, Dimensions
from dialeval.corpora.single_ratings import ratings_of
from dialeval.criteria import Level
from dialeval.errors import UserError

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
    for line in authors_files.records(path, f"fed_{level}", ("context", "annotations")):
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
