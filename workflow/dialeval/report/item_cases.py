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
from dialeval.report.inputs import RatedSample, ReportInputs, Table
from dialeval.report.judgements import MOST_ANSWERS, orders_of
from dialeval.report.packing import Prompts, fitting_prompts, no_prompts
from dialeval.tables.dialogues import JUDGEMENTS, Form
from dialeval.tables.files import empty_table
from dialeval.tables.metaeval import ITEMS, RATINGS

# Single cases of one kind behind a part's numbers, packed for the page: rated items, test items, perturbed items.

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

    def packed(self, inputs: ReportInputs, groups: Sequence[Group], budget: int, random_seed: int) -> CaseShelf | None:
        """Return the cases of all groups, as many as find room; None without any.

        Args:
            inputs: the run.
            groups: all of the cases.
            budget: bytes that they may take, of which prompts get what is left.
            random_seed: by which cases are chosen where not all find room.
        """
        filled, n = [group for group in groups if group.cases], self.n
        while filled:
            found = _packed(self, [_some(group, n, random_seed) for group in filled], budget, n, no_prompts(inputs))
            if found.size <= budget or n == 1:
                return found
            n = max(n // 2, 1)
        return None


@dataclass(frozen=True)
class CaseShelf:
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
class Group:
    """Cases that are chosen together.

    Attributes:
        name: its address.
        words: its description.
        cases: those that are at hand, in order.
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
        first: what is listed of it.
        about: a few words beside that.
        facets: what it has, as one value of each facet; empty where a facet does not apply.
        blocks: what is shown of it; is given the prompts of its line, which it adds its own to.
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
    """Returns a dialogue as bubbles; an utterance is a text, or its kept, removed and added pieces."""
    marks = {"marked": list(marked), "mark": "scored"} if marked else {}
    return (
        {"type": "bubbles", "title": title, "speakers": list(speakers), "utterances": list(utterances)} | marks | more
    )


def beginning(utterances: Sequence[str], level: str) -> str:
    """Returns the entry of an item in the list: the beginning of its response or dialogue."""
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


def exchanges_of(inputs: ReportInputs, rows: Iterable[Row]) -> Exchanges:
    """Returns requests and responses of the first judgements, up to `MOST_ANSWERS`."""
    wanted: dict[str, dict[str, None]] = {}
    for place, row in enumerate(rows):
        if place >= MOST_ANSWERS:
            break
        wanted.setdefault(row["judge"], {})[row["request_id"]] = None
    return inputs.exchange_source.exchanges(wanted) if inputs.exchange_source else {}


def score_cards(rows: Iterable[Row], exchanges: Exchanges, prompts: Prompts, order: str = "") -> list[dict[str, Any]]:
    """Returns a card for every response about an item, once for several scores; none if not available.

    Args:
        rows: judgements of the item.
        exchanges: what was sent and answered.
        prompts: takes up what was sent.
        order: which of two that stand side by side these are, such as `before`.
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
    """Returns a card's fields of an exchange, without missing ones."""
    fields = {
        "answer": exchange.answer["text"],
        "thoughts": exchange.answer["reasoning"],
        "read": read,
        "facts": exchange.facts(),
        "probabilities": exchange.probabilities(),
    }
    return {name: value for name, value in fields.items() if value} | {"prompt": prompts.place(exchange.prompt())}


def _beside(scores: list[Row], order: str) -> dict[str, str]:
    """Returns the key that joins a card with that of the same question about the other item."""
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


# Which rated items the page shows: a few of every corpus, the same ones whatever else is in the tables.

ITEMS_PER_CORPUS = 30


def chosen_items(corpus: str, item_ids: Iterable[str], n: int, random_seed: int) -> set[str]:
    """Returns `n` items of a corpus, chosen by chance: those whose hash is smallest."""

    def rank(item_id: str) -> bytes:
        return hashlib.sha256(f"{random_seed}/{corpus}/{item_id}".encode()).digest()

    return set(sorted(set(item_ids), key=rank)[:n])


def sample_rated(
    items: Iterable[Table],
    ratings: Iterable[Table],
    scores: Iterable[Table],
    random_seed: int = 0,
    n: int = ITEMS_PER_CORPUS,
) -> RatedSample:
    """Returns some items of every corpus, in all their languages, with their ratings and scores.

    Args:
        items: tables `items`, one per corpus.
        ratings: tables `ratings`.
        scores: tables `judgements` of these items, read one after the other.
        random_seed: seed of the choice.
        n: items per corpus.
    """
    kept: list[Table] = []
    wanted: list[str] = []
    n_items: dict[str, int] = {}
    for table in items:
        for corpus in pc.unique(table["corpus"]).to_pylist():
            of_corpus = table.filter(pc.equal(table["corpus"], corpus))
            ids = pc.unique(of_corpus["item_id"]).to_pylist()
            chosen = sorted(chosen_items(corpus, ids, n, random_seed))
            n_items[corpus] = len(ids)
            wanted += [f"{corpus}\x1f{item_id}" for item_id in chosen]
            is_chosen = pc.is_in(of_corpus["item_id"], value_set=pa.array(chosen, pa.string()))
            kept.append(_plain(of_corpus.filter(is_chosen)))
    keys = pa.array(wanted, pa.string())
    return RatedSample(
        pa.concat_tables([empty_table(ITEMS), *kept]),
        pa.concat_tables([empty_table(RATINGS), *(rows_about(table, keys) for table in ratings)]),
        pa.concat_tables([empty_table(JUDGEMENTS), *(rows_about(table, keys) for table in scores)]),
        n_items,
        random_seed,
    )


def rows_about(table: Table, keys: pa.Array) -> Table:
    """Returns the rows of a table that are about some items, which are named by corpus and id, parted by U+001F."""
    key = pc.binary_join_element_wise(table["corpus"], table["item_id"], "\x1f")
    return _plain(table.filter(pc.is_in(key, value_set=keys)))


def _plain(table: Table) -> Table:
    return table.replace_schema_metadata()
