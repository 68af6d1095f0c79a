"""The translation in a model's answer, without what models put around it."""

from __future__ import annotations

import json
import re

from dialeval.prompts.shown import END_MARK
from dialeval.reasoning_marks import without_thinking
from dialeval.translation.languages import LANGUAGES

_NAMES = "|".join(sorted({re.escape(language.name) for language in LANGUAGES.values()}, key=len, reverse=True))
_TRANSLATION = (
    r"translation|traducci[oó]n|traduction|tradução|traduzione|übersetzung|vertaling|översättning|çeviri|перевод"
    r"|translated(?:\s+text|\s+utterance)?"
)
_UNSPACED_TRANSLATION = r"翻[译譯訳]|[译譯訳]文|訳|번역|अनुवाद|(?:ال)?ترجمة"
_LABEL = re.compile(
    rf"^\W{{0,3}}(?:here(?:['’]s|\s+is)\s+)?(?:(?:the|my|a)\s+)?(?:"
    rf"(?:[^\W\d]{{2,20}}\s+)?(?:{_TRANSLATION})(?:\s+(?:of|in|into|to|for|is|the|this|that|utterance|sentence|text|auf"
    rf"|ins?|en|au|al|a|em|на|{_NAMES})){{0,6}}"
    rf"|[^\W\d]{{0,8}}\s?(?:{_UNSPACED_TRANSLATION})[^\W\d]{{0,3}}"
    rf"|(?:{_NAMES})(?:\s?\([\w ]{{2,20}}\))?"
    r")\W{0,3}[:：]\**\s*",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"^\W{0,2}(?:(?:[Ss]peaker|[Pp]erson)\s)?[A-Z][0-9]?\*{0,2}[:：]\*{0,2}\s*")
_FENCED = re.compile(r"^```\w{0,12}\n?(.*?)\n?```$", re.DOTALL)
_TAGGED = re.compile(r"^<(translation|target|output|answer)>(.*)</\1>$", re.DOTALL | re.IGNORECASE)
_LISTED = re.compile(r"^(?:[-*•>]|1[.)])\s+")
_QUOTES = (("**", "**"), ('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("„", "“"), ("„", "”"),
           ("'", "'"), ("‘", "’"), ("`", "`"))  # fmt: skip
_ANY_QUOTE = tuple("\"“«「『„'‘`*")


def translation_in(answer: str, source: str) -> tuple[str, int]:
    """Returns an answer's translation, and the number of its lines.

    A label, a speaker's letter, quotation marks or a list's dash go, unless the source has them too.

    Args:
        answer: what the model wrote.
        source: the utterance that it translates.
    """
    lines = [line.strip() for line in _unwrapped(answer, source).replace(END_MARK, "").split("\n")]
    lines = [line for line in lines if line]
    labelled, spoken = _LABEL.match(source), _SPEAKER.match(source)
    if len(lines) > 1 and not labelled and _is_heading(lines[0]):
        lines = lines[1:]
    if not lines:
        return "", 0
    text = " ".join(lines)
    if not labelled:
        text = _LABEL.sub("", text)
    if not spoken:
        text = _SPEAKER.sub("", text)
    if not _LISTED.match(source):
        text = _LISTED.sub("", text)
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        quoted = len(text) > len(opening + closing) and text.startswith(opening) and text.endswith(closing)
        if quoted and opening not in inner and closing not in inner and not source.strip().startswith(_ANY_QUOTE):
            text = inner.strip()
    return text, len(lines)


def _is_heading(line: str) -> bool:
    return _LABEL.sub("", line) == "" or line.endswith((":", "："))


def _unwrapped(answer: str, source: str) -> str:
    """Returns an answer without thinking, a fence of code, tags or JSON around all of it."""
    text = without_thinking(answer).strip()
    if source.lstrip().startswith(("`", "{", "<")):
        return text
    text = _FENCED.sub(r"\1", text).strip().strip("`")
    text = _TAGGED.sub(r"\2", text).strip()
    if text.startswith("{"):
        try:
            said = json.loads(text)
        except ValueError:
            return text
        values = list(said.values()) if isinstance(said, dict) else []
        if len(values) == 1 and isinstance(values[0], str):
            return values[0].strip()
    return text
