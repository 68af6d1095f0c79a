"""Our own small corpus of everyday dialogues, English and Chinese; see LICENSE.md beside it."""

from __future__ import annotations

from importlib import resources

from dialeval.corpora import dialogues
from dialeval.corpora.dialogues import Reading
from dialeval.errors import UserError, nearest

FILES = {"en": "english.jsonl", "zh": "chinese.jsonl"}


def read(language: str) -> Reading:
    """Reads the bundled dialogues of one language.

    Raises:
        UserError: there is none in that language.
    """
    if language not in FILES:
        raise UserError(f"the bundled corpus has no language '{language}'; {nearest(language, FILES)}")
    with resources.as_file(resources.files(__name__) / FILES[language]) as path:
        reading = dialogues.read_json_lines_dialogues(path, language)
    reading.source = f"bundled ({language})"
    return reading
