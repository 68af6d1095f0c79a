"""Which sequences are computed together: those of like length, as many as a number of tokens allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yields the places of sequences that are computed together, the longest first.

    Args:
        lengths: of the sequences, in tokens.
        batch_tokens: most tokens of a batch, padding included; a longer sequence is one by itself.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size
