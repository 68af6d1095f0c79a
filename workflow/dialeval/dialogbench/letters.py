"""Finding the letter that a model chose in what it wrote.

A letter counts where it can only be meant as an option: alone, marked off (`B.`, `(B)`, `**B**`), or declared (`The
answer is B`, `选B`). Declarations outweigh mere mentions, so that an answer may repeat the options first. An article, a
letter inside a word, one that is said to be wrong, and an answer that names two options are no choice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dialeval.corpora.multiple_choice import LETTERS
from dialeval.forms.verdict_text import is_whole, own_words, plain_text

_OPEN, _CLOSE = r"[\s*_`\"'“”‘’(\[{<【「$]*", r"[\s*_`\"'“”‘’)\]}>】」$.,;:!。,、]*"
_NOT_INSIDE = r"(?![A-Za-z0-9'’+#&/-])"
_REASON = r"(?:because|since|as|for|is|which|due|given)"
_NO_ARTICLE = rf"(?![ \t]+(?-i:(?!(?:{_REASON}|or|and)\b)[a-z]))"
_NO_PAIR = (
    r"(?!\W{0,4}\s*(?:and(?:\s+also)?|or|&|/|\||,|\+|->|→|vs\.?|和|或|、|与|及|还是)\s*(?:maybe\s+)?\W{0,3}(?-i:[A-H])\b)"
    r"(?![ \t]+(?-i:[A-H])(?![A-Za-z'’]))"
)
_MARKED = rf"{_OPEN}(?P<letter>[B-H]|A{_NO_ARTICLE}){_NOT_INSIDE}{_NO_PAIR}"
_MARKED_ZH = rf"{_OPEN}(?P<letter>[A-H])(?![A-Za-z]){_NO_PAIR}"
_LONG_RUN = re.compile(r"(?<![\W_])([\W_]{40})[\W_]+")
"""Marks and blanks in a row, of which the patterns above look at every way to share them among their parts."""
_NOUN = (
    r"(?:(?:final|correct|right|best|most\s+\w+|my|the)\s+){0,6}(?:answer|option|choice|response|reply|letter|summary)"
)
_BEST = r"(?:the\s+)?(?:most|best|better|correct|right)\b"
_DECLARATIONS = (
    re.compile(
        rf"\b{_NOUN}[\"'*_`]*\s*(?:is|would\s+be|should\s+be|must\s+be|:|=)+\s*(?:\b(?:option|choice|letter)\b)?{_MARKED}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:i\s+(?:would\s+)?(?:choose|pick|select|go\s+with))\s+(?:\b(?:option|choice|letter)\b)?{_MARKED}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:option|choice)\s*{_MARKED}\s*(?:is|seems|would\s+be)\s+{_BEST}", re.IGNORECASE),
    re.compile(rf"(?<![A-Za-z'’])(?P<letter>[A-H])[*_`)\]\"]{{0,3}}\s+(?:is|seems|would\s+be)\s+{_BEST}"),
    re.compile(
        rf"^{_OPEN}(?:option|choice|选项)?\s*:?{_OPEN}(?P<letter>[A-Ha-h]){_CLOSE}$", re.IGNORECASE | re.MULTILINE
    ),
    re.compile(r"\\boxed\{\s*(?:\\text\{)?\s*(?P<letter>[A-H])\s*\}"),
    re.compile(rf"答案[\s】\]*]*(?:是|为|应为|应该是|选|选择|:)*\s*(?:选项)?{_MARKED_ZH}"),
    re.compile(rf"(?<![可备待])(?:应选|应该选|选择|我选|选)(?:项)?\s*{_MARKED_ZH}"),
    re.compile(r"(?<![A-Za-z])(?P<letter>[A-H])\s*(?:选项)?(?:是|为)?(?:正确|最合适|最恰当|最符合|最连贯)(?!吗)"),
)
_MENTIONS = (
    re.compile(
        r"^[\s*_`>\"-]*[(\[【]?(?P<letter>[A-H])(?:\*\*)?"
        r"(?:[):、。\]】](?!\s*[A-H](?![A-Za-z]))|\.(?=[\s*]|[^\x00-\x7f]|$)|,(?=\s+(?:because|since|as)\b|因为))",
        re.MULTILINE,
    ),
    re.compile(r"^[\s*_`>\"-]*(?:option|choice|选项)\s*(?P<letter>[A-H])\b", re.IGNORECASE | re.MULTILINE),
    re.compile(r"[(\[【](?P<letter>[A-H])[)\]】]"),
    re.compile(r"\*\*\(?(?P<letter>[A-H])\)?[.):]?\*\*"),
)
_CLAUSE_END = re.compile(r"[.!?\n。！？；;,:]|\b(?:so|therefore|thus|hence|then|but|and)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"\b(?:not|never|no|neither|nor|wrong|incorrect|worst|least|bad|false|cannot|unlikely|except|than|out|avoid|against)\b"
    r"|n['’]t\b|\b(?:eliminat|reject|exclud|doubt)\w*|[不别没非勿错]|无法|排除",
    re.IGNORECASE,
)
_PAIRED = re.compile(r"(?<![A-Za-z])[A-H]\s*(?:[、,/和与或及]|还是|\b(?:and|or)\b)\s*$")
_SURE = re.compile(r"\b(?:no|without|beyond)\s+(?:a\s+)?doubt\b|\bnot\s+only\b", re.IGNORECASE)
_WRONG = (
    r"wrong|incorrect|false|tempting|distract\w*|unlikely|unsuitable|inappropriate|irrelevant|implausible|contradict\w*|worst"
    r"|worse|misleading|questionable|doubtful|nonsens\w*|bad|fails?|ruled\s+out|eliminated|excluded|off[\s-]topic"
)
_VERB = (
    r"(?:is|was|are|seems?|looks?|sounds?|appears?|feels?|would|could|can|does|do|did|may|might|cannot|must|should|has|will"
    r"|contradicts?|fails?)"
)
_DENIED_AFTER = re.compile(
    rf"[\s*_`\"')\]:(-]*(?:{_WRONG})\b|[\s*_`\"')\]:-]*\b{_VERB}(?:n['’]t)?\b[^.!?\n]*\b(?:{_WRONG})\b"
    rf"|[\s*_`\"')\]:-]*\b{_VERB}(?:n['’]t\b|\s+(?!(?:the\s+)?(?:best|better|correct|right|most)\b)[^.!?\n]*\b(?:not|never|no)\b)"
    rf"|[\s*_`\"')\]:-]*\bcannot\b|[\s*_`\"')\]:(-]*(?:选项|项)?(?:是|为|也|都|并|很|太|明显|显然)*(?:不|错|没|非|有误)",
    re.IGNORECASE,
)
_GROUNDS = re.compile(r"\b(?:because|since|as|while|whereas|unlike|given|due)\b|因为", re.IGNORECASE)
_OPEN_QUESTION = re.compile(
    r"[^.!?\n。！？;；]*\?|[\s*_`\"'”’)\]}]*(?:,?\s*(?:maybe|perhaps|possibly|or)\b|吗)", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?\n。！？;；]")
_LISTED = re.compile(r"^[\s*_`>\"-]*[(\[【]?[A-H](?:[):、\]】]|\.(?=[\s*]))[^\n]*$", re.MULTILINE)
_ALONE = re.compile(rf"(?<![A-Za-z0-9'’])(?:[B-H]|A{_NO_ARTICLE})(?![A-Za-z0-9'’])")
_WORD = re.compile(r"[A-Za-z'’]+|[\u4e00-\u9fff]+")
_OF_ANSWERS = re.compile(
    r"answer|option|choice|letter|response|reply|is|it|it's|its|the|my|final|best|correct|right|most|i|i'd|would|choose|pick"
    r"|select|go|with|be|must|should|that's|so|think|or|and|also|maybe|perhaps|possibly|either|both|no|wait|actually|rather"
    r"|instead|hmm+|then|on|reflection|second|thoughts?|correction|sorry|oh|well|to|vs|mean|make|that|say",
    re.IGNORECASE,
)
_OF_ANSWERS_ZH = re.compile(
    "(?:正确答案|答案|选项|选择|应该|应|选|是|为|我|或者|或|和|与|及|还是|项|不对|更正|抱歉|等等|其实|而是|改为|吧|也|最终|不(?=$))+"
)
_ANSWER_BEFORE = re.compile(r"^.*?\b(?:answer|option|choice)\s*(?:is|:)+|^答案\s*(?:是|为|:)*", re.IGNORECASE)
_EDGES = " \t\n.,;:!?*_`\"'“”‘’()[]{}<>。,、"
_NEAR, _FAR = 60, 300
"""Characters before and behind a letter in which it may be said to be wrong."""


class _Named(NamedTuple):
    """A letter that an answer names.

    Attributes:
        letter: the letter.
        denied: whether it is said to be wrong.
        clear: whether it is no question, no other option's text stands behind it, and more words would not change it.
    """

    letter: str
    denied: bool
    clear: bool


def read_letter(text: str, options: Sequence[str], *, cut: bool = False) -> str | None:
    """Returns the letter of the option that an answer chooses, or None where it chooses none or more than one.

    Args:
        text: the answer; a reasoning part (`<think>...</think>`) at its beginning is passed over.
        options: the options in the order in which they were shown.
        cut: whether the answer was cut off, so that a letter at its end may be the beginning of a word.
    """
    plain = _LONG_RUN.sub(r"\1", own_words(plain_text(text)).lstrip()).rstrip()
    if "~~" in plain:
        return None
    declared = list(_named(plain, _DECLARATIONS, options, cut=cut))
    chosen = [one for one in declared if not one.denied]
    denied = {one.letter for one in declared if one.denied}
    if not chosen:
        chosen = list(_named(plain, _MENTIONS, options, cut=cut))
        denied |= {one.letter for one in chosen if one.denied}
    if not chosen:
        return None if cut or denied else _by_text(plain, options)
    found = {one.letter for one in chosen} | set(_answered(plain))
    letter = found.pop()
    clear = not found and letter not in denied and all(one.clear for one in chosen)
    return letter if clear and letter in LETTERS[: len(options)] else None


def _named(plain: str, patterns: Iterable[re.Pattern[str]], options: Sequence[str], *, cut: bool) -> Iterable[_Named]:
    for pattern in patterns:
        for match in pattern.finditer(plain):
            letter, start, end = match["letter"].upper(), match.start("letter"), match.end("letter")
            near = plain[max(0, start - _NEAR) : start]
            before = _CLAUSE_END.split(_SURE.sub("", near).rstrip(" \t:*_`\"'(["))[-1]
            behind = plain[end : end + _FAR]
            denied = _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(_GROUNDS.split(behind, maxsplit=1)[0])
            others = {_folded(text) for place, text in zip(LETTERS, options, strict=False) if place != letter}
            is_other = _folded(behind.partition("\n")[0]) in others - {""}
            alone = not is_other and not _PAIRED.search(near)
            clear = alone and not _OPEN_QUESTION.match(behind) and is_whole(plain, end, cut=cut)
            yield _Named(letter, denied is not None, clear)


def _answered(plain: str) -> Iterator[str]:
    """Yields the letters in sentences that hold nothing but letters and words that give an answer or change it."""
    for sentence in _SENTENCE_END.split(_LISTED.sub(_without_mark, plain)):
        letters = _ALONE.findall(sentence)
        if letters and all(map(_is_of_answers, _WORD.findall(_ALONE.sub(" ", sentence)))):
            yield from letters


def _without_mark(listed: re.Match[str]) -> str:
    """Returns a line that begins with an option's letter; nothing where the option's text or a remark on it follows."""
    behind = _ALONE.sub(" ", listed[0])
    return "" if not all(map(_is_of_answers, _WORD.findall(behind))) and not _gives_an_answer(listed[0]) else listed[0]


def _gives_an_answer(line: str) -> bool:
    return any(pattern.search(line) for pattern in _DECLARATIONS)


def _is_of_answers(word: str) -> bool:
    plain = word.replace("’", "'")
    return _OF_ANSWERS.fullmatch(plain) is not None or _OF_ANSWERS_ZH.fullmatch(plain) is not None


def _by_text(plain: str, options: Sequence[str]) -> str | None:
    """Returns the letter of the option whose text is the whole answer, or all that follows `Answer:`."""
    said = {_folded(plain), _folded(_ANSWER_BEFORE.sub("", plain, count=1))}
    matching = [letter for letter, option in zip(LETTERS, options, strict=False) if _folded(option) in said]
    return matching[0] if len(matching) == 1 else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().strip(_EDGES).split())
