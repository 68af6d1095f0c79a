"""The error that is meant for the person at the keyboard."""

from __future__ import annotations

from collections.abc import Iterable


class UserError(Exception):
    """Something outside the program is wrong; the message names the place, the value and the remedy."""


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
