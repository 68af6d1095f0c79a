"""Single cases of one kind behind a part's numbers, packed for the page: rated items, test items, damaged items.

Cases stand in groups (a corpus, a task, a kind of damage) and are listed and filtered by an index. They lie in lines of
compressed JSON, a few to a line, which a browser opens when one is read; what was sent about them has its own lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialeval.pages.self_contained import pack
from dialeval.report.prompts import Prompts, fitting_prompts
from dialeval.report.rated_sample import chosen_items

PER_LINE = 10
_BEGINNING = 120
Block = dict[str, Any]
"""One thing that is shown of a case: texts, options, a table, cards of verdicts, or words."""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        case_id: its id within its group.
        first: what is listed of it.
        about: a few words beside that.
        facets: what it has, as one value of each facet; empty where a facet does not apply.
        blocks: what is shown of it; is given the prompts of its line, which it adds its own to.
    """

    case_id: str
    first: str
    about: str
    facets: frozenset[tuple[str, ...]]
    blocks: Callable[[Prompts], list[Block]]


@dataclass(frozen=True)
class Group:
    """Cases that are chosen together.

    Attributes:
        name: its address.
        noun: what one of its cases is called.
        words: what is said of it.
        cases: those that are at hand, in order.
        total: how many there are in all.
    """

    name: str
    noun: str
    words: str
    cases: tuple[Case, ...]
    total: int


@dataclass(frozen=True)
class CaseKind:
    """What is embedded in the page.

    Attributes:
        kind: its address.
        label: its name where a kind is chosen.
        words: how many cases there are of how many.
        index: packed list of the groups, with ids and beginnings of their cases, and what can be filtered by.
        lines: packed lines of cases.
        prompts: packed lines of what was sent about them, one per line; empty where it found no room.
    """

    kind: str
    label: str
    words: str
    index: str
    lines: tuple[str, ...]
    prompts: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes that it takes in the page."""
        return len(self.index) + sum(len(line) + 1 for line in (*self.lines, *self.prompts))


@dataclass(frozen=True)
class Described:
    """What is said of a kind as a whole.

    Attributes:
        kind, label: its address and name.
        noun: what its cases are called in a count, in the plural, and what a group is called.
        facets: address and name of what its cases can be filtered by.
        no_prompts: what stands where a prompt found no room.
        random_seed: by which cases are chosen where not all find room.
    """

    kind: str
    label: str
    noun: tuple[str, str]
    facets: Mapping[str, str]
    no_prompts: str
    random_seed: int = 0


def packed_kind(about: Described, groups: Sequence[Group], budget: int, n: int) -> CaseKind | None:
    """Returns the cases of a kind, at most `n` of each group and as many as find room; None without any.

    Args:
        about: what is said of the kind.
        groups: all of its cases.
        budget: bytes that they may take, of which prompts get what is left.
        n: cases per group.
    """
    filled = [group for group in groups if group.cases]
    while filled:
        kind = _packed(about, [_some(group, n, about.random_seed) for group in filled], budget, n)
        if kind.size <= budget or n == 1:
            return kind
        n = max(n // 2, 1)
    return None


def bubbles(
    speakers: Sequence[str], utterances: Sequence[Any], *, title: str = "", marked: Sequence[int] = (), **more: str
) -> Block:
    """Returns a dialogue; an utterance is a text, or what was kept, taken away and put in."""
    marks = {"marked": list(marked), "mark": "scored"} if marked else {}
    return (
        {"type": "bubbles", "title": title, "speakers": list(speakers), "utterances": list(utterances)} | marks | more
    )


def beginning(utterances: Sequence[str], level: str) -> str:
    """Returns what is listed of an item: the beginning of its response, or of its dialogue."""
    return (utterances[-1 if level == "turn" else 0] if utterances else "")[:_BEGINNING]


def _some(group: Group, n: int, random_seed: int) -> Group:
    chosen = chosen_items(group.name, (case.case_id for case in group.cases), n, random_seed)
    cases = tuple(case for case in group.cases if case.case_id in chosen)
    return Group(group.name, group.noun, group.words, cases, group.total)


def _packed(about: Described, groups: Sequence[Group], budget: int, n: int) -> CaseKind:
    cases = [case for group in groups for case in group.cases]
    prompts: list[Prompts] = []
    lines = []
    for start in range(0, len(cases), PER_LINE):
        prompts.append(Prompts())
        lines.append(pack([{"blocks": case.blocks(prompts[-1])} for case in cases[start : start + PER_LINE]]))
    plural, group_noun = about.noun
    words = (
        f"{len(cases):,} of {sum(group.total for group in groups):,} {plural}, at most {n} of each {group_noun}, drawn "
        "by chance"
    )
    index = pack(_index(about, groups, cases))
    left = budget - len(index) - sum(len(line) + 1 for line in lines)
    return CaseKind(
        about.kind, about.label, words, index, tuple(lines), fitting_prompts([one.packed() for one in prompts], left)
    )


def _index(about: Described, groups: Sequence[Group], cases: Sequence[Case]) -> dict[str, Any]:
    places: dict[tuple[str, ...], list[int]] = {}
    for place, case in enumerate(cases):
        for combination in case.facets:
            places.setdefault(combination, []).append(place)
    values = [sorted({combination[number] for combination in places} - {""}) for number in range(len(about.facets))]
    return {
        "per_line": PER_LINE,
        "groups": [
            {
                "name": group.name,
                "noun": group.noun,
                "words": f"{group.words}; {len(group.cases):,} of {group.total:,}".removeprefix("; "),
                "ids": [case.case_id for case in group.cases],
                "first": [case.first for case in group.cases],
                "about": [case.about for case in group.cases],
            }
            for group in groups
        ],
        "facets": [
            {"name": name, "label": label, "values": of_facet}
            for (name, label), of_facet in zip(about.facets.items(), values, strict=True)
        ],
        "rows": [
            [
                *(of_facet.index(value) if value else -1 for value, of_facet in zip(combination, values, strict=True)),
                places[combination],
            ]
            for combination in sorted(places)
        ],
        "no_prompts": about.no_prompts,
    }
