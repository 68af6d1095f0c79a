"""Single items behind a part's numbers: their samples, cards and packing.

Cases stand in groups (a corpus, a task, a perturbation) and are listed and filtered by an index. They lie in lines of
compressed JSON, a few to a line, which a browser opens when one is read; what was sent about them has its own lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.html_pages import pack
from dialeval.report.board import scorer
from dialeval.report.exchanges import Exchange, Exchanges, how_read
from dialeval.report.inputs import ReportInputs, Table
from dialeval.report.judgements import MOST_ANSWERS, orders_of
from dialeval.report.packing import Prompts, fitting_prompts, no_prompts
from dialeval.tables.dialogues import Form
from dialeval.tables.files import empty_table
from dialeval.tables.schema import Table as Schema

PER_LINE = 10
_BEGINNING = 120
Block = dict[str, Any]
"""One thing that is shown of a case: texts, options, a table, cards of verdicts, or words."""


@dataclass(frozen=True)
class CaseDescription:
    """The description of a kind of cases.

    Attributes:
        kind, label: its address and name.
        noun: the word for its cases in the plural, and for a group.
        facets: address and name of the facets that its cases can be filtered by.
        n: most cases of a group.
        orders: names of the values that cases can be sorted by.
    """

    kind: str
    label: str
    noun: tuple[str, str]
    facets: Mapping[str, str]
    n: int
    orders: tuple[str, ...] = ()

    def packed(self, inputs: ReportInputs, groups: Sequence[Group], budget: int) -> CaseShelf | None:
        """Return the cases of all groups, as many as find room; None without any.

        Args:
            inputs: the run.
            groups: all of the cases.
            budget: bytes for the cases; the prompts get the rest.
        """
        filled, n = [group for group in groups if group.cases], self.n
        while filled:
            some = [_some(group, n, inputs.random_seed) for group in filled]
            found = _packed(self, some, budget, n, no_prompts(inputs))
            if found.size <= budget or n == 1:
                return found
            n = max(n // 2, 1)
        return None


@dataclass(frozen=True)
class CaseShelf:
    """What is embedded in the page.

    Attributes:
        kind: its address.
        label: its name in the menu of cases.
        words: how many cases there are of how many.
        index: packed list of the groups, with ids and beginnings of their cases, and what can be filtered by.
        lines: packed lines of cases.
        prompts: packed lines of their requests, one per line; empty if there was no room.
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
class Group:
    """Cases that are chosen together.

    Attributes:
        name: its address.
        words: its description.
        cases: its cases on the page, in order.
        total: how many there are in all.
        title: its full name in the menu; empty if that is its address.
    """

    name: str
    words: str
    cases: tuple[Case, ...]
    total: int
    title: str = ""


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        case_id: its id within its group.
        first: its text in the list.
        about: a few words on it in the list.
        facets: its values, one of each facet; empty if a facet does not apply.
        blocks: function that returns its blocks and adds its prompts to the prompts of its line.
        orders: the values that cases can be sorted by, in the order of the description's.
    """

    case_id: str
    first: str
    about: str
    facets: frozenset[tuple[str, ...]]
    blocks: Callable[[Prompts], list[Block]]
    orders: tuple[float | None, ...] = ()


def bubbles(
    speakers: Sequence[str], utterances: Sequence[Any], *, title: str = "", marked: Sequence[int] = (), **more: str
) -> Block:
    """Return a dialogue as bubbles; an utterance is a text, or its kept, removed and added pieces."""
    marks = {"marked": list(marked), "mark": "scored"} if marked else {}
    return (
        {"type": "bubbles", "title": title, "speakers": list(speakers), "utterances": list(utterances)} | marks | more
    )


def beginning(utterances: Sequence[str], level: str) -> str:
    """Return the entry of an item in the list: the beginning of its response or dialogue."""
    return (utterances[-1 if level == "turn" else 0] if utterances else "")[:_BEGINNING]


def _some(group: Group, n: int, random_seed: int) -> Group:
    chosen = chosen_items(group.name, (case.case_id for case in group.cases), n, random_seed)
    cases = tuple(case for case in group.cases if case.case_id in chosen)
    return replace(group, cases=cases)


def _packed(about: CaseDescription, groups: Sequence[Group], budget: int, n: int, no_prompts: str) -> CaseShelf:
    cases = [case for group in groups for case in group.cases]
    prompts: list[Prompts] = []
    lines = []
    for start in range(0, len(cases), PER_LINE):
        prompts.append(Prompts())
        lines.append(pack([{"blocks": case.blocks(prompts[-1])} for case in cases[start : start + PER_LINE]]))
    plural, group_noun = about.noun
    words = (
        f"{len(cases):,} of {sum(group.total for group in groups):,} {plural}, at most {n} of each {group_noun}, "
        f"randomly drawn"
    )
    index = pack(_index(about, groups, cases, no_prompts))
    left = budget - len(index) - sum(len(line) + 1 for line in lines)
    return CaseShelf(
        about.kind, about.label, words, index, tuple(lines), fitting_prompts([one.packed() for one in prompts], left)
    )


def _index(about: CaseDescription, groups: Sequence[Group], cases: Sequence[Case], no_prompts: str) -> dict[str, Any]:
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
                "title": f"{group.title} ({group.name})" if group.title else group.name,
                "noun": "item",
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
        "orders": orders_of(about.orders, (case.orders for case in cases)),
        "no_prompts": no_prompts,
    }


# Cards of judges' responses about single items: scores, response, how it was parsed, and the request.

Row = Mapping[str, Any]
FORMS: dict[str, Form] = {"choice": "probability", "chat": "scale"}
"""Form of a question about one item, by the kind of its request."""


def exchanges_of(inputs: ReportInputs, asked: Iterable[tuple[str, Sequence[str]]]) -> Exchanges:
    """Return the first requests and responses, up to about `MOST_ANSWERS`; `asked` are judges and ids of requests."""
    wanted: dict[str, dict[str, None]] = {}
    n = 0
    for judge, request_ids in asked if inputs.exchange_source else ():
        if n >= MOST_ANSWERS:
            break
        wanted.setdefault(judge, {}).update(dict.fromkeys(request_ids))
        n += len(request_ids)
    return inputs.exchange_source.exchanges(wanted) if inputs.exchange_source else {}


def exchanges_of_scores(inputs: ReportInputs, scores: Table) -> Exchanges:
    """Return the first requests and responses of a table `judgements`."""
    rows = scores.select(["judge", "request_id"]).to_pylist()
    return exchanges_of(inputs, ((row["judge"], [row["request_id"]]) for row in rows))


def score_cards(rows: Iterable[Row], exchanges: Exchanges, prompts: Prompts, order: str = "") -> list[dict[str, Any]]:
    """Return a card for every response about an item, once for several scores; none if not available.

    Args:
        rows: judgements of the item.
        exchanges: requests and responses.
        prompts: prompts of the page, to which these are added.
        order: position in a pair of cards, such as `before`.
    """
    answers: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if (row["judge"], row["request_id"]) in exchanges:
            answers.setdefault((row["judge"], row["protocol"], row["request_id"]), []).append(row)
    return [
        _card(scores, exchanges[judge, request_id], prompts) | _beside(scores, order)
        for (judge, _, request_id), scores in sorted(answers.items())
    ]


def exchange_fields(exchange: Exchange, read: str, prompts: Prompts) -> dict[str, Any]:
    """Return a card's fields of an exchange, without missing ones."""
    fields = {
        "answer": exchange.answer["text"],
        "thoughts": exchange.answer["reasoning"],
        "read": read,
        "facts": exchange.facts(),
        "probabilities": exchange.probabilities(),
    }
    return {name: value for name, value in fields.items() if value} | {"prompt": prompts.place(exchange.prompt())}


