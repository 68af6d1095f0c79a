"""One value of a scale in a text, with the text that may follow it.

A value is clear where nothing behind it in its line is another one, makes it a range or a share of another scale,
softens it, or takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from dialeval.criteria import NO, Criterion, Scale
from dialeval.protocols.verdicts import is_other_number, is_taken_back, normalized

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−⁃"), "-")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathbf|mathrm)\s*\{([^{}]{0,100})\}|\$([^$]{1,30})\$")
_EMPHASIS = re.compile(r"[*`\"“”„«»「」『』]+|(?<![^\W_])_+|_+(?![^\W_])")
CALLED = r"(?:[\s_]+(?:score|rating))?"
"""What may be part of a criterion's name."""
_MARKS = r"(?:[-=]>|\.{2,}|[\s'()\[\]{}:=|→-])*"
_LEAD = r"(?:(?:score|rating)\s*[:=]\s*)?"
_NUMBER = r"(?P<number>\d+(?:\.\d+)?|\.\d+)(?![^\W\d_分点點점])"
_MINUS = re.compile(r"[-:=|]\s*-$")
"""A dash after another mark is a minus; one alone stands between the name and its number."""
_MINUS_OR_DASH = re.compile(r"[-:=|]\s*-\s+$")
_SIGN = re.compile(r".-$", re.DOTALL)
"""On a scale with negative numbers a dash right before the number is a minus, too; joined to the name it is unclear."""
_TO = r"(?:[-~]|to|and)"
_ON = r"(?:on\s+)?(?:an?\s+|the\s+)?(?:scale\s*(?:of|from|:)?\s*)?"
_UNIT = r"(?:\s*(?:points?|pts?|分|点|點|점)(?!\w))?"
_BEHIND = re.compile(
    r"[\s)\]}'\u2600-\u27bf\U0001f300-\U0001faff]*(?:$|[.,;:!|(\[。、]|-\s|(?<=\s)-|\n|(?:(?<=\s)(?:because|since|as|due\s+to|given)\b|因为))",
    re.IGNORECASE,
)
"""What a value is followed by: nothing, or a mark or a word that begins an explanation."""
_NOTHING = re.compile(r"[\s.,;:!|。、()\[\]{}'/-]*")
_PLACES = re.compile(
    r"\b(?:utterances?|turns?|lines?|messages?|replies|reply|responses?|speakers?|sentences?|humans?|users?|systems?)"
    r"\s+#?\d+(?:\s*(?:,|and|to|&|-)\s*\d+)*\b|第\s*\d+\s*[轮句条]",
    re.IGNORECASE,
)
"""Numbers that name a place in the dialogue and so are no scores."""
_WORDS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|uno|dos|tres"
    "|cuatro|cinco|seis|siete|ocho|nueve|diez|un|deux|trois|quatre|cinq|sept|huit|neuf|dix|один|два|три|четыре|пять|шесть"
    "|семь|восемь|девять|десять|[零一二三四五六七八九十两]"
)
_NUMBER_WORD = re.compile(
    rf"(?:^|[.,;:!?(\n-]\s*|\b(?:no|or|maybe|perhaps|actually|rather|say|mean|make\s+it|an?|of)\s+)"
    rf"(?:{_WORDS}|(?-i:[IVX]{{2,4}}|V|X))\s*[分点점]?\s*(?:[.,;:!?)\n]|$)",
    re.IGNORECASE,
)
"""A number in words that stands where a value would."""
_IS = (
    r"(?:\s+(?:score|rating|is|was|would|should|be|gets?|scores|deserves?|rated?|at|as|of|an?|only|just|the|to)\b){0,5}"
)


class WrittenScore(NamedTuple):
    """A score.

    Attributes:
        value: on the scale.
        label: of the scale, where it has labels.
    """

    value: float
    label: str | None = None


class Value(NamedTuple):
    """The value at a place of a text: its score, None if unclear, and its end."""

    score: WrittenScore | None
    end: int


