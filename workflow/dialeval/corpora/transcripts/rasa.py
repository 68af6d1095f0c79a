"""Rasa's trackers, one for each conversation, as its API and its stores give them.

    {"sender_id": "c1", "events": [{"event": "user", "text": "Hi"}, {"event": "action", "name": "utter_greet"},
     {"event": "bot", "text": "Hello"}]}

What `user` and `bot` said is the dialogue; what the bot did between is kept apart as calls of tools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dialeval.corpora.json_fields import required
from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.sharegpt import transcript
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

_SPEAK = ("user", "bot")
_WAITING = ("action_listen", "action_session_start")
"""Actions in which nothing is done."""


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogue of one tracker.

    Raises:
        UserError: the place, what is wrong there, and the remedy.
    """
    events = required(line.record, "events", line.where)
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise UserError(f"{line.where}: 'events' must be a list of objects; export the trackers anew")
    messages = [entry for event in events if (entry := _entry(event))]
    record = {**line.record, "messages": messages, "dialogue_id": required(line.record, "sender_id", line.where)}
    yield transcript(line._replace(record=record), "messages", notes)


def _entry(event: dict[str, Any]) -> dict[str, Any] | None:
    kind, action = event.get("event"), event.get("name")
    if kind in _SPEAK:
        return {"role": kind, "content": event.get("text")}
    is_done = kind == "action" and isinstance(action, str) and action not in _WAITING
    is_done = is_done and not str(action).startswith("utter_")  # what it says is an event of its own
    return {"role": "bot", "content": [{"type": "tool_use", "name": action, "input": ""}]} if is_done else None
