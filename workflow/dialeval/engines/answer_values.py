"""What a model's answer may be made of, so that every table can hold it and every key can be looked up again.

Answers come from elsewhere: what they hold is bounded here, once for all engines. What can be kept honestly is mended:
half of a surrogate pair, which is no character, becomes U+FFFD, the mark for one that came broken; a count of tokens
that no model can have counted is one that is not known. Both were paid for, and asking again would give the same. What
is no probability is refused.
"""

from __future__ import annotations

import math

MOST_TOKENS = 100_000_000
"""More tokens than any prompt or answer has; a greater count is none."""
BROKEN = "\ufffd"
"""Stands for a character that came broken."""
_ROUNDING = 0.01
"""What a logarithm of a probability may be above 0, where it was rounded or summed in half precision."""


def whole_text(value: object) -> str:
    """Returns a text in which halves of surrogate pairs are joined, or else replaced by U+FFFD.

    Raises:
        ValueError: it is no text.
    """
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.80} is no text")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def token_count(value: object) -> int | None:
    """Returns a number of tokens, or None for what is none: negative, broken, absurd, or no number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def log_probability(value: object) -> float:
    """Returns the natural logarithm of a probability, at most 0; of the probability 0 it is minus infinity.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not value <= _ROUNDING:
        raise ValueError(f"{value!r:.80} is not the logarithm of a probability")
    return min(float(value), 0.0)


def probability(value: object) -> float:
    """Returns a probability; what rounding has put above 1 is 1.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= math.exp(_ROUNDING):
        raise ValueError(f"{value!r:.80} is not a probability")
    return min(float(value), 1.0)
