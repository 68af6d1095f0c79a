"""How long the dialogues are that judges compare: words up to where they were cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dialeval.schemas.metaeval import ITEMS
from dialeval.tables import iterate_rows
from dialeval.text.tokens import is_word, surface_tokens

Words = Mapping[tuple[str, str], Sequence[int]]
"""(system, case_id) -> words of its dialogue up to each utterance."""


def dialogue_words(items: Iterable[Path]) -> dict[tuple[str, str], list[int]]:
    """Returns the words of every system's dialogue up to each utterance, by system and case.

    In scripts without blanks every character counts as a word. A dialogue without any word has one, so that lengths
    have ratios. Where a system has several dialogues on one case, which of them was shown is not known here: it has no
    entry.

    Args:
        items: tables `items`.
    """
    words: dict[tuple[str, str], list[int]] = {}
    several: set[tuple[str, str]] = set()
    for path in items:
        for row in iterate_rows(path, ITEMS, ["system", "case_id", "utterances"]):
            key = (row["system"], row["case_id"])
            if not all(key) or key in several:
                continue
            if key in words:
                several.add(key)
                del words[key]
                continue
            counts = (sum(map(is_word, surface_tokens(text))) for text in row["utterances"])
            words[key] = [max(total, 1) for total in accumulate(counts)]
    return words


def words_shown(judgements: pd.DataFrame, side: Literal["left", "right"], words: Words) -> NDArray[np.float64]:
    """Returns the words of the dialogue that was shown on a side, NaN where they are not known, shape [n]."""
    lengths = judgements["n_utterances"].fillna(0).astype(np.int64)
    shown = zip(judgements[side], judgements["case_id"], lengths, strict=True)
    return np.array([_up_to(words.get((system, case)), n) for system, case, n in shown], dtype=np.float64)


def _up_to(counts: Sequence[int] | None, n: int) -> float:
    """Returns the words of the first n utterances, of all for 0."""
    if not counts:
        return float("nan")
    return float(counts[min(n or len(counts), len(counts)) - 1])
