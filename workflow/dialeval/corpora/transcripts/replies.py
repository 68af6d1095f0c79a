"""A reply, and what came before it, in two fields.

    {"instruction": "Name a bird.", "output": "The heron.", "generator": "alpha"}
    {"context": ["Hi", "Hello", "Name a bird."], "response": "The heron.", "model": "alpha"}
    {"instruction": "Name a bird.", "completions": [{"model": "alpha", "response": "The heron."}, ...]}

What came before may be a text, several in turn of which the last is the user's, pairs of them, or a list of messages. A
text that stands beside a question as its `input` or `context` belongs to it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.records import EARLIER, QUESTIONS, REPLIES, SYSTEM_FIELDS, named
from dialeval.corpora.transcripts.sharegpt import transcript
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

_SYSTEM_FIELDS = (*SYSTEM_FIELDS, "generator")
_SEVERAL = "completions"
_TURNS = ("user", "assistant")


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogue of one object, or one for each of its completions.

    Raises:
        UserError: the place, what is wrong there, and the remedy.
    """
    replies = line.record.get(_SEVERAL, [line.record])
    if not isinstance(replies, list) or not all(isinstance(reply, dict) for reply in replies):
        raise UserError(f"{line.where}: '{_SEVERAL}' must be a list of objects with 'model' and 'response'")
    for reply in replies:
        yield transcript(line._replace(record=_record(line, reply)), "messages", notes)


def _record(line: JsonLine, reply: dict[str, Any]) -> dict[str, Any]:
    """Returns an object whose `messages` are what came before, and a reply."""
    reply_field = next((name for name in REPLIES if name in reply), REPLIES[0])
    said = reply.get(reply_field)
    if not isinstance(said, str):
        raise UserError(f"{line.where}: '{reply_field}' is {said!r:.60}; it must be a text, the reply")
    earlier = _earlier(line.record, line.where)
    messages = [
        {"role": _TURNS[(len(earlier) - 1 - place) % 2], "content": entry} if isinstance(entry, str) else entry
        for place, entry in enumerate(earlier)
    ]
    whole = {name: value for name, value in line.record.items() if name != "model"}
    whole["prompt"] = "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in earlier)
    whole["model"] = named(reply, _SYSTEM_FIELDS, line.where) or None
    return {**whole, "messages": [*messages, {"role": "assistant", "content": said}]}


def _earlier(record: dict[str, Any], where: str) -> list[Any]:
    """Returns what came before a reply: texts in turn, of which the last is the user's, and messages.

    Raises:
        UserError: it is neither a text nor a list.
    """
    said: list[Any] = []
    about: list[str] = []
    question = next((name for name in QUESTIONS if record.get(name) is not None), "")
    for name in (*EARLIER, "input") if question else EARLIER:
        value = record.get(name)
        if isinstance(value, list):
            said += [text for entry in value for text in (entry if isinstance(entry, list) else [entry])]
        elif isinstance(value, str):
            about += [value] * bool(value.strip())
        elif value is not None:
            raise UserError(f"{where}: '{name}' is {value!r:.60}; it must be a text or a list of them")
    asked = record.get(question)
    if isinstance(asked, list):
        return [*said, *asked]
    if question and not isinstance(asked, str):
        raise UserError(f"{where}: '{question}' is {asked!r:.60}; it must be a text or a list of them")
    texts = [text for text in (asked, *about) if text]
    return [*said, "\n\n".join(texts)] if texts else said
