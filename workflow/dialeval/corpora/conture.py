"""ConTurE in its authors' own file, `data.json`: dialogues of people with chatbots, rated reply by reply and whole.

    {"dialog_id": 4, "turns": [{"user": "User: Hi", "chatbot": "Chatbot: It rains.", "overall impression": 1}],
     "dialog_ratings": [{"coherent": 2, "human (overall)": 4}, {"coherent": 3, "human (overall)": "N/A"}]}

A reply has one rating, that of most of three people. It is shown with all that was said before it, as it was to them.
Ids count the replies, and the dialogues, from 0, as xDial-Eval's do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dialeval.corpora import authors_files
from dialeval.corpora.gathering import Gathering
from dialeval.corpora.items import Rating
from dialeval.corpora.json_fields import required, text_of
from dialeval.corpora.rated import PEOPLE, RatedReading, only_english, rating_value
from dialeval.corpora.rating_scales import CONTURE_DIALOGUE, RATED_BY_PEOPLE
from dialeval.corpora.single_ratings import is_missing, ratings_of
from dialeval.corpora.text_files import JsonLine
from dialeval.errors import UserError

NOTHING_SAID = "<EMPTY>"
"""Stands for an utterance without a text, as in comp-analysis' copy; people rated such replies, too."""
_IMPRESSION = "overall impression"
_SPEAKERS = {"user": "human", "chatbot": "chatbot"}
_TAG = re.compile(r"(?:User|Chatbot)\s*:", re.IGNORECASE)


def read_turns(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the chatbots' replies.

    Args:
        corpus: its name in the configuration.
        path: the JSON file.
        languages: must hold `en` where it is given.

    Raises:
        UserError: the file, the dialogue and turn, what is wrong there, and the remedy.
    """
    only_english(languages, str(path))
    scale = RATED_BY_PEOPLE["conture-turn"]["overall"]
    gathering = Gathering(corpus, path, "turn")
    number = 0
    for line in authors_files.records(path, "conture_turn", ("turns",)):
        said: list[tuple[str, str]] = []
        dialogue = f"conture-turn-{number:06d}"
        for turn, where in _turns(line):
            said += _pair(turn, where, gathering.reading.notes)
            item_id = f"conture-turn-{number:06d}"
            number += 1
            ratings = []
            if not is_missing(turn.get(_IMPRESSION)):
                value = rating_value(turn[_IMPRESSION], scale, f"{where}, '{_IMPRESSION}'")
                ratings.append(Rating(corpus, item_id, "overall", "human", PEOPLE, None, value, None, *scale))
            gathering.take(item_id, where, said, ratings, cluster=dialogue)
    return gathering.checked()


def read_dialogues(corpus: str, path: Path, languages: Iterable[str] | None = None) -> RatedReading:
    """Reads the whole dialogues; arguments and errors are those of `read_turns`."""
    only_english(languages, str(path))
    gathering = Gathering(corpus, path, "dialogue")
    notes = gathering.reading.notes
    for number, line in enumerate(authors_files.records(path, "conture_dialogue", ("turns", "dialog_ratings"))):
        said = [part for turn, where in _turns(line) for part in _pair(turn, where, notes)]
        item_id = f"conture-dial-{number:06d}"
        rated = _by_dimension(line.record["dialog_ratings"], line.where)
        gathering.take(
            item_id, line.where, said, ratings_of((corpus, item_id), rated, CONTURE_DIALOGUE, line.where, notes)
        )
    return gathering.checked()


def _turns(line: JsonLine) -> Iterator[tuple[dict[str, Any], str]]:
    turns = line.record["turns"]
    if not isinstance(turns, list):
        raise UserError(f"{line.where}: 'turns' must be a list of objects with 'user' and 'chatbot', not {turns!r:.60}")
    for number, turn in enumerate(turns, start=1):
        where = f"{line.where}, turn {number}"
        if not isinstance(turn, dict):
            raise UserError(f"{where}: an object with 'user' and 'chatbot' is needed, not {turn!r:.60}")
        yield turn, where


def _pair(turn: dict[str, Any], where: str, notes: Counter[str]) -> list[tuple[str, str]]:
    pair = []
    for name, speaker in _SPEAKERS.items():
        text = text_of(required(turn, name, where), name, where)
        tag = _TAG.match(text)
        text = text[tag.end() :].strip() if tag else text
        if not text:
            notes[f"utterances without a text, shown as {NOTHING_SAID}"] += 1
        pair.append((speaker, text or NOTHING_SAID))
    return pair


def _by_dimension(raters: Any, where: str) -> dict[str, list[Any]]:
    """Returns everyone's ratings by dimension; where a rater left one out, null."""
    if raters is None:
        return {}
    if not isinstance(raters, list) or not all(isinstance(one, dict) for one in raters):
        raise UserError(
            f"{where}: 'dialog_ratings' must be a list with an object of dimension -> rating for each rater"
        )
    return {name: [one.get(name) for one in raters] for name in dict.fromkeys(name for one in raters for name in one)}
