"""Tokens of one try: the most that it may take, and what is billed for it."""

from __future__ import annotations

from typing import NamedTuple


class Bound(NamedTuple):
    """Tokens that a try takes at most."""

    input_tokens: int
    output_tokens: int


class Billed(NamedTuple):
    """Tokens that are billed for a try.

    Attributes:
        confirmed: whether the endpoint said so; otherwise they are the most that it may bill.
    """

    input_tokens: int
    output_tokens: int
    confirmed: bool = True


NOTHING = Billed(0, 0)
