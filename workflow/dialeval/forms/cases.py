"""Systems that met the same cases: which of their dialogues are shown side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from dialeval.config.protocol import EACH_OTHER, SELFCHAT, Of
from dialeval.corpora.items import REFERENCE, Item
from dialeval.corpora.speakers import are_two_in_turn
from dialeval.errors import UserError
from dialeval.tables import HUMAN

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
    """Two dialogues as they are shown.

    Attributes:
        meeting: the dialogues.
        n: the N that the protocol cuts them to; None where it names none.
        length: utterances that are shown of each at most; None for all.
    """

    meeting: Meeting
    n: int | None
    length: int | None


def by_case(items: Iterable[Item]) -> dict[str, dict[str, list[Item]]]:
    """Returns items by case and system, in the order in which they come; those without a case stand under ''."""
    cases: dict[str, dict[str, list[Item]]] = {}
    for item in items:
        cases.setdefault(item.case_id, {}).setdefault(item.system, []).append(item)
    return cases


def meetings(cases: Cases, of: Of, skipped: Counter[str]) -> Iterator[Meeting]:
    """Yields the dialogues that are shown side by side.

    Args:
        cases: all dialogues.
        of: whether each system meets each other one, or all of them one.
        skipped: counts what has no other side, by reason.
    """
    systems = competing(cases, of)
    if of.against == EACH_OTHER:
        for case_id, there in cases.items():
            if case_id and serves(there.get(HUMAN, ()), of):
                present = [name for name in systems if name in there]
                skipped[MISSING] += _pairs(len(systems)) - _pairs(len(present))
                for left, right in combinations(present, 2):
                    yield from _side_by_side(case_id, there[left], there[right], skipped)
        return
    for system in systems:
        for case_id, there in cases.items():
            if not case_id or not serves(there.get(HUMAN, ()), of):
                continue
            if system not in there or of.against not in there:
                skipped[MISSING] += 1
                continue
            yield from _side_by_side(case_id, there[system], there[of.against], skipped)


def compared(cases: Cases, of: Of, skipped: Counter[str]) -> Iterator[Compared]:
    """Yields the dialogues that are shown side by side, at every N; two that are the same are not.

    Args:
        cases: all dialogues.
        of: which of them, and what they are cut to: to N, or beside the human dialogue both to the shorter one.
        skipped: counts what is not shown, by reason.
    """
    for n in of.cut or (None,):
        for meeting in meetings(cases, of, skipped):
            left, right = meeting.left.utterances, meeting.right.utterances
            length = n or (min(len(left), len(right)) if of.against == HUMAN else None)
            if left[:length] == right[:length]:
                skipped["both dialogues are the same"] += 1
                continue
            yield Compared(meeting, n, length)


def competing(cases: Cases, of: Of) -> list[str]:
    """Returns the systems that compete: not the one shown beside all, no reference, and no people in self-chat."""
    beside = {of.against, REFERENCE, *([HUMAN] if SELFCHAT in of.source else [])}
    return [name for name in _systems(cases) if name not in beside]


def refuse_strangers(cases: Cases, of: Of, name: str) -> None:
    """Refuses a protocol under which no two systems meet.

    Raises:
        UserError: with the systems, how many cases each has, and some of them.
    """
    systems, source = _systems(cases), ", ".join(of.source)
    if of.against != EACH_OTHER and of.against not in systems:
        raise UserError(
            f"protocols.{name}.of.against: there is no system '{of.against}' in {source}; it has {', '.join(systems)}"
        )
    pairs = list(combinations(competing(cases, of), 2))
    if of.against != EACH_OTHER:
        pairs = [(system, of.against) for system in competing(cases, of)]
    if not pairs:
        raise UserError(f"protocols.{name}: a pair needs two systems, and {source} has only {', '.join(systems)}")
    met: dict[str, dict[str, None]] = {system: {} for system in systems}
    for case_id, there in cases.items():
        for system in there if case_id else ():
            met[system][case_id] = None
    strangers = [(left, right) for left, right in pairs if met[left].keys().isdisjoint(met[right])]
    for left, right in strangers if len(strangers) < len(pairs) else ():
        print(f"systems {left} and {right} share no case_id and are not compared")
    if len(strangers) == len(pairs):
        told = [
            f"systems {left} and {right} share no case_id: {left} has {_counted(met[left])}, {right} has "
            f"{_counted(met[right])}"
            for left, right in strangers[:_NAMED]
        ]
        raise UserError(
            f"protocols.{name}: nothing can be compared in {source}; give dialogues on the same case the same case_id. "
            + "; ".join(told)
        )


def _counted(case_ids: Collection[str]) -> str:
    return f"{len(case_ids)} cases, such as {', '.join(list(case_ids)[:_NAMED])}" if case_ids else "none"


def _side_by_side(
    case_id: str, left: Sequence[Item], right: Sequence[Item], skipped: Counter[str]
) -> Iterator[Meeting]:
    skipped["one system has more dialogues on a case than the other"] += abs(len(left) - len(right))
    for number, (one, other) in enumerate(zip(left, right, strict=False), start=1):
        yield Meeting(case_id if number == 1 else f"{case_id}#{number}", one, other)


def serves(people: Sequence[Item], of: Of) -> bool:
    """Returns whether a case serves a protocol, by the human dialogue on it if there is one: long enough, of one form.

    Chatbots in self-chat are always two in turn: beside people who are not, the form alone would tell them apart.
    """
    if of.human_utterances is not None and any(len(one.utterances) < of.human_utterances for one in people):
        return False
    return of.against != HUMAN or SELFCHAT not in of.source or all(are_two_in_turn(one.speakers) for one in people)


def _systems(cases: Cases) -> list[str]:
    return list(dict.fromkeys(system for there in cases.values() for system in there))


def _pairs(n: int) -> int:
    return n * (n - 1) // 2
