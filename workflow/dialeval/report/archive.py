"""The viewer's dialogues and judgements, packed so that a browser unpacks only the cases that it shows.

Every case (a seed, or what several transcripts have in common) is a piece of its own: two lines of compressed JSON, its
dialogues and its judgements. In a piece, strings stand once in a pool and columns hold places in it. An index over all
pieces holds what is needed to list and filter the cases. All of it is base64 of a zlib stream, so no character of a
dialogue can mean anything to an HTML parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dialeval.criteria import NO_FAILURE
from dialeval.html_pages import pack
from dialeval.report.dialogues import Dialogues, people_of, sources_of, with_labels
from dialeval.report.exchanges import Exchanges
from dialeval.report.inputs import TITLES, ReportInputs
from dialeval.report.judgements import (
    OUTCOMES,
    Case,
    Counts,
    FirstExchanges,
    Judged,
    judgements_piece,
    orders_of,
    score_and_disagreement,
)
from dialeval.report.packing import MOST_BYTES, Columns, Names, Prompts, fitting_prompts, no_prompts

_ORDERS = ("length", "score", "disagreement")
_ROWS_AT_ONCE = 20_000  # judgements whose answers are looked up together
__all__ = ["OUTCOMES", "Archive", "build_archive"]


@dataclass(frozen=True)
class Archive:
    """The packed dialogues in the page.

    Attributes:
        index: the packed index.
        dialogues, judgements: packed lines, one of each per case that found room.
        n_seeds: how many cases there are.
        against: packed lines, one for each of the index's `cases`: of a system that was compared, by opponent what
            the index's `outcomes` hold of all; empty for any other.
        prompts: packed lines, one per case; empty where the prompts found no room.
    """

    index: str
    dialogues: tuple[str, ...]
    judgements: tuple[str, ...]
    n_seeds: int
    against: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes that it takes in the page."""
        lines = (*self.dialogues, *self.judgements, *self.against, *self.prompts)
        return len(self.index) + sum(len(line) + 1 for line in lines)


def build_archive(inputs: ReportInputs, budget: int) -> Archive:
    """Pack the dialogues and judgements of as many cases of each source, from the first on, as fit.

    Args:
        inputs: the run.
        budget: bytes that the archive may take; sources share them alike, and what one leaves the next may take.
    """
    inputs = with_labels(inputs)
    names = Names(inputs)
    counts = Counts(inputs.protocols)
    sources = sources_of(inputs)
    judgements = [Judged(inputs, dialogues) for dialogues in sources]
    lookup = FirstExchanges(inputs)
    room_for_prompts = MOST_BYTES
    kept = _Kept([], [], [], [], [set() for _ in sources])
    left = budget
    for number, (dialogues, judged) in enumerate(zip(sources, judgements, strict=True)):
        share = left // (len(sources) - number)
        for place, case, rows, exchanges in _cases(dialogues, judged, lookup):
            piece, prompts = dialogues.piece(names, place), Prompts()
            lines = (pack(piece), pack(judgements_piece(names, rows, lookup, exchanges, prompts)))
            size = sum(len(line) + 1 for line in lines)
            if size > share:
                break
            share, left = share - size, left - size
            counts.add(len(kept.cases), rows)
            kept.sources.append(number)
            length = sum(map(len, piece["strings"]))
            kept.cases.append(case | {"orders": (length, *score_and_disagreement(rows))})
            kept.lines.append(lines)
            kept.prompts.append(prompts.packed() if room_for_prompts > 0 else "")
            room_for_prompts -= len(kept.prompts[-1])
            kept.systems[number].update(piece["models"])
    n_cases = sum(len(dialogues.cases) for dialogues in sources)
    while True:
        archive = Archive(
            pack(_index(inputs, names, sources, kept, counts)),
            tuple(dialogues for dialogues, _ in kept.lines),
            tuple(judgements for _, judgements in kept.lines),
            n_cases,
            _against(names, kept, counts),
        )
        n = len(kept.cases)
        if archive.size <= budget or n == 0:
            return replace(archive, prompts=fitting_prompts(kept.prompts, budget - archive.size))
        n -= 1 + n // 50
        kept = _Kept(kept.sources[:n], kept.cases[:n], kept.lines[:n], kept.prompts[:n], kept.systems)


