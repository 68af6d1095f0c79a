"""The scale on which a number was given, as its page or sheet tells it, beside that of its criterion now.

A label of 5 is another thing of 7 than of 10, and nothing else would tell: the number fits on both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialeval.criteria import Criterion

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e\+?\d+)?)"
_ENDS = re.compile(f"a number from {_NUMBER} to {_NUMBER}")
_POINTS = re.compile(f"{_NUMBER}(?=$|; | \\()")
_FURTHER = re.compile(r"; -?[0-9.]+(?=$|; | \()")
"""One more number to choose."""


def scales_fault(options: str, criterion: Criterion) -> str:
    """Returns what is wrong where the answers that there were are not those of a scale of numbers; empty if they are.

    Answers in other words than pages and sheets have them, as somebody may have rewritten them, tell no scale.

    Args:
        options: the answers as the page or sheet has them, `1 (very poor); 2; 3` or `a number from 1 to 100`.
        criterion: what was asked about.
    """
    scale = criterion.scale
    now = _between(scale.low, scale.high)
    ends = _ENDS.fullmatch(options)
    is_now = _between(*map(float, ends.groups())) == now if ends else _are(options, list(scale.points()))
    if is_now or not (ends or _POINTS.match(options)):
        return ""
    return (
        f"it was labelled on another scale of {criterion.name}, {options!r:.100}, than is set now, {now}; set the "
        "scale back under criteria, or take these labels away and label anew"
    )


def _between(low: float, high: float) -> str:
    return f"a number from {low:g} to {high:g}"


def _are(options: str, points: Sequence[str]) -> bool:
    """Returns whether the answers are these, in order, whatever meanings stand after them."""
    place = 0
    for number, point in enumerate(points):
        mark = re.compile(f"{'; ' if number else '^'}{re.escape(point)}(?=$|; | \\()")
        found = mark.search(options, place)
        if found is None:
            return False
        place = found.end()
    return bool(points) and (place == len(options) or _FURTHER.search(options, place) is None)
