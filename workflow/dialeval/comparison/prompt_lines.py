"""The words of a protocol's prompts without what they are about: what is the same whatever dialogue is shown.

A plan keeps whole prompts and not the template. What a prompt is about stands beside it, and is taken out; of what is
left a line counts as the prompt's where several cases have it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from dialeval.comparison.runs import Run
from dialeval.errors import UserError
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import OTHER_VERSION, chosen_rows, count_rows

LOOKED_AT = 240
"""Requests of a plan, taken evenly."""
SEVERAL = 3
"""Cases that must have a line; all, where there are fewer."""
ABOUT = "…"
_SHORTEST = 8
"""Characters of a text that is taken out: shorter ones are words that prompts have, too."""

_NUMBER = re.compile(r"\d+")


def prompts_of(run: Run, path: Path) -> str | None:
    """Returns the words of a plan's prompts, one form after the other; None where the plan cannot be read.

    Args:
        run: whose plan it is.
        path: the table `requests`.
    """
    try:
        n = count_rows(path, REQUESTS)
        chosen = np.zeros(n, dtype=np.bool_)
        if n:
            chosen[np.unique(np.linspace(0, n - 1, LOOKED_AT).astype(np.int64))] = True
        rows = list(chosen_rows(path, REQUESTS, chosen))
    except UserError as error:
        run.tell(str(error).replace("; delete it and run again", "").replace(OTHER_VERSION, ""))
        return None
    lines = [(_case(row), _lines(row)) for row in rows]
    cases: dict[str, set[str]] = defaultdict(set)
    for case, words in lines:
        for line in words:
            cases[line].add(case)
    enough = min(SEVERAL, len({case for case, _ in lines}))
    forms = {tuple(line for line in words if len(cases[line]) >= enough) for _, words in lines}
    whole = [form for form in forms if not any(set(form) < set(other) for other in forms)]
    return "\n\n".join("\n".join(form) for form in sorted(whole))


def asked_otherwise(before: str, after: str) -> bool:
    """Returns whether prompts have other words in one of two runs.

    A form that only one run has, and that differs from one of both runs in numbers alone, comes from its cases: more
    dialogues have more lengths, which prompts name.

    Args:
        before, after: what `prompts_of` gave.
    """
    one, other = (set(words.split("\n\n")) for words in (before, after))
    known = {_NUMBER.sub("0", form) for form in one & other}
    return any(_NUMBER.sub("0", form) not in known for form in one ^ other)


def _case(row: dict[str, Any]) -> str:
    return str(row["case_id"] or row["item_id"] or row["request_id"])


def _lines(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns the different lines of a prompt in order, what it is about taken out."""
    about = sorted({text for part in row["subject"] for text in part if text}, key=len, reverse=True)
    found: list[str] = []
    for message in row["messages"]:
        content = message["content"]
        for text in about:
            if len(text) >= _SHORTEST:
                content = content.replace(text, ABOUT)
            else:  # "Yes." stands in prompts, too: it is taken out where it is all that somebody says
                content = re.sub(rf"(?m)(^|: |\. ){re.escape(text)}(?=<|$)", rf"\g<1>{ABOUT}", content)
        found += [f"{message['role']}: {line}".rstrip() for line in content.split("\n")]
    return tuple(dict.fromkeys(found))
