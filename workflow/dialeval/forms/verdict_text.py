"""Reading the `Choice: ... / Index: ... / Reason: ...` answers that judges give.

The grammar is anchored: a verdict is only read from a line that begins with `Choice:`, and its value must be exactly
one of the options. Decoration is forgiven (Markdown, quotes, list marks, full-width colons, other case, fields on one
line, text before and after); whatever could mean two things is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from dialeval.engines.labels import LOWEST_MASS
from dialeval.reasoning_marks import without_thinking
from dialeval.schemas.judgements import Status

_DECORATION = r"[ \t\v\f\x85\u2028\u2029>*_#`\"'“”‘’\-•(\[{]*"  # no line break: it would look at every line many times
_COLON = r"[\s*_`\"'“”]*:"
_CHOICE_LINE = re.compile(rf"^{_DECORATION}choice{_COLON}(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE)
_BETWEEN = r"\s;,.*_`\"'“”(\[|"
_NEXT_FIELD = re.compile(rf"(?<![{_BETWEEN}])[{_BETWEEN}]*\b(?:index|reason){_COLON}", re.IGNORECASE)
_INDEX = re.compile(rf"\bindex{_COLON}\s*(?P<value>[^\n;]*)", re.IGNORECASE)
_INDEX_LINE = re.compile(rf"^{_DECORATION}index{_COLON}\s*(?P<value>[^\n;]*)", re.IGNORECASE | re.MULTILINE)
_REASON = re.compile(rf"\breason{_COLON}\s*(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(rf"\b(?P<name>choice|index|reason){_COLON}", re.IGNORECASE)
_EDGES = " \t.,;:!*_`\"'“”‘’()[]{}<>|。，；！"
_ENOUGH = 12
"""Characters of an answer on one line that must follow a value for the value to be whole where the answer was cut off:
more than ` out of 10`."""


@dataclass(frozen=True)
class VerdictText:
    """The fields of a judge's answer.

    Attributes:
        choice: the option, or None if the answer has none or is ambiguous.
        indices: what stands behind `Index:`, stripped; several where that differs from one to the other.
        reason: what stands behind `Reason:`; without that field, why no choice could be read.
    """

    choice: str | None
    indices: tuple[str, ...]
    reason: str


def status_of(response_status: Status, finish_reason: str, *, readable: bool, mass: float | None = None) -> Status:
    """Returns whether a verdict could be read, and if not, why.

    Args:
        response_status: status of the row in the table `responses`.
        finish_reason: why the model stopped; what a filter ended or a model refused is never a verdict.
        readable: whether a verdict could be read.
        mass: probability that all labels together captured, where the answer is read from labels.
    """
    if response_status != "ok":
        return response_status
    if finish_reason == "refusal":
        return "refused"
    if mass is not None and mass < LOWEST_MASS:
        return "low_mass"
    if readable:
        return "ok"
    return "truncated" if finish_reason == "length" else "unparsed"


def plain_text(text: str) -> str:
    """Returns an answer without the thinking that it begins with, its characters in their plain form."""
    plain = unicodedata.normalize("NFKC", without_thinking(text))
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def was_cut(answer: Mapping[str, object]) -> bool:
    """Returns whether a row of `responses` holds an answer that its token budget cut off."""
    return answer["finish_reason"] == "length"


def text_to_read(answer: Mapping[str, object]) -> str:
    """Returns the text of a row of `responses`; empty for what was refused, which is not read."""
    return "" if answer["finish_reason"] == "refusal" else str(answer["text"] or "")


def is_whole(plain: str, end: int, *, cut: bool) -> bool:
    """Returns whether what ends at a place of an answer is all there: more words could not have changed it.

    Args:
        plain: the answer.
        end: where in it the value ends.
        cut: whether the answer was cut off.
    """
    return not cut or len(plain) - end >= _ENOUGH or "\n" in plain[end:]


def read_verdict(text: str, options: Mapping[str, str], *, cut: bool = False) -> VerdictText:
    """Reads a judge's answer.

    Args:
        text: the answer; a reasoning part (`<think>...</think>`) at its beginning is passed over.
        options: pattern of each option (a regular expression for the whole value, lower case) -> its name.
        cut: whether its token budget cut it off, so that its last field may not be whole.
    """
    plain = plain_text(text)
    reason = _first(_REASON, plain, strip=" \t\n*_`") or ""
    if cut:
        plain, unfinished = _without_last_field(plain)
        if unfinished in ("choice", "index"):
            return VerdictText(None, (), reason or f"cut off in its field {unfinished}")
    lines = list(_CHOICE_LINE.finditer(plain))
    if not lines:
        return VerdictText(None, (), reason or "no line begins with 'Choice:'")
    values = [_NEXT_FIELD.split(line["rest"], maxsplit=1)[0].strip(_EDGES).lower() for line in lines]
    choices = {_option(value, options) for value in values}
    if len(choices) > 1 or None in choices:
        return VerdictText(None, (), f"ambiguous choice: {' / '.join(values)!r:.100}")
    before_reason = _REASON.split(plain[lines[0].start() :], maxsplit=1)[0]
    found = [*_INDEX.finditer(before_reason), *_INDEX_LINE.finditer(plain)]  # fields may stand in another order
    indices = dict.fromkeys(index["value"].strip(_EDGES + "\n") for index in found)
    return VerdictText(choices.pop(), tuple(indices), reason)


def _option(value: str, options: Mapping[str, str]) -> str | None:
    matching = {name for pattern, name in options.items() if re.fullmatch(pattern, value)}
    return matching.pop() if len(matching) == 1 else None


def _first(pattern: re.Pattern[str], text: str, strip: str) -> str | None:
    found = pattern.search(text)
    return found["value"].strip(strip) if found else None


def _without_last_field(plain: str) -> tuple[str, str]:
    """Returns an answer without what its last line says last, and the name of the field that this is, if it is one."""
    place, name = plain.rfind("\n") + 1, ""
    for field in _FIELD.finditer(plain, place):
        place, name = field.start(), field["name"].lower()
    return plain[:place], name
