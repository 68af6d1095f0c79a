"""The error for users, and escaping of control characters in texts from outside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control, bidirectional and other invisible characters, except tab and line feed."""
RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
"""Pattern of letters that are written from right to left, such as Arabic and Hebrew."""


class UserError(Exception):
    """An error that a user can fix; the message names the place, the value and the remedy.

    Control characters in values are escaped.
    """

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))


def visible(text: str) -> str:
    """Return a text with its control and bidirectional characters as `\\x1b` and `\\u202e`; not tab and line feed.

    Unescaped they could colour, move or reorder the lines of a terminal or a log.
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def nearest(word: str, known: Iterable[str], other_names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the end of a sentence that offers the likeliest intended name, or all names.

    Args:
        word: what was written.
        known: the names that would have been right.
        other_names: lower-case names that people may use instead -> the known name.
    """
    import difflib  # slow to import, and every job imports this module

    names = sorted(set(known))
    meant = {name: name for name in names} | dict(other_names)
    close = [word.lower()] if word.lower() in other_names else difflib.get_close_matches(word, meant, n=1)
    if close:
        return f"did you mean '{meant[close[0]]}'?"
    return "known: " + (", ".join(names) if names else "none")
