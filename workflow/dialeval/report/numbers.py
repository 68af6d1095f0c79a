"""How numbers are written for reading, and what a column sorts by."""

from __future__ import annotations

import math

from dialeval.schemas.table import Kind

MISSING = "–"


def is_missing(value: object) -> bool:
    """Whether a table's value is null or not a number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def write_number(value: float | int | None, kind: Kind) -> str:
    """Returns a number as the reader sees it; a missing one as a dash.

    Args:
        value: shares as fractions of 1.
        kind: what the number is.
    """
    if value is None or is_missing(value):
        return MISSING
    match kind:
        case "share":
            return f"{100 * value:.1f}%"
        case "rating" | "tokens":
            return f"{value:.1f}"
        case "correlation":
            return f"{value:.3f}"
        case "count":
            return f"{int(value):,}"
        case _:
            return str(value) if isinstance(value, int) else f"{value:.4g}"


def write_interval(low: float | None, high: float | None, kind: Kind) -> str:
    """Returns an interval, the unit only once; empty if either end is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    between = " to " if low is not None and low < 0 else "–"  # a dash before a minus reads as one mark
    return f"{write_number(low, kind).removesuffix('%')}{between}{write_number(high, kind)}"


def sort_value(value: object) -> str | None:
    """Returns a number in full for sorting, or None for a missing one; anything else is sorted by its text."""
    if is_missing(value):
        return None
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, int | float) else str(value)


def listed(words: list[str]) -> str:
    """Returns `a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
