"""Parsing of judges' verdicts, as text or as structured answers.

A verdict is only read from a line that begins with `Choice:`, and its value must be exactly one of the options.
Decoration is ignored (Markdown, quotation marks, list marks, full-width colons, other case, fields on one line, text
before and after). An answer with two options is refused; quoted lines do not count.

The fields of a structured answer become the schema of a request and a paragraph behind its prompt, since a schema alone
does not describe its fields. The papers use free text, the default.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialeval.engines.label_probabilities import LOWEST_MASS
from dialeval.engines.requests import Request
from dialeval.prompts.rendering import Templates, without_thinking
from dialeval.tables.dialogues import Status

_DECORATION = r"[ \t\v\f\x85\u2028\u2029>*_#`\"'“”‘’\-•(\[{~]*"  # no line break: it would look at every line many times
_COLON = r"[\s*_`\"'“”]*:"
_CHOICE_LINE = re.compile(
    rf"^{_DECORATION}(?:<(?:del|s|strike)>)?choice{_COLON}(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE
)
_BETWEEN = r"\s;,.*_`\"'“”(\[|"
_NEXT_FIELD = re.compile(rf"(?<![{_BETWEEN}])[{_BETWEEN}]*\b(?:index|reason){_COLON}", re.IGNORECASE)
_INDEX = re.compile(rf"\bindex{_COLON}\s*(?P<value>[^\n;]*)", re.IGNORECASE)
_INDEX_LINE = re.compile(rf"^{_DECORATION}index{_COLON}\s*(?P<value>[^\n;]*)", re.IGNORECASE | re.MULTILINE)
_REASON = re.compile(rf"\breason{_COLON}\s*(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(rf"\b(?P<name>choice|index|reason){_COLON}", re.IGNORECASE)
EDGES = " \t.,;:!*_`\"'“”‘’()[]{}<>|。，；！"
"""Blanks and marks around a value."""
_INVISIBLE = dict.fromkeys(
    [0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0x20E3, 0xFE0F, 0xFEFF]
)
"""Invisible characters, which may stand inside a number, and the frame of a keycap."""
_QUOTED = re.compile(r"[ \t]*>")
_SOFTENED = re.compile(
    r"\W*(?:\?|maybe\b|perhaps\b|possibly\b|probably\b|or\b|to\b|plus\b|minus\b|ish\b|up\s+to\b|more\s+or\s+less\b"
    r"|and\s+(?:a\s+half|up|above|over|more|below|under|less)\b|at\s+(?:least|most)\b|give\s+or\s+take\b|roughly\b"
    r"|approximately\b|about\b|around\b|if\b|unless\b|or so\b|可能|也许|或|左右|以上|以下)",
    re.IGNORECASE,
)
_AT_CLAUSE = r"(?:^|[.,;:!?(\n-])[ \t]*(?:(?:but|and|so|oh|hmm+)[ \t,]+)?"
_TAKEN_BACK = re.compile(
    rf"{_AT_CLAUSE}(?:no,?[ \t]+)?(?:wait|scratch|strike|on\s+(?:reflection|second\s+thoughts?)|correction|i\s+mean"
    r"|sorry|i\s+take\s+(?:it|that)\s+back|make\s+(?:it|that)|never\s?mind|not\s+really|just\s+kidding|rather\s+not|nope"
    r"|i\s+(?:was|am)\s+wrong|i\s+(?:would\s+)?(?:revise|change|reconsider)"
    r"|let\s+me\s+(?:revise|change|correct|reconsider)|不对|更正|改为|等等|等一下|抱歉|其实)"
    rf"|{_AT_CLAUSE}(?:not?|不)[ \t]*(?:[.,;:!?)]|$)",
    re.IGNORECASE,
)
_SECOND_THOUGHT = re.compile(
    r"\W*(?:(?:but|so|well|hmm+|ok(?:ay)?|and)\W+)?(?:on\s+(?:reflection|second\s+thoughts?)|actually|correction|no\b|wait"
    r"|i\s+mean|sorry|rather|scratch|strike|let\s+me|i\s+(?:would\s+)?(?:revise|change|reconsider)|revised|corrected"
    r"|make\s+(?:it|that)|better|instead|edit|更正|不对|等等|其实|抱歉|最终)",
    re.IGNORECASE,
)
_LEADS = (
    r"(?:^or\b|->|→|\b(?:i(?:\s+would|'d)?\s+(?:rather\s+)?(?:choose|pick|select|prefer|say|go\s+(?:with|for))"
    r"|(?:my|the)\s+(?:final\s+|real\s+)?(?:choice|answer|verdict)\s+(?:is|would\s+be)|(?:answer|verdict)[ \t*_`]*:"
    r"|on\s+(?:reflection|second\s+thoughts?)|actually|wait|i\s+meant?|correction|make\s+(?:it|that)|no,|rather|instead"
    r"|(?:final|revised|corrected)\s+choice[ \t*_`]*(?::|is)|sorry|hmm+|maybe|perhaps|edit[ \t]*:|better[ \t]*:"
    r"|it\s+should\s+be))"
)
_DECLARED = re.compile(rf"(?:{_LEADS}[ \t,:.*_`\"'“”()-]*)+(?P<value>[^\n.;,!?()]{{1,80}})", re.IGNORECASE)
_REASONED = re.compile(
    r"\s+(?:because|since|as|for|over|after\s+all|instead|then|is|was|seems|wins)\b.*", re.IGNORECASE
)
_LONGEST = 100
"""Characters of a line that may be an option and nothing else."""
ENOUGH = 12
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
    """Return the status of a verdict.

    Args:
        response_status: status of the row in the table `responses`.
        finish_reason: why the model stopped; a refusal is never a verdict.
        readable: whether a verdict could be parsed.
        mass: probability of all labels together, for answers read from labels.
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
    """Return an answer without the thinking that it begins with, its characters in their plain form.

    `½`, `²` and `①` stay as they are: their plain forms are digits, which would join those beside them.
    """
    plain = normalized(without_thinking(text).translate(_INVISIBLE))
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def normalized(text: str) -> str:
    """Return a text in Unicode's form NFKC, but for characters that would become digits and are none."""
    kept = "".join(sorted(filter(is_other_number, set(text))))
    pieces = re.split(f"([{re.escape(kept)}])", text) if kept else [text]
    return "".join(piece if place % 2 else unicodedata.normalize("NFKC", piece) for place, piece in enumerate(pieces))


