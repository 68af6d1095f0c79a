"""Pairs of which people or models preferred one, as data for training with preferences have them.

    {"chosen": "\\n\\nHuman: Hi\\n\\nAssistant: Hello", "rejected": "\\n\\nHuman: Hi\\n\\nAssistant: What?"}
    {"prompt": "Hi", "chosen": "Hello", "rejected": "What?"}

Either may also be a list of messages, and so may the prompt, with or without which they are whole. They are two
dialogues on one case, of systems called `chosen` and `rejected`: how often a judge prefers the first is how often it
agrees with who chose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.records import ID_FIELDS, named
from dialeval.corpora.transcripts.sharegpt import transcript
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

_SIDES = ("chosen", "rejected")
_ID_FIELDS = (*ID_FIELDS, "prompt_id", "question_id")
_MARK = re.compile(r"(?:^|\n\n)(Human|Assistant):")


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the two dialogues of a pair.

    Raises:
        UserError: the place, what is wrong there, and the remedy.
    """
    record, where = line.record, line.where
    dialogue_id = named(record, _ID_FIELDS, where) or f"pair-{line.number}"
    about = {name: record[name] for name in ("case_id", "language") if record.get(name) is not None}
    asked = _messages(record.get("prompt"), "user", f"{where}, 'prompt'")
    for side in _SIDES:
        answered = _messages(record.get(side), "assistant", f"{where}, '{side}'")
        whole = answered if answered[: len(asked)] == asked else [*asked, *answered]
        messages = {**about, "dialogue_id": dialogue_id, "model": side, "messages": whole}
        yield transcript(line._replace(record=messages), "messages", notes)


def _messages(value: Any, speaker: str, where: str) -> list[Any]:
    """Returns messages as they are, and those of a text, in which marks may say who speaks.

    Raises:
        UserError: it is neither.
    """
    if value is None and speaker == "user":  # a dialogue that is whole has no prompt
        return []
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        raise UserError(f"{where} must be a text or a list of messages, not {value!r:.60}")
    first, *marked = _MARK.split(value)
    spoken = zip(marked[::2], marked[1::2], strict=True)
    before = [{"role": speaker, "content": first.strip()}] if first.strip() else []
    return before + [{"role": role.lower(), "content": text.strip()} for role, text in spoken if text.strip()]
