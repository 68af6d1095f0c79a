"""A job looks for garbage seldom, and finds it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from dialeval.processes.garbage import SELDOM, keep_what_is_loaded


class Knot:
    """Holds itself, so that only a search finds out that nobody else does; counts those that are there."""

    there = 0

    def __init__(self) -> None:
        self.held = self
        Knot.there += 1

    def __del__(self) -> None:
        Knot.there -= 1


@pytest.fixture
def kept() -> Iterator[None]:
    before = gc.get_threshold()
    gc.collect()
    keep_what_is_loaded()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.usefixtures("kept")
def test_what_hundreds_of_requests_hold_is_not_looked_through() -> None:
    looked = gc.get_stats()[0]["collections"]
    held = [[number] for number in range(256 * 50)]
    assert gc.get_stats()[0]["collections"] == looked
    assert len(held) == 12_800


@pytest.mark.usefixtures("kept")
def test_garbage_does_not_grow_without_end() -> None:
    most = 0
    for _ in range(4 * SELDOM):
        Knot()
        most = max(most, Knot.there)
    assert most <= 1.1 * SELDOM
