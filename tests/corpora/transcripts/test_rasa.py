"""Rasa's trackers: what user and bot said, and what the bot did between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.errors import UserError

EVENTS: list[dict[str, Any]] = [
    {"event": "action", "name": "action_session_start"},
    {"event": "user", "text": "Where is it?", "parse_data": {"intent": {"name": "where"}}},
    {"event": "slot", "name": "order", "value": 7},
    {"event": "action", "name": "action_find"},
    {"event": "action", "name": "utter_place"},
    {"event": "bot", "text": "In Ulm."},
    {"event": "bot", "text": None, "data": {"image": "map.png"}},
]


def test_a_tracker_is_a_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "trackers.json"
    path.write_text(json.dumps([{"sender_id": "c1", "events": EVENTS}]), encoding="utf-8")
    reading = read_items("bot", path, Options(system="heron"))
    (item,) = reading.items
    assert (item.item_id, item.judged, item.utterances) == ("c1/heron", "bot", ("Where is it?", "In Ulm."))
    assert [row["text"] for row in reading.asides] == ["action_find()"]


def test_events_that_are_none_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trackers.json"
    path.write_text(json.dumps([{"sender_id": "c1", "events": ["user: hi"]}]), encoding="utf-8")
    with pytest.raises(UserError, match="trackers.json, record 1: 'events' must be a list of objects"):
        read_items("bot", path, Options())
