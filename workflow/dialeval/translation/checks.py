"""Checks whether an answer is a usable translation.

Languages with the same letters are not distinguished. The lists are short on purpose: a name such as "The Who"
must not make an utterance English.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dialeval.languages import LANGUAGES
from dialeval.prompts.rendering import END_MARK, one_line, without_thinking
from dialeval.text import is_unspaced, is_word, normalised, surface_tokens, tokens

STATUSES = {
    "ok": "translated",
    "blank": "the utterance has no letters (only digits, emoji or a placeholder), so it is kept",
    "failed": "the model returned no response",
    "cut": "the translation was truncated by max_tokens, or the request is longer than the model's window",
    "refused": "the response is a refusal, or a remark about translating",
    "empty": "the response is empty",
    "lines": "the response contains more than the translation: further lines, an explanation, or the context",
    "marks": "the translation lost, added or changed a placeholder or an address",
    "script": "the translation is not in the script of the language",
    "language": "the translation has common words of another language with the same script",
    "unchanged": "the translation equals the source",
    "long": "the translation is far longer than the source",
    "short": "the translation is far shorter than the source",
    "repeats": "the translation repeats one passage",
}
"""The statuses of a translated utterance, and their meanings."""
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
    """Return the translation that an answer gives.

    Args:
        answer: what the model wrote; None where it gave no answer.
        target: code of the target language.
        source: code of the utterance's language.
    """
    if has_no_words(text):
        return Translated(text, "blank")
    if answer is None:
        return Translated("", "failed")
    shown = one_line(text)
    found, n_lines = translation_in(answer, shown)
    return Translated(found, _status(shown, found, n_lines, target, source, finish_reason))


def with_context(text: str, translated: Translated, before: str, translated_before: Translated) -> bool:
    """Return whether the translation of an utterance begins with that of the one before it, on one line.

    Args:
        translated: what became of it.
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
    """Return whether a text repeats itself; a long laugh does not count."""
    found = _LOOP.search(text)
    if not found or len(found[0]) < _SHORTEST_LOOP:
        return False
    return len(set(found[1])) > 2 or (len(set(found[1])) == 2 and is_unspaced(found[1][0]))


def _language_status(shown: str, text: str, target: str, source: str | None) -> str:
    """Return `ok`, or why a text is not in the target language; a text of names only may stay unchanged."""
    words = [token for token in surface_tokens(shown) if is_word(token)]
    names = {word for word in words if word[:1].isupper() or word[:1].isdigit()}
    lower = [word.lower().replace("’", "'") for word in words]
    has_source_words = source is not None and set(distinctive_words(lower, source)) - set(
        distinctive_words(lower, target)
    )
    few = len(words) <= _FEW_WORDS and not has_source_words
    if normalised(text) == normalised(shown):
        return "ok" if few or (names.issuperset(words) and not has_source_words) else "unchanged"
    own = " ".join(token for token in surface_tokens(text) if token not in names)
    n_own = sum(is_word(token) for token in tokens(own))
    if (n_own > _FEW_WORDS or not few) and not LANGUAGES[target].may_be_in(own):
        return "script"
    if reads_as_another([token for token in tokens(own) if is_word(token)], target, source):
        return "language"
    return "ok"