class _Patterns(NamedTuple):
    """Patterns of the values of a scale.

    Attributes:
        value: a value behind a name, with the marks between them.
        mentioned: one in a sentence behind a name.
        anywhere: what could be a value.
        share: what belongs to a number: `/7`, `out of 7`, `on a scale of 1 to 7`.
        ends: the scale in brackets.
    """

    value: re.Pattern[str]
    mentioned: re.Pattern[str]
    anywhere: re.Pattern[str]
    share: re.Pattern[str]
    ends: re.Pattern[str]


@dataclass(frozen=True)
class ValueReader:
    """Reads the values of one criterion.

    Attributes:
        criterion: the criterion.
        patterns: of its scale.
    """

    criterion: Criterion
    patterns: _Patterns

    def read(self, text: str) -> Value | None:
        """Return the value that a text behind a name begins with; None where the text holds none at all."""
        found = self.patterns.value.match(text)
        if found is None:
            return Value(None, len(text)) if self.contains_value(text) else None
        if self.criterion.scale.labels:
            score, end = score_of_label(found["label"], self.criterion), found.end()
        else:
            score, end = score_of_number(self._signed(found), self.criterion), found.end()
            share = self.patterns.share.match(text, end)
            end = share.end() if share else end
        return Value(score if score and self._is_clear(score, text, end) else None, end)

    def read_alone(self, text: str) -> WrittenScore | None:
        """Return the score that a field, or a cell of a table, begins with."""
        value = self.read(f": {text}")
        return value.score if value else None

    def mentioned(self, line: str, place: int) -> WrittenScore | None:
        """Return the value that a sentence gives for the criterion whose name ends at a place of a line."""
        found = self.patterns.mentioned.match(line, place)
        if found is None:
            return None
        return (
            score_of_label(found["label"], self.criterion)
            if self.criterion.scale.labels
            else WrittenScore(float(found["number"]))
        )

    def contains_value(self, text: str, end: int | None = None) -> bool:
        """Return whether a text holds, before a place, anything that could be a value."""
        return self.patterns.anywhere.search(text, 0, len(text) if end is None else end) is not None

    def others(self, text: str, score: WrittenScore) -> bool:
        """Return whether an explanation of a score holds another value."""
        if score.label is not None:
            named = (score_of_label(found["label"], self.criterion) for found in self.patterns.anywhere.finditer(text))
            return any(one is not None and one != score for one in named)
        own = re.escape(f"{score.value:g}") + rf"\s*(?:/|out\s+of)\s*{self.criterion.scale.high:g}"
        left = re.sub(rf"(?<![\w.,]){own}(?![\w/%]|[.,]\d)", " ", _PLACES.sub(" ", text), flags=re.IGNORECASE)
        return re.search(r"\d", left) is not None or _NUMBER_WORD.search(left) is not None

    def _is_clear(self, score: WrittenScore, text: str, end: int) -> bool:
        """Return whether a value ends at a place of a text and nothing behind it is another, or takes it back."""
        if not _BEHIND.match(text, end):
            return False
        blank = _NOTHING.match(text, end)
        explained = text[blank.end() if blank else end :]
        if not explained:
            return True
        behind = text[end:]
        if "~~" in behind or is_taken_back(explained) or any(map(is_other_number, behind)):
            return False
        return not self.others(behind, score)

    def _signed(self, found: re.Match[str]) -> float | None:
        marks, below_zero = found["marks"], self.criterion.scale.low < 0
        minus = _MINUS.search(marks) or (below_zero and _SIGN.search(marks))
        if below_zero and (marks == "-" or _MINUS_OR_DASH.search(marks)):
            return None
        if minus and not below_zero:
            return None
        return -float(found["number"]) if minus else float(found["number"])


def reader_of(criterion: Criterion) -> ValueReader:
    """Return the parser of a criterion's values."""
    return ValueReader(criterion, _patterns(criterion.scale, criterion.spellings()))


def score_of_number(number: float | None, criterion: Criterion) -> WrittenScore | None:
    """Return a number as a score, or None where it is off the scale."""
    scale = criterion.scale
    return (
        WrittenScore(number) if number is not None and not scale.labels and scale.low <= number <= scale.high else None
    )


def score_of_label(text: str, criterion: Criterion) -> WrittenScore | None:
    """Return a label, in any of the criterion's languages, as a score; None for any other text."""
    wanted = _folded(text)
    for spelling, label in criterion.spellings():
        if _folded(spelling) == wanted:
            return WrittenScore(criterion.scale.value_of(label), label)
    return None


