"""Text as tokens in any script, and counts with their nouns.

Tokens are words in scripts with blanks between them, single characters in others, and punctuation marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

Script = Literal["spaced", "unspaced"]
"""Whether a script puts blanks between its words."""

# Thai, Lao, Myanmar, Khmer, kana, Han (with its extensions and compatibility forms).
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents, which Python does not count as letters, but which stand inside words.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}])"

_TOKEN = re.compile(rf"[{_UNSPACED}]|{_LETTER}+(?:['’.\-]{_LETTER}+)*|[^\w\s]|_")
QUESTION_MARKS = frozenset("?？؟")
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(r"[^\W_]")


def surface_tokens(text: str) -> list[str]:
    """Return the tokens of a text as they are written."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text in lower case."""
    return tuple(_TOKEN.findall(text.lower().replace("’", "'")))


@lru_cache(maxsize=65536)
def is_word(token: str) -> bool:
    """Return whether a token is a word, and not punctuation."""
    return _WORD.search(token) is not None


@lru_cache(maxsize=65536)
def telling_tokens(text: str) -> tuple[str, ...]:
    """Return the words and question marks of a text, without marks that depend on careful typing."""
    return tuple(token for token in tokens(text) if token in QUESTION_MARKS or is_word(token))


@lru_cache(maxsize=65536)
def unfinished_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text without the marks that end it, which some people leave out."""
    found = tokens(text)
    n = len(found)
    while n and not is_word(found[n - 1]):
        n -= 1
    return found[:n]


def is_unspaced(token: str) -> bool:
    """Return whether a token is a character of a script without blanks."""
    return _UNSPACED_CHARACTER.match(token) is not None


@lru_cache(maxsize=65536)
def normalised(text: str) -> str:
    """Return the letters and digits of a text, in lower case; equal for utterances that count as the same."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))


def script_of(utterances: Sequence[str]) -> Script:
    """Return the kind of script that most of the letters belong to."""
    text = "".join(utterances)
    if text.isascii():
        return "spaced"
    unspaced = len(_UNSPACED_CHARACTER.findall(text))
    return "unspaced" if 2 * unspaced > len(_WORD.findall(text)) else "spaced"


def by_script(dialogues: Sequence[tuple[str, ...]]) -> dict[Script, list[tuple[str, ...]]]:
    """Return the dialogues grouped by kind of script; a kind without dialogues is absent."""
    groups: dict[Script, list[tuple[str, ...]]] = {}
    for dialogue in dialogues:
        groups.setdefault(script_of(dialogue), []).append(dialogue)
    return groups


_CLOSING = frozenset(".,!?;:%)]}…。，、！？；：”’）】》")
_OPENING = frozenset("([{$£€“‘（【《")


def join_tokens(surfaces: Sequence[str]) -> str:
    """Return the text of tokens as they are written, with blanks where the script has them."""
    text = ""
    for token in surfaces:
        tight = (
            not text
            or token[0] in _CLOSING
            or text[-1] in _OPENING
            or (is_unspaced(token) and (is_unspaced(text[-1]) or text[-1] in _CLOSING))
        )
        text += token if tight else f" {token}"
    return text


# Counts with their nouns

_AFTER_HISS = re.compile(r"(ch|sh|ss|x)es$")


def counted(count: int, noun: str) -> str:
    """Return a count with a noun, which is given for one: `1 seed`, `3 entries`."""
    return f"{count:,} {noun if count == 1 else _several(noun)}"


def noted(count: int, note: str) -> str:
    """Return a count with a note whose first word is a plural: `1 dialogue without an id`."""
    first, blank, rest = note.partition(" ")
    return f"{count:,} {_one(first) if count == 1 else first}{blank}{rest}"


def _several(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("ch", "sh", "ss", "x")) else "s")


def _one(noun: str) -> str:
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return _AFTER_HISS.sub(r"\1", noun) if _AFTER_HISS.search(noun) else noun.removesuffix("s")
