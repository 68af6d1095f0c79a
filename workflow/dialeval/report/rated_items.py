"""Rated items behind the numbers of meta-evaluation: texts, what raters and judges gave them, and what judges said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialeval.figures.metaeval_names import dimension_order
from dialeval.languages import language_order
from dialeval.report.asked import Exchanges
from dialeval.report.inputs import ReportInputs
from dialeval.report.kinds import Block, Case, CaseKind, Described, Group, beginning, bubbles, packed_kind
from dialeval.report.links import RATED, scorer
from dialeval.report.metaeval_boards import judge_tags
from dialeval.report.prompts import Prompts, no_prompts
from dialeval.report.rated_sample import ITEMS_PER_CORPUS
from dialeval.report.samples import RatedSample
from dialeval.report.score_cards import exchanges_of, score_cards

_Who = tuple[int, str, str]
"""Place in the order of raters, name, tag."""
_RATER_ORDER = {"human": 0, "construction": 1, "model": 2}
_JUDGE = 3


@dataclass
class _Item:
    """One item: its versions by language, and by language and rater the cells of its table; all scores of it."""

    level: str
    speakers: dict[str, list[str]] = field(default_factory=dict)
    utterances: dict[str, list[str]] = field(default_factory=dict)
    cells: dict[str, dict[_Who, dict[str, list[Any]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )
    scores: dict[str, list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))


def rated_items(inputs: ReportInputs, budget: int) -> CaseKind | None:
    """Returns the rated items of a run, as many per corpus as find room, or None without any."""
    sample = inputs.rated
    if sample is None or not len(sample.items):
        return None
    exchanges = exchanges_of(inputs, sample.scores.select(["judge", "request_id"]).to_pylist())
    groups = [
        Group(
            corpus,
            "item",
            next(iter(items.values())).level,
            tuple(_case(item_id, item, exchanges) for item_id, item in items.items()),
            sample.n_items[corpus],
        )
        for corpus, items in sorted(_gathered(inputs, sample).items())
    ]
    about = Described(
        RATED,
        "Rated items",
        ("rated items", "corpus"),
        {"judge": "judge", "criterion": "criterion"},
        no_prompts(inputs),
        sample.random_seed,
    )
    return packed_kind(about, groups, budget, ITEMS_PER_CORPUS)


def _case(item_id: str, item: _Item, exchanges: Exchanges) -> Case:
    facets = {
        (scorer(row["judge"], row["protocol"]), row["criterion"] or "") for rows in item.scores.values() for row in rows
    }
    first = item.utterances[language_order(item.utterances)[0]]
    return Case(item_id, beginning(first, item.level), "", frozenset(facets), _blocks(item, exchanges))


def _blocks(item: _Item, exchanges: Exchanges) -> Callable[[Prompts], list[Block]]:
    """Returns what shows one item in every language: its texts, a row per rater, and a card per answer."""

    def blocks(prompts: Prompts) -> list[Block]:
        shown: list[Block] = []
        for language in language_order(item.utterances):
            said, cells = item.utterances[language], item.cells[language]
            dimensions = dimension_order(name for of_rater in cells.values() for name in of_rater)
            marked = [len(said) - 1] if item.level == "turn" else []
            shown.append(bubbles(item.speakers[language], said, marked=marked, version=language))
            rows = [[who[1], who[2], [cells[who].get(dimension) for dimension in dimensions]] for who in sorted(cells)]
            shown.append({"type": "table", "version": language, "columns": dimensions, "rows": rows})
            cards = score_cards(item.scores[language], exchanges, prompts)
            if cards:
                shown.append({"type": "cards", "version": language, "title": "What judges said", "cards": cards})
        return shown

    return blocks


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
            rated.cells[language][who][row["dimension"]] = score_cell(row, row["value"], words)
    for key, repeats in _by_cell(sample).items():
        corpus, item_id, language, judge, method, dimension = key
        scored = corpora.get(corpus, {}).get(item_id)
        if scored is None or language not in scored.utterances:
            continue
        scored.scores[language] += repeats
        who = (_JUDGE, scorer(judge, method), ", ".join(judge_tags(inputs, judge, method)))
        scored.cells[language][who][dimension] = mean_cell(repeats)
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


def mean_cell(repeats: list[dict[str, Any]]) -> list[Any]:
    """Returns the cell of the mean of repeated scores, with the statuses of those that could not be read."""
    read = [row["value"] for row in repeats if row["value"] is not None]
    lost = sorted({row["status"] for row in repeats if row["value"] is None})
    words = ", ".join(lost) if lost else f"mean of {len(read)}" if len(read) > 1 else ""
    return score_cell(repeats[0], sum(read) / len(read) if read else None, words)


def score_cell(row: Mapping[str, Any], value: float | None, words: str) -> list[Any]:
    """Returns what a cell shows: the value, its place on the scale in thousandths, the scale, and what to know."""
    low, high = row["scale_min"], row["scale_max"]
    place = -1 if value is None or high <= low else round(1000 * (value - low) / (high - low))
    return [None if value is None else round(value, 4), place, f"{low:g}–{high:g}", words]
