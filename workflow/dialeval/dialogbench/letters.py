"""Finding the letter that a model chose in what it wrote.

A letter counts where it can only be meant as an option: alone, marked off (`B.`, `(B)`, `**B**`), or declared (`The
answer is B`, `选B`). Declarations outweigh mere mentions, so that an answer may repeat the options first. An article, a
letter inside a word, and an answer that names two options are no choice.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from dialeval.corpora.multiple_choice import LETTERS
from dialeval.forms.verdict_text import is_whole, plain_text

_OPEN, _CLOSE = r"[\s*_`\"'“”‘’(\[{<【「$]*", r"[\s*_`\"'“”‘’)\]}>】」$.,;:!。,、]*"
_NOT_INSIDE = r"(?![A-Za-z0-9'’+#&/-])"
_NO_ARTICLE = r"(?!\s+(?!(?:because|since|as|for|is|which|due|given)\b)[a-z])"
_NO_PAIR = r"(?!\W{0,4}\s*(?:and|or|&|/|,|和|或|、)\s*\W{0,3}[A-H]\b)"
_MARKED = rf"{_OPEN}(?P<letter>[B-H]|A{_NO_ARTICLE}){_NOT_INSIDE}{_NO_PAIR}"
_LONG_RUN = re.compile(r"(?<![\W_])([\W_]{40})[\W_]+")
"""Marks and blanks in a row, of which the patterns above look at every way to share them among their parts."""
_NOUN = (
    r"(?:(?:final|correct|right|best|most\s+\w+|my|the)\s+){0,6}(?:answer|option|choice|response|reply|letter|summary)"
)
_DECLARATIONS = (
    re.compile(
        rf"\b{_NOUN}\s*(?:is|would\s+be|should\s+be|must\s+be|:|=)+\s*(?:\b(?:option|choice|letter)\b)?{_MARKED}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:i\s+(?:would\s+)?(?:choose|pick|select|go\s+with))\s+(?:\b(?:option|choice|letter)\b)?{_MARKED}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:option|choice)\s*{_MARKED}\s*(?:is|seems|would\s+be)\s+(?:the\s+)?(?:most|best|correct|right)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:^|\n){_OPEN}(?P<letter>[A-H]){_CLOSE}\s+is\s+(?:the\s+)?(?:most|best|correct|right)"),
    re.compile(r"\\boxed\{\s*(?:\\text\{)?\s*(?P<letter>[A-H])\s*\}"),
    re.compile(rf"答案[\s】\]*]*(?:是|为|应为|应该是|选|选择|:)*\s*(?:选项)?{_OPEN}(?P<letter>[A-H])(?![A-Za-z])"),
    re.compile(rf"(?<![可备待不])(?:应选|应该选|选择|我选|选)(?:项)?\s*{_OPEN}(?P<letter>[A-H])(?![A-Za-z])"),
    re.compile(r"(?<![A-Za-z])(?P<letter>[A-H])\s*(?:选项)?(?:是|为)?(?:正确|最合适|最恰当|最符合|最连贯)"),
)
_MENTIONS = (
    re.compile(
        rf"^{_OPEN}(?:option|choice|选项)?\s*:?{_OPEN}(?P<letter>[A-Ha-h]){_CLOSE}$", re.IGNORECASE | re.MULTILINE
    ),
    re.compile(
        r"^[\s*_`>\"-]*[(\[【]?(?P<letter>[A-H])(?:\*\*)?"
        r"(?:[):、\]】](?!\s*[A-H]\b)|\.(?=[\s*]|[^\x00-\x7f]|$)|,(?=\s+(?:because|since|as)\b|因为))",
        re.MULTILINE,
    ),
    re.compile(r"^[\s*_`>\"-]*(?:option|choice|选项)\s*(?P<letter>[A-H])\b", re.IGNORECASE | re.MULTILINE),
    re.compile(r"[(\[【](?P<letter>[A-H])[)\]】]"),
    re.compile(r"\*\*\(?(?P<letter>[A-H])\)?[.):]?\*\*"),
)
_ANSWER_BEFORE = re.compile(r"^.*?\b(?:answer|option|choice)\s*(?:is|:)+|^答案\s*(?:是|为|:)*", re.IGNORECASE)
_EDGES = " \t\n.,;:!?*_`\"'“”‘’()[]{}<>。,、"


def read_letter(text: str, options: Sequence[str], *, cut: bool = False) -> str | None:
    """Returns the letter of the option that an answer chooses, or None where it chooses none or more than one.

    Args:
        text: the answer; a reasoning part (`<think>...</think>`) at its beginning is passed over.
        options: the options in the order in which they were shown.
        cut: whether the answer was cut off, so that a letter at its end may be the beginning of a word.
    """
    plain = _LONG_RUN.sub(r"\1", plain_text(text).lstrip())
    for patterns in (_DECLARATIONS, _MENTIONS):
        matches = [match for pattern in patterns for match in pattern.finditer(plain.rstrip())]
        if matches:
            found = {match["letter"].upper() for match in matches}
            letter = found.pop()
            clear = not found and all(is_whole(plain, match.end("letter"), cut=cut) for match in matches)
            return letter if clear and letter in LETTERS[: len(options)] else None
    return None if cut else _by_text(plain, options)


def _by_text(plain: str, options: Sequence[str]) -> str | None:
    """Returns the letter of the option whose text is the whole answer, or all that follows `Answer:`."""
    said = {_folded(plain), _folded(_ANSWER_BEFORE.sub("", plain, count=1))}
    matching = [letter for letter, option in zip(LETTERS, options, strict=False) if _folded(option) in said]
    return matching[0] if len(matching) == 1 else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().strip(_EDGES).split())
