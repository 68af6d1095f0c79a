"""The patterns of all paths below the results."""

from __future__ import annotations

from dialeval.layout.dialogues import Below
from dialeval.layout.run import Layout


def patterns() -> list[str]:
    """Return the patterns of paths below the results, with wildcards in braces."""
    named = {name for kind in Layout.__mro__ for name, value in vars(kind).items() if isinstance(value, Below)}
    return sorted(vars(kind)[name].pattern for kind in Layout.__mro__ for name in named & vars(kind).keys())
