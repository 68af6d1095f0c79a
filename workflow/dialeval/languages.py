"""The order of languages in every table, figure and page: xDial-Eval's ten as its tables have them, then others."""

from __future__ import annotations

from collections.abc import Iterable

PAPER_ORDER = ("en", "zh", "es", "de", "fr", "ja", "ko", "hi", "ar", "ru")
"""The ten languages of xDial-Eval in the order of its tables and figures."""
AVERAGE = "average"
"""Stands for the mean over languages where a table names one."""
_PLACES = {language: place for place, language in enumerate(PAPER_ORDER)}


def language_place(language: str) -> tuple[bool, int, str]:
    """Returns what languages are sorted by: the paper's place, for others their code; their average comes last."""
    return language == AVERAGE, _PLACES.get(language, len(PAPER_ORDER)), language


def language_order(names: Iterable[str]) -> list[str]:
    """Returns the distinct languages: English, the others of xDial-Eval in its order, others by code, their average."""
    return sorted(set(names), key=language_place)
