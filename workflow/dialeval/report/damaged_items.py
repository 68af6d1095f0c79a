"""Damaged items behind the numbers of robustness: what was changed, and every judge's scores before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dialeval.report.asked import Exchanges
from dialeval.report.damaged_sample import PAIRS_PER_STRATEGY
from dialeval.report.inputs import ReportInputs
from dialeval.report.kinds import Block, Case, CaseKind, Described, Group, beginning, bubbles, packed_kind
from dialeval.report.links import DAMAGED, scorer
from dialeval.report.prompts import Prompts, no_prompts
from dialeval.report.rated_items import mean_cell
from dialeval.report.samples import DamagedSample
from dialeval.report.score_cards import exchanges_of, score_cards
from dialeval.report.word_difference import dialogue_difference
from dialeval.schemas.robustness import ROBUSTNESS

Row = Mapping[str, Any]
NOTICED, NOT_NOTICED, NO_SCORE = "noticed", "not noticed", "no score"
"""Whether a score fell by more than the threshold of the damage and the criterion."""
_Scores = dict[tuple[str, str, str], list[dict[str, Any]]]
"""By judge, protocol and criterion, the repeats of a score."""


@dataclass(frozen=True)
class _Pair:
    """An item before and after, with the scores of both."""

    row: Row
    before: Row
    after: Row
    scores: tuple[_Scores, _Scores]


def damaged_items(inputs: ReportInputs, budget: int) -> CaseKind | None:
    """Returns damaged items with their originals, as many of each kind of damage as find room; None without any."""
    sample = inputs.damaged
    if sample is None or not len(sample.pairs):
        return None
    thetas = _thetas(inputs)
    exchanges = exchanges_of(inputs, sample.scores.select(["judge", "request_id"]).to_pylist())
    by_strategy: dict[str, list[_Pair]] = defaultdict(list)
    for pair in _pairs(sample):
        by_strategy[pair.row["strategy"]].append(pair)
    groups = [
        Group(
            strategy,
            "item",
            sample.titles.get(strategy, strategy.replace("_", " ")),
            tuple(_case(pair, thetas, exchanges) for pair in pairs),
            sample.n_pairs[strategy],
        )
        for strategy, pairs in by_strategy.items()
    ]
    about = Described(
        DAMAGED,
        "Damaged items",
        ("damaged items", "kind of damage"),
        {"judge": "judge", "criterion": "criterion", "outcome": "damage"},
        no_prompts(inputs),
        sample.random_seed,
    )
    return packed_kind(about, groups, budget, PAIRS_PER_STRATEGY)


def outcome(before: float | None, after: float | None, theta: float) -> str:
    """Returns whether damage was noticed: whether a score from 0 to 1 fell by more than a threshold."""
    if before is None or after is None:
        return NO_SCORE
    return NOTICED if before - after > theta else NOT_NOTICED


def _thetas(inputs: ReportInputs) -> dict[tuple[str, str], float]:
    """Returns the thresholds by damage and criterion, for the criteria that each damage lowers."""
    table = inputs.tables.get(ROBUSTNESS.name)
    rows = [] if table is None else table.select(["strategy", "dimension", "theta"]).to_pylist()
    return {(row["strategy"], row["dimension"]): row["theta"] for row in rows}


def _pairs(sample: DamagedSample) -> list[_Pair]:
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


def _case(pair: _Pair, thetas: Mapping[tuple[str, str], float], exchanges: Exchanges) -> Case:
    row, (before, after) = pair.row, pair.scores
    facets = set()
    for judge, protocol, criterion in sorted({*before, *after}):
        theta = thetas.get((row["strategy"], criterion))
        if theta is not None:
            at = (judge, protocol, criterion)
            seen = outcome(_share(before.get(at, [])), _share(after.get(at, [])), theta)
            facets.add((scorer(judge, protocol), criterion, seen))
    name = f"{row['corpus']}/{row['language']}/{row['item_id']}"
    severity = f"step {row['severity']}" if row["ladder"] else ""
    first = beginning(pair.after["utterances"], row["level"])
    return Case(name, first, severity, frozenset(facets), _blocks(pair, thetas, exchanges))


def _share(repeats: list[dict[str, Any]]) -> float | None:
    """Returns the mean of a score's repeats on a scale from 0 to 1."""
    shares = [
        (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"])
        for row in repeats
        if row["value"] is not None and row["scale_max"] > row["scale_min"]
    ]
    return sum(shares) / len(shares) if shares else None


def _blocks(
    pair: _Pair, thetas: Mapping[tuple[str, str], float], exchanges: Exchanges
) -> Callable[[Prompts], list[Block]]:
    def blocks(prompts: Prompts) -> list[Block]:
        speakers, texts = dialogue_difference(
            pair.before["utterances"], pair.after["utterances"], pair.before["speakers"], pair.after["speakers"]
        )
        marked = [len(texts) - 1] if pair.row["level"] == "turn" else []
        shown = [bubbles(speakers, texts, title="What was changed", marked=marked)]
        if pair.scores[0] or pair.scores[1]:
            shown.append(_table(pair, thetas))
        cards = [
            card
            for order, scores in zip(("before", "after"), pair.scores, strict=True)
            for card in score_cards([row for rows in scores.values() for row in rows], exchanges, prompts, order)
        ]
        if cards:
            shown.append({"type": "cards", "title": "What judges said", "cards": cards})
        return shown

    return blocks


def _table(pair: _Pair, thetas: Mapping[tuple[str, str], float]) -> Block:
    """Returns the scores: a row per judge and criterion, before and after, and how far they fell on a scale of one."""
    rows = []
    for judge, protocol, criterion in sorted({*pair.scores[0], *pair.scores[1]}):
        repeats = [scores.get((judge, protocol, criterion), []) for scores in pair.scores]
        before, after = (_share(of) for of in repeats)
        theta = thetas.get((pair.row["strategy"], criterion))
        fall = None if before is None or after is None else [round(before - after, 4), -1, "of 1", ""]
        if fall and theta is not None:
            fall[3] = f"{outcome(before, after, theta)}, threshold {theta:g}"
        cells = [mean_cell(of) if of else None for of in repeats]
        rows.append([f"{scorer(judge, protocol)}, {criterion}", "", [*cells, fall]])
    return {"type": "table", "title": "Scores", "columns": ["before", "after", "fall"], "rows": rows}
