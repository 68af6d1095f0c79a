"""Rated items for the numbers of meta-evaluation, and perturbed items for the numbers of robustness."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dialeval.figures.metaeval_names import dimension_order
from dialeval.languages import language_order
from dialeval.report.board import PERTURBED, RATED, scorer
from dialeval.report.exchanges import Exchanges
from dialeval.report.inputs import PerturbedSample, RatedSample, ReportInputs, Row
from dialeval.report.item_cases import (
    Block,
    Case,
    CaseDescription,
    CaseShelf,
    Group,
    beginning,
    bubbles,
    chosen_rows,
    exchanges_of_scores,
    rows_about,
    score_cards,
)
from dialeval.report.judge_leaderboard import judge_tags
from dialeval.report.judgements import mean
from dialeval.report.packing import Prompts
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import empty_table
from dialeval.tables.metaeval import ITEMS, RATINGS
from dialeval.tables.robustness import ROBUSTNESS

# Rated items behind the numbers of meta-evaluation: texts, ratings, scores and responses.

_Who = tuple[int, str, str]
"""Place in the order of raters, name, tag."""
_RATER_ORDER = {"human": 0, "construction": 1, "model": 2}
_JUDGE = 3
ITEMS_PER_CORPUS = 30
_RATED = CaseDescription(
    RATED,
    "Rated items",
    ("rated items", "corpus"),
    {"judge": "judge", "criterion": "criterion"},
    ITEMS_PER_CORPUS,
    ("length", "judges' score", "distance of judges from ratings"),
)


def sample_rated(
    items: Iterable[pa.Table],
    ratings: Iterable[pa.Table],
    scores: Iterable[pa.Table],
    random_seed: int = 0,
    n: int = ITEMS_PER_CORPUS,
) -> RatedSample:
    """Return some items of every corpus, in all their languages, with their ratings and scores.

    Args:
        items: tables `items`.
        ratings: tables `ratings`.
        scores: tables `judgements` of these items, read one after the other.
        random_seed: seed of the choice.
        n: items per corpus.
    """
    kept, n_items = [empty_table(ITEMS)], Counter[str]()
    for table in items:
        kept.append(chosen_rows(table, "corpus", table["item_id"], n, random_seed))
        n_items.update(corpus for corpus, _ in _named(table))
    shown = pa.concat_tables(kept)
    wanted = _named(shown)
    return RatedSample(
        shown, rows_about(ratings, RATINGS, wanted), rows_about(scores, JUDGEMENTS, wanted), dict(n_items)
    )


def _named(items: pa.Table) -> set[tuple[str, str]]:
    """Return the items of a table by corpus and id."""
    return set(zip(items["corpus"].to_pylist(), items["item_id"].to_pylist(), strict=True))


def rated_items(inputs: ReportInputs, budget: int) -> CaseShelf | None:
    """Return the rated items of a run, as many per corpus as find room, or None without any."""
    sample = inputs.rated
    if sample is None or not len(sample.items):
        return None
    exchanges = exchanges_of_scores(inputs, sample.scores)
    groups = [
        Group(
            corpus,
            next(iter(items.values())).level,
            tuple(_item_case(item_id, item, exchanges) for item_id, item in items.items()),
            sample.n_items[corpus],
        )
        for corpus, items in sorted(_items_by_corpus(inputs, sample).items())
    ]
    return _RATED.packed(inputs, groups, budget)


def _item_case(item_id: str, item: _Item, exchanges: Exchanges) -> Case:
    facets = {
        (scorer(row["judge"], row["protocol"]), row["criterion"] or "") for rows in item.scores.values() for row in rows
    }
    first = item.utterances[language_order(item.utterances)[0]]
    orders = (sum(map(len, first)), *_score_and_distance(item))
    return Case(
        item_id, beginning(first, item.level), "", frozenset(facets), partial(_item_blocks, item, exchanges), orders
    )


@dataclass
class _Item:
    """One item: its versions by language, and by language and rater the cells of its table; all scores of it."""

    level: str
    speakers: dict[str, list[str]] = field(default_factory=dict)
    utterances: dict[str, list[str]] = field(default_factory=dict)
    cells: dict[str, dict[_Who, dict[str, list[Any]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )
    scores: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))


def _score_and_distance(item: _Item) -> tuple[float | None, float | None]:
    """Return the mean score by judges, and their mean distance from human ratings of the same dimension, 0 to 1."""
    scores, distances = [], []
    for cells in item.cells.values():
        ratings = {name: cell[1] for who, of in cells.items() if who[0] == 0 for name, cell in of.items()}
        for who, of_judge in cells.items():
            if who[0] != _JUDGE:
                continue
            for name, (_, place, *_) in of_judge.items():
                if place >= 0:
                    scores.append(place / 1000)
                    if ratings.get(name, -1) >= 0:
                        distances.append(abs(place - ratings[name]) / 1000)
    return mean(scores), mean(distances)


def _item_blocks(item: _Item, exchanges: Exchanges, prompts: Prompts) -> list[Block]:
    """Return the blocks of one item in every language: texts, a row per rater, and a card per response."""
    shown: list[Block] = []
    for language in language_order(item.utterances):
        utterances, cells = item.utterances[language], item.cells[language]
        dimensions = dimension_order(name for of_rater in cells.values() for name in of_rater)
        marked = [len(utterances) - 1] if item.level == "turn" else []
        shown.append(bubbles(item.speakers[language], utterances, marked=marked, version=language))
        rows = [[who[1], who[2], [cells[who].get(dimension) for dimension in dimensions]] for who in sorted(cells)]
        shown.append({"type": "table", "version": language, "columns": dimensions, "rows": rows})
        cards = score_cards(item.scores[language], exchanges, prompts)
        if cards:
            shown.append({"type": "cards", "version": language, "title": "Responses of the judges", "cards": cards})
    return shown


def _items_by_corpus(inputs: ReportInputs, sample: RatedSample) -> dict[str, dict[str, _Item]]:
    """Return the items by corpus and id."""
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
    by_cell: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in sample.scores.to_pylist():
        key = ("corpus", "item_id", "language", "judge", "protocol", "criterion")
        by_cell[tuple(row[name] for name in key)].append(row)
    for (corpus, item_id, language, judge, method, dimension), repeats in by_cell.items():
        scored = corpora.get(corpus, {}).get(item_id)
        if scored is None or language not in scored.utterances:
            continue
        scored.scores[language] += repeats
        who = (_JUDGE, scorer(judge, method), ", ".join(judge_tags(inputs, judge, method)))
        scored.cells[language][who][dimension] = mean_cell(repeats)
    return corpora


def _tag(kind: str, rater: str) -> str:
    if kind == "human":
        return "" if rater == "people" else "people"
    return "known by construction" if kind == "construction" else "a model's ratings"


def mean_cell(repeats: list[Row]) -> list[Any]:
    """Return the cell of the mean of repeated scores, with the statuses of those that could not be read."""
    read = [row["value"] for row in repeats if row["value"] is not None]
    lost = sorted({row["status"] for row in repeats if row["value"] is None})
    words = ", ".join(lost) if lost else f"mean of {len(read)}" if len(read) > 1 else ""
    return score_cell(repeats[0], sum(read) / len(read) if read else None, words)


def score_cell(row: Mapping[str, Any], value: float | None, words: str) -> list[Any]:
    """Return the content of a cell: value, position on the scale in thousandths, scale and note."""
    low, high = row["scale_min"], row["scale_max"]
    place = -1 if value is None or high <= low else round(1000 * (value - low) / (high - low))
    return [None if value is None else round(value, 4), place, f"{low:g}–{high:g}", words]


# Perturbed items behind the numbers of robustness: what was changed, and every judge's scores before and after.

NOTICED, NOT_NOTICED, NO_SCORE = "noticed", "not noticed", "no score"
"""Whether a score fell by more than the threshold of the perturbation and the criterion."""
_Scores = dict[tuple[str, str, str], list[Row]]
"""By judge, protocol and criterion, the repeats of a score."""


PAIRS_PER_STRATEGY = 12
_PERTURBED = CaseDescription(
    PERTURBED,
    "Perturbed items",
    ("perturbed items", "perturbation"),
    {"judge": "judge", "criterion": "criterion", "outcome": "perturbation"},
    PAIRS_PER_STRATEGY,
    ("length", "mean fall of the score"),
)


def perturbed_items(inputs: ReportInputs, budget: int) -> CaseShelf | None:
    """Return perturbed items with their originals, as many of each strategy as find room; None without any."""
    sample = inputs.perturbed
    if sample is None or not len(sample.pairs):
        return None
    robustness = inputs.rows(ROBUSTNESS.name)
    thresholds = {(row["perturbation"], row["dimension"]): row["threshold"] for row in robustness}
    titles = {row["perturbation"]: row["title"] for row in robustness}
    exchanges = exchanges_of_scores(inputs, sample.scores)
    by_strategy: dict[str, list[_Pair]] = defaultdict(list)
    for pair in _pairs(sample):
        by_strategy[pair.row["perturbation"]].append(pair)
    groups = [
        Group(
            strategy,
            titles.get(strategy, strategy.replace("_", " ")),
            tuple(_pair_case(pair, thresholds, exchanges) for pair in pairs),
            sample.n_pairs[strategy],
        )
        for strategy, pairs in by_strategy.items()
    ]
    return _PERTURBED.packed(inputs, groups, budget)


def outcome(before: float | None, after: float | None, threshold: float) -> str:
    """Return whether a perturbation was noticed: whether a score from 0 to 1 fell by more than a threshold."""
    if before is None or after is None:
        return NO_SCORE
    return NOTICED if before - after > threshold else NOT_NOTICED


@dataclass(frozen=True)
class _Pair:
    """An item before and after, with the scores of both."""

    row: Row
    before: Row
    after: Row
    scores: tuple[_Scores, _Scores]


def _pairs(sample: PerturbedSample) -> list[_Pair]:
    items = {_key(row, "item_id"): row for row in sample.items.to_pylist()}
    scores: dict[tuple[str, ...], _Scores] = defaultdict(lambda: defaultdict(list))
    for row in sample.scores.to_pylist():
        scores[_key(row, "item_id")][row["judge"], row["protocol"], row["criterion"] or ""].append(row)
    return [
        _Pair(row, items[before], items[after], (scores[before], scores[after]))
        for row in sample.pairs.to_pylist()
        for before, after in [(_key(row, "original_id"), _key(row, "item_id"))]
        if before in items and after in items
    ]


def _key(row: Row, item: str) -> tuple[str, ...]:
    return row["corpus"], row["language"], row[item]


def _pair_case(pair: _Pair, thresholds: Mapping[tuple[str, str], float], exchanges: Exchanges) -> Case:
    row, (before, after) = pair.row, pair.scores
    facets = set()
    falls = []
    for judge, protocol, criterion in sorted({*before, *after}):
        threshold = thresholds.get((row["perturbation"], criterion))
        if threshold is not None:
            at = (judge, protocol, criterion)
            shares = _share(before.get(at, [])), _share(after.get(at, []))
            seen = outcome(*shares, threshold)
            if shares[0] is not None and shares[1] is not None:
                falls.append(shares[0] - shares[1])
            facets.add((scorer(judge, protocol), criterion, seen))
    name = f"{row['corpus']}/{row['language']}/{row['item_id']}"
    severity = f"severity level {row['severity']}" if row["severity_series"] else ""
    first = beginning(pair.after["utterances"], row["level"])
    orders = (sum(map(len, pair.after["utterances"])), mean(falls))
    return Case(name, first, severity, frozenset(facets), partial(_pair_blocks, pair, thresholds, exchanges), orders)


def _share(repeats: list[Row]) -> float | None:
    """Return the mean of a score's repeats on a scale from 0 to 1."""
    shares = [
        (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"])
        for row in repeats
        if row["value"] is not None and row["scale_max"] > row["scale_min"]
    ]
    return sum(shares) / len(shares) if shares else None


def _pair_blocks(
    pair: _Pair, thresholds: Mapping[tuple[str, str], float], exchanges: Exchanges, prompts: Prompts
) -> list[Block]:
    speakers, texts = dialogue_difference(
        pair.before["utterances"], pair.after["utterances"], pair.before["speakers"], pair.after["speakers"]
    )
    marked = [len(texts) - 1] if pair.row["level"] == "turn" else []
    shown = [bubbles(speakers, texts, title="Change", marked=marked)]
    if pair.scores[0] or pair.scores[1]:
        shown.append(_table(pair, thresholds))
    cards = [
        card
        for order, scores in zip(("before", "after"), pair.scores, strict=True)
        for card in score_cards([row for rows in scores.values() for row in rows], exchanges, prompts, order)
    ]
    if cards:
        shown.append({"type": "cards", "title": "Responses of the judges", "cards": cards})
    return shown


def _table(pair: _Pair, thresholds: Mapping[tuple[str, str], float]) -> Block:
    """Return the scores: a row per judge and criterion, before and after, and how far they fell on a scale of one."""
    rows = []
    for judge, protocol, criterion in sorted({*pair.scores[0], *pair.scores[1]}):
        repeats = [scores.get((judge, protocol, criterion), []) for scores in pair.scores]
        before, after = (_share(of) for of in repeats)
        threshold = thresholds.get((pair.row["perturbation"], criterion))
        fall = None if before is None or after is None else [round(before - after, 4), -1, "of 1", ""]
        if fall and threshold is not None:
            fall[3] = f"{outcome(before, after, threshold)}, threshold {threshold:g}"
        cells = [mean_cell(of) if of else None for of in repeats]
        rows.append([f"{scorer(judge, protocol)}, {criterion}", "", [*cells, fall]])
    return {"type": "table", "title": "Scores", "columns": ["before", "after", "fall"], "rows": rows}


# The perturbed items that the page shows: a few of every strategy, the same ones whatever else is in the tables.


def sample_perturbed(
    pairs: pa.Table,
    items: Iterable[pa.Table],
    scores: Iterable[pa.Table],
    random_seed: int = 0,
    n: int = PAIRS_PER_STRATEGY,
) -> PerturbedSample:
    """Return some perturbed items of every strategy with their originals and scores.

    Args:
        pairs: table `pairs`, of all.
        items: tables `items`, of originals and perturbed items.
        scores: tables `judgements`, read one after the other.
        random_seed: seed of the choice.
        n: items per strategy.
    """
    made = pairs.filter(pc.and_(pc.equal(pairs["status"], "ok"), pc.is_valid(pairs["item_id"])))
    names = pc.binary_join_element_wise(made["corpus"], made["language"], made["item_id"], "/")
    shown = chosen_rows(made, "perturbation", names, n, random_seed)
    wanted = {
        (row["corpus"], row[item])
        for row in shown.select(["corpus", "item_id", "original_id"]).to_pylist()
        for item in ("item_id", "original_id")
    }
    return PerturbedSample(
        shown,
        rows_about(items, ITEMS, wanted),
        rows_about(scores, JUDGEMENTS, wanted),
        Counter(made["perturbation"].to_pylist()),
    )


# What changed between two texts or two dialogues, word by word.

KEPT, GONE, NEW = "=", "-", "+"
Difference = list[list[str]]
"""Pieces of text in order, each marked as kept, gone or new."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]|\w+|\s+|[^\w\s]", re.UNICODE)
"""A word, a run of white space, a sign, or one character of a script that is written without spaces."""


def dialogue_difference(
    before: Sequence[str], after: Sequence[str], speakers_before: Sequence[str], speakers_after: Sequence[str]
) -> tuple[list[str], list[Difference | str]]:
    """Return speakers and utterances of two dialogues aligned, with the changes of each utterance."""
    speakers: list[str] = []
    texts: list[Difference | str] = []
    for i, k in _aligned(before, after):
        speakers.append(speakers_before[i] if k is None and i is not None else speakers_after[k or 0])
        if i is None:
            texts.append([[NEW, after[k or 0]]])
        elif k is None:
            texts.append([[GONE, before[i]]])
        else:
            texts.append(word_difference(before[i], after[k]))
    return speakers, texts


def word_difference(before: str, after: str) -> Difference | str:
    """Return kept, removed and added words; the text itself if nothing changed.

    The pieces that are kept or gone make up `before`, those that are kept or new make up `after`.
    """
    if before == after:
        return before
    old, new = _WORD.findall(before), _WORD.findall(after)
    pieces: Difference = []
    for operation, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            _add(pieces, KEPT, old[i:j])
        else:
            _add(pieces, GONE, old[i:j])
            _add(pieces, NEW, new[k:m])
    return pieces


def _aligned(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the positions of corresponding utterances; None for one without a counterpart."""
    for operation, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        shared = min(j - i, m - k) if operation in ("equal", "replace") else 0
        yield from ((i + step, k + step) for step in range(shared))
        yield from ((place, None) for place in range(i + shared, j))
        yield from ((None, place) for place in range(k + shared, m))


def _add(pieces: Difference, mark: str, words: Sequence[str]) -> None:
    if words:
        pieces.append([mark, "".join(words)])
