"""Written items: parsed from responses, checked by rules, and compared with near duplicates.

Two dialogues are compared by the Jaccard similarity of their shingles: runs of words (of characters in Chinese). It is
exact: shingles are ordered from rare to common, and two sets that are similar enough must share one of the rarest of
each (prefix filtering; Bayardo, Ma and Srikant 2007), so that only few pairs are ever compared.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dialeval.corpora.text_files import is_nested_deeper
from dialeval.dialogbench.briefs import Brief, answer_field
from dialeval.dialogbench.items import RecordProblem, TestItem, read_record
from dialeval.dialogbench.tasks import Task, task_of, value_of
from dialeval.prompts.rendering import without_thinking
from dialeval.protocols.verdicts import status_of, text_to_read

_DECODER = json.JSONDecoder(strict=False)
_MOST_BROKEN = 200
"""Brackets that begin no JSON object after which no other is tried."""
_MOST_LEVELS = 20
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
    """The outcome of one requested item.

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
        """Return whether the item was parsed and no reason rejects it."""
        return self.item is not None and not self.reasons

    def rejected(self, reason: str, detail: str = "") -> Outcome:
        """Return the outcome with one more reason against the item."""
        text = f"{reason}: {detail}" if detail else reason
        return replace(self, reasons=(*self.reasons, reason), details=(*self.details, text))

    def to_row(self) -> dict[str, Any]:
        """Return the outcome as a row of a table, without the item."""
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
    """Return the items in a writer's answer to one brief.

    Args:
        brief: the brief; its drawn values are those of the item, whatever the writer repeats of them. Only
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
    """Return the one JSON object with a dialogue that a text holds, in Markdown fences, in a list, or among words.

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
    given, drawn = {}, {field: value} if field else {}
    for number in (1, 2):
        given[f"speaker{number} personality"] = brief.personalities[number - 1]
        if brief.emotions[number - 1]:
            drawn[f"speaker{number} emotion"] = brief.emotions[number - 1]
    return read_record(
        given | record | drawn,  # empty personalities: the writer could not follow them
        item_id=brief.item_id,
        task=task_of(brief.task),
        language=brief.language,
        origin=origin,
        domain=brief.domain,
    )


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the outermost JSON objects of a text, and the fault of an unreadable one, if any."""
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
    """Return the fault of a JSON object that cannot be part of an item; empty if there is none."""
    if is_nested_deeper(record, _MOST_LEVELS):
        return f"nested more than {_MOST_LEVELS} deep"
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "half of a character (a lone surrogate) in a text"
    return ""


def _is_item(record: Mapping[str, Any]) -> bool:
    return any(name.strip().casefold() in ("dialogue", "dialog") for name in record)


def _without_trailing_commas(text: str) -> str:
    """Remove commas before a closing bracket outside of strings."""
    pieces, end = [], 0
    for string in _STRING.finditer(text):
        pieces += [_TRAILING_COMMA.sub("", text[end : string.start()]), string[0]]
        end = string.end()
    return "".join([*pieces, _TRAILING_COMMA.sub("", text[end:])])


# Rules that a written item must obey; each that it breaks is a reason against it.

ASKED_TURNS = 10
"""Turns that the prompt asks for, as in the paper; a rule says how many an accepted item needs."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_LEAST_COPIED = 3
"""Words (characters in Chinese) from which on a quotation counts as one."""
_COPIES_FROM = {"KRG": "knowledge", "CRG": "commonsense", "PRG": "persona", "DI": "response"}
"""Tasks whose options must not repeat a field literally."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict checking is.

    Attributes:
        min_turns: the least number of turns; a lone last utterance of speaker 1 counts as one. Prompts request
            ten, and the published items have between six and nine on average.
        max_length_ratio: how many times longer than the shortest option the longest may be, in characters.
        short_option: options up to this length are not compared with each other.
        max_question_share: the largest share of utterances with a question mark; prompts forbid them.
    """

    min_turns: int = 4
    max_length_ratio: float = 2.5
    short_option: int = 24
    max_question_share: float = 1.0


class Problem(NamedTuple):
    """A rule that an item breaks, and the finding."""

    reason: str
    detail: str


