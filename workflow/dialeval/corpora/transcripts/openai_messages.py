"""OpenAI's format of messages, as fine-tuning files and logs of chats have it: one object a line, or a list of them.

    {"id": "a1", "model": "alpha", "messages": [
     {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}

Collections of chats call them `conversation`, Claude's export `chat_messages`, and collections of votes
`conversation_a` and `conversation_b`, of the models `model_a` and `model_b` on one question. `content` may be a list of
parts. What a tool was told and what it gave back, and messages of the roles `system` and `developer`, are kept apart
from what was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialeval.corpora.text_files import JsonLine
from dialeval.corpora.transcripts.records import CLAUDES, MESSAGES, PAIR, dialogue_field, named
from dialeval.corpora.transcripts.sharegpt import transcript
from dialeval.corpora.transcripts.transcript import Transcript

_QUESTION_FIELDS = ("question_id", "id")


def dialogues_of(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogue of one object, or the two between which somebody chose.

    Raises:
        UserError: the file, the line or record, what is wrong there, and the remedy.
    """
    if line.record.get(PAIR[0]) is not None and not isinstance(line.record.get(MESSAGES[0]), list):
        yield from _pair(line, notes)
        return
    field = dialogue_field(line.record, (*MESSAGES, CLAUDES), line.where)
    record = {"id": line.record.get("uuid"), **line.record} if field == CLAUDES else line.record
    yield transcript(line._replace(record=record), field, notes)


def _pair(line: JsonLine, notes: Counter[str]) -> Iterator[Transcript]:
    question = named(line.record, _QUESTION_FIELDS, line.where)
    for field in PAIR:
        model = named(line.record, [f"model_{field[-1]}"], line.where)
        record = {**line.record, "dialogue_id": question or None, "model": model or None}
        yield transcript(line._replace(record=record), dialogue_field(record, [field], line.where), notes)
