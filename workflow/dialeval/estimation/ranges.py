"""Numbers that are known between bounds."""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """A number of tokens: no less than `low`, no more than `high`, and most likely `expected`."""

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0

    def plus(self, other: Range) -> Range:
        """Returns the sum."""
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def times(self, factor: float) -> Range:
        """Returns all three multiplied."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)

    def minus(self, other: Range) -> Range:
        """Returns a sum without one of its parts, bound by bound."""
        return Range(self.low - other.low, self.expected - other.expected, self.high - other.high)

    def from_zero(self) -> Range:
        """Returns the range down to nothing."""
        return self._replace(low=0.0)