def checked(outcomes: Sequence[Outcome], rules: Rules | None = None, *, threshold: float | None = 0.7) -> list[Outcome]:
    """Return outcomes with the reasons against each item: broken rules, and near-duplicates of earlier ones.

    Args:
        outcomes: what was read, in the order of the plan.
        rules: how strict checking is.
        threshold: similarity from which on two dialogues count as the same; None: none do.
    """
    ruled = []
    for outcome in outcomes:
        for problem in problems(outcome.item, rules) if outcome.item else ():
            outcome = outcome.rejected(problem.reason, problem.detail)
        ruled.append(outcome)
    if threshold is None:
        return ruled
    duplicates = near_duplicates([one.item for one in ruled if one.item and one.accepted], threshold)
    return [
        one.rejected("near_duplicate", duplicates[one.item_id]) if one.accepted and one.item_id in duplicates else one
        for one in ruled
    ]


def problems(item: TestItem, rules: Rules | None = None) -> list[Problem]:
    """Return the rules that an item breaks."""
    task = task_of(item.task)
    return [*_dialogue_problems(item, task, rules or Rules()), *_option_problems(item, task, rules or Rules())]


def counts(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Return how many items ended for which reason, by language, task and domain; an item counts under its first.

    Accepted items count under `accepted`, or `accepted_short` if they have fewer turns than the prompt asks for.
    """
    found = Counter((one.language, one.task, one.domain, _final_reason(one)) for one in outcomes)
    names = ("language", "task", "domain", "reason")
    return [{**dict(zip(names, key, strict=True)), "n": n} for key, n in sorted(found.items())]


def _dialogue_problems(item: TestItem, task: Task, rules: Rules) -> Iterator[Problem]:
    n = len(item.utterances)
    if item.n_begun < rules.min_turns:
        yield Problem("too_few_turns", f"{item.n_begun} of {rules.min_turns}")
    if (n % 2 == 1) != task.open_ended:
        wanted = "speaker 1" if task.open_ended else "speaker 2"
        yield Problem("wrong_last_speaker", f"the dialogue must end with {wanted}")
    asking = sum("?" in text or "？" in text for text in item.utterances)
    if asking > rules.max_question_share * n:
        yield Problem("too_many_questions", f"{asking} of {n} utterances")


def _option_problems(item: TestItem, task: Task, rules: Rules) -> Iterator[Problem]:
    n = len(item.options)
    if n != task.n_options:
        yield Problem("wrong_number_of_options", f"{n} instead of {task.n_options}")
    if len({" ".join(_words(text)) or text for text in item.options}) < n:
        yield Problem("options_not_distinct", " / ".join(item.options)[:120])
    if task.values:
        yield from _closed_option_problems(item, task)
        return
    lengths = sorted(map(len, item.options))
    if lengths[-1] > rules.short_option and lengths[-1] > rules.max_length_ratio * lengths[0]:
        yield Problem("unequal_lengths", f"{lengths[0]} to {lengths[-1]} characters")
    yield from _copy_problems(item, task)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _closed_option_problems(item: TestItem, task: Task) -> Iterator[Problem]:
    values = [value_of(task, text) for text in item.options]
    unknown = [text for text, value in zip(item.options, values, strict=True) if value is None]
    if unknown:
        yield Problem("unknown_option", " / ".join(unknown)[:120])
        return
    if len(set(values)) < len(values):
        yield Problem("options_not_distinct", " / ".join(item.options))
    right = values[item.right]
    assert right is not None
    expected = {item.extra[answer_field(task)]} if item.extra.get(answer_field(task)) else set(item.emotions) - {""}
    if expected and right not in {value_of(task, text) for text in expected}:
        yield Problem("not_the_drawn_answer", f"{right.en} instead of {' or '.join(sorted(expected))}")
    if task.abbreviation == "ED":
        words = {word for text in item.utterances for word in _words(text)}
        if right.en in words or (item.language == "zh" and any(right.zh in text for text in item.utterances)):
            yield Problem("option_copied", f"'{right.en}' is in the dialogue")


def _copy_problems(item: TestItem, task: Task) -> Iterator[Problem]:
    """Yield options that copy forbidden text, or lack required text."""
    dialogue = _joined(" \n ".join(item.utterances))
    if task.abbreviation == "SF":
        words = set(_words(" ".join(item.utterances)))
        for text in item.options:
            if not any(word in words for word in _words(text)):
                yield Problem("option_not_in_dialogue", f"{text!r:.80}")
    elif task.abbreviation == "IC":
        if _quoted(item.options[item.right], dialogue):
            yield Problem("option_copied", f"{item.options[item.right]!r:.80} is a piece of the dialogue")
    else:
        utterances = {_joined(text) for text in item.utterances}
        source = _joined(item.extra.get(_COPIES_FROM.get(task.abbreviation, ""), ""))
        for text in item.options:
            if _joined(text) in utterances:
                yield Problem("option_copied", f"{text!r:.80} is an utterance of the dialogue")
            elif _quoted(text, source):
                yield Problem("option_copied", f"{text!r:.80} occurs in the {_COPIES_FROM[task.abbreviation]}")


def _joined(text: str) -> str:
    """Return the words of a text between single blanks, so that whole words are found in it."""
    return f" {' '.join(_words(text))} "


def _quoted(text: str, joined: str) -> bool:
    return len(_words(text)) >= _LEAST_COPIED and _joined(text) in joined


def _final_reason(outcome: Outcome) -> str:
    if outcome.reasons:
        return outcome.reasons[0]
    return "accepted_short" if outcome.item and outcome.item.n_begun < ASKED_TURNS else "accepted"


# Items whose dialogues are nearly the same, found in about linear time.

SHINGLE = 3


def near_duplicates(items: Sequence[TestItem], threshold: float = 0.7) -> dict[str, str]:
    """Return the items that repeat an earlier one: item id -> id of the earlier item that is kept.

    Only items of one task and language are compared. An item that is itself dropped drops no other.

    Args:
        items: in order; of two near-duplicates the first one is kept.
        threshold: Jaccard similarity of the dialogues' shingles from which on they count as the same, above 0.

    Raises:
        ValueError: the threshold is not in (0, 1].
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must be above 0 and at most 1, not {threshold}")
    groups: dict[tuple[str, str], list[TestItem]] = defaultdict(list)
    for item in items:
        groups[item.task, item.language].append(item)
    found: dict[str, str] = {}
    for group in groups.values():
        for later, earlier in similar_to_earlier([shingles(item.utterances) for item in group], threshold).items():
            found[group[later].item_id] = group[earlier].item_id
    return found


def similar_to_earlier(sets: Sequence[frozenset[str]], threshold: float) -> dict[int, int]:
    """Return the sets that are similar to an earlier one that is kept: place -> place of the earlier one.

    Args:
        sets: the shingles of each text.
        threshold: the least Jaccard similarity.
    """
    number: dict[str, int] = {}
    numbered = [np.array([number.setdefault(one, len(number)) for one in each], dtype=np.int64) for each in sets]
    count = np.bincount(np.concatenate(numbered), minlength=len(number)) if numbered else np.zeros(0, dtype=np.int64)
    rank = np.empty(len(number), dtype=np.int64)
    rank[np.argsort(count, kind="stable")] = np.arange(len(number))
    n_once = int((count == 1).sum())  # the first ranks: shingles of one text only are never shared
    kept_with: dict[int, list[int]] = defaultdict(list)
    kept: dict[int, frozenset[str]] = {}
    similar: dict[int, int] = {}
    for place, each in enumerate(sets):
        ordered = np.sort(rank[numbered[place]])
        prefix = ordered[: len(ordered) - math.ceil(threshold * len(ordered) - 1e-9) + 1]
        shared = prefix[prefix >= n_once].tolist()
        candidates = {earlier for shingle in shared for earlier in kept_with[shingle]}
        match = next((one for one in sorted(candidates) if _jaccard(kept[one], each) >= threshold), None)
        if match is not None:
            similar[place] = match
            continue
        kept[place] = each
        for shingle in shared:
            kept_with[shingle].append(place)
    return similar


def shingles(utterances: Iterable[str]) -> frozenset[str]:
    """Return the runs of words in a dialogue; case and punctuation do not count."""
    words = _WORD.findall(" ".join(utterances).casefold())
    n = max(len(words) - SHINGLE + 1, 1)
    return frozenset(" ".join(words[start : start + SHINGLE]) for start in range(n))


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)