def cleaned(text: str) -> str:
    """Return a text without emphasis, quotation marks and frames of LaTeX, with plain dashes and digits.

    Digits between which such marks stood stay apart.
    """
    digits = _OTHER_DIGIT.sub(lambda found: str(int(found[0])), text.translate(_DASHES))
    plain = _LATEX.sub(lambda found: f" {found[1] or found[2] or ''} ", digits)
    return _EMPHASIS.sub(lambda found: " " if _parts_digits(found) else "", plain)


def spelled(name: str) -> str:
    """Return the pattern of a name or label: its blanks may be other blanks, hyphens or underscores."""
    plain = normalized(name).strip()
    words = re.split(r"[\s_-]+", cleaned(plain).strip() or plain)
    return r"[\s_-]+".join(map(re.escape, words)) if any(words) else re.escape(plain)


def _folded(name: str) -> str:
    plain = cleaned(normalized(name)).strip()
    return re.sub(r"[\s_-]+", " ", plain).strip().casefold() or plain


def _parts_digits(found: re.Match[str]) -> bool:
    text, start, end = found.string, found.start(), found.end()
    return start > 0 and end < len(text) and text[start - 1].isdecimal() and text[end].isdecimal()


@lru_cache(maxsize=256)
def _patterns(scale: Scale, spellings: tuple[tuple[str, str], ...]) -> _Patterns:
    low, high = (re.escape(f"{end:g}") + r"(?:\.0+)?" for end in (scale.low, scale.high))
    bounds = rf"{low}\s*{_TO}\s*{high}"
    in_brackets = rf"[(\[]\s*{_ON}{bounds}\s*[)\]]"
    if scale.labels:
        label = f"(?P<label>{_any_of(spellings)})(?!\\w)"
        texts = (
            f"{CALLED}{_MARKS}{_LEAD}{_MARKS}{label}",
            f"{_IS}{_MARKS}{label}",
            _anywhere(spellings, yes_or_no=scale.is_yes_no),
            "",
        )
    else:
        which = rf"scale\s+(?:of|from)\s+{bounds}(?!\.?\d)|{bounds}\s+scale"
        in_words = rf"\s*(?:,\s*)?\(?on\s+(?:an?|the)\s+(?:{which})\)?"
        of_all = rf"[\s)\]']*(?:\(\s*)?(?:/|out\s+of|of)\s*{high}(?![\w/%]|[.,]\d)"
        plus = r"\+?" if scale.low < 0 else ""
        texts = (
            rf"{CALLED}(?:[\s')\]]*{in_brackets})?(?P<marks>{_MARKS}){_LEAD}{plus}{_NUMBER}",
            rf"{_IS}(?:[-=]>|[\s':=|-])*(?P<number>\d+(?:\.\d+)?)(?!\w|\.\d|\s*(?:-|to\b)\s*\d)",
            r"\d",
            rf"{_UNIT}(?:{of_all}{_UNIT})?(?:\s*{in_brackets}|{in_words})?",
        )
    return _Patterns(*(re.compile(one, re.IGNORECASE) for one in (*texts, rf"\s*{in_brackets}")))


def _any_of(spellings: Sequence[tuple[str, str]]) -> str:
    return "|".join(map(spelled, sorted((label for label, _ in spellings), key=len, reverse=True)))


def _anywhere(spellings: Sequence[tuple[str, str]], *, yes_or_no: bool) -> str:
    """Return the pattern of a label in an explanation.

    In scripts without blanks a label has no ends of words. `no` before a noun (`no doubt`) is no label.
    """
    patterns = []
    for label in sorted((label for label, _ in spellings), key=len, reverse=True):
        pattern = rf"(?<!\w){spelled(label)}(?!\w)" if label.isascii() else spelled(label)
        if yes_or_no and label == NO:
            pattern += r"(?!\s+(?!i\b|it\b|is\b|not\b|or\b|and\b|but\b|yes\b|really\b|wait\b|rather\b)[a-z])"
        patterns.append(pattern)
    return f"(?P<label>{'|'.join(patterns)})"
