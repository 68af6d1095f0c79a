"""Dialogues as lists within lists, made plain.

    {"dialog": [[{"id": "teacher", "text": "Hi"}, {"id": "heron", "text": "Hello"}]]}     ParlAI: by exchange
    {"dialog": [[0, "Hi"], [1, "Hello"]]}                                                 a number for each speaker
    [["M: Hi", "W: Hello"], [{"question": ...}], "4-1"]                                   DREAM: dialogue, questions, id

In ParlAI's files `id` says who speaks; so it does in a plain list where the record names `speakers`.
"""

from __future__ import annotations

from typing import Any

from dialeval.corpora.transcripts.entries import SPEAKER_FIELDS
from dialeval.corpora.transcripts.spoken import said_by


def unnested(record: dict[str, Any], field: str) -> dict[str, Any]:
    """Returns a record whose dialogue, in a field, is a plain list of entries; one that is plain already as it is."""
    entries = record[field]
    if not isinstance(entries, list):
        return record
    if _is_dream(entries):
        return {**record, field: [said_by(text) for text in entries[0]], "dialogue_id": entries[2]}
    if entries and all(_is_numbered(entry) for entry in entries):
        return {**record, field: [{"speaker": f"{who}", "text": text} for who, text in entries]}
    if entries and all(isinstance(entry, list) and all(isinstance(act, dict) for act in entry) for entry in entries):
        return {**record, field: [_by_id(act) for entry in entries for act in entry]}
    named = record.get("speakers")
    if isinstance(named, list) and entries and all(isinstance(one, dict) and one.get("id") in named for one in entries):
        return {**record, field: [_by_id(entry) for entry in entries]}
    return record


def _is_dream(entries: list[Any]) -> bool:
    if len(entries) != 3 or not all(isinstance(entry, list) for entry in entries[:2]):
        return False
    return all(isinstance(text, str) for text in (*entries[0], entries[2]))


def _is_numbered(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int and isinstance(entry[1], str)


def _by_id(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns an entry whose speaker its `id` names, if nothing else does."""
    if "id" not in entry or any(name in entry for name in SPEAKER_FIELDS):
        return entry
    return {"speaker": entry["id"], **entry}
