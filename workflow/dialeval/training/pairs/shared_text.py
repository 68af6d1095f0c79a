"""Which dialogues hold the same text: in another corpus, cut elsewhere, tokenised or with speakers' names before it.

A passage is what two dialogues do not share by chance: two utterances that follow each other, together long enough, or
a long one by itself. Case, blanks, marks and a name with a colon before an utterance make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from dialeval.text.tokens import is_unspaced, normalised
from dialeval.training.pairs.hashing import number_of

PAIR_LETTERS = 40
"""Letters that two utterances in a row need together: some ten words. Without blanks, a character is three."""
SINGLE_LETTERS = 48
"""Letters that an utterance needs to be a passage by itself."""
WHOLE_LETTERS = 24
"""Letters that a whole dialogue needs for another one like it to be no chance."""
_UNSPACED_LETTERS = 3
_NAME = re.compile(r"^\s*[^\W\d_]{1,12}(?:[ _-]?[\w]{1,2})?\s*[:：]\s+")


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """Returns what makes an utterance the same wherever it stands: its letters and digits, without a speaker's name."""
    return normalised(_NAME.sub("", text, count=1)) or normalised(text)


def n_letters(plain_text: str) -> int:
    """Returns how much a plain text says, in letters of a script with blanks."""
    if plain_text.isascii():
        return len(plain_text)
    return sum(_UNSPACED_LETTERS if is_unspaced(letter) else 1 for letter in plain_text)


def whole(utterances: Sequence[str]) -> int:
    """Returns a number that stands for a dialogue as a whole."""
    return _number("whole", *map(plain, utterances))


def passages(utterances: Sequence[str], *, singles: bool) -> Iterator[int]:
    """Yields a number for every passage of a dialogue; equal passages have equal numbers.

    Args:
        utterances: of the dialogue.
        singles: whether long utterances count by themselves.
    """
    before, length_before = "", 0
    for text in filter(None, map(plain, utterances)):
        length = n_letters(text)
        if before and length_before + length >= PAIR_LETTERS:
            yield _number("two", before, text)
        if singles and length >= SINGLE_LETTERS:
            yield _number("one", text)
        before, length_before = text, length


def judged_passages(utterances: Sequence[str]) -> set[int]:
    """Returns the numbers by which a dialogue is known again among others, wherever these were cut."""
    found = set(passages(utterances, singles=True))
    if len(utterances) > 1 and sum(n_letters(plain(text)) for text in utterances) >= WHOLE_LETTERS:
        found.add(whole(utterances))
    return found


def _number(*parts: str) -> int:
    """Returns a number that fits into a column of signed 64-bit numbers."""
    return number_of(*parts) >> 1