def is_other_number(character: str) -> bool:
    """Return whether a character stands for a number, or a part of one, without being a digit, as `½` and `²` do."""
    if character.isascii() or character.isdecimal():
        return False
    return any(map(str.isdecimal, unicodedata.normalize("NFKC", character)))


def own_words(plain: str) -> str:
    """Return an answer with its quoted lines (`> ...`) left empty; one that is quoted as a whole without the marks."""
    lines = plain.split("\n")
    own = ["" if _QUOTED.match(line) else line for line in lines]
    if any(line.strip() for line in own):
        return "\n".join(own)
    return "\n".join(line.lstrip(" \t>") for line in lines)


def is_taken_back(behind: str) -> bool:
    """Return whether words behind a value soften it (`maybe`, `or so`) or take it back (`no, wait`)."""
    return _SOFTENED.match(behind) is not None or _TAKEN_BACK.search(behind) is not None


def is_second_thought(line: str) -> bool:
    """Return whether a line begins as one that changes an earlier answer."""
    return _SECOND_THOUGHT.match(line) is not None


def was_cut(answer: Mapping[str, object]) -> bool:
    """Return whether a row of `responses` holds an answer that its token budget cut off."""
    return answer["finish_reason"] == "length"


def text_to_read(answer: Mapping[str, object]) -> str:
    """Return the text of a row of `responses`; empty for refused responses, which are not parsed."""
    return "" if answer["finish_reason"] == "refusal" else str(answer["text"] or "")


def is_complete(plain: str, end: int, *, cut: bool) -> bool:
    """Return whether a value that ends at a place of an answer, perhaps cut off, is complete."""
    return not cut or len(plain) - end >= ENOUGH or "\n" in plain[end:]


def read_verdict(text: str, options: Mapping[str, str], *, cut: bool = False) -> VerdictText:
    """Read a judge's answer.

    Args:
        text: the answer; a reasoning part (`<think>...</think>`) at its beginning is passed over.
        options: pattern of each option (a regular expression for the whole value, lower case) -> its name.
        cut: whether its token budget cut it off, so that its last field may not be whole.
    """
    plain = own_words(plain_text(text))
    reason = _first(_REASON, plain, strip=" \t\n*_`") or ""
    if cut:
        plain, unfinished = _without_last_field(plain)
        if unfinished in ("choice", "index"):
            return VerdictText(None, (), reason or f"cut off in its field {unfinished}")
    lines = list(_CHOICE_LINE.finditer(plain))
    if not lines:
        return VerdictText(None, (), reason or "no line begins with 'Choice:'")
    values = [_NEXT_FIELD.split(line["rest"], maxsplit=1)[0].strip(EDGES).lower() for line in lines]
    choices = {_option(value, options) for value in values}
    if len(choices) > 1 or None in choices:
        return VerdictText(None, (), f"ambiguous choice: {' / '.join(values)!r:.100}")
    if _declared(plain, options) - choices:
        return VerdictText(None, (), "ambiguous choice: other words name another option")
    before_reason = _REASON.split(plain[lines[0].start() :], maxsplit=1)[0]
    found = [*_INDEX.finditer(before_reason), *_INDEX_LINE.finditer(plain)]  # fields may stand in another order
    indices = dict.fromkeys(index["value"].strip(EDGES + "\n") for index in found)
    return VerdictText(choices.pop(), tuple(indices), reason)


