"""How counts are written with what they count: `1 seed`, `1,200 seeds`."""

from __future__ import annotations

import re

_AFTER_HISS = re.compile(r"(ch|sh|ss|x)es$")


def counted(count: int, noun: str) -> str:
    """Returns a count with a noun, which is given for one: `1 seed`, `3 entries`."""
    return f"{count:,} {noun if count == 1 else _several(noun)}"


def noted(count: int, note: str) -> str:
    """Returns a count with a note of which the first word names several things: `1 dialogue without an id`."""
    first, blank, rest = note.partition(" ")
    return f"{count:,} {_one(first) if count == 1 else first}{blank}{rest}"


def _several(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("ch", "sh", "ss", "x")) else "s")


def _one(noun: str) -> str:
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return _AFTER_HISS.sub(r"\1", noun) if _AFTER_HISS.search(noun) else noun.removesuffix("s")
