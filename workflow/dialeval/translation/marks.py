"""What stands in an utterance and is kept by a translation: placeholders in brackets, and addresses."""

from __future__ import annotations

import re
from collections import Counter

# By ASCII alone: in Chinese nothing parts a mark from the words around it, and these are no part of it.
_MARK = re.compile(
    r"https?://[!#-;=?-~]*[\w#$%&*+/=@~-]"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|<[a-z_/][^<>\s]{0,40}>|<[|｜][^\s<>|｜]{1,40}[|｜]>"
    r"|\{\{?\s?[a-z_][\w.]{0,40}\s?\}?\}|(?-i:\[[A-Z][A-Z0-9_]{0,40}\])|__\w{1,40}?__|%[sd](?![a-z])",
    re.ASCII | re.IGNORECASE,
)


def marks(text: str) -> Counter[str]:
    """Returns the marks of a text, and how often each is there."""
    return Counter(_MARK.findall(text))


def without_kept_marks(text: str) -> str:
    """Returns a text with a blank in the place of every mark."""
    return _MARK.sub(" ", text)


def nothing_to_translate(text: str) -> bool:
    """Returns whether a text has no letter but those of its marks: it is empty, or digits, emoji, a placeholder."""
    return not any(letter.isalpha() for letter in without_kept_marks(text))
