"""JSON formats of chats: ShareGPT, ChatGPT, Open Assistant, OpenAI messages, Rasa, Intercom, our own lines.

    {"id": "a1", "model": "alpha", "conversations": [
     {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}

`model` names the system. So does `system` where it is a name; in many files it is the system prompt, which is kept
apart.

    {"conversation_id": "c1", "current_node": "n3", "mapping": {
     "n3": {"parent": "n2", "message": {"author": {"role": "assistant"}, "content": {"parts": ["Hello"]}}}, ...}}

The dialogue is the branch that the user saw last, from the root to `current_node`. The system is the model that
answered there. Tool calls and reasoning are hidden messages.

    {"message_tree_id": "t1", "prompt": {"role": "prompter", "text": "Hi", "replies": [
     {"message_id": "m2", "role": "assistant", "text": "Hello", "replies": []}]}}

Each path from the prompt to a leaf is a dialogue. The messages may also be objects of their own, with `parent_id`.

    {"id": "a1", "model": "alpha", "messages": [
     {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}

Collections of chats call them `conversation`, Claude's export `chat_messages`, Gemini's requests `contents`. `content`
may be a list of parts. Tool calls and their results, and messages of the roles `system` and `developer`, are hidden
messages.

    {"sender_id": "c1", "events": [{"event": "user", "text": "Hi"}, {"event": "action", "name": "utter_greet"},
     {"event": "bot", "text": "Hello"}]}

Utterances of `user` and `bot` are the dialogue; actions of the bot between them are hidden messages (tool calls).

    {"id": "c1", "source": {"body": "<p>Hi</p>", "author": {"type": "user"}}, "conversation_parts": {
     "conversation_parts": [{"part_type": "comment", "body": "<p>Hello</p>", "author": {"type": "bot", "name": "A"}}]}}

Intercom's `lead` and `contact` are users, too; an `admin` is a human agent. The system is the bot, by its name.

    {"dialogue_id": "7", "system": "alpha", "case_id": "refund", "utterances": [
     {"speaker": "user", "text": "I want my money back."}, {"speaker": "assistant", "text": "I can see to that."}]}

`utterances` (or `dialogue`, `dialog`, `turns`) may be plain texts, of two speakers in turn or as `speakers` has it.
Optional are `case_id` or `prompt` (the case that systems share), `language`, `speakers` (names in turn), and
`reference`: a list of utterances, or a text in place of the last one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import cycle, islice
from typing import Any

from dialeval.corpora.json_records import name_of, value_at
from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.entries import (
    CLAUDES,
    PLAIN,
    SPEAKER_FIELDS,
    SYSTEM_FIELDS,
    TRANSCRIPT,
    TURNS,
    about,
    dialogue_field,
    named,
    read_entries,
    with_id,
)
from dialeval.corpora.transcripts.transcript import EntryReading, Transcript, speaker_and_text
from dialeval.errors import UserError

LONGEST_NAME = 80


def chats(line: JsonLine, notes: Counter[str], *, fields: Sequence[str]) -> Iterator[Transcript]:
    """Yield the dialogue of one object in ShareGPT's format, or in that of OpenAI's messages.

    Args:
        fields: fields of which one holds the messages.
    """
    field = dialogue_field(line.record, fields, line.where)
    record = {"id": line.record.get("uuid"), **line.record} if field == CLAUDES else with_id(line.record)
    yield transcript(line._replace(record=record), field, notes)


def transcript(line: JsonLine, field: str, notes: Counter[str]) -> Transcript:
    """Return the dialogue of one object of an export; `field` holds its messages."""
    record, where = line.record, line.where
    reading = EntryReading(notes)
    system = named(record, SYSTEM_FIELDS, where)
    for name in _PROMPTS:
        if text := _prompt_text(record.get(name)):
            reading.add_hidden("system", text)
    given = _prompt_text(record.get("system")) or record.get("system")
    if isinstance(given, str) and (system or is_prompt(given)):
        reading.add_hidden("system", given)
    else:
        system = system or named(record, ["system"], where)
    read_entries(record[field], field, where, reading)
    return reading.transcript(where, system=system, **about(record, where))


_PROMPTS = ("system_prompt", "systemInstruction", "system_instruction", "system_message")
"""Fields of a system prompt beside the messages."""


def _prompt_text(value: Any) -> str:
    """Return a text, or that of parts as Anthropic's and Gemini's endpoints take them; empty for others."""
    parts = value.get("parts", [value]) if isinstance(value, dict) else value
    if isinstance(parts, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        return "\n".join(text for text in texts if isinstance(text, str))
    return parts if isinstance(parts, str) else ""


def is_prompt(text: str) -> bool:
    """Return whether the field `system` holds a system prompt, not a name."""
    content = text.strip()
    if content.casefold().startswith(("you are ", "you're ")):
        return True
    return (
        len(content) > LONGEST_NAME
        or "\n" in content
        or content.endswith((".", "!", "?", ":", "。"))
        or content.count(" ") > 4
    )


# The export of ChatGPT, `conversations.json`: each conversation is a tree, as a message may be edited or regenerated.

_HIDDEN_TYPES = {
    "code": "tool_use",
    "execution_output": "tool_result",
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
}
"""Types of content that are hidden messages -> their type."""
_TEXT_FIELDS = {"tool_use": "input", "tool_result": "content", "thinking": "thinking"}


def chatgpt(record: dict[str, Any], where: str, notes: Counter[str]) -> dict[str, Any]:
    """Return a conversation as messages."""
    shown = [
        message for message in _branch(record["mapping"], record["current_node"], where) if not _is_hidden(message)
    ]
    slugs = [value_at(one, "metadata.model_slug") for one in shown if value_at(one, "author.role") == "assistant"]
    models = [slug for slug in slugs if isinstance(slug, str) and slug]
    if len({*models}) > 1:
        notes["conversations with several models, attributed to the last one"] += 1
    return {
        "conversation_id": record.get("conversation_id") or record.get("id"),
        "model": models[-1] if models else record.get("default_model_slug"),
        "messages": [_entry(message) for message in shown],
    }


def _branch(mapping: Any, last: Any, where: str) -> list[dict[str, Any]]:
    """Return the messages from the root of a tree to a node."""
    branch: list[dict[str, Any]] = []
    seen: set[Any] = set()
    while last is not None:
        node = mapping.get(last) if isinstance(mapping, dict) and isinstance(last, str) else None
        if not isinstance(node, dict) or last in seen:
            fault = "stands above itself" if node else "is not there"
            raise UserError(f"{where}: in 'mapping' the node {last!r:.60} {fault}; export the conversations again")
        seen.add(last)
        if isinstance(node.get("message"), dict):
            branch.append(node["message"])
        last = node.get("parent")
    return branch[::-1]


def _is_hidden(message: dict[str, Any]) -> bool:
    """Return whether the user did not see a message, such as an empty system prompt or the user's own settings."""
    return value_at(message, "metadata.is_visually_hidden_from_conversation") is True


