"""The fields and entries that dialogues in JSON and text commonly have.

    {"dialog": [[{"id": "teacher", "text": "Hi"}, {"id": "heron", "text": "Hello"}]]}     ParlAI: by exchange
    {"dialog": [[0, "Hi"], [1, "Hello"]]}                                                 a number for each speaker
    [["M: Hi", "W: Hello"], [{"question": ...}], "4-1"]                                   DREAM: dialogue, questions, id

In ParlAI's files `id` says who speaks; so it does in a plain list where the record names `speakers`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialeval.corpora.json_records import RecordFields, name_of, optional_text, required, text_of, value_at
from dialeval.corpora.text_files import JsonLine, listed, number_in, parse_json
from dialeval.corpora.transcripts.transcript import (
    HIDDEN_ROLES,
    ROLES,
    SYSTEM_ROLES,
    EntryReading,
    speaker_and_text,
    transcribed,
)
from dialeval.errors import UserError
from dialeval.languages import LANGUAGES

SPEAKER_FIELDS = ("speaker", "role", "from", "sender", "author")
_NAME_FIELDS = ("role", "name", "username", "id")
"""Fields of a speaker who is an object, as in Discord's messages."""
TEXT_FIELDS = ("text", "content", "value", "utterance", "message", "parts", "body")
SAID_PARTS = ("text", "input_text", "output_text", "refusal")
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
_CALL_FIELDS = ("tool_calls", "function_call")
_OWN_IDS = ("id", "messageId", "message_id", "uuid", "_id")
_PARENTS = ("parentMessageId", "parent_message_id", "parent_message_uuid", "parentId", "parent_id")
SILENCE = "__SILENCE__"
"""What ParlAI writes where a speaker begins a dialogue."""


def read_entries(entries: Any, field: str, where: str, reading: EntryReading) -> None:
    """Take the entries of a dialogue.

    Raises:
        UserError: it is no list, or an entry is neither a text nor an object with speaker and text.
    """
    if isinstance(entries, str):
        is_json = entries.lstrip().startswith("[") and entries.rstrip().endswith("]")
        entries = parse_json(entries, f"{where}, '{field}'") if is_json else transcribed(entries) or entries
    elif isinstance(entries, dict) and by_entry(entries) is not None:
        entries = by_entry(entries)
    elif isinstance(entries, dict) and entries and all(_TURN_NUMBER.fullmatch(name) for name in entries):
        numbers = sorted(entries, key=lambda name: int(name.rpartition("_")[2]))
        entries = [entries[name] for name in numbers]
    elif isinstance(entries, dict):
        inner = (entries[name] for name in (*MESSAGES, *PLAIN, TURNS) if isinstance(entries.get(name), list))
        entries = next(inner, entries)
    if not isinstance(entries, list):
        raise UserError(f"{where}: '{field}' must be a list of utterances, not {shown(entries)}")
    entries = _as_objects(entries)
    if entries and all(isinstance(entry, dict) for entry in entries):
        entries = branch_of_last(_with_speakers(entries, field, where, reading.notes), reading.notes)
    has_types = any(isinstance(entry, dict) and entry.get("type") in ("message", "chat") for entry in entries)
    for number, entry in enumerate(entries, start=1):
        place = f"{where}, '{field}', entry {number}"
        if isinstance(entry, str):
            reading.add_utterance("", entry)
        elif isinstance(entry, dict) and (exchange := _exchange(entry)):
            for speaker, text in exchange:
                reading.add_utterance(speaker, text)
        elif isinstance(entry, dict):
            _read_entry(entry, place, reading, has_types=has_types)
        else:
            raise UserError(f"{place} must be a text or an object with speaker and text, not {shown(entry)}")


