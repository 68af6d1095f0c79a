"""How long the dialogues are that judges compare: words up to where they were cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dialeval.tables.files import iterate_rows
from dialeval.tables.metaeval import ITEMS
from dialeval.text import is_word, surface_tokens

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
    length = judgements["n_utterances"].fillna(0).to_numpy(dtype=np.int64)
    system, systems = pd.factorize(judgements[side], use_na_sentinel=False)
    case, cases = pd.factorize(judgements["case_id"], use_na_sentinel=False)
    dialogue = (system * max(len(cases), 1) + case) * (length.max(initial=0) + 1) + length
    _, first, place = np.unique(dialogue, return_index=True, return_inverse=True)
    counts = [_up_to(words.get((systems[system[row]], cases[case[row]])), int(length[row])) for row in first]
    return np.array(counts, dtype=np.float64)[place]


def _up_to(counts: Sequence[int] | None, n: int) -> float:
    """Returns the words of the first n utterances, of all for 0."""
    if not counts:
        return float("nan")
    return float(counts[min(n or len(counts), len(counts)) - 1])
