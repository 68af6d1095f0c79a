"""The form `pair`: which of two dialogues on one case is better, in both orders.

Both are cut to N utterances, or, beside the human dialogue, to the length of the shorter; otherwise they are complete.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

from dialeval.config.protocol_settings import EACH_OTHER, SELFCHAT, JudgedData
from dialeval.corpora.dialogues import are_two_in_turn
from dialeval.corpora.items import REFERENCE, Item
from dialeval.criteria import Criterion
from dialeval.engines.requests import Dialogue, Message, Request
from dialeval.errors import UserError
from dialeval.prompts.rendering import ShownDialogue, Templates, letters_of
from dialeval.protocols import verdicts
from dialeval.protocols.planned_requests import Planned, in_shard, judgement
from dialeval.protocols.questions import Question, shown
from dialeval.protocols.verdicts import EDGES, read_verdict, status_of, text_to_read, was_cut
from dialeval.tables.files import HUMAN

OPTIONS = {"A": "left", "B": "right", "Tie": "tie"}
"""Options of an answer, and the winner of each, by default."""


class _Side(NamedTuple):
    system: str
    utterances: Dialogue
    shown: ShownDialogue
    judged: str
    language: str


def plan(question: Question, cases: Cases, templates: Templates, skipped: Counter[str]) -> Iterator[Planned]:
    """Yield the requests of every two dialogues that are shown side by side: criterion by criterion, in both orders.

    Args:
        cases: all systems' dialogues.
        skipped: counts pairs without a request, by reason.
    """
    case_id = ""
    sides: dict[tuple[str, str, int | None], _Side] = {}
    for meeting, n, length in compared(cases, question.protocol.data, skipped):
        if meeting.left.case_id != case_id:  # the dialogues of one case are kept
            case_id, sides = meeting.left.case_id, {}
        pair = []
        for item in (meeting.left, meeting.right):
            key = (item.corpus, item.item_id, length)
            if key not in sides:
                sides[key] = _side(item, length)
            pair.append(sides[key])
        yield from _in_both_orders(question, meeting, n, pair, templates)


def parse(question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the row of the table `judgements`: `choice` is the option, `outcome` the winner."""
    options = question.protocol.options or OPTIONS
    text = text_to_read(answer)
    if question.structured:
        verdict = verdicts.object_verdict(text, options)
    else:
        verdict = read_verdict(text, option_patterns(tuple(options)), cut=was_cut(answer))
    yield judgement(
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=verdict.choice is not None),
        protocol=question.name,
        criterion=planned.get("part"),
        choice=verdict.choice,
        outcome=options.get(verdict.choice or ""),
        reason=verdict.reason,
    )


def n_requests(question: Question) -> int:
    """Return how many requests two dialogues take under each criterion: orders times repeats."""
    return (2 if question.protocol.both_orders else 1) * question.protocol.repeats


def around(question: Question, templates: Templates) -> Iterator[Request]:
    """Yield a request about two empty dialogues for each criterion, to count the tokens around the dialogues."""
    empty = _Side("", (), ShownDialogue(()), "", "en")
    for criterion in question.each_criterion():
        yield _request(question, criterion, empty, empty, templates)


def _side(item: Item, length: int | None) -> _Side:
    utterances = item.utterances[:length]
    return _Side(
        item.system, utterances, ShownDialogue(utterances, item.speakers[:length]), _judged(item), item.language
    )


def _judged(item: Item) -> str:
    """Return the letter of the speaker who is judged; empty where all are."""
    return letters_of(item.speakers)[item.speakers.index(item.judged)] if item.judged in item.speakers else ""


def _judged_in(first: _Side, second: _Side) -> str | None:
    if not first.judged or not second.judged or first.judged == second.judged:
        return first.judged or second.judged or None
    return f"{first.judged} in the first dialogue and {second.judged} in the second"


def _in_both_orders(
    question: Question, meeting: Meeting, n: int | None, pair: list[_Side], templates: Templates
) -> Iterator[Planned]:
    orders = [pair, pair[::-1]]
    if not question.protocol.both_orders:  # a fixed order would give one system the same position throughout
        orders.sort(key=lambda order: order[0].system)
        names = "/".join(side.system for side in orders[0])
        orders = [orders[in_shard(f"{meeting.about}/{names}", 1, 2)]]
    for criterion in question.each_criterion():
        for first, second in orders:
            request = _request(question, criterion, first, second, templates)
            label = f"{meeting.about}/{first.system}/{second.system}"
            for repeat, sampling in question.samplings():
                name = question.request_id(criterion, n, label, repeat)
                yield Planned(
                    replace(request, request_id=name, sampling=sampling, repeat=repeat),
                    case_id=meeting.left.case_id,
                    left=first.system,
                    right=second.system,
                    n_utterances=len(first.utterances) if question.shipped else n,
                    part=criterion.name if criterion else None,
                )


