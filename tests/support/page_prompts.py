"""What a report says was sent to judges, taken out of its text as a browser would."""

from __future__ import annotations

import re

from dialeval.html_pages import unpack

Sent = tuple[tuple[str, str], ...]
"""Roles and contents of messages."""


def prompts_in(page: str) -> set[Sent]:
    """Return every prompt that a page holds."""
    found = set()
    for lines in re.findall(r'<script type="text/plain" id="[a-z]+-prompts">(.*?)</script>', page, re.DOTALL):
        for line in filter(None, lines.split("\n")):
            piece = unpack(line)
            for prompt in piece["prompts"]:
                found.add(tuple((role, "".join(piece["strings"][place] for place in of)) for role, of in prompt))
    return found
