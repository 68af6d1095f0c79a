"""Prompts as the page holds them: messages whose lines stand once, since the prompts of a case share its dialogues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dialeval.engines.request import Message
from dialeval.pages.self_contained import pack
from dialeval.report.inputs import ReportInputs
from dialeval.report.packing import Pool

MOST_BYTES = 15_000_000
"""What all prompts of a kind of cases may take in the page."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line with the line break that ends it, at no other character than a line feed."""


class Prompts:
    """The prompts of one case, or of a few."""

    def __init__(self) -> None:
        self._lines = Pool()
        self._places: dict[tuple[Message, ...], int] = {}

    def place(self, messages: Iterable[Message]) -> int:
        """Returns the number of a prompt, -1 where nothing was sent."""
        whole = tuple(messages)
        return self._places.setdefault(whole, len(self._places)) if whole else -1

    def piece(self) -> dict[str, Any]:
        """Returns the prompts: each a list of role and places of its lines, which joined give the content exactly."""
        prompts = [
            [[message.role, self._lines.places(_LINE.findall(message.content))] for message in messages]
            for messages in self._places
        ]
        return {"strings": self._lines.strings(), "prompts": prompts}

    def packed(self) -> str:
        """Returns the prompts packed; nothing where nothing was sent."""
        return pack(self.piece()) if self._places else ""


def fitting_prompts(prompts: Sequence[str], budget: int) -> tuple[str, ...]:
    """Returns the packed prompts of cases, in order; from the first that finds no room on they are empty lines.

    Args:
        prompts: of each case, packed.
        budget: bytes that they may take; never more than `MOST_BYTES`.
    """
    left = min(budget, MOST_BYTES) - len(prompts)  # every line ends in a line break
    if left < 0:
        return ()
    lines = [""] * len(prompts)
    for place, line in enumerate(prompts):
        if len(line) > left:
            break
        lines[place] = line
        left -= len(line)
    return tuple(lines)


def no_prompts(inputs: ReportInputs) -> str:
    """Returns what stands where a prompt is not in the page."""
    return f"What was sent is not in this page, which would grow too large; it is in {inputs.results_dir}/requests."
