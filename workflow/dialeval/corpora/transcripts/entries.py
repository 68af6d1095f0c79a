"""The entries of a dialogue in JSON: a text, or an object that says who speaks and what, and which tools it used."""

from __future__ import annotations

import json
from typing import Any

from dialeval.corpora.json_fields import name_of
from dialeval.corpora.transcripts.transcript import Told
from dialeval.errors import UserError

SPEAKER_FIELDS = ("speaker", "role", "from", "sender")
TEXT_FIELDS = ("text", "content", "value", "utterance", "message")
_SAID_PARTS = ("text", "input_text", "output_text", "refusal")
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
_CALL_FIELDS = ("tool_calls", "function_call")


def tell(entries: Any, field: str, where: str, told: Told) -> None:
    """Takes the entries of a dialogue.

    Raises:
        UserError: it is no list, or an entry is neither a text nor an object that says who speaks and what.
    """
    if not isinstance(entries, list):
        raise UserError(f"{where}: '{field}' must be a list of utterances, not {_shown(entries)}")
    for number, entry in enumerate(entries, start=1):
        place = f"{where}, '{field}', entry {number}"
        if isinstance(entry, str):
            told.say("", entry)
        elif isinstance(entry, dict):
            _tell_one(entry, place, told)
        else:
            raise UserError(f"{place} must be a text or an object that says who speaks and what, not {_shown(entry)}")


def _tell_one(entry: dict[str, Any], place: str, told: Told) -> None:
    speaker_field = next((name for name in SPEAKER_FIELDS if entry.get(name) is not None), None)
    speaker = name_of(entry[speaker_field], speaker_field, place) if speaker_field else ""
    if speaker_field and not speaker:
        raise UserError(f"{place}: '{speaker_field}' is empty; name who speaks")
    calls = [call for name in _CALL_FIELDS for call in _calls(entry.get(name), name, place)]
    text_field = next((name for name in TEXT_FIELDS if name in entry), None)
    if text_field is None and not calls:
        raise UserError(f"{place} has no text: {_shown(entry)}; give it one of {', '.join(TEXT_FIELDS)}")
    for name in _THOUGHT_FIELDS:
        if isinstance(entry.get(name), str) and entry[name].strip():
            told.add_aside("reasoning", entry[name])
    content = entry.get(text_field) if text_field else None
    if content is None and isinstance(entry.get("refusal"), str):
        content = entry["refusal"]
    texts = _texts(content, place, told)
    if texts or not calls:
        told.say(speaker, "\n".join(texts))
    for call in calls:
        told.add_aside("tool_call", call)


def _texts(content: Any, place: str, told: Told) -> list[str]:
    """Returns what a content says, of which parts may be said, thought, or tools at work."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content] if content.strip() else []
    if not isinstance(content, list):
        raise UserError(f"{place}: the text is {_shown(content)}; it must be a text or a list of parts")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise UserError(f"{place}: a part of the text is {_shown(part)}; not a text or an object with 'type'")
        elif part["type"] in _SAID_PARTS:
            said = part.get("refusal" if part["type"] == "refusal" else "text")
            if not isinstance(said, str):
                raise UserError(f"{place}: a part of type '{part['type']}' has no text: {_shown(part)}")
            texts.append(said)
        elif part["type"] == "tool_use":
            told.add_aside("tool_call", _call(part.get("name"), part.get("input")))
        elif part["type"] == "tool_result":
            told.add_aside("tool_result", _plain(part.get("content")))
        elif part["type"] in ("thinking", "reasoning"):
            told.add_aside("reasoning", _plain(part.get(part["type"], part.get("text"))))
        else:
            told.notes["parts that are no text, such as images, told as [their kind]"] += 1
            texts.append(f"[{part['type']:.40}]")
    return [text for text in texts if text.strip()]


def _calls(value: Any, field: str, place: str) -> list[str]:
    if value is None:
        return []
    calls = value if isinstance(value, list) else [value]
    if not all(isinstance(call, dict) for call in calls):
        raise UserError(f"{place}: '{field}' is {_shown(value)}; it must be a list of objects")
    functions = [call["function"] if isinstance(call.get("function"), dict) else call for call in calls]
    return [_call(function.get("name"), function.get("arguments")) for function in functions]


def _call(name: Any, arguments: Any) -> str:
    return f"{name if isinstance(name, str) else 'tool'}({_plain(arguments)})"


def _plain(value: Any) -> str:
    """Returns a value as text: JSON where it is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _shown(value: Any) -> str:
    return f"{json.dumps(value, ensure_ascii=False, default=str):.60}"  # Parquet has times, too
