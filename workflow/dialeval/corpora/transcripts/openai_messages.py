"""OpenAI's format of messages, as fine-tuning files and logs of chats have it: one object a line, or a list of them.

    {"id": "a1", "model": "alpha", "messages": [
     {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}

`content` may be a list of parts. What a tool was told and what it gave back, and messages of the roles `system` and
`developer`, are kept apart from what was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dialeval.corpora.transcripts.records import records_of
from dialeval.corpora.transcripts.sharegpt import transcript
from dialeval.corpora.transcripts.transcript import Transcript

FIELD = "messages"


def read(path: Path, notes: Counter[str]) -> Iterator[Transcript]:
    """Yields the dialogues of a file.

    Raises:
        UserError: the file, the line or record, what is wrong there, and the remedy.
    """
    for line in records_of(path):
        yield transcript(line, FIELD, notes)
