"""Comparison of two runs: differences of numbers, changed verdicts, and changed settings."""

from __future__ import annotations

from dialeval.report.comparison.page import compare

__all__ = ["compare"]
