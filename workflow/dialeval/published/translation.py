"""The quality of xDial-Eval's translations: its Table 2, and the mean ratings of its people (section 3.2)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@cache
def published_quality() -> Mapping[str, Mapping[str, float]]:
    """Returns language -> metric -> value; BLEU from 0 to 100, `adequacy` (GPT-4's) and `people` from 1 to 5."""
    text = files("dialeval.published").joinpath("translation.csv").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            row["language"]: MappingProxyType({name: float(row[name]) for name in row if name != "language"})
            for row in csv.DictReader(text.splitlines())
        }
    )
