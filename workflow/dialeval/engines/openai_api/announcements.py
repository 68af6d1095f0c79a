"""What the headers of an answer announce of the endpoint's limits, in the spellings that are in use."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import datetime

from dialeval.engines.pacing.announced import Reading


def _names(*spellings: str) -> list[tuple[str, ...]]:
    return [tuple(spelling.format(part) for part in ("remaining", "limit", "reset")) for spelling in spellings]


_SPELLINGS = {
    "requests": _names(
        "x-ratelimit-{}-requests",  # OpenAI, Azure, Groq, Together, LiteLLM, ...
        "anthropic-ratelimit-requests-{}",
        "x-ratelimit-{}",
        "ratelimit-{}",
    ),
    "tokens": _names("x-ratelimit-{}-tokens", "anthropic-ratelimit-tokens-{}"),
}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_YEARS = 3e8
"""A number of seconds from here on is a moment: so many since 1970, or in milliseconds from 1000 times here on."""


def announced(headers: Mapping[str, str], kind: str) -> Reading | None:
    """Returns what is announced of the limit of `requests` or of `tokens`; None if nothing that can be read.

    Args:
        headers: the answer's, found by names in lower case.
        kind: `requests` or `tokens`.
    """
    for remaining, limit, reset in _SPELLINGS[kind]:
        left = _count(headers.get(remaining))
        if left is not None:
            most = _count(headers.get(limit))
            return None if most is None else Reading(most, left, _span(headers.get(reset)))
    return None


def _count(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None and len(text) < 30 else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _span(text: str | None) -> float | None:
    """Returns seconds from now: of `1s`, `6m0s`, `20ms`, a number of seconds, or a moment."""
    if not text or len(text) > 60:
        return None
    parts = _SPAN.findall(text)
    if parts and "".join(value + unit for value, unit in parts) == text.strip():
        return sum(float(value) * _SECONDS[unit] for value, unit in parts)
    number = _count(text)
    if number is not None:
        moment = number / 1000 if number >= 1000 * _YEARS else number
        return number if number < _YEARS else max(0.0, moment - time.time())
    try:
        return max(0.0, datetime.fromisoformat(text.strip()).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