def _request(
    question: Question, criterion: Criterion | None, first: _Side, second: _Side, templates: Templates
) -> Request:
    """Return the request about two dialogues, without its name."""
    options = question.protocol.options or OPTIONS
    prompt = templates.render(
        question.template,
        first=first.shown,
        second=second.shown,
        judged=_judged_in(first, second),
        criterion=shown(criterion, "dialogue", first.language),
        criteria=[shown(one, "dialogue", first.language) for one in question.criteria],
        options=options,
    )
    messages, subject = (Message("user", prompt),), (first.utterances, second.utterances)
    request = Request("", question.known_as, "chat", messages, subject=subject)
    return verdicts.structured(request, templates, _fields(options)) if question.structured else request


def _fields(options: Mapping[str, str]) -> list[verdicts.Field]:
    reason = verdicts.text("reason", "one or two sentences")
    return [reason, verdicts.option("choice", list(options))]


# Pairs of dialogues on one case

Cases = Mapping[str, Mapping[str, Sequence[Item]]]
"""case_id -> system -> its dialogues on that case, each in the order of the source."""
MISSING = "a dialogue is missing"
_NAMED = 3


class Meeting(NamedTuple):
    """Two dialogues of two systems on one case.

    Attributes:
        about: the case; with the number of the dialogue from the second on that both systems have on it.
    """

    about: str
    left: Item
    right: Item


class Compared(NamedTuple):
    """Two dialogues as a prompt shows them.

    Attributes:
        meeting: the dialogues.
        n: the N that the protocol cuts them to; None where it names none.
        length: utterances that are shown of each at most; None for all.
    """

    meeting: Meeting
    n: int | None
    length: int | None


def by_case(items: Iterable[Item]) -> dict[str, dict[str, list[Item]]]:
    """Return items by case and system, in order; those without a case under ''."""
    cases: dict[str, dict[str, list[Item]]] = {}
    for item in items:
        cases.setdefault(item.case_id, {}).setdefault(item.system, []).append(item)
    return cases


def meetings(cases: Cases, data: JudgedData, skipped: Counter[str]) -> Iterator[Meeting]:
    """Yield the dialogues that are shown side by side.

    Args:
        data: whether each system meets each other one, or all of them one.
        skipped: counts what has no other side, by reason.
    """
    systems = competing(cases, data)
    if data.opponent == EACH_OTHER:
        for case_id, there in cases.items():
            if case_id and serves(there.get(HUMAN, ()), data):
                present = [name for name in systems if name in there]
                skipped[MISSING] += math.comb(len(systems), 2) - math.comb(len(present), 2)
                for left, right in combinations(present, 2):
                    yield from _side_by_side(case_id, there[left], there[right], skipped)
        return
    for system in systems:
        for case_id, there in cases.items():
            if not case_id or not serves(there.get(HUMAN, ()), data):
                continue
            if system not in there or data.opponent not in there:
                skipped[MISSING] += 1
                continue
            yield from _side_by_side(case_id, there[system], there[data.opponent], skipped)


def compared(cases: Cases, data: JudgedData, skipped: Counter[str]) -> Iterator[Compared]:
    """Yield the dialogues that are shown side by side, at every N; two that are the same are not.

    Args:
        data: which of them, and what they are cut to: to N, or beside the human dialogue both to the shorter one.
        skipped: counts what is not shown, by reason.
    """
    for n in data.n_utterances or (None,):
        for meeting in meetings(cases, data, skipped):
            left, right = meeting.left.utterances, meeting.right.utterances
            length = n or (min(len(left), len(right)) if data.opponent == HUMAN else None)
            if left[:length] == right[:length]:
                skipped["both dialogues are the same"] += 1
                continue
            yield Compared(meeting, n, length)


def competing(cases: Cases, data: JudgedData) -> list[str]:
    """Return the systems that compete: not the one shown beside all, no reference, and no people in self-chat."""
    beside = {data.opponent, REFERENCE, *([HUMAN] if SELFCHAT in data.source else [])}
    return [name for name in _systems(cases) if name not in beside]


