"""Writes what is put into a dialogue as the dialogue is written, so that capitals and blanks do not give it away."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARK = re.compile(r"(?<=\w)([.,!?;:…]+)(?=\s|$)")
_DETACHED_MARK = re.compile(r"(?<=\s)[.,!?;:…]+(?=\s|$)")
_ENDING = re.compile(r"(?<=[a-z])(n't|['’](?:s|m|d|re|ve|ll))\b", re.IGNORECASE)


class Manner:
    """How the utterances of a dialogue are written.

    Args:
        utterances: of the true dialogue.
    """

    def __init__(self, utterances: Sequence[str]) -> None:
        text = "\n".join(utterances)
        self._lower = text == text.lower()
        self._detached = bool(_DETACHED_MARK.search(text)) and not _MARK.search(text)

    def written(self, text: str) -> str:
        """Returns a text without capitals, and with blanks before marks, where the dialogue is written so."""
        if self._lower:
            text = text.lower()
        if self._detached:
            text = _ENDING.sub(r" \1", _MARK.sub(r" \1", text))
        return text
