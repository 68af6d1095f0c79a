"""The error for users, and texts of others made safe for one line."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control and bidirectional characters, and others that change a line without being seen; not tab and line feed."""


class UserError(Exception):
    """An error that a user can fix; the message names the place, the value and the remedy.

    Control characters in values are escaped (`visible`).
    """

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))


def visible(text: str) -> str:
    """Returns a text whose control and bidirectional characters are written out, as `\\x1b` and `\\u202e`.

    Tabs and line feeds stay. Otherwise a text of others could colour, move or reorder what a terminal or a log shows.
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def nearest(word: str, known: Iterable[str]) -> str:
    """Returns the end of a sentence that offers the likeliest intended name, or all names.

    Args:
        word: what was written.
        known: the names that would have been right.
    """
    import difflib  # every job imports this module first, and few have anything to say

    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return "known: " + (", ".join(names) if names else "none")
