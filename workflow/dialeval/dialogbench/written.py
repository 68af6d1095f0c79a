"""Reading what a writer returns: one JSON object somewhere in the text, or a reason why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dialeval.corpora.dialogbench_records import RecordProblem, read_record
from dialeval.corpora.dialogbench_tasks import task_of
from dialeval.corpora.multiple_choice import TestItem
from dialeval.corpora.text_files import is_nested_deeper
from dialeval.dialogbench.briefs import Brief
from dialeval.forms.verdict_text import status_of, text_to_read
from dialeval.reasoning_marks import without_thinking

_DECODER = json.JSONDecoder(strict=False)
_MOST_BROKEN = 200
"""Brackets that begin no JSON object after which no other is tried."""
_DEEPEST = 20
"""Levels of an object; an item has four."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_APOLOGY = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|cannot|can't|can’t|unable to|not able to|won't|refuse)\b"
    r"|抱歉|对不起|无法|不能|没办法",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item that was asked for.

    Attributes:
        item_id: the item's id, whether there is one or not.
        status: of the answer: ok, unparsed, refused, truncated or missing.
        item: the item, if one could be read.
        reasons: short words for why it is not accepted; empty if it is.
        details: the same with what was found, for people.
    """

    item_id: str
    task: str
    domain: str
    language: str
    status: str
    item: TestItem | None
    reasons: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Returns whether there is an item and nothing speaks against it."""
        return self.item is not None and not self.reasons

    def rejected(self, reason: str, detail: str = "") -> Outcome:
        """Returns the outcome with one more reason against the item."""
        said = f"{reason}: {detail}" if detail else reason
        return replace(self, reasons=(*self.reasons, reason), details=(*self.details, said))

    def to_row(self) -> dict[str, Any]:
        """Returns the outcome as a row of a table, without the item."""
        return {
            "item_id": self.item_id,
            "task": self.task,
            "domain": self.domain,
            "language": self.language,
            "status": self.status,
            "accepted": self.accepted,
            "reasons": list(self.reasons),
            "details": list(self.details),
        }


def read_written(brief: Brief, answer: Mapping[str, Any], origin: str) -> Outcome:
    """Returns what a writer's answer to one brief holds.

    Args:
        brief: what was asked for; what was drawn in it stands in the item, whatever the writer repeats of it. Only
            personalities are the writer's if it names them.
        answer: row of `responses`: `status`, `text` and `finish_reason`.
        origin: name of the writer.
    """
    empty = Outcome(brief.item_id, brief.task, brief.domain, brief.language, "ok", None)
    if answer["status"] != "ok":
        return replace(empty, status=answer["status"]).rejected(answer["status"])
    try:
        item = _item(brief, find_record(text_to_read(answer)), origin)
    except RecordProblem as problem:
        status = status_of("ok", answer["finish_reason"], readable=False)
        if status == "unparsed" and problem.reason == "refused":
            status = "refused"
        reason = status if status in ("truncated", "refused") else problem.reason
        return replace(empty, status=status).rejected(reason, problem.detail)
    return replace(empty, item=item)


def find_record(text: str) -> dict[str, Any]:
    """Returns the one JSON object with a dialogue that a text holds, in Markdown fences, in a list, or among words.

    Commas before a closing bracket and raw line breaks in strings are forgiven; nothing else is mended.

    Raises:
        RecordProblem: there is none (`empty`, `refused`, `no_json`, `broken_json`, `not_an_item`) or there are several
            different ones (`several_items`).
    """
    plain = without_thinking(text)
    if not plain.strip():
        raise RecordProblem("empty")
    found, broken = _objects(plain)
    if broken and not any(map(_is_item, found)):
        found, still_broken = _objects(_without_trailing_commas(plain))
        broken = still_broken
    items = [record for record in found if _is_item(record)]
    if any(record != items[0] for record in items):
        raise RecordProblem("several_items", f"{len(items)}, not all the same")
    if items:
        return items[0]
    if broken:
        raise RecordProblem("broken_json", broken)
    if found:
        raise RecordProblem("not_an_item", ", ".join(found[0])[:80])
    raise RecordProblem("refused" if _APOLOGY.search(plain[:400]) else "no_json", f"{plain.strip()!r:.80}")


def _item(brief: Brief, record: dict[str, Any], origin: str) -> TestItem:
    field, value = brief.drawn
    told, drawn = {}, {field: value} if field else {}
    for number in (1, 2):
        told[f"speaker{number} personality"] = brief.personalities[number - 1]
        if brief.emotions[number - 1]:
            drawn[f"speaker{number} emotion"] = brief.emotions[number - 1]
    return read_record(
        told | record | drawn,  # a writer that cannot do personalities says so by empty ones
        item_id=brief.item_id,
        task=task_of(brief.task),
        language=brief.language,
        origin=origin,
        domain=brief.domain,
    )


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Returns the outermost JSON objects of a text, and what is wrong with one that cannot be read, if any."""
    found: list[dict[str, Any]] = []
    broken, n_broken = "", 0
    place = text.find("{")
    while place >= 0 and n_broken < _MOST_BROKEN:
        try:
            record, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            broken = broken or str(error)[:80]
            n_broken += 1
            end = place + 1
        else:
            problem = _unusable(record)
            broken = broken or problem
            if not problem:
                found.append(record)
        place = text.find("{", end)
    if broken and not any(map(_is_item, found)):
        found = []  # these are only parts of the broken one
    return found, broken


def _unusable(record: dict[str, Any]) -> str:
    """Returns what about an object that JSON allows can be no part of an item; empty if nothing is."""
    if is_nested_deeper(record, _DEEPEST):
        return f"nested more than {_DEEPEST} deep"
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "half of a character (a lone surrogate) in a text"
    return ""


def _is_item(record: Mapping[str, Any]) -> bool:
    return any(name.strip().casefold() in ("dialogue", "dialog") for name in record)


def _without_trailing_commas(text: str) -> str:
    """Removes commas before a closing bracket outside of strings."""
    pieces, end = [], 0
    for string in _STRING.finditer(text):
        pieces += [_TRAILING_COMMA.sub("", text[end : string.start()]), string[0]]
        end = string.end()
    return "".join([*pieces, _TRAILING_COMMA.sub("", text[end:])])