# The translation in a model's answer, without what models put around it.

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
    """Return an answer's translation, and the number of its lines.

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


def _unwrapped(answer: str, source: str) -> str:
    """Return an answer without thinking, a fence of code, tags or JSON around all of it."""
    text = without_thinking(answer).strip()
    if source.lstrip().startswith(("`", "{", "<")):
        return text
    text = _FENCED.sub(r"\1", text).strip().strip("`")
    text = _TAGGED.sub(r"\2", text).strip()
    if text.startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError:
            return text
        values = list(fields.values()) if isinstance(fields, dict) else []
        if len(values) == 1 and isinstance(values[0], str):
            return values[0].strip()
    return text


def _is_heading(line: str) -> bool:
    return _LABEL.sub("", line) == "" or line.endswith((":", "："))


# Frequent short words by language, by which an untranslated text is recognised.

COMMON = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the you is are was were what that this with have has had do does did don't my your i i'm i'll "
        "i've it it's and of to for not they he she we can can't would will could should how when where "
        "why who which there their about from but be been them these those me us our any some know like "
        "just so too very a am as at in me on no yes if or up out then all more than get got go good",
        "es": "el la los las que de y en un una es por con para no se lo te mi tu su pero más muy está estoy "
        "como cómo qué yo me ha he si sí del al son eso esto ese era fue nos les tengo tiene usted "
        "gracias también a o ni sin hay muchas bien",
        "de": "der die das und ich ist nicht du ein eine einen zu mit auf für es wir sie den dem was wie aber "
        "mein dein habe hat haben bin sind auch von im ja mir mich dich dir so kann kannst wenn er ihr "
        "noch dass war",
        "fr": "le la les des et je tu il elle est pas un une que qui dans pour avec vous nous mon ton ma ta ce "
        "c'est de du au sur mais ne j'ai en ça cette suis es as ai oui non moi toi se y a qu'il l'ai d'un "
        "d'une",
        "it": "il la che di e è non un una per con sono mi ti lo gli le ma come del della ho hai ha anche "
        "questo in a si cosa sei io tu mio tuo perché molto bene",
        "pt": "o a os as que de e é não um uma para com eu você ele ela mas se por em do da no na está estou "
        "muito meu minha seu isso como sim também te me foi tem tenho",
        "nl": "de het een en ik je is niet dat van met op voor zijn we ze wat maar mijn heb hebt heeft ook er "
        "aan te naar in dit die hoe nog bent ben kan kun jij",
        "sv": "jag du är inte och det att en ett på som för med har kan vi han hon men av till mig dig den om "
        "vad så var ska min din",
    }.items()
}
_IN_NAMES = frozenset(
    {"the", "of", "and", "to", "for", "with", "from", "in", "a", "up", "out", "on", "at", "all", "go", "no", "who",
     "de", "la", "der", "le", "les", "el"}
)  # fmt: skip
_FEW, _SHARE = 2, 0.25


def distinctive_words(words: Sequence[str], language: str) -> list[str]:
    """Return those of some words, in lower case, that only a text in a language has, and no name."""
    return [word for word in words if word in COMMON.get(language, ()) and word not in _IN_NAMES]


def reads_as_another(words: Sequence[str], language: str, source: str | None) -> str | None:
    """Return the language that a text is in instead of the target, as far as common words show it.

    Args:
        words: of the text, in lower case.
        language: that it should be in.
        source: that it was translated from.
    """
    own = COMMON.get(language, frozenset())
    others = COMMON if own else {source: COMMON[source]} if source in COMMON else {}
    for other, common in others.items():
        hits = [word for word in words if word in common and word not in own]
        fits = sum(word in own and word not in common for word in words)
        if other != language and len(set(hits)) >= _FEW and len(hits) >= max(_SHARE * len(words), 3 * fits + 1):
            return other
    return None


# Parts of an utterance that a translation keeps: placeholders in brackets, and addresses.

# By ASCII alone: in Chinese nothing parts a mark from the words around it, and these are no part of it.
_MARK = re.compile(
    r"https?://[!#-;=?-~]*[\w#$%&*+/=@~-]"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|<[a-z_/][^<>\s]{0,40}>|<[|｜][^\s<>|｜]{1,40}[|｜]>"
    r"|\{\{?\s?[a-z_][\w.]{0,40}\s?\}?\}|(?-i:\[[A-Z][A-Z0-9_]{0,40}\])|__\w{1,40}?__|%[sd](?![a-z])",
    re.ASCII | re.IGNORECASE,
)


def marks(text: str) -> Counter[str]:
    """Return the placeholders and addresses of a text, with their counts."""
    return Counter(_MARK.findall(text))


def without_kept_marks(text: str) -> str:
    """Return a text with a blank in the place of every mark."""
    return _MARK.sub(" ", text)


def has_no_words(text: str) -> bool:
    """Return whether a text has no letter but those of its marks: it is empty, or digits, emoji, a placeholder."""
    return not any(letter.isalpha() for letter in without_kept_marks(text))
