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

_DECORATION = r"[\s>*_#`\"'“”‘’\-•(\[{]*"
_CHOICE_LINE = re.compile(rf"^{_DECORATION}choice[\s*_`\"'“”]*:(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE)
_NEXT_FIELD = re.compile(r"[\s;,.*_`\"'“”(\[|]*\b(?:index|reason)[\s*_`\"'“”]*:", re.IGNORECASE)
_INDEX = re.compile(r"\bindex[\s*_`\"'“”]*:\s*(?P<value>[^\n;]*)", re.IGNORECASE)
_REASON = re.compile(r"\breason[\s*_`\"'“”]*:\s*(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_EDGES = " \t.,;:!*_`\"'“”‘’()[]{}<>|。，；！"


@dataclass(frozen=True)
class VerdictText:
    """The fields of a judge's answer.

    Attributes:
        choice: the option, or None if the answer has none or is ambiguous.
        index: what stands behind `Index:`, stripped; None if there is no such field.
        reason: what stands behind `Reason:`; without that field, why no choice could be read.
    """

    choice: str | None
    index: str | None
    reason: str


def status_of(response_status: str, finish_reason: str, *, readable: bool) -> str:
    """Returns the status of a verdict: ok, unparsed, refused, truncated or missing.

    Args:
        response_status: status of the row in the table `responses`.
        finish_reason: why the model stopped.
        readable: whether a verdict could be read.
    """
    if response_status != "ok":
        return response_status
    if readable:
        return "ok"
    return {"refusal": "refused", "length": "truncated"}.get(finish_reason, "unparsed")


def read_verdict(text: str, options: Mapping[str, str]) -> VerdictText:
    """Reads a judge's answer.

    Args:
        text: the answer; a reasoning part (`<think>...</think>`) is passed over.
        options: pattern of each option (a regular expression for the whole value, lower case) -> its name.
    """
    plain = unicodedata.normalize("NFKC", without_reasoning(text)).replace("\r\n", "\n").replace("\r", "\n")
    lines = list(_CHOICE_LINE.finditer(plain))
    reason = _field(_REASON, plain, strip=" \t\n*_`")
    if not lines:
        return VerdictText(None, None, reason or "no line begins with 'Choice:'")
    values = [_NEXT_FIELD.split(line["rest"], maxsplit=1)[0].strip(_EDGES).lower() for line in lines]
    choices = {_option(value, options) for value in values}
    if len(choices) > 1 or None in choices:
        return VerdictText(None, None, f"ambiguous choice: {' / '.join(values)!r:.100}")
    head = plain[lines[0].start() :]
    before_reason = _REASON.split(head, maxsplit=1)[0]
    index = _field(_INDEX, before_reason)
    if index is None:  # the fields may stand in another order, each on a line of its own
        index = _field(re.compile(rf"^{_DECORATION}{_INDEX.pattern}", re.IGNORECASE | re.MULTILINE), plain)
    return VerdictText(choices.pop(), index, reason or "")


def without_reasoning(text: str) -> str:
    """Returns an answer without the thinking that some models put before it.

    A closing mark without an opening one counts too (some chat templates open it in the prompt); thinking that never
    ends leaves nothing.
    """
    _, closing, rest = text.rpartition("</think>")
    answer = rest if closing else text
    return answer.split("<think>", 1)[0]


def _option(value: str, options: Mapping[str, str]) -> str | None:
    matching = {name for pattern, name in options.items() if re.fullmatch(pattern, value)}
    return matching.pop() if len(matching) == 1 else None


def _field(pattern: re.Pattern[str], text: str, strip: str = _EDGES + "\n") -> str | None:
    found = pattern.search(text)
    return found["value"].strip(strip) if found else None