@dataclass
class _Kept:
    """The cases in the page: source, entry in the list, lines and prompts of each."""

    sources: list[int]
    cases: list[dict[str, Any]]
    lines: list[tuple[str, str]]
    prompts: list[str]
    systems: list[set[int]]


def _cases(
    dialogues: Dialogues, judged: Judged, lookup: FirstExchanges
) -> Iterator[tuple[int, dict[str, Any], Columns, Exchanges]]:
    """Yield place and content of each case, its judgements, requests and responses, a few read at once."""
    cases = list(enumerate(dialogues.cases))
    while cases:
        some: list[tuple[int, dict[str, Any], Columns]] = []
        n_rows = 0
        while len(some) < len(cases) and n_rows < _ROWS_AT_ONCE:
            place, case = cases[len(some)]
            some.append((place, case, judged.rows(case["id"])))
            n_rows += len(some[-1][2]["judge"])
        exchanges = lookup.about(rows for _, _, rows in some)
        yield from ((place, case, rows, exchanges) for place, case, rows in some)
        cases = cases[len(some) :]


def _index(inputs: ReportInputs, names: Names, sources: list[Dialogues], kept: _Kept, counts: Counts) -> dict[str, Any]:
    """Return the index of all cases, readable without unpacking them.

    `cases` are [judge, protocol, N, system]; `outcomes` goes with them: for each of won, tied, lost, none and answered
    a list of places of cases and, after them, as many counts.
    """
    cases = _in_order(names, counts)
    n_kept = len(kept.cases)
    outcomes = [[_places(counts.by_case[case][outcome], n_kept) for outcome in OUTCOMES] for case in cases]
    alone_first = sorted(inputs.protocols, key=lambda one: (one.form == "pair", bool(one.lengths)))
    return {
        "ids": [case["id"] for case in kept.cases],
        "first": [case["first"] for case in kept.cases],
        "languages": [case["language"] for case in kept.cases],
        "orders": orders_of(_ORDERS, (case["orders"] for case in kept.cases)),
        "n_human": [case["n_utterances"] for case in kept.cases],
        "source": kept.sources,
        "sources": [{"name": one.source, "noun": one.noun} for one in sources],
        "systems": [sorted(of_source) for of_source in kept.systems],
        "models": list(names.models),
        "judges": list(names.judges),
        "people": people_of(inputs),
        "embedded": sorted(names.embedded),
        "titles": {one.name: one.title for one in alone_first} | _mark_titles(inputs, counts),
        "marking": sorted(counts.marking),
        "good_case": NO_FAILURE,
        "at_lengths": sorted(counts.at_lengths),
        "shipped": sorted(TITLES),
        "no_prompts": no_prompts(inputs),
        "cases": [[names.judge(judge), protocol, n, names.model(model)] for judge, protocol, n, model in cases],
        "outcomes": outcomes,
        "compares": bool(counts.against),
    }


def _in_order(names: Names, counts: Counts) -> list[Case]:
    return sorted(counts.by_case, key=lambda case: (names.judge(case[0]), case[1], case[2], names.model(case[3])))


def _places(counted: Mapping[int, int], n_kept: int) -> list[int]:
    """Return places of cases that found room and, after them, as many counts."""
    places = sorted(place for place in counted if place < n_kept)
    return [*places, *(counted[place] for place in places)]


def _against(names: Names, kept: _Kept, counts: Counts) -> tuple[str, ...]:
    """Return by opponent how often a system won, tied and so on, where."""
    lines = []
    for case in _in_order(names, counts):
        found = {}
        for opponent, results in counts.against.get(case, {}).items():
            by_outcome: list[Counter[int]] = [Counter() for _ in OUTCOMES]
            for place, result in results:
                by_outcome[result][place] += 1
            found[names.model(opponent)] = [_places(counted, len(kept.cases)) for counted in by_outcome]
        lines.append(pack(found) if found else "")
    return tuple(lines)


def _mark_titles(inputs: ReportInputs, counts: Counts) -> dict[str, str]:
    """Return the titles of annotated labels, by protocol and label, in the viewer's filter."""
    titles = {one.name: one.title for one in inputs.protocols if one.name in counts.marking}
    return {
        name: f"{titles[protocol]}: {kind.replace('_', ' ')}"
        for _, name, _, _ in counts.by_case
        for protocol, _, kind in [name.partition(": ")]
        if protocol in titles
    }
