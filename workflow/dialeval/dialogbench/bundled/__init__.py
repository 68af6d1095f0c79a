"""Test items of our own, in DialogBench's published format; see LICENSE.md beside them."""

from __future__ import annotations

from importlib import resources

from dialeval.dialogbench.items import ItemReading
from dialeval.dialogbench.items import read as read_items
from dialeval.errors import UserError, nearest

FILES = {"en": "english.jsonl", "zh": "chinese.jsonl"}


def read(language: str) -> ItemReading:
    """Reads the bundled items of one language.

    Raises:
        UserError: there is none in that language.
    """
    if language not in FILES:
        raise UserError(f"there are no bundled test items in language '{language}'; {nearest(language, FILES)}")
    with resources.as_file(resources.files(__name__) / FILES[language]) as path:
        reading = read_items(path, language, origin="bundled")
    reading.source = f"bundled ({language})"
    return reading
