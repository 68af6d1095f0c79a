"""Scores as judges write them: `empathy - 6`, `**Empathy:** 6/7`, `{"empathy": 6}`, `empathy: very good`.

An answer is read tolerantly in its form (marks, order, Markdown, JSON, `4/5`, `4 on a scale of 1 to 5`) and exactly in
its content: a criterion that is missing, named with two different scores, off its scale or given as a range has none.
Where one alone is asked about, an answer that is nothing but a score, `6/7` or `very good`, is its.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dialeval.criteria import Criterion, Scale
from dialeval.forms.verdict_text import is_whole, plain_text

_MARKS = r"[\s>*_#`\"'“”‘’\-–—−•.):\[\]{},|=]*"
_NUMBER = r"(?P<number>\d+(?:\.\d+)?)"
_MINUS = re.compile(r"[-–—−:=|]\s*[-–—−]$")
"""A dash after another mark is a minus; one alone stands between the name and its number."""
_SIGN = re.compile(r".[-–—−]$", re.DOTALL)
"""On a scale with negative numbers a dash right before the number is a minus, too; joined to the name it is unclear."""
_JOINED = re.compile(r"[-–—−]")
_TO = r"(?:[-–—~]|to|and)"
_ON = r"(?:on\s+)?(?:an?\s+|the\s+)?(?:scale\s*(?:of|from|:)?\s*)?"
_MORE = re.compile(
    r"\s*(?:/|out of|[-–—−~]|to|or)\s*[-–—−+]?\d|\.\d|,\d|\s*%|\s*(?:\(\s*)?on\s+(?:an?|the)\s+(?:scale|\d)",
    re.IGNORECASE,
)
_AFTER_LABEL = re.compile(r"\s*(?:$|\n|[.,;!?|(){}\[\]*_`\"'“”‘’。、]|[-–—:]\s)")
_BARE = re.compile(r"[-–—−+]?\d+(?:\.\d+)?(?: ?/ ?\d+| out of \d+)?")
_AROUND = " \t\r\n*_`\"'“”‘’."
_BEFORE_NEXT = r"[ \t.,;|()\[\]*_`\"'“”‘’/–—:\-]*(?:(?:to|or|and)[ \t]+)?"


class Said(NamedTuple):
    """A score.

    Attributes:
        value: on the scale.
        label: of the scale, where it has labels.
    """

    value: float
    label: str | None = None


class _Naming(NamedTuple):
    """How the criteria of one answer are found in it."""

    names: re.Pattern[str]
    owners: tuple[int, ...]
    values: tuple[re.Pattern[str], ...]
    goes_on: tuple[re.Pattern[str], ...]


def read_scores(text: str, criteria: Sequence[Criterion], *, cut: bool = False) -> dict[str, Said]:
    """Returns the scores that an answer gives, by criterion; one that is not given, or not clearly, is absent.

    Args:
        text: the answer.
        criteria: what is scored.
        cut: whether the answer was cut off, so that a score at its end may not be whole.
    """
    plain = plain_text(text)
    if len(criteria) == 1 and _is_bare(plain.strip(_AROUND), criteria[0]):
        plain = f"{unicodedata.normalize('NFKC', criteria[0].name)}: {plain}"
    naming = _naming(tuple((one.names, one.scale, one.spellings()) for one in criteria))
    found: dict[str, set[Said | None]] = {}
    for name in naming.names.finditer(plain):
        number = naming.owners[(name.lastindex or 1) - 1]
        value = naming.values[number].match(plain, name.end())
        if value is not None:
            said = _said(value, plain, criteria[number], naming.goes_on[number])
            whole = is_whole(plain, value.end(), cut=cut)
            found.setdefault(criteria[number].name, set()).add(said if whole else None)
    return {name: said for name, each in found.items() if len(each) == 1 and (said := next(iter(each))) is not None}


def _is_bare(text: str, criterion: Criterion) -> bool:
    """Returns whether a text is a score and nothing else."""
    return _BARE.fullmatch(text) is not None or said_text(text, criterion) is not None


def said_number(number: float | None, criterion: Criterion) -> Said | None:
    """Returns a number as a score, or None where it is off the scale."""
    scale = criterion.scale
    return Said(number) if number is not None and not scale.labels and scale.low <= number <= scale.high else None


def said_text(text: str, criterion: Criterion) -> Said | None:
    """Returns a label, in any of the criterion's languages, as a score; None for any other text."""
    wanted = _folded(unicodedata.normalize("NFKC", text))
    for spelling, label in criterion.spellings():
        if _folded(unicodedata.normalize("NFKC", spelling)) == wanted:
            return Said(criterion.scale.value_of(label), label)
    return None