def _declared(plain: str, options: Mapping[str, str]) -> set[str | None]:
    """Return the options that other lines than `Choice:` and `Reason:` name as the answer."""
    found: set[str | None] = set()
    for line in plain.split("\n"):
        if not (stripped := line.strip()) or _CHOICE_LINE.match(line):
            continue
        values = [
            words["value"] for words in _DECLARED.finditer(_REASON.split(stripped, maxsplit=1)[0].replace("’", "'"))
        ]
        for value in [stripped, *(_REASONED.sub("", value) for value in values)]:
            found.add(_option(value.strip(EDGES).lower(), options) if len(value) <= _LONGEST else None)
    return found - {None}


def _option(value: str, options: Mapping[str, str]) -> str | None:
    matching = {name for pattern, name in options.items() if re.fullmatch(pattern, value)}
    return matching.pop() if len(matching) == 1 else None


def _first(pattern: re.Pattern[str], text: str, strip: str) -> str | None:
    found = pattern.search(text)
    return found["value"].strip(strip) if found else None


def _without_last_field(plain: str) -> tuple[str, str]:
    """Return a response without the value of its last line, and the name of that line's field, if it has one."""
    place, name = plain.rfind("\n") + 1, ""
    for field in _FIELD.finditer(plain, place):
        place, name = field.start(), field["name"].lower()
    return plain[:place], name


# Structured answers: JSON objects with given fields

TEMPLATE = "structured_answer.j2"
_MOST_LISTED = 21
"""Whole numbers up to this many are listed one by one, which every endpoint's schemas allow; bounds some refuse."""


@dataclass(frozen=True)
class Field:
    """One field of the object.

    Attributes:
        name: its name.
        says: what belongs in it, for the prompt.
        schema: its part of the JSON schema.
    """

    name: str
    says: str
    schema: Mapping[str, Any]


def option(name: str, options: Sequence[str]) -> Field:
    """Return a field that holds one of some texts."""
    return Field(name, "one of " + ", ".join(map(_quoted, options)), {"type": "string", "enum": list(options)})


def number(name: str, low: float, high: float, *, whole: bool) -> Field:
    """Return a field that holds a number on a scale."""
    answer = f"a {'whole ' if whole else ''}number from {low:g} to {high:g}"
    if whole and high - low < _MOST_LISTED:
        return Field(name, answer, {"type": "integer", "enum": list(range(int(low), int(high) + 1))})
    return Field(name, answer, {"type": "integer" if whole else "number"})


def place(name: str, of: str) -> Field:
    """Return a field that holds the number of an utterance, or null."""
    return Field(name, f"the number of {of}, or null if there is none", {"type": ["integer", "null"]})


def places(name: str, of: str) -> Field:
    """Return a field that holds the numbers of utterances."""
    answer = f"a list of the numbers of {of}, empty if there are none"
    return Field(name, answer, {"type": "array", "items": {"type": "integer"}})


def text(name: str, says: str) -> Field:
    """Return a field that holds free text."""
    return Field(name, says, {"type": "string"})


def structured(request: Request, templates: Templates, fields: Sequence[Field]) -> Request:
    """Return a request whose answer must be a JSON object of some fields, all of them, in their order.

    Args:
        request: a request for text, whose last message is the prompt.
        fields: what the object holds.
    """
    *earlier, last = request.messages
    prompt = f"{last.content}\n\n{templates.render(TEMPLATE, fields=fields)}"
    schema = {
        "type": "object",
        "properties": {field.name: dict(field.schema) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }
    return replace(
        request,
        messages=(*earlier, last._replace(content=prompt)),
        answer_schema=json.dumps(schema, ensure_ascii=False, separators=(",", ":")),
    )


def read_object(answer: str) -> dict[str, Any] | None:
    """Return the fields of an answer that is one JSON object, in a code fence or not; None for any other answer.

    An object that names a field twice is refused, since its values may differ.
    """
    plain = plain_text(answer).strip()
    if plain.startswith("```") and plain.endswith("```"):
        plain = plain.strip("`").removeprefix("json").strip()
    try:
        found = json.loads(plain, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def object_verdict(answer: str, options: Collection[str]) -> VerdictText:
    """Return the choice, the index and the reason of an answer that is one JSON object."""
    found = read_object(answer)
    if found is None:
        return VerdictText(None, (), "the answer is no JSON object")
    choice, index = text_in(found, "choice"), number_in(found, "index")
    if choice not in options:
        return VerdictText(None, (), f"{choice!r:.60} is neither {' nor '.join(options)}")
    return VerdictText(choice, () if index is None else (f"{index:g}",), text_in(found, "reason"))


def number_in(found: Mapping[str, Any], name: str) -> float | None:
    """Return the number in a field, None where there is none: a text of digits is not a number, nor is true."""
    value = found.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def places_in(found: Mapping[str, Any], name: str) -> tuple[int, ...] | None:
    """Return the numbers in a field, ascending; None where it is no list of whole numbers."""
    value = found.get(name)
    if not isinstance(value, list) or any(isinstance(one, bool) or not isinstance(one, int) for one in value):
        return None
    return tuple(sorted(set(value)))


def text_in(found: Mapping[str, Any], name: str) -> str:
    """Return the text in a field, empty where there is none."""
    value = found.get(name)
    return value.strip() if isinstance(value, str) else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found
