"""Comparing two runs: which numbers moved, which verdicts flipped, and what was set otherwise."""

from __future__ import annotations

from dialeval.comparison.compare import compare

__all__ = ["compare"]
