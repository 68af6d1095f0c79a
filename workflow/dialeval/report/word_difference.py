"""What changed between two texts or two dialogues, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

KEPT, GONE, NEW = "=", "-", "+"
Difference = list[list[str]]
"""Pieces of text in order, each marked as kept, gone or new."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]|\w+|\s+|[^\w\s]", re.UNICODE)
"""A word, a run of white space, a sign, or one character of a script that is written without spaces."""


def word_difference(before: str, after: str) -> Difference | str:
    """Returns what was kept, taken away and put in; the text itself where nothing changed.

    The pieces that are kept or gone make up `before`, those that are kept or new make up `after`.
    """
    if before == after:
        return before
    old, new = _WORD.findall(before), _WORD.findall(after)
    pieces: Difference = []
    for operation, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            _add(pieces, KEPT, old[i:j])
        else:
            _add(pieces, GONE, old[i:j])
            _add(pieces, NEW, new[k:m])
    return pieces


def dialogue_difference(
    before: Sequence[str], after: Sequence[str], speakers_before: Sequence[str], speakers_after: Sequence[str]
) -> tuple[list[str], list[Difference | str]]:
    """Returns the speakers and utterances of two dialogues as one, with what changed in each utterance."""
    speakers: list[str] = []
    texts: list[Difference | str] = []
    for i, k in _aligned(before, after):
        speakers.append(speakers_before[i] if k is None and i is not None else speakers_after[k or 0])
        if i is None:
            texts.append([[NEW, after[k or 0]]])
        elif k is None:
            texts.append([[GONE, before[i]]])
        else:
            texts.append(word_difference(before[i], after[k]))
    return speakers, texts


def _aligned(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yields places of utterances that stand for each other; None where there is none."""
    for operation, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        shared = min(j - i, m - k) if operation in ("equal", "replace") else 0
        yield from ((i + step, k + step) for step in range(shared))
        yield from ((place, None) for place in range(i + shared, j))
        yield from ((None, place) for place in range(k + shared, m))


def _add(pieces: Difference, mark: str, words: Sequence[str]) -> None:
    if words:
        pieces.append([mark, "".join(words)])