def _said(found: re.Match[str], plain: str, criterion: Criterion, goes_on: re.Pattern[str]) -> Said | None:
    """Returns a score, or None for one that is off the scale or that goes on: a range, a share of ten.

    Args:
        found: what stands behind the criterion's name.
        plain: the answer.
        criterion: the criterion.
        goes_on: what may follow: of numbers the scale's end, of labels another label, which makes two.
    """
    after = goes_on.match(plain, found.end())
    if criterion.scale.labels:
        alone = after is None and _AFTER_LABEL.match(plain, found.end())
        return said_text(found["label"], criterion) if alone else None
    if _MORE.match(plain, after.end() if after else found.end()):
        return None
    marks, below_zero = found["marks"], criterion.scale.low < 0
    if below_zero and _JOINED.fullmatch(marks):
        return None
    minus = _MINUS.search(marks) or (below_zero and _SIGN.search(marks))
    if minus and not below_zero:
        return None
    return said_number(-float(found["number"]) if minus else float(found["number"]), criterion)


@lru_cache(maxsize=256)
def _naming(asked: tuple[tuple[tuple[str, ...], Scale, tuple[tuple[str, str], ...]], ...]) -> _Naming:
    each = sorted(
        ((name, number) for number, (names, _, _) in enumerate(asked) for name in names),
        key=lambda pair: len(pair[0]),
        reverse=True,  # a name that another one begins with would be taken for it
    )
    any_name = "|".join(f"({_spelled(name)})" for name, _ in each)
    return _Naming(
        re.compile(rf"(?<![\w-])(?:{any_name})", re.IGNORECASE),
        tuple(number for _, number in each),
        tuple(_label_after(spellings) if scale.labels else _number_after(scale) for _, scale, spellings in asked),
        tuple(_other_label(spellings) if scale.labels else _out_of(scale) for _, scale, spellings in asked),
    )


def _number_after(scale: Scale) -> re.Pattern[str]:
    said = rf"(?:{_MARKS}\(\s*{_ON}{_ends(scale)}\s*\))?"
    plus = r"\+?" if scale.low < 0 else ""
    return re.compile(rf"{said}(?P<marks>{_MARKS}){plus}{_NUMBER}", re.IGNORECASE)


def _out_of(scale: Scale) -> re.Pattern[str]:
    high = re.escape(f"{scale.high:g}")
    share = rf"\s*(?:/|out\s+of)\s*{high}(?:\.0+)?(?!\.?\d)"
    in_brackets = rf"\s*\(\s*{_ON}{_ends(scale)}\s*\)"
    which = rf"scale\s+(?:of|from)\s+{_ends(scale)}(?!\.?\d)|{_ends(scale)}\s+scale"
    in_words = rf"\s*(?:,\s*)?\(?on\s+(?:an?|the)\s+(?:{which})\)?"
    return re.compile(f"{share}|{in_brackets}|{in_words}", re.IGNORECASE)


def _ends(scale: Scale) -> str:
    low, high = (re.escape(f"{end:g}").replace(r"\-", "[-–−]") + r"(?:\.0+)?" for end in (scale.low, scale.high))
    return rf"{low}\s*{_TO}\s*{high}"


def _label_after(spellings: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    return re.compile(rf"{_MARKS}(?P<label>{_any_label(spellings)})(?!\w)", re.IGNORECASE)


def _other_label(spellings: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE_NEXT}(?:{_any_label(spellings)})(?!\w)", re.IGNORECASE)


def _any_label(spellings: Sequence[tuple[str, str]]) -> str:
    return "|".join(map(_spelled, sorted((label for label, _ in spellings), key=len, reverse=True)))


def _spelled(name: str) -> str:
    """Returns the pattern of a name or label: its blanks may be other blanks, hyphens or underscores."""
    words = re.split(r"[\s_\-]+", unicodedata.normalize("NFKC", name).strip())
    return r"[\s_\-]+".join(map(re.escape, words))


def _folded(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", name).strip().casefold()
