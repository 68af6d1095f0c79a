"""Single items behind the numbers, packed for the page: texts, and what every rater and judge gave them.

A group (a corpus) is one line of compressed JSON, which a browser opens when it is read. An item may have several
versions: its translations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dialeval.figures.metaeval_names import dimension_order
from dialeval.languages import language_order
from dialeval.pages.self_contained import pack
from dialeval.report.inputs import RatedSample, ReportInputs
from dialeval.report.metaeval_boards import judge_tags
from dialeval.report.rated_sample import ITEMS_PER_CORPUS, chosen_items

_Who = tuple[int, str, str]
"""Place in the order of raters, name, tag."""
_RATER_ORDER = {"human": 0, "construction": 1, "model": 2}
_JUDGE = 3
_SNIPPET = 120
_PER_LINE = 10
MAX_BYTES = 8_000_000
"""What all items may take; beyond it, fewer of each corpus are shown."""


@dataclass(frozen=True)
class Cases:
    """What is embedded in the page.

    Attributes:
        index: packed groups, with the ids and beginnings of their items.
        lines: packed pieces, `_PER_LINE` in each.
        words: how many items there are of how many.
    """

    index: str
    lines: tuple[str, ...]
    words: str
    kind = "rated"
    label = "Rated items"

    @property
    def size(self) -> int:
        """Bytes that it takes in the page."""
        return len(self.index) + sum(len(line) + 1 for line in self.lines)


@dataclass
class _Item:
    """One item: its versions by language, and by language and rater the cells of its table."""

    level: str
    speakers: dict[str, list[str]] = field(default_factory=dict)
    utterances: dict[str, list[str]] = field(default_factory=dict)
    cells: dict[str, dict[_Who, dict[str, list[Any]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )


def rated_cases(inputs: ReportInputs) -> Cases | None:
    """Returns the rated items of a run, as many per corpus as find room, or None without any."""
    if inputs.rated is None or not len(inputs.rated.items):
        return None
    corpora = _gathered(inputs, inputs.rated)
    n = ITEMS_PER_CORPUS
    while True:
        cases = _packed(inputs.rated, corpora, n)
        if cases.size <= min(MAX_BYTES, inputs.max_bytes // 3) or n == 1:
            return cases
        n = max(n // 2, 1)


def _gathered(inputs: ReportInputs, sample: RatedSample) -> dict[str, dict[str, _Item]]:
    """Returns the items by corpus and id."""
    corpora: dict[str, dict[str, _Item]] = defaultdict(dict)
    for row in sample.items.to_pylist():
        item = corpora[row["corpus"]].setdefault(row["item_id"], _Item(row["level"]))
        item.speakers[row["language"]] = row["speakers"]
        item.utterances[row["language"]] = row["utterances"]
    for row in sample.ratings.to_pylist():
        rated = corpora.get(row["corpus"], {}).get(row["item_id"])
        if rated is None or row["round"] is not None:
            continue
        kind = row["rater_kind"]
        words = f"mean of {row['n_raters']}" if row["n_raters"] and row["n_raters"] > 1 else ""
        for language in rated.utterances:
            who = (_RATER_ORDER.get(kind, _JUDGE), row["rater"], _tag(kind, row["rater"]))
            rated.cells[language][who][row["dimension"]] = _cell(row, row["value"], words)
    for key, repeats in _by_cell(sample).items():
        corpus, item_id, language, judge, method, dimension = key
        scored = corpora.get(corpus, {}).get(item_id)
        if scored is None or language not in scored.utterances:
            continue
        who = (_JUDGE, f"{judge} ({method})", ", ".join(judge_tags(inputs, judge, method)))
        read = [row["value"] for row in repeats if row["value"] is not None]
        lost = sorted({row["status"] for row in repeats if row["value"] is None})
        words = ", ".join(lost) if lost else f"mean of {len(read)}" if len(read) > 1 else ""
        mean = sum(read) / len(read) if read else None
        scored.cells[language][who][dimension] = _cell(repeats[0], mean, words)
    return corpora


def _by_cell(sample: RatedSample) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Returns the repeats of every score."""
    cells: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in sample.scores.to_pylist():
        key = ("corpus", "item_id", "language", "judge", "protocol", "criterion")
        cells[tuple(row[name] for name in key)].append(row)
    return cells


def _tag(kind: str, rater: str) -> str:
    if kind == "human":
        return "" if rater == "people" else "people"
    return "known by construction" if kind == "construction" else "a model's ratings"


def _cell(row: Mapping[str, Any], value: float | None, words: str) -> list[Any]:
    """Returns what a cell shows: the value, its place on the scale in thousandths, the scale, and what to know."""
    low, high = row["scale_min"], row["scale_max"]
    place = -1 if value is None or high <= low else round(1000 * (value - low) / (high - low))
    return [None if value is None else round(value, 4), place, f"{low:g}–{high:g}", words]


def _packed(sample: RatedSample, corpora: Mapping[str, Mapping[str, _Item]], n: int) -> Cases:
    groups: list[dict[str, Any]] = []
    pieces: list[dict[str, Any]] = []
    for corpus, items in sorted(corpora.items()):
        chosen = chosen_items(corpus, items, n, sample.random_seed)
        ids = [item_id for item_id in items if item_id in chosen]
        level = items[ids[0]].level
        groups.append(
            {
                "name": corpus,
                "words": f"{level}; {len(ids)} of {sample.n_items[corpus]:,}",
                "ids": ids,
                "first": [_beginning(items[item_id]) for item_id in ids],
            }
        )
        pieces += [_piece(items[item_id]) for item_id in ids]
    total = sum(sample.n_items[corpus] for corpus in corpora)
    words = f"{len(pieces):,} of {total:,} rated items, at most {n} of each corpus, drawn by chance"
    lines = [pack(pieces[start : start + _PER_LINE]) for start in range(0, len(pieces), _PER_LINE)]
    return Cases(pack({"per_line": _PER_LINE, "groups": groups, "facets": [], "rows": []}), tuple(lines), words)


def _beginning(item: _Item) -> str:
    utterances = item.utterances[language_order(item.utterances)[0]]
    return utterances[-1 if item.level == "turn" else 0][:_SNIPPET]


def _piece(item: _Item) -> dict[str, Any]:
    """Returns one item: in each language its texts, and a table with a row per rater and a column per dimension."""
    blocks: list[dict[str, Any]] = []
    for language in language_order(item.utterances):
        cells = item.cells[language]
        dimensions = dimension_order(name for of_rater in cells.values() for name in of_rater)
        blocks += [
            {
                "type": "bubbles",
                "version": language,
                "speakers": item.speakers[language],
                "utterances": item.utterances[language],
                "marked": [len(item.utterances[language]) - 1] if item.level == "turn" else [],
            },
            {
                "type": "table",
                "version": language,
                "columns": dimensions,
                "rows": [
                    [who[1], who[2], [cells[who].get(dimension) for dimension in dimensions]] for who in sorted(cells)
                ],
            },
        ]
    return {"blocks": blocks}
