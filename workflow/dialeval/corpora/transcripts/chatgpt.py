"""The export of ChatGPT, `conversations.json`: each conversation is a tree, as a message may be edited or asked anew.

    {"conversation_id": "c1", "current_node": "n3", "mapping": {
     "n3": {"parent": "n2", "message": {"author": {"role": "assistant"}, "content": {"parts": ["Hello"]}}}, ...}}

What is read is what the user saw last: the way from the root to `current_node`. The system is the model that answered
there. What a model wrote to a tool, and thoughts, are kept apart from what was said.
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

_ASIDES = {"code": "tool_use", "execution_output": "tool_result", "thoughts": "thinking", "reasoning_recap": "thinking"}
"""Kinds of content that are not said, and what they are."""
_TEXT_FIELDS = {"tool_use": "input", "tool_result": "content", "thinking": "thinking"}


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogue of one conversation.

    Raises:
        UserError: the place, and what is wrong with the tree there.
    """
    record, where = line.record, line.where
    mapping, last = required(record, "mapping", where), required(record, "current_node", where)
    shown = [message for message in _way(mapping, last, where) if not _is_hidden(message)]
    models = [_model(message) for message in shown if _role(message) == "assistant" and _model(message)]
    if len({*models}) > 1:
        notes["conversations in which several models answered, taken for the last one's"] += 1
    about = {
        "conversation_id": record.get("conversation_id") or record.get("id"),
        "model": models[-1] if models else record.get("default_model_slug"),
    }
    messages = [_entry(message) for message in shown]
    yield transcript(line._replace(record={**about, "messages": messages}), "messages", notes)


def _way(mapping: Any, last: Any, where: str) -> list[dict[str, Any]]:
    """Returns the messages from the root of a tree to a node.

    Raises:
        UserError: a node that another names is not there, or is its own ancestor.
    """
    way: list[dict[str, Any]] = []
    seen: set[Any] = set()
    while last is not None:
        node = mapping.get(last) if isinstance(mapping, dict) and isinstance(last, str) else None
        if not isinstance(node, dict) or last in seen:
            fault = "stands above itself" if node else "is not there"
            raise UserError(f"{where}: in 'mapping' the node {last!r:.60} {fault}; export the conversations anew")
        seen.add(last)
        if isinstance(node.get("message"), dict):
            way.append(node["message"])
        last = node.get("parent")
    return way[::-1]


def _entry(message: dict[str, Any]) -> dict[str, Any]:
    content = _object(message, "content")
    kind = _ASIDES.get(str(content.get("content_type")))
    if _role(message) == "assistant" and message.get("recipient", "all") != "all":
        kind = "tool_use"
    parts = [_part(part) for part in _parts(content)]
    if kind is not None:
        text = "\n".join(str(part.get("text", "")) for part in parts)
        parts = [{"type": kind, "name": message.get("recipient"), _TEXT_FIELDS[kind]: text}]
    return {"role": _role(message), "content": parts}


def _parts(content: dict[str, Any]) -> list[Any]:
    for name in ("parts", "thoughts"):
        if isinstance(content.get(name), list):
            return list(content[name])
    return [next((content[name] for name in ("text", "content", "result") if content.get(name)), "")]


def _part(part: Any) -> dict[str, Any]:
    """Returns a part of a content as OpenAI's messages have it; what is no text is named by its kind."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict) and isinstance(part.get("content", part.get("text")), str):
        return {"type": "text", "text": part.get("content", part.get("text"))}
    kind = part.get("content_type") if isinstance(part, dict) else None
    return {"type": kind if isinstance(kind, str) else "attachment"}


def _is_hidden(message: dict[str, Any]) -> bool:
    """Returns whether the user did not see a message, such as an empty system prompt or the user's own settings."""
    return _object(message, "metadata").get("is_visually_hidden_from_conversation") is True


def _role(message: dict[str, Any]) -> Any:
    return _object(message, "author").get("role")


def _model(message: dict[str, Any]) -> str:
    slug = _object(message, "metadata").get("model_slug")
    return slug if isinstance(slug, str) else ""


def _object(outer: dict[str, Any], name: str) -> dict[str, Any]:
    return outer[name] if isinstance(outer.get(name), dict) else {}
