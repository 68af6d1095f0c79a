"""Speech as plain text: `Ann: Good morning.`, with the name of who speaks before it."""

from __future__ import annotations

import re

_NAMED = re.compile(r"(?P<speaker>[^\W\d_][^\W_]*(?:[ .'’-]{1,2}[^\W_]+){0,3}\.?) ?: +(?P<text>\S.*)", re.DOTALL)
"""A name of four words at most. `Well: I do not know` passes for one, too."""


def said_by(text: str) -> dict[str, str] | str:
    """Returns a text as an entry with its speaker; as it is where none is named."""
    found = _NAMED.fullmatch(text.strip())
    return text if found is None else found.groupdict()