def refuse_strangers(cases: Cases, data: JudgedData, name: str) -> list[str]:
    """Return a notice of each two systems that share no case; refuses a protocol under which no two systems meet.

    Raises:
        UserError: with the systems, how many cases each has, and some of them.
    """
    systems, source = _systems(cases), ", ".join(data.source)
    if data.opponent != EACH_OTHER and data.opponent not in systems:
        raise UserError(
            f"protocols.{name}.data.opponent: '{data.opponent}' is no system of {source}; it has {', '.join(systems)}"
        )
    pairs = list(combinations(competing(cases, data), 2))
    if data.opponent != EACH_OTHER:
        pairs = [(system, data.opponent) for system in competing(cases, data)]
    if not pairs:
        raise UserError(
            f"protocols.{name}: a pair needs two systems, and {source} has only {', '.join(systems)}; add dialogues of "
            f"another system, or remove the protocol"
        )
    met: dict[str, dict[str, None]] = {system: {} for system in systems}
    for case_id, there in cases.items():
        for system in there if case_id else ():
            met[system][case_id] = None
    strangers = [(left, right) for left, right in pairs if met[left].keys().isdisjoint(met[right])]
    if len(strangers) == len(pairs):
        messages = [
            f"systems {left} and {right} share no case_id: {left} has {_counted(met[left])}, {right} has "
            f"{_counted(met[right])}"
            for left, right in strangers[:_NAMED]
        ]
        raise UserError(
            f"protocols.{name}: no dialogues can be compared in {source}: {'; '.join(messages)}. Give dialogues on the "
            f"same case the same case_id"
        )
    return [f"systems {left} and {right} share no case_id and are not compared" for left, right in strangers]


def serves(people: Sequence[Item], data: JudgedData) -> bool:
    """Return whether a case can be used: its human dialogue, if any, is long enough and in the right form.

    Chatbots in self-chat are always two in turn: beside people who are not, the form alone would tell them apart.
    """
    if data.human_utterances is not None and any(len(one.utterances) < data.human_utterances for one in people):
        return False
    return data.opponent != HUMAN or SELFCHAT not in data.source or all(are_two_in_turn(one.speakers) for one in people)


def _counted(case_ids: Collection[str]) -> str:
    return f"{len(case_ids)} cases, such as {', '.join(list(case_ids)[:_NAMED])}" if case_ids else "none"


def _side_by_side(
    case_id: str, left: Sequence[Item], right: Sequence[Item], skipped: Counter[str]
) -> Iterator[Meeting]:
    skipped["one system has more dialogues on a case than the other"] += abs(len(left) - len(right))
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        yield Meeting(case_id if number == 1 else f"{case_id}#{number}", one, other)


def _systems(cases: Cases) -> list[str]:
    return list(dict.fromkeys(system for there in cases.values() for system in there))


# Options of an answer

_LEADS = "answer|option|choice|conversation|dialogue|response|system|assistant"
"""Words that judges put before a label of one word."""


@cache
def option_patterns(labels: tuple[str, ...]) -> dict[str, str]:
    """Return the pattern of each label (see `read_verdict`) -> the label.

    A label is read in any case, with `only` or a word such as `answer` before it. Where labels begin with one word and
    differ behind it, as `Conversation 1` and `Conversation 2`, that word may be left out; and behind the others it may
    stand, as in `both of the conversations`. What would then be another label is read in no way but as it is written.
    """
    plain = {label: _plain(label) for label in labels}
    noun = _shared_noun(plain.values())
    return {
        pattern if not any(re.fullmatch(pattern, other) for other in plain.values() if other != text) else exact: label
        for label, text in plain.items()
        for pattern, exact in [(_tolerant(text, noun), re.escape(text))]
    }


def _plain(label: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", label)).strip(EDGES).lower()


def _tolerant(text: str, noun: str) -> str:
    own = re.escape(text)
    if not noun:
        return rf"(?:only )?(?:(?:{_LEADS}) )?#?{own}"
    word = re.escape(noun)
    if text.startswith(f"{noun} "):
        return rf"(?:only )?(?:{word} )?#?{re.escape(text.removeprefix(f'{noun} '))}"
    return rf"{own}(?: (?:of )?(?:the |them|these )?(?:two )?(?:{word}s?)?)?"


def _shared_noun(labels: Iterable[str]) -> str:
    """Return the word with which two or more options begin; empty if there is none."""
    words = Counter(first for first, _, rest in (label.partition(" ") for label in labels) if rest)
    word, count = words.most_common(1)[0] if words else ("", 0)
    return word if count > 1 else ""