def by_entry(entries: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the entries of an object that has a list for each of their fields, as `datasets` keeps them, or None."""
    lists = [value for value in entries.values() if isinstance(value, list)]
    if len(lists) < len(entries) or len({len(value) for value in lists}) != 1:
        return None
    return [dict(zip(entries, values, strict=True)) for values in zip(*lists, strict=True)]


def _exchange(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return speakers and texts of `{"user": "Hi", "bot": "Hello"}` or a question and its reply; none of others."""
    if any(name in entry for name in (*SPEAKER_FIELDS, *TEXT_FIELDS)):
        return []
    texts = {name: text for name, text in entry.items() if isinstance(text, str)}
    sides = (
        (*QUESTIONS, INPUT, "user_utterance", "transcript"),
        (*REPLIES, "system_utterance", "agent_utterance", "system_transcript"),
    )
    asked, answered = (next((name for name in names if name in texts), "") for names in sides)
    if asked and answered:
        return [("user", texts[asked]), ("assistant", texts[answered])]
    return [(name, text) for name, text in texts.items() if name.casefold() in ROLES]


_OTHER_SPEAKERS = (
    "speaker_role", "author_role", "participant_role", "sender_role", "sender_type", "author_type", "speaker_name",
    "sender_name", "author_name", "speakerName", "senderName", "authorName", "speaker_id", "sender_id", "author_id",
    "speakerId", "senderId", "authorId", "speaker_idx", "participant", "who", "agent", "creator", "username", "user",
    "uid", "nickname", "name",
)  # fmt: skip
"""Fields that name the speaker of an entry where none of `SPEAKER_FIELDS` does, the surer ones first."""
_IS_USER = ("is_user", "isUser", "from_user", "fromUser", "is_human", "isHuman", "isCreatedByUser")
_IS_BOT = ("is_bot", "isBot", "from_bot", "fromBot")


_TURN_NUMBER = re.compile(r"(?:(?:turn|utterance)_)?\d{1,6}")


_PEOPLE = frozenset(
    {"patient", "doctor", "student", "teacher", "tutor", "operator", "wizard", "apprentice", "seeker", "supporter",
     "therapist", "interviewer", "interviewee", "buyer", "seller", "man", "woman", "m", "f", "w"}
)  # fmt: skip
"""How data sets call speakers before their texts, beside roles."""


def _as_objects(entries: list[Any]) -> list[Any]:
    """Return pairs of a role and a text, `["user", "Hi"]`, and texts `user: Hi` as objects; others as they are."""
    if entries and all(isinstance(entry, str) for entry in entries):
        named = [spoken for entry in entries if isinstance(spoken := speaker_and_text(entry), dict)]
        names = {one["speaker"].casefold() for one in named}
        is_sure = names <= ROLES | _PEOPLE or len(names) < len(named)
        return named if len(named) == len(entries) and len(names) > 1 and is_sure else entries
    pairs = [entry for entry in entries if isinstance(entry, list) and len(entry) == 2]
    if not pairs or len(pairs) < len(entries) or not all(isinstance(part, str) for pair in pairs for part in pair):
        return entries
    roles = {role.casefold() for role, _ in pairs}
    return [{"role": role, "content": text} for role, text in pairs] if roles <= ROLES | SYSTEM_ROLES else entries


def _with_speakers(entries: list[dict[str, Any]], field: str, where: str, notes: Counter[str]) -> list[dict[str, Any]]:
    """Return entries with their speakers, which may stand in another field or, in LangChain's messages, in the type.

    Raises:
        UserError: they are in a field of no usual name; the message names it.
    """
    if any(entry.get(name) is not None for entry in entries for name in SPEAKER_FIELDS):
        return _by_role(entries, notes)
    types = [f"{entry.get('type')}".casefold() for entry in entries]
    if {*types} & ROLES and {*types} <= ROLES | HIDDEN_ROLES | SYSTEM_ROLES:
        inner = [entry["data"] if isinstance(entry.get("data"), dict) else entry for entry in entries]
        return [{"role": kind, **one, "type": "message"} for kind, one in zip(types, inner, strict=True)]
    has_texts = any(name in entry for entry in entries for name in TEXT_FIELDS)
    for names, roles in ((_IS_USER, ("assistant", "user")), (_IS_BOT, ("user", "assistant"))):
        for name in names if has_texts else ():
            if all(isinstance(entry.get(name), bool) for entry in entries):
                return [{**entry, "role": roles[entry[name]]} for entry in entries]
    for name in _OTHER_SPEAKERS if has_texts else ():
        values = [entry.get(name) for entry in entries]
        if all(isinstance(value, int | str | dict) and not isinstance(value, bool) and value != "" for value in values):
            notes[f"dialogues whose speakers are in '{name}'"] += 1
            return [{**entry, "speaker": entry[name]} for entry in entries]
    for name in entries[0]:
        values = [entry.get(name) for entry in entries]
        if all(isinstance(value, str) and value.casefold() in ROLES for value in values):
            raise UserError(
                f"{where}: the entries of '{field}' have no speaker in {', '.join(SPEAKER_FIELDS)}, but '{name:.60}' "
                f"has roles, such as {values[0]!r:.40}; write `columns: {{speaker: {name:.60}}}` in this entry of the "
                "configuration"
            )
    return entries


_ROLE_FIELDS = (
    "speaker_role", "sender_role", "author_role", "participant_role", "sender_class", "sender_type", "author_type",
    "speaker_type",
)  # fmt: skip


def _by_role(entries: list[dict[str, Any]], notes: Counter[str]) -> list[dict[str, Any]]:
    """Return entries with the role of each speaker, where another field has one and speakers are called otherwise."""
    values = [[entry[name] for name in SPEAKER_FIELDS if entry.get(name) is not None] for entry in entries]
    speakers = [f"{some[0]}" if some else "" for some in values]
    if any(speaker.casefold() in ROLES for speaker in speakers):
        return entries
    for name in _ROLE_FIELDS:
        roles = [entry.get(name) for entry in entries]
        if all(isinstance(role, str) and role.casefold() in ROLES for role in roles):
            pairs = {*zip(speakers, roles, strict=True)}
            if len(pairs) == len({*speakers}) == len({*roles}):
                notes[f"dialogues whose speakers are in '{name}'"] += 1
                return [{**entry, "speaker": role} for entry, role in zip(entries, roles, strict=True)]
    return entries


def shown(value: Any) -> str:
    """Return the beginning of a value for a message."""
    return f"{json.dumps(value, ensure_ascii=False, default=str):.60}"  # Parquet has times, too


def _read_entry(entry: dict[str, Any], place: str, reading: EntryReading, *, has_types: bool) -> None:
    """Take an entry; where messages have the type `message`, others are tool calls, their results, and events."""
    speaker_field = next((name for name in SPEAKER_FIELDS if entry.get(name) is not None), None)
    said_by = entry[speaker_field] if speaker_field else None
    if isinstance(said_by, dict):
        said_by = next((said_by[name] for name in _NAME_FIELDS if said_by.get(name) is not None), said_by)
    speaker = name_of(said_by, speaker_field, place) if speaker_field else ""
    if speaker_field and not speaker:
        raise UserError(f"{place}: '{speaker_field}' is empty; name who speaks")
    calls = [call for name in _CALL_FIELDS for call in _calls(entry.get(name), name, place)]
    text_field = _text_field(entry)
    kind = entry.get("type", "message") if has_types else "message"
    if kind in _NOTES:
        reading.notes["internal notes left out"] += 1
        return
    if text_field is None and kind == "function_call":  # of OpenAI's responses
        reading.add_hidden("tool_call", _call(entry.get("name"), entry.get("arguments")))
        return
    if text_field is None and kind == "function_call_output":
        reading.add_hidden("tool_result", _plain(entry.get("output")))
        return
    if text_field is None and not calls and kind != "message":
        reading.notes["entries without text that are no messages, such as events, left out"] += 1
        return
    if text_field is None and not calls:
        raise UserError(f"{place} has no text: {shown(entry)}; add one of {', '.join(TEXT_FIELDS)}")
    for name in _THOUGHT_FIELDS:
        if isinstance(entry.get(name), str) and entry[name].strip():
            reading.add_hidden("reasoning", entry[name])
    content = entry.get(text_field) if text_field else None
    if content is None and isinstance(entry.get("refusal"), str):
        content = entry["refusal"]
    n_before = len(reading.messages)
    texts = _texts(content, place, reading)
    if texts or not (calls or len(reading.messages) > n_before):
        reading.add_utterance(speaker, "\n".join(texts))
    for call in calls:
        reading.add_hidden("tool_call", call)


_NOTES = ("note", "private_note", "internal_note")


def _text_field(entry: dict[str, Any]) -> str | None:
    """Return the field with the text: a list of parts with types, else the first that is not empty, or is there."""
    there = [name for name in TEXT_FIELDS if name in entry]
    parts = [name for name in there if isinstance(entry[name], list) and entry[name]]
    typed = [name for name in parts if all(isinstance(part, dict) and "type" in part for part in entry[name])]
    return next(iter([*typed, *(name for name in there if entry[name]), *there]), None)


def branch_of_last(entries: list[dict[str, Any]], notes: Counter[str]) -> list[dict[str, Any]]:
    """Return the messages that lead to the last one, where others of one speaker answer the same message.

    Such are edited questions and regenerated responses in the exports of chat applications. Other lists are returned
    as they are.
    """
    own, above = (
        next((name for name in names if all(entry.get(name) is not None for entry in entries[1:])), "")
        for names in (_OWN_IDS, _PARENTS)
    )
    if len(entries) < 2 or not (own and above) or len({f"{entry.get(own)}" for entry in entries}) < len(entries):
        return entries
    known = {f"{entry.get(own)}": entry for entry in entries}
    siblings: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        siblings.setdefault(f"{entry.get(above)}", []).append(entry)
    shared = [some for some in siblings.values() if len(some) > 1]
    speaker = next((name for name in ("isCreatedByUser", *SPEAKER_FIELDS) if name in entries[0]), "")
    roots = [parent for parent in siblings if parent not in known]
    if (
        not shared
        or len(roots) > 1
        or any(len({(f"{one.get(speaker)}", f"{one.get('name')}") for one in some}) > 1 for some in shared)
    ):
        return entries
    branch: list[dict[str, Any]] = []
    last: dict[str, Any] | None = entries[-1]
    while last is not None and len(branch) < len(entries):  # which ends a circle, too
        branch.append(last)
        last = known.get(f"{last.get(above)}")
    notes["dialogues with several branches: the latest branch is read"] += 1
    return branch[::-1]


def _calls(value: Any, field: str, place: str) -> list[str]:
    if value is None:
        return []
    calls = value if isinstance(value, list) else [value]
    if not all(isinstance(call, dict) for call in calls):
        raise UserError(f"{place}: '{field}' is {shown(value)}; it must be a list of objects")
    functions = [call["function"] if isinstance(call.get("function"), dict) else call for call in calls]
    return [
        _call(function.get("name", function.get("function")), function.get("arguments", function.get("args")))
        for function in functions
    ]


def _call(name: Any, arguments: Any) -> str:
    return f"{name if isinstance(name, str) else 'tool'}({_plain(arguments)})"


def _plain(value: Any) -> str:
    """Return a value as text; other types as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _texts(content: Any, place: str, reading: EntryReading) -> list[str]:
    """Return the texts of a content; reasoning and tool calls become hidden messages."""
    if content is None:
        return []
    if isinstance(content, dict):  # Arena-Hard's answers
        content = content.get("answer", content)
    if isinstance(content, str):
        return [content] if content.strip() else []
    if not isinstance(content, list):
        raise UserError(f"{place}: the text is {shown(content)}; it must be a text or a list of parts")
    texts, is_marked_up = [], False  # as in Telegram's export, whose spans make one text
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and "type" not in part and _is_geminis(part, reading):
            pass
        elif isinstance(part, dict) and isinstance(part.get("text"), str) and "type" not in part:
            texts.append(part["text"])
        elif isinstance(part, dict) and "type" not in part and {*part} & _GEMINI_MEDIA:
            texts.append(_shown_kind(next(iter({*part} & _GEMINI_MEDIA)), reading))
        elif not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise UserError(f"{place}: a part of the text is {shown(part)}; not a text or an object with 'type'")
        elif part["type"] in SAID_PARTS:
            text = part.get("refusal" if part["type"] == "refusal" else "text")
            text = text.get("value") if isinstance(text, dict) else text  # of OpenAI's threads
            if not isinstance(text, str):
                raise UserError(
                    f"{place}: a part of type '{part['type']}' has no text: {shown(part)}; add it, or remove the part"
                )
            texts.append(text)
        elif part["type"] == "tool_use":
            reading.add_hidden("tool_call", _call(part.get("name"), part.get("input")))
        elif part["type"] == "tool_result":
            reading.add_hidden("tool_result", _plain(part.get("content")))
        elif part["type"] in ("thinking", "reasoning"):
            reading.add_hidden("reasoning", _plain(part.get(part["type"], part.get("text"))))
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
            is_marked_up = True
        else:
            texts.append(_shown_kind(part["type"], reading))
    return [text for text in (["".join(texts)] if is_marked_up else texts) if text.strip()]


def _shown_kind(kind: str, reading: EntryReading) -> str:
    reading.notes["parts without text, such as images, shown as [their kind]"] += 1
    return f"[{kind:.40}]"


_GEMINI_MEDIA = frozenset({"inlineData", "inline_data", "fileData", "file_data"})


def _is_geminis(part: dict[str, Any], reading: EntryReading) -> bool:
    """Return whether a part is a call, a result or a thought of Gemini's, which it takes as a hidden message."""
    call, result = (part.get(camel, part.get(snake)) for camel, snake in _GEMINI_TOOLS)
    if isinstance(call, dict):
        reading.add_hidden("tool_call", _call(call.get("name"), call.get("args")))
    elif isinstance(result, dict):
        reading.add_hidden("tool_result", _plain(result.get("response")))
    elif part.get("thought") is True:
        reading.add_hidden("reasoning", _plain(part.get("text")))
    else:
        return False
    return True


_GEMINI_TOOLS = (("functionCall", "function_call"), ("functionResponse", "function_response"))


# Fields of a dialogue in every JSON format, by their common names.

PLAIN = ("utterances", "dialogue", "dialog")
SHAREGPT = ("conversations",)
MESSAGES = ("messages", "conversation", "contents")
PAIR = ("conversation_a", "conversation_b")
TURNS, CLAUDES, TRANSCRIPT = "turns", "chat_messages", "transcript"
QUESTIONS, INPUT, EARLIER, REPLIES = (
    ("user_message", "user_input", "instruction", "prompt", "question", "query"),
    "input",
    ("history", "context"),
    (
        *("response", "output", "completion", "answer", "reply"),
        *("bot_response", "assistant_response", "model_response", "model_output"),
    ),
)
REQUEST = "request"
SEVERAL = ("completions", "answers", "candidates")
VOTED = "conversation"
COMPARED = (*REPLIES, "human_ref", VOTED)
ENDS = (("_a", "_b"), ("_A", "_B"), ("_1", "_2"), ("_0", "_1"), ("1", "2"))
"""Fields of two replies that are compared, and their ends."""
TOGETHER: dict[str, tuple[frozenset[str], ...]] = {
    "jsonl": (frozenset({"dialogue_id", TURNS}),),
    "messages": (frozenset({CLAUDES}),),
    "mt_bench": (frozenset({"question_id", "choices"}), frozenset({"question_id", TURNS})),
    "preferences": (frozenset({"chosen", "rejected"}), frozenset({"preferred_output", "non_preferred_output"})),
    "comparisons": tuple(
        frozenset({before, *(f"{reply}{end}" for end in ends)})
        for before in (*QUESTIONS, INPUT, *EARLIER)
        for reply in COMPARED
        for ends in ENDS
    ),
    "replies": (
        frozenset({REQUEST, REPLIES[0]}),
        *(frozenset({before, reply}) for before in (*QUESTIONS, INPUT, *EARLIER) for reply in REPLIES),
        *(frozenset({before, several}) for before in ("instruction", "prompt") for several in SEVERAL),
    ),
}
"""Fields that identify a format together, in the absence of those that identify one alone."""
OF_REPLIES = ("preferences", "comparisons", "replies")
"""Formats of which a table can have a row for each object."""
DIALOGUES = RecordFields(
    (*PLAIN, *SHAREGPT, *MESSAGES, *PAIR),
    bare=PLAIN[0],
    parts=SPEAKER_FIELDS,
    together=[*(fields for sets in TOGETHER.values() for fields in sets), frozenset({TRANSCRIPT})],
)
"""Fields that hold a dialogue, as each format calls them; a dialogue may also be a list without a name."""
SURE_FIELDS = (PLAIN[0], SHAREGPT[0], MESSAGES[0])
"""The field of the dialogue where other names of it are present as well."""
ID_FIELDS = ("dialogue_id", "conversation_id", "id", "dialog_id", "conversation_hash")
OTHER_IDS = (
    "conversationId", "dialogueId", "chat_id", "chatId", "call_id", "callId", "session_id", "sessionId", "dialogue_idx"
)  # fmt: skip
"""Ids of objects that hold a whole dialogue; those of a reply in one would not be its own."""
SYSTEM_FIELDS = ("model", "model_name", "model_id", "system_name")
CASE_FIELDS = ("case_id", "prompt_id", "scenario_id", "seed_id")
_CODES = {language.name.casefold(): code for code, language in LANGUAGES.items()}


def dialogue_field(record: dict[str, Any], fields: Sequence[str], where: str) -> str:
    """Return which of some fields of an object holds a list, or is there at all.

    Raises:
        UserError: it has none; the message names the first.
    """
    there = [field for field in fields if record.get(field) is not None]
    field = next((field for field in there if isinstance(record[field], list)), [*there, fields[0]][0])
    required(record, field, where)
    return field


def named(record: dict[str, Any], fields: Sequence[str], where: str) -> str:
    """Return the name in the first of some fields that is present; empty if none is.

    Raises:
        UserError: it is neither a text nor a whole number.
    """
    field = next((field for field in fields if record.get(field) is not None), None)
    return "" if field is None else name_of(record[field], field, where)


def about(record: dict[str, Any], where: str) -> dict[str, Any]:
    """Return id, case, prompt and language of a dialogue in any JSON format.

    Raises:
        UserError: one of them is of the wrong kind.
    """
    prompt = record.get("prompt")
    return {
        "dialogue_id": named(record, ID_FIELDS, where),
        "case_id": named(record, CASE_FIELDS, where),
        "prompt": "" if prompt is None else text_of(prompt, "prompt", where),
        "language": code_of(optional_text(record, "language", where)),
    }


def with_id(record: dict[str, Any]) -> dict[str, Any]:
    """Return an object that holds a whole dialogue with its id where others look for it."""
    other = next((name for name in OTHER_IDS if record.get(name) is not None), "")
    if not other or any(record.get(name) is not None for name in ID_FIELDS):
        return record
    return {**record, "dialogue_id": record[other]}


def code_of(language: str) -> str:
    """Return the code of a language that is called by its English name, as collections do; others as they are."""
    return _CODES.get(language.strip().casefold(), language)


# Fields that the configuration names under `columns`, by dotted paths.

OF_DIALOGUE, OF_ENTRY = ("dialogue_id", "system", "case_id", "language"), ("speaker", "text", "turn")
"""What `columns` can name of a dialogue and of each of its utterances; `utterances` names their list."""
OF_REPLY = ("prompt", "response")
"""What it can name where an object or a row is a reply and what it answers."""
LIST = "utterances"


def fields_with(columns: Mapping[str, str]) -> RecordFields:
    """Return how objects with dialogues are known where the configuration names some of their fields."""
    paths = {path for what, path in columns.items() if what not in OF_ENTRY}
    heads = {path.partition(".")[0] for path in paths}
    named = (columns[LIST], columns[LIST].partition(".")[0]) if LIST in columns else ()
    return DIALOGUES._replace(
        holding=(*named, *DIALOGUES.holding),
        parts=(*DIALOGUES.parts, *(columns[what] for what in ("speaker", "text") if what in columns)),
        together=[*DIALOGUES.together, *([frozenset(heads), frozenset(paths)] if paths else [])],
    )


def list_path(record: dict[str, Any], columns: Mapping[str, str]) -> str:
    """Return the path of the list of utterances in an object: named, called as usual, or the only fitting list."""
    if LIST in columns:
        return columns[LIST]
    for name in (*PLAIN, *SHAREGPT, *MESSAGES, TURNS, CLAUDES):
        if isinstance(record.get(name), list):
            return name
    texts = [columns["text"]] if "text" in columns else TEXT_FIELDS
    lists = [
        name
        for name, value in record.items()
        if isinstance(value, list) and any(value_at(value[:1], f"0.{text}") is not None for text in texts)
    ]
    return lists[0] if len(lists) == 1 else ""


def with_columns(
    lines: Iterable[JsonLine], path: Path, columns: Mapping[str, str], field: str = ""
) -> Iterable[JsonLine]:
    """Return objects with the fields that the configuration names under their usual names.

    Args:
        columns: paths by content; none to return the objects as they are.
        field: the path of the list of utterances, which becomes `utterances`; empty to leave it where it is.

    Raises:
        UserError: a path leads to no value in any object, or `turn` to no number; the message names all such paths.
    """
    if not columns:
        return lines
    lines = list(lines)
    lists = [value_at(line.record, field) if field else None for line in lines]
    entries = [entry for value in lists if isinstance(value, list) for entry in value]
    of_entry = OF_ENTRY if field else ()
    sought = {what: entries if what in of_entry else [line.record for line in lines] for what in columns}
    missing = {
        what: columns[what]
        for what, records in sought.items()
        if all(value_at(record, columns[what]) is None for record in records) and (entries or what not in of_entry)
    }
    if missing:
        there = [f"{name} (of a dialogue)" for name in lines[0].record] if lines else []
        if entries and isinstance(entries[0], dict):
            there += [f"{name} (of an utterance)" for name in entries[0]]
        absent = " and no field ".join(f"'{name:.60}'" for name in missing.values())
        wanted = ", ".join(f"{what}: NAME" for what in missing)
        raise UserError(
            f"{path}: there is no field {absent}; its fields: {listed(there)}; name the right "
            f"{'one' if len(missing) == 1 else 'ones'} under `columns: {{{wanted}}}`"
        )
    mapped = []
    for line, inner in zip(lines, lists, strict=True):
        record = dict(line.record)
        for what in (*OF_DIALOGUE, *OF_REPLY, *([] if field else ["turn"])):
            if what in columns and (field or what != "system"):
                record[what] = value_at(line.record, columns[what])
        if "system" in columns:  # where utterances have another name, the field `system` may be a prompt
            record["model"] = value_at(line.record, columns["system"])
        if field:
            record[LIST] = _entries_with(inner, columns, f"{line.where}, '{field}'")
        mapped.append(line._replace(record=record))
    return mapped


def _entries_with(entries: Any, columns: Mapping[str, str], where: str) -> Any:
    if not isinstance(entries, list) or not any(what in columns for what in OF_ENTRY):
        return entries
    found = [
        {**entry, **{what: value_at(entry, columns[what]) for what in OF_ENTRY if what in columns}}
        if isinstance(entry, dict)
        else entry
        for entry in entries
    ]
    if "turn" not in columns:
        return found
    numbered: list[tuple[float, Any]] = []
    for entry in found:
        turn = entry.get("turn") if isinstance(entry, dict) else None
        number = number_in(turn) if isinstance(turn, str) else turn
        if not isinstance(number, int | float) or number != number:
            raise UserError(f"{where}: '{columns['turn']}' is {shown(turn)}, which is not a number; number the turns")
        numbered.append((number, entry))
    return [entry for _, entry in sorted(numbered, key=lambda pair: pair[0])]
