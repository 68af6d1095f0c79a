"""Reading which utterances show what: lines such as `formal tone: 3, 5` and `excessive length: none`.

Anchored and exact, as verdicts are: a line counts that begins with a kind's name, and what follows must be `none` or
numbers of utterances. Decoration is forgiven, and so are ranges, `utterance 3` and words in brackets behind the
numbers. A kind without a line, with anything else in it, or with two lines that differ, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialeval.forms.verdict_text import is_whole, plain_text

_BEFORE = r"^[ \t>*_#`\"'“”‘’\-–—•(\[{]*(?:\d{1,2}[.)][ \t]*)?[*_`\"'“”]*"
_COLON = r"[ \t*_`\"'“”]*[:=][ \t]*"
_EDGES = " \t.,;:!*_`\"'“”‘’()[]{}<>|。，；"
_NONE = re.compile(r"none|no|n/a|null|nothing|no utterances?|none of them", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()\d]*\)")
_SINGLE = re.compile(
    r"(?:utterances?|numbers?|nos?\.?|#)?\s*#?(?P<first>\d{1,4})(?:\s*(?:-|–|—|to)\s*(?P<last>\d{1,4}))?", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:,\s*and\s|,|;|&|、|，|\band\b)\s*|\s+", re.IGNORECASE)
_RANGE = re.compile(r"(\d)\s*(?:-|–|—|\bto\b)\s*(\d)", re.IGNORECASE)
_WORD = re.compile(r"\b(utterances?|numbers?|nos?\.?|#)\s*(?=#?\d)", re.IGNORECASE)
_REASON = re.compile(_BEFORE + r"reason" + _COLON + r"(?P<value>.*)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_MOST = 1_000


def read_marks(text: str, names: Sequence[str], *, cut: bool = False) -> dict[str, tuple[int, ...]]:
    """Returns by kind the numbers of the utterances that an answer names, ascending; none where it says so.

    Args:
        text: the answer; a reasoning part at its beginning is passed over.
        names: the kinds.
        cut: whether its token budget cut it off, so that its last line may not be whole.
    """
    plain = plain_text(text)
    reason = _REASON.search(plain)
    before = plain[: reason.start()] if reason else plain
    found = _lines(before, names, cut=cut and reason is None)
    return found or _lines(plain, names, cut=cut)


def reason_in(text: str) -> str:
    """Returns what stands behind `Reason:`; empty where nothing does."""
    found = _REASON.search(plain_text(text))
    return found["value"].strip(" \t\n*_`") if found else ""


def _lines(plain: str, names: Sequence[str], *, cut: bool) -> dict[str, tuple[int, ...]]:
    said: dict[str, set[tuple[int, ...] | None]] = {}
    for name in names:
        line = re.compile(_BEFORE + _spelled(name) + _COLON + r"(?P<value>[^\n]*)", re.IGNORECASE | re.MULTILINE)
        for match in line.finditer(plain):
            whole = is_whole(plain, match.end(), cut=cut)
            said.setdefault(name, set()).add(_numbers(match["value"]) if whole else None)
    return {name: value for name, each in said.items() if len(each) == 1 and (value := next(iter(each))) is not None}


def _numbers(value: str) -> tuple[int, ...] | None:
    """Returns the numbers that a line gives; none for `none`, None for anything that is neither."""
    bare = _BRACKETS.sub(" ", value).strip(_EDGES)
    if _NONE.fullmatch(bare) or re.fullmatch(r"\s*\[\s*\]\s*", value):
        return ()
    found: set[int] = set()
    for part in _BETWEEN.split(_RANGE.sub(r"\1-\2", _WORD.sub("", bare))):
        one = _SINGLE.fullmatch(part.strip(_EDGES))
        if one is None:
            return None
        first, last = int(one["first"]), int(one["last"] or one["first"])
        if last < first or last - first > _MOST:
            return None
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _spelled(name: str) -> str:
    """Returns the pattern of a name, whose blanks may be hyphens or underscores and the other way round."""
    return r"[\s_\-]+".join(map(re.escape, re.split(r"[\s_\-]+", name.strip())))