def _beside(scores: list[Row], order: str) -> dict[str, str]:
    """Return the key that joins a card with that of the same question about the other item."""
    first = scores[0]
    criteria = ", ".join(sorted(row["criterion"] or "" for row in scores))
    return (
        {"order": order, "pair": f"{first['judge']}/{first['protocol']}/{criteria}/{first['repeat']}"} if order else {}
    )


def _card(scores: list[Row], exchange: Exchange, prompts: Prompts) -> dict[str, Any]:
    first = scores[0]
    lost = sorted({row["status"] for row in scores if row["status"] != "ok"})
    given = [f"{row['criterion']} {row['value']:.4g}" for row in scores if row["value"] is not None]
    status = lost[0] if lost else "ok"
    repeat = f", request no. {first['repeat'] + 1}" if first["repeat"] else ""
    return {
        "title": f"{scorer(first['judge'], first['protocol'])}{repeat}",
        "badge": "answered" if given else "none",
        "verdict": ", ".join(given) or "no score",
        "status": status,
        **exchange_fields(exchange, how_read(FORMS.get(exchange.request["kind"]), status, exchange), prompts),
    }


# Which items the page shows: a few of every group, the same ones whatever else is in the tables.


def chosen_items(corpus: str, item_ids: Iterable[str], n: int, random_seed: int) -> set[str]:
    """Return `n` items of a corpus, chosen by chance: those whose hash is smallest."""

    def rank(item_id: str) -> bytes:
        return hashlib.sha256(f"{random_seed}/{corpus}/{item_id}".encode()).digest()

    return set(sorted(set(item_ids), key=rank)[:n])


def chosen_rows(table: Table, group: str, ids: pa.ChunkedArray, n: int, random_seed: int) -> Table:
    """Return the rows of at most `n` items of every group, such as a corpus.

    Args:
        table: rows of items.
        group: the column of the groups.
        ids: of the items, row by row.
        n: items per group.
        random_seed: seed of the choice.
    """
    pairs = list(zip(table[group].to_pylist(), ids.to_pylist(), strict=True))
    by_group: dict[str, set[str]] = {}
    for name, item_id in pairs:
        by_group.setdefault(name, set()).add(item_id)
    chosen = {name: chosen_items(name, of_group, n, random_seed) for name, of_group in by_group.items()}
    return _plain(table.filter(pa.array([item_id in chosen[name] for name, item_id in pairs], pa.bool_())))


def rows_about(tables: Iterable[Table], kind: Schema, items: Iterable[tuple[str, str]]) -> Table:
    """Return the rows of tables of one kind, read one after the other, that are about items given by corpus and id."""
    keys = pa.array(sorted({"\x1f".join(item) for item in items}), pa.string())
    found = [empty_table(kind)]
    for table in tables:
        key = pc.binary_join_element_wise(table["corpus"], table["item_id"], "\x1f")
        found.append(_plain(table.filter(pc.is_in(key, value_set=keys))))
    return pa.concat_tables(found)


def _plain(table: Table) -> Table:
    return table.replace_schema_metadata()
