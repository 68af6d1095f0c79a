"""What became of an utterance that was to be translated: its translation, or why there is none that can be used."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from dialeval.prompts.shown import END_MARK, one_line
from dialeval.reasoning_marks import without_thinking
from dialeval.text.tokens import is_word, normalised, tokens
from dialeval.translation.languages import LANGUAGES

STATUSES = {
    "ok": "translated",
    "blank": "there is nothing to translate; kept as it is",
    "failed": "the model gave no answer",
    "cut": "the answer was cut off by its token budget",
    "refused": "the model refused",
    "empty": "the answer is empty",
    "lines": "the answer has more than the one line asked for",
    "marks": "what stands in brackets, or an address, is not what it was",
    "script": "hardly anything is written in the language's letters",
    "unchanged": "the answer repeats the source",
    "long": "the answer is far longer than the source",
    "short": "the answer is far shorter than the source",
    "repeats": "the answer says the same over and over",
}
"""What can become of an utterance, in words."""
USABLE = ("ok", "blank")

_MARKS = re.compile(
    r"https?://[^\s<>]+[^\s<>.,;:!?)]|[\w.+-]+@[\w-]+\.\w[\w.-]*\w"
    r"|<[A-Za-z_/][^<>\s]{0,40}>|\{\{?\s?[A-Za-z_][\w.]{0,40}\s?\}?\}|\[[A-Z][A-Z0-9_]{0,40}\]|\b__\w{1,40}__\b|%[sd]\b"
)
_LOOP = re.compile(r"(\S[\s\S]{1,60}?)\1{5,}")
_LABEL = re.compile(r"^\W{0,3}(?:the\s+)?(?:[^\W\d]{2,20}\s+)?translation(?:\s+\w{2,20}){0,4}\W{0,3}[:：]\**\s*", re.I)
_SPEAKER = re.compile(r"^[A-Z][0-9]?[:：]\s*")
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("„", "“"), ("'", "'"), ("`", "`"))
_FEW_WORDS = 3
_MOST, _MORE = 6, 80
"""A translation has at most so many times the characters of its source, and so many more."""
_LEAST, _LONG = 10, 80
"""A source of so many characters has a translation of at least its tenth."""
_SHARE = 0.3


class Translated(NamedTuple):
    """What became of an utterance.

    Attributes:
        text: its translation; for what cannot be used, what the model wrote.
        status: one of `STATUSES`.
    """

    text: str
    status: str


def read_translation(source: str, answer: str | None, target: str, finish_reason: str = "stop") -> Translated:
    """Returns the translation that an answer gives.

    Args:
        source: the utterance.
        answer: what the model wrote; None where it gave no answer.
        target: code of the language asked for.
        finish_reason: how the answer ended.
    """
    if not source.strip():
        return Translated(source, "blank")
    if answer is None:
        return Translated("", "failed")
    text, n_lines = _alone(answer, source)
    return Translated(text, _status(one_line(source), text, n_lines, target, finish_reason))


def _status(source: str, text: str, n_lines: int, target: str, finish_reason: str) -> str:
    if finish_reason in ("length", "refusal"):
        return "cut" if finish_reason == "length" else "refused"
    if not text:
        return "empty"
    if n_lines > 1:
        return "lines"
    if Counter(_MARKS.findall(source)) != Counter(_MARKS.findall(text)):
        return "marks"
    if _LOOP.search(text) and not _LOOP.search(source):
        return "repeats"
    if len(text) > _MOST * len(source) + _MORE:
        return "long"
    if len(source) > _LONG and len(text) * _LEAST < len(source):
        return "short"
    words = [token for token in tokens(_MARKS.sub(" ", source)) if is_word(token)]
    if len(words) > _FEW_WORDS:
        if normalised(text) == normalised(source):
            return "unchanged"
        if LANGUAGES[target].share(_MARKS.sub(" ", text)) < _SHARE:
            return "script"
    return "ok"


def _alone(answer: str, source: str) -> tuple[str, int]:
    """Returns an answer's translation without what models put around it, and the number of its lines."""
    lines = [line.strip() for line in without_thinking(answer).strip().strip("`").replace(END_MARK, "").split("\n")]
    lines = [line for line in lines if line]
    if len(lines) > 1 and (_LABEL.sub("", lines[0]) == "" or lines[0].endswith((":", "："))):
        lines = lines[1:]
    if not lines:
        return "", 0
    text = " ".join(lines)
    if not _LABEL.match(source):
        text = _LABEL.sub("", text)
    if not _SPEAKER.match(source):
        text = _SPEAKER.sub("", text)
    for opening, closing in _QUOTES:
        quoted = len(text) > 1 and text.startswith(opening) and text.endswith(closing)
        if quoted and opening not in text[1:-1] and not source.strip().startswith(tuple("\"“«「『„'`")):
            text = text[1:-1].strip()
    return text, len(lines)
