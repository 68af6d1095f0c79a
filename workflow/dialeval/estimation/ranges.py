"""Numbers that are known between bounds."""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """A number of tokens.

    Attributes:
        low: likely no less.
        expected: most likely.
        high: likely no more.
        most: in no case more: what the configuration and the model's window allow.
    """

    low: float = 0.0
    expected: float = 0.0
    high: float = 0.0
    most: float = 0.0

    def plus(self, other: Range) -> Range:
        """Returns the sum."""
        return Range(*(one + another for one, another in zip(self, other, strict=True)))

    def times(self, factor: float) -> Range:
        """Returns all multiplied."""
        return Range(*(one * factor for one in self))

    def scaled(self, low: float, high: float, most: float) -> Range:
        """Returns it as counted by something that may count another number of tokens, so many times as many."""
        return Range(self.low * low, self.expected, self.high * high, self.most * most)

    def at_most(self, bound: float) -> Range:
        """Returns it under a bound."""
        return Range(*(min(one, bound) for one in self))
