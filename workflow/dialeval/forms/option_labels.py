"""How answers name the options of a question: the labels of a user's own as tolerantly as those of the papers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_LEADS = "answer|option|choice|conversation|dialogue|response|system|assistant"
"""Words that judges put before a label of one word."""


def option_patterns(labels: Iterable[str]) -> dict[str, str]:
    """Returns the pattern of each label (see `read_verdict`) -> the label.

    A label is read in any case, with `only` or a word such as `answer` before it. Where labels begin with one word and
    differ behind it, as `Conversation 1` and `Conversation 2`, that word may be left out; and behind the others it may
    stand, as in `both of the conversations`. What would then be another label is read in no way but as it is written.
    """
    plain = {label: _plain(label) for label in labels}
    noun = _shared_noun(plain.values())
    return {
        pattern if not any(re.fullmatch(pattern, other) for other in plain.values() if other != text) else exact: label
        for label, text in plain.items()
        for pattern, exact in [(_tolerant(text, noun), re.escape(text))]
    }


def _plain(label: str) -> str:
    return (
        re.sub(r"\s+", " ", unicodedata.normalize("NFKC", label)).strip(" \t.,;:!*_`\"'“”‘’()[]{}<>|。，；！").lower()
    )


def _tolerant(text: str, noun: str) -> str:
    own = re.escape(text)
    if not noun:
        return rf"(?:only )?(?:(?:{_LEADS}) )?#?{own}"
    word = re.escape(noun)
    if text.startswith(f"{noun} "):
        return rf"(?:only )?(?:{word} )?#?{re.escape(text.removeprefix(f'{noun} '))}"
    return rf"{own}(?: (?:of )?(?:the |them|these )?(?:two )?(?:{word}s?)?)?"


def _shared_noun(labels: Iterable[str]) -> str:
    """Returns the word that two labels or more begin with; empty if there is none."""
    words = Counter(first for first, _, rest in (label.partition(" ") for label in labels) if rest)
    word, count = words.most_common(1)[0] if words else ("", 0)
    return word if count > 1 else ""
