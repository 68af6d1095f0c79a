"""A suite of damaged items: every strategy on every item it fits, and the rows that say what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialeval.corpora.items import Item
from dialeval.corpora.robustness_sets import Pair
from dialeval.criteria import Level
from dialeval.perturbations.item_damage import Damaged, NotApplicable
from dialeval.perturbations.pool import Pool, build_pool
from dialeval.perturbations.registry import NOTHING_ELSE, Hurt, damages, targets_of
from dialeval.perturbations.rewriting import Rewriting
from dialeval.perturbations.severity import build_ladder
from dialeval.perturbations.strategy import Strategy

Outcome = tuple[dict[str, Any], Item | None]
"""A row of the table `pairs`, and the damaged item if there is one."""


def pools(items: Iterable[Item]) -> dict[str, Pool]:
    """Returns what replacements are drawn from, by corpus."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.corpus, []).append(item)
    return {corpus: build_pool(group) for corpus, group in groups.items()}


def targets_of_items(
    pairs: Iterable[Mapping[str, Any]], hurt: Hurt = NOTHING_ELSE
) -> dict[tuple[str, str, str], set[str]]:
    """Returns the criteria on which each item of some pairs is compared, by (corpus, language, item_id).

    Args:
        pairs: rows of the table `pairs`.
        hurt: what lowers the user's criteria.
    """
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for row in pairs:
        if row["status"] != "ok":
            continue
        aimed_at = {target.dimension for target in targets_of(row["strategy"], hurt)}
        for item_id in (row["original_id"], row["item_id"]):
            wanted.setdefault((row["corpus"], row["language"], item_id), set()).update(aimed_at)
    return wanted


def damage_all(
    items: Sequence[Item],
    strategies: Iterable[Strategy],
    pool_of: Mapping[str, Pool],
    *,
    n_draws: Mapping[Level, int],
    random_seed: int,
) -> Iterator[Outcome]:
    """Yields every draw of every strategy on every item of its level."""
    for strategy in strategies:
        for item in items:
            if item.level != strategy.level:
                continue
            pool = pool_of[item.corpus]
            drawn = damages(item, strategy, pool, random_seed=random_seed, n_draws=n_draws[item.level])
            for draw, result in enumerate(drawn):
                if isinstance(result, NotApplicable):
                    yield _row(item, strategy.name, draw, status="not_applicable", reason=result.reason), None
                else:
                    yield damaged_row(item, result), result.item


def ladders(
    items: Sequence[Item],
    strategies: Iterable[Strategy],
    pool_of: Mapping[str, Pool],
    *,
    n_steps: int,
    random_seed: int,
) -> Iterator[Outcome]:
    """Yields the steps of a severity ladder of every strategy on every dialogue; step 0 is the dialogue itself."""
    for strategy in strategies:
        for item in items:
            if item.level != "dialogue":
                continue
            pool = pool_of[item.corpus]
            ladder = build_ladder(item, strategy, pool, random_seed=random_seed, n_steps=n_steps)
            name = f"{item.item_id}/{strategy.name}"
            if len(ladder.steps) < 2:
                yield (
                    _row(
                        item, strategy.name, 0, ladder=name, status="not_applicable", reason=ladder.reason or "one step"
                    ),
                    None,
                )
                continue
            yield _row(item, strategy.name, 0, ladder=name, severity=0, item_id=item.item_id, status="ok"), None
            for step in ladder.steps:
                yield damaged_row(item, step) | {"ladder": name}, step.item


def published_outcome(pair: Pair) -> Outcome:
    """Returns a published pair as a row; one whose damage changed nothing counts, as in the paper."""
    row = _row(
        pair.original,
        pair.strategy,
        pair.row,
        way="published",
        item_id=pair.damaged.item_id,
        unchanged=pair.unchanged,
        status="ok",
    )
    return row, pair.damaged


def rewritten_outcome(item: Item, strategy: Strategy, draw: int, rewriting: Rewriting | NotApplicable) -> Outcome:
    """Returns what became of a rewriting by a model as a row."""
    if isinstance(rewriting, NotApplicable):
        return _row(item, strategy.name, draw, way="model", status="not_applicable", reason=rewriting.reason), None
    if rewriting.damaged is None:
        return _row(item, strategy.name, draw, way="model", status=rewriting.status, reason=rewriting.reason), None
    return damaged_row(item, rewriting.damaged), rewriting.damaged.item


def damaged_row(item: Item, damaged: Damaged) -> dict[str, Any]:
    """Returns the row of a damaged item."""
    return _row(
        item,
        damaged.strategy,
        damaged.draw,
        way=damaged.way,
        severity=damaged.severity,
        item_id=damaged.item.item_id,
        changed=damaged.changed,
        status="ok",
    )


def _row(item: Item, strategy: str, draw: int, **more: Any) -> dict[str, Any]:
    return {
        "corpus": item.corpus,
        "language": item.language,
        "level": item.level,
        "cluster": item.cluster,
        "strategy": strategy,
        "way": None,
        "draw": draw,
        "severity": 1,
        "ladder": None,
        "original_id": item.item_id,
        "item_id": None,
        "changed": None,
        "unchanged": False,
        "reason": None,
    } | more
