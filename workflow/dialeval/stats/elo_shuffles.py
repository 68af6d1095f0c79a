"""Shuffles of comparisons for Bootstrap Elo: drawing their last comparisons, and playing many side by side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialeval.stats.arrays import FloatArray, IntArray
from dialeval.stats.comparisons import N_RESULTS

CodeArray = NDArray[np.unsignedinteger[Any]]
_STEPS_PER_BLOCK = 32
_DRAWS_PER_BLOCK = 500_000
_MAX_WIDTH = 2000
BYTES_PER_BLOCK = 400_000_000


def code_type(n_types: int) -> np.dtype[Any]:
    """Return the smallest unsigned dtype for a number of comparison types: memory traffic limits the speed."""
    return np.dtype(np.uint16 if n_types <= np.iinfo(np.uint16).max else np.uint32)


def compact_codes(type_of_row: IntArray, n_types: int) -> CodeArray:
    """Return the comparison types in the smallest dtype that holds them."""
    return type_of_row.astype(code_type(n_types))


def draw_shuffles(codes: CodeArray, length: int, width: int, rng: np.random.Generator) -> CodeArray:
    """Draw the last `length` comparisons of `width` independent uniform shuffles of `codes`.

    The tail of a uniform permutation is a uniform ordered subset. It is drawn without the head: numbers are drawn with
    replacement, duplicates are dropped, and the first `length` are kept. Every ordered subset is equally likely, since
    the procedure does not depend on the numbering of the comparisons.

    Args:
        codes: type of each comparison, shape [n].
        length: comparisons wanted of each shuffle; n for whole shuffles.
        width: number of shuffles.
        rng: source of randomness.

    Returns:
        Types in order of play, shape [width, length].
    """
    n = len(codes)
    drawn = np.empty((width, length), dtype=codes.dtype)
    if 2 * length > n:
        deck = codes.astype(np.int64)  # shuffling is fastest on whole words
        for row in drawn:
            rng.shuffle(deck)
            row[:] = deck[n - length :]
        return drawn

    needed = -n * math.log1p(-length / n)  # draws until `length` distinct ones are expected
    n_draws = math.ceil(needed + 6.0 * math.sqrt(needed - length + 1.0)) + 8
    position: CodeArray = np.arange(n_draws, dtype=np.uint16 if n_draws < 2**16 else np.uint32)
    # Each code is stored next to the place of its last draw, so that a large deck is read once per draw.
    half = np.result_type(codes.dtype, position.dtype)
    cards = np.empty((n, 2), dtype=half)
    cards[:, 0] = codes
    last_seen = cards[:, 1]
    pairs_of_cards = cards.view(f"u{2 * half.itemsize}")[:, 0]
    rows_per_block = max(1, _DRAWS_PER_BLOCK // n_draws)
    filled = 0
    while filled < width:
        block = rng.integers(0, n, size=(min(rows_per_block, width - filled), n_draws), dtype=np.uint32)
        for draws in block:
            index = draws.astype(np.int64)
            last_seen[index] = position
            # mode="clip" spares a second look at each index; none is out of range.
            seen = pairs_of_cards.take(index, mode="clip").view(half).reshape(-1, 2)
            kept = seen[:, 0][seen[:, 1] == position]
            if len(kept) >= length:  # else draw this one again; whether it happens does not depend on which rows
                drawn[filled] = kept[:length]
                filled += 1
    return drawn


def play_shuffles(
    shuffles: CodeArray,
    first: IntArray,
    second: IntArray,
    start: FloatArray,
    half_k: float,
    again: IntArray | None = None,
) -> FloatArray:
    """Play each shuffle once, all of them in step (Elo's update, equation 1 of the BotChat paper).

    Args:
        shuffles: comparison types in order of play, shape [width, length].
        first, second: players of each pair, shape [n_pairs]; type t is pair t // 3 with result t % 3.
        start: ratings to start from, in kernel units, shape [n_players, width + len(again)].
        half_k: half of K in kernel units.
        again: shuffles that are played a second time, from the last columns of `start`; None for none.

    Returns:
        Ratings after the last comparison, in kernel units, shape [n_players, width + len(again)].
    """
    length = shuffles.shape[1]
    width = start.shape[1]
    # Ratings lie flat, player by player: rating of player p in shuffle w is ratings[p * width + w].
    ratings = start.reshape(-1).copy()
    columns = np.arange(width)
    first_offset = np.repeat(first, N_RESULTS) * width
    second_offset = np.repeat(second, N_RESULTS) * width
    result_gain = half_k * np.tile([1.0, 0.0, -1.0], len(first))
    here = np.empty((_STEPS_PER_BLOCK, width), dtype=np.int64)
    there = np.empty((_STEPS_PER_BLOCK, width), dtype=np.int64)
    gain = np.empty((_STEPS_PER_BLOCK, width))
    mine, theirs, lead = np.empty(width), np.empty(width), np.empty(width)
    for begin in range(0, length, _STEPS_PER_BLOCK):
        played = shuffles[:, begin : begin + _STEPS_PER_BLOCK]
        if again is not None:
            played = np.concatenate([played, played[again]])
        steps = played.T.astype(np.int64, order="C")
        n_steps = len(steps)
        # mode="clip" lets NumPy write to `out` without a second buffer; no index is out of range.
        first_offset.take(steps, out=here[:n_steps], mode="clip")
        second_offset.take(steps, out=there[:n_steps], mode="clip")
        result_gain.take(steps, out=gain[:n_steps], mode="clip")
        here[:n_steps] += columns
        there[:n_steps] += columns
        for i, j, change in zip(here[:n_steps], there[:n_steps], gain[:n_steps], strict=True):
            ratings.take(i, out=mine, mode="clip")
            ratings.take(j, out=theirs, mode="clip")
            np.subtract(mine, theirs, out=lead)
            np.tanh(lead, out=lead)
            lead *= half_k
            change -= lead
            mine += change
            theirs -= change
            ratings[i] = mine
            ratings[j] = theirs
    return ratings.reshape(-1, width)


def block_width(length: int, itemsize: int) -> int:
    """Shuffles, of codes of so many bytes, to play side by side: many, to be fast, few enough to stay small."""
    return int(min(max(BYTES_PER_BLOCK // (itemsize * length), 64), _MAX_WIDTH))
