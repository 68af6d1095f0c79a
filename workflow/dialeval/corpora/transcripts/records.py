"""What the objects of every format of JSON may say of a dialogue, by the names that its fields commonly have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialeval.corpora.json_fields import name_of, optional_text, required, text_of
from dialeval.corpora.json_records import Wanted
from dialeval.corpora.transcripts.entries import SPEAKER_FIELDS
from dialeval.translation.languages import LANGUAGES

PLAIN = ("utterances", "dialogue", "dialog")
SHAREGPT = ("conversations",)
MESSAGES = ("messages", "conversation")
PAIR = ("conversation_a", "conversation_b")
TURNS, CLAUDES = "turns", "chat_messages"
QUESTIONS, EARLIER, REPLIES = (
    ("instruction", "prompt", "question"),
    ("history", "context"),
    ("response", "output", "completion", "answer"),
)
TOGETHER: dict[str, tuple[frozenset[str], ...]] = {
    "jsonl": (frozenset({"dialogue_id", TURNS}),),
    "messages": (frozenset({CLAUDES}),),
    "chatgpt": (frozenset({"mapping", "current_node"}),),
    "rasa": (frozenset({"sender_id", "events"}),),
    "mt_bench": (frozenset({"question_id", "choices"}), frozenset({"question_id", TURNS})),
    "preferences": (frozenset({"chosen", "rejected"}),),
    "replies": (
        *(frozenset({before, reply}) for before in (*QUESTIONS, *EARLIER) for reply in REPLIES),
        frozenset({"instruction", "completions"}),
    ),
}
"""Fields that tell a format together, where none of those is there that tell one alone."""
DIALOGUES = Wanted(
    (*PLAIN, *SHAREGPT, *MESSAGES, *PAIR),
    bare=PLAIN[0],
    parts=SPEAKER_FIELDS,
    together=[fields for sets in TOGETHER.values() for fields in sets],
)
"""Fields that hold a dialogue, as each format calls them; a dialogue may also be a list without a name."""
SURE_FIELDS = (PLAIN[0], SHAREGPT[0], MESSAGES[0])
"""What holds the dialogue where other names of it are there as well."""
ID_FIELDS = ("dialogue_id", "conversation_id", "id", "dialog_id", "conversation_hash")
SYSTEM_FIELDS = ("model", "model_name", "model_id")
_CODES = {language.name.casefold(): code for code, language in LANGUAGES.items()}


def dialogue_field(record: dict[str, Any], fields: Sequence[str], where: str) -> str:
    """Returns which of some fields of an object holds a list, or is there at all.

    Raises:
        UserError: it has none; the message names the first.
    """
    there = [field for field in fields if record.get(field) is not None]
    field = next((field for field in there if isinstance(record[field], list)), [*there, fields[0]][0])
    required(record, field, where)
    return field


def named(record: dict[str, Any], fields: Sequence[str], where: str) -> str:
    """Returns the name that the first of some fields gives; empty where none is there.

    Raises:
        UserError: it is neither a text nor a whole number.
    """
    field = next((field for field in fields if record.get(field) is not None), None)
    return "" if field is None else name_of(record[field], field, where)


def about(record: dict[str, Any], where: str) -> dict[str, Any]:
    """Returns what every format of JSON may say of a dialogue: its id, its case, its prompt and its language.

    Raises:
        UserError: one of them is of the wrong kind.
    """
    prompt = record.get("prompt")
    return {
        "dialogue_id": named(record, ID_FIELDS, where),
        "case_id": named(record, ["case_id"], where),
        "prompt": "" if prompt is None else text_of(prompt, "prompt", where),
        "language": code_of(optional_text(record, "language", where)),
    }


def code_of(language: str) -> str:
    """Returns the code of a language that is called by its English name, as collections do; others as they are."""
    return _CODES.get(language.strip().casefold(), language)