def _entry(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"] if isinstance(message.get("content"), dict) else {}
    kind, role = _HIDDEN_TYPES.get(str(content.get("content_type"))), value_at(message, "author.role")
    if role == "assistant" and message.get("recipient", "all") != "all":
        kind = "tool_use"
    parts = [_part(part) for part in _parts(content)]
    if kind is not None:
        text = "\n".join(str(part.get("text", "")) for part in parts)
        parts = [{"type": kind, "name": message.get("recipient"), _TEXT_FIELDS[kind]: text}]
    return {"role": role, "content": parts}


def _part(part: Any) -> dict[str, Any]:
    """Return a part of a content in the form of OpenAI's messages; other parts than texts by their kind."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict) and isinstance(part.get("content", part.get("text")), str):
        return {"type": "text", "text": part.get("content", part.get("text"))}
    kind = part.get("content_type") if isinstance(part, dict) else None
    return {"type": kind if isinstance(kind, str) else "attachment"}


def _parts(content: dict[str, Any]) -> list[Any]:
    for name in ("parts", "thoughts"):
        if isinstance(content.get(name), list):
            return list(content[name])
    return [next((content[name] for name in ("text", "content", "result") if content.get(name)), "")]


# Trees of Open Assistant: each path from a prompt to a leaf is a dialogue on the tree's case.

_OASST_ROLES = {"prompter": "user", "assistant": "assistant"}


def oasst(lines: Iterable[JsonLine], notes: Counter[str]) -> Iterator[tuple[JsonLine, dict[str, Any]]]:
    """Yield the dialogues of trees, given whole or as messages with the ids of their parents, as messages."""
    roots: list[tuple[JsonLine, dict[str, Any]]] = []
    replies: dict[Any, list[dict[str, Any]]] = {}
    for line in lines:
        if isinstance(line.record.get("prompt"), dict):
            roots.append((line, line.record["prompt"]))
        elif line.record.get("parent_id") is None:
            roots.append((line, line.record))
        else:
            replies.setdefault(name_of(line.record["parent_id"], "parent_id", line.where), []).append(line.record)
    for line, root in roots:
        tree = named(line.record, ["message_tree_id", "message_id"], line.where)
        paths = [[root]]
        while paths:
            path = paths.pop(0)
            last = path[-1]
            message_id = named(last, ["message_id"], line.where)
            following = last.get("replies") or replies.get(message_id) or []
            if not isinstance(following, list):
                raise UserError(
                    f"{line.where}: 'replies' of message '{message_id:.60}' must be a list of messages, "
                    f"not {following!r:.60}"
                )
            kept = [reply for reply in following if isinstance(reply, dict) and not reply.get("deleted")]
            paths[:0] = [[*path, reply] for reply in kept if all(reply is not one for one in path)]
            if not kept:
                yield (
                    line,
                    {
                        "dialogue_id": message_id,
                        "case_id": tree,
                        "language": root.get("lang"),
                        "model": line.record.get("model")
                        or next((one["model_name"] for one in reversed(path) if one.get("model_name")), None),
                        "messages": [
                            {
                                "role": _OASST_ROLES.get(f"{one.get('role')}", one.get("role")),
                                "content": one.get("text"),
                            }
                            for one in path
                        ],
                    },
                )


# Rasa's trackers, one for each conversation, as its API and its stores give them.

_SPEAK = ("user", "bot")
_WAITING = ("action_listen", "action_session_start")
"""Actions without a tool call."""


def rasa(record: dict[str, Any], where: str, notes: Counter[str]) -> dict[str, Any]:
    """Return a tracker as messages."""
    events = record["events"]
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise UserError(f"{where}: 'events' must be a list of objects, not {events!r:.60}; export the trackers again")
    messages = [entry for event in events if (entry := _entry_rasa(event))]
    return {**record, "messages": messages, "dialogue_id": record["sender_id"]}


def _entry_rasa(event: dict[str, Any]) -> dict[str, Any] | None:
    kind, action = event.get("event"), event.get("name")
    if kind in _SPEAK:
        return {"role": kind, "content": event.get("text")}
    is_done = kind == "action" and isinstance(action, str) and action not in _WAITING
    is_done = is_done and not str(action).startswith("utter_")  # its utterance is an event of its own
    return {"role": "bot", "content": [{"type": "tool_use", "name": action, "input": ""}]} if is_done else None


# Intercom's conversations, one for each object, as its API and its export to files give them.

_INTERCOM_ROLES = {"user": "user", "lead": "user", "contact": "user", "admin": "admin", "bot": "bot"}
_INTERCOM_FIELDS = ("id", "dialogue_id", "case_id", "language", "model")
_HTML_BREAK = re.compile(r"<br\b[^<>]*>|</(?:p|div|li|h[1-6]|tr)>", re.IGNORECASE)
_HTML_TAG = re.compile(r"<[/!a-z][^<>]*>", re.IGNORECASE)


def intercom(record: dict[str, Any], where: str, notes: Counter[str]) -> dict[str, Any]:
    """Return a conversation as messages; its internal notes, assignments and other events are left out."""
    parts = value_at(record, "conversation_parts.conversation_parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in [record["source"], *parts]):
        raise UserError(
            f"{where}: a conversation of Intercom without its parts: 'source' must be an object, and "
            f"'conversation_parts' an object with the list 'conversation_parts'; retrieve each conversation by its "
            f"id, since lists and "
            f"searches leave the parts out"
        )
    messages: list[dict[str, Any]] = []
    bots: Counter[str] = Counter()
    for number, part in enumerate([record["source"], *parts]):
        body, author = part.get("body"), part["author"] if isinstance(part.get("author"), dict) else {}
        text = html_text(body) if isinstance(body, str) else ""
        if not text:
            notes["parts of conversations without text, such as assignments and images, left out"] += 1
        elif f"{part.get('part_type')}".startswith("note"):
            notes["internal notes left out"] += 1
        else:
            role = _INTERCOM_ROLES.get(f"{author.get('type')}")
            if role is None:
                raise UserError(
                    f"{where}, part {number}: the author's type is {author.get('type')!r:.40}; it must be one of "
                    f"{', '.join(_INTERCOM_ROLES)}"
                )
            if role == "bot" and isinstance(author.get("name"), str):
                bots[author["name"]] += 1
            messages.append({"role": role, "content": text})
    if len(bots) > 1:
        notes["conversations with several bots, attributed to the one with the most messages"] += 1
    bot = next((name for name, _ in bots.most_common(1)), None)
    return {"model": bot, **{name: record[name] for name in _INTERCOM_FIELDS if name in record}, "messages": messages}


def html_text(html: str) -> str:
    """Return the text of a message in HTML, without blank lines."""
    text = unescape(_HTML_TAG.sub("", _HTML_BREAK.sub("\n", html)))
    return "\n".join(filter(None, map(str.strip, text.splitlines())))


# The plain format for anyone's transcripts: JSON Lines, one dialogue of one system per line.


def plain_dialogues(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yield the dialogue of one object."""
    record, where = line.record, line.where
    reading = EntryReading(notes, prompts_by_role=False)
    field = dialogue_field(record, (*PLAIN, TURNS, TRANSCRIPT), where)
    record = with_id(_unnested(record, field))
    read_entries(_with_speakers(record[field], record.get("speakers"), where), field, where, reading)
    model = next((record[field] for field in SYSTEM_FIELDS if isinstance(record.get(field), str)), "").strip()
    found = reading.transcript(where, system=named(record, ["system"], where), model=model, **about(record, where))
    yield replace(found, reference=_reference(record.get("reference"), found))


def _with_speakers(entries: Any, speakers: Any, where: str) -> Any:
    """Return plain texts with the speakers that the record names, repeated if there are fewer."""
    if speakers is None or not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        return entries
    if not isinstance(speakers, list) or not speakers:
        raise UserError(f'{where}: \'speakers\' must be a list of names, such as ["user", "assistant"]')
    names = [name_of(speaker, "speakers", where) for speaker in speakers]
    return [
        {"speaker": name, "text": text} for name, text in zip(islice(cycle(names), len(entries)), entries, strict=True)
    ]


def _reference(value: Any, found: Transcript) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return speakers and utterances of a reference: a list of them, or a text in place of the last one."""
    if value is None:
        return (), ()
    if isinstance(value, str):
        has_text = value.strip() and found.utterances
        return found.speakers, (*found.utterances[:-1], value.strip()) if has_text else ()
    reading = EntryReading(Counter(), prompts_by_role=False)
    read_entries(value, "reference", found.place, reading)
    reference = reading.transcript(found.place)
    return reference.speakers, reference.utterances


# Dialogues as lists within lists, made plain.


def _unnested(record: dict[str, Any], field: str) -> dict[str, Any]:
    """Return a record whose field holds a plain list of entries; a plain record unchanged."""
    entries = record[field]
    if not isinstance(entries, list):
        return record
    if _is_dream(entries):
        return {**record, field: [speaker_and_text(text) for text in entries[0]], "dialogue_id": entries[2]}
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
    """Return an entry whose speaker its `id` names, if nothing else does."""
    if "id" not in entry or any(name in entry for name in SPEAKER_FIELDS):
        return entry
    return {"speaker": entry["id"], **entry}
