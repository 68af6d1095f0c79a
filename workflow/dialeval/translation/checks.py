"""What became of an utterance that was to be translated: its translation, or why there is none that can be used."""

from __future__ import annotations

import re
from typing import NamedTuple

from dialeval.prompts.shown import one_line
from dialeval.text.tokens import is_unspaced, is_word, normalised, surface_tokens, tokens
from dialeval.translation.answers import translation_in
from dialeval.translation.common_words import reads_as_another, telling_words
from dialeval.translation.languages import LANGUAGES
from dialeval.translation.marks import marks, nothing_to_translate, without_kept_marks

STATUSES = {
    "ok": "translated",
    "blank": "there is nothing to translate: no letters, or only placeholders; kept as it is",
    "failed": "the model gave no answer",
    "cut": "the answer was cut off by its token budget, max_tokens, or the utterance by the model's window",
    "refused": "the model refused, or wrote of translating instead of doing it",
    "empty": "the answer is empty",
    "lines": "the answer has more than the one utterance asked for: more lines, a remark, or the context",
    "marks": "what stands in brackets, or an address, is not what it was",
    "script": "hardly anything is written in the language's letters",
    "language": "the answer reads as another language with the same letters",
    "unchanged": "the answer repeats the source",
    "long": "the answer is far longer than the source",
    "short": "the answer is far shorter than the source",
    "repeats": "the answer says the same over and over",
}
"""What can become of an utterance, in words."""
USABLE = ("ok", "blank")
NOTHING = ("failed", "cut", "refused", "empty")
"""Of these there is no text, or only a part."""

_LOOP = re.compile(r"(\S[\s\S]{1,60}?)\1{5,}")
_SOURCE_LOOP = re.compile(r"(\S[\s\S]{1,60}?)[\s.,!?]*\1{2,}")
_SHORTEST_LOOP = 24
_SPOKEN_OF = re.compile(
    r"\b(?:translat|traduc|traduz|tradui|übersetz|vertaal|vertal|översätt|перевод|перевест|перевед|language model)"
    r"|翻[译譯訳]|번역|अनुवाद|ترجم",
    re.IGNORECASE,
)
"""Words of who speaks of a translation instead of giving it."""
_REMARK = re.compile(
    r"[(（\[]\s*(?:note|lit(?:eral(?:ly)?)?\b|(?:in)?formal\b|meaning|context|tone|or\b)[^()（）]*[)）\]]\W*$", re.I
)
_BRACKETS = ("(", "（", "[")
_FEW_WORDS = 3
_TOLD_AGAIN, _TOLD_AGAIN_UNSPACED = 12, 8
_MOST, _MORE = 6, 80
"""A translation has at most so many times the characters of its source, and so many more."""
_LEAST, _LONG = 10, 80
"""A source of so many characters has a translation of at least its tenth."""


class Translated(NamedTuple):
    """What became of an utterance.

    Attributes:
        text: its translation; for what cannot be used, what the model wrote.
        status: one of `STATUSES`.
    """

    text: str
    status: str


def read_translation(
    text: str, answer: str | None, target: str, finish_reason: str = "stop", source: str | None = "en"
) -> Translated:
    """Returns the translation that an answer gives.

    Args:
        text: the utterance.
        answer: what the model wrote; None where it gave no answer.
        target: code of the language asked for.
        finish_reason: how the answer ended.
        source: code of the utterance's language.
    """
    if nothing_to_translate(text):
        return Translated(text, "blank")
    if answer is None:
        return Translated("", "failed")
    shown = one_line(text)
    found, n_lines = translation_in(answer, shown)
    return Translated(found, _status(shown, found, n_lines, target, source, finish_reason))


def with_context(text: str, translated: Translated, before: str, translated_before: Translated) -> bool:
    """Returns whether the translation of an utterance begins with that of the one before it, on one line.

    Args:
        text: the utterance.
        translated: what became of it.
        before: the utterance before it.
        translated_before: what became of that one.
    """
    words = translated_before.text.strip()
    long_enough = len(words) >= (_TOLD_AGAIN_UNSPACED if is_unspaced(words[:1]) else _TOLD_AGAIN)
    repeated = long_enough and translated.text.startswith(words) and translated.text != words
    return repeated and not one_line(text).startswith(one_line(before))


def _status(shown: str, text: str, n_lines: int, target: str, source: str | None, finish_reason: str) -> str:
    if finish_reason in ("length", "refusal"):
        return "cut" if finish_reason == "length" else "refused"
    if not text:
        return "empty"
    if _SPOKEN_OF.search(text) and not _SPOKEN_OF.search(shown):
        return "refused"
    if n_lines > 1 or (_REMARK.search(text) and not any(bracket in shown for bracket in _BRACKETS)):
        return "lines"
    if marks(shown) != marks(text):
        return "marks"
    if _loops(text) and not _SOURCE_LOOP.search(shown):
        return "repeats"
    if len(text) > _MOST * len(shown) + _MORE:
        return "long"
    if len(shown) > _LONG and len(text) * _LEAST < len(shown):
        return "short"
    return _language_status(without_kept_marks(shown), without_kept_marks(text), target, source)


def _loops(text: str) -> bool:
    """Returns whether a text says the same over and over; a long laugh does not."""
    found = _LOOP.search(text)
    if not found or len(found[0]) < _SHORTEST_LOOP:
        return False
    return len(set(found[1])) > 2 or (len(set(found[1])) == 2 and is_unspaced(found[1][0]))


def _language_status(shown: str, text: str, target: str, source: str | None) -> str:
    """Returns `ok`, or why a text is not in the language asked for; what has only names in it may stay as it is."""
    words = [token for token in surface_tokens(shown) if is_word(token)]
    names = {word for word in words if word[:1].isupper() or word[:1].isdigit()}
    lower = [word.lower().replace("’", "'") for word in words]
    telling = source is not None and set(telling_words(lower, source)) - set(telling_words(lower, target))
    few = len(words) <= _FEW_WORDS and not telling
    if normalised(text) == normalised(shown):
        return "ok" if few or (names.issuperset(words) and not telling) else "unchanged"
    own = " ".join(token for token in surface_tokens(text) if token not in names)
    n_own = sum(is_word(token) for token in tokens(own))
    if (n_own > _FEW_WORDS or not few) and not LANGUAGES[target].may_be_in(own):
        return "script"
    if reads_as_another([token for token in tokens(own) if is_word(token)], target, source):
        return "language"
    return "ok"
