"""Suites of damaged items: every strategy on every item it fits.

The reference of an item is how many steps short of the most damage it is, on the dimensions that the damage aims at and
overall. It is known by construction and says nothing of people; it serves to see that a judge can be told from chance
where there are no human ratings at hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialeval.corpora.items import Item, Rating
from dialeval.corpora.robustness_sets import Pair
from dialeval.criteria import Level
from dialeval.errors import UserError
from dialeval.perturbations.registry import NOTHING_ELSE, Sensitivities, build_ladder, damages, targets_of
from dialeval.perturbations.rewriting import Rewriting
from dialeval.perturbations.strategy import Damaged, NotApplicable, Pool, Strategy, build_pool

Outcome = tuple[dict[str, Any], Item | None]
"""A row of the table `pairs`, and the damaged item if there is one."""


def pools(items: Iterable[Item]) -> dict[str, Pool]:
    """Returns what replacements are drawn from, by corpus."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.corpus, []).append(item)
    return {corpus: build_pool(group) for corpus, group in groups.items()}


def targets_of_items(
    pairs: Iterable[Mapping[str, Any]], sensitivities: Sensitivities = NOTHING_ELSE
) -> dict[tuple[str, str, str], set[str]]:
    """Returns the criteria on which each item of some pairs is compared, by (corpus, language, item_id).

    Args:
        pairs: rows of the table `pairs`.
        sensitivities: what lowers the user's criteria.
    """
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for row in pairs:
        if row["status"] != "ok":
            continue
        aimed_at = {target.dimension for target in targets_of(row["strategy"], sensitivities)}
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
        generator="published",
        item_id=pair.damaged.item_id,
        unchanged=pair.unchanged,
        status="ok",
    )
    return row, pair.damaged


def rewritten_outcome(item: Item, strategy: Strategy, draw: int, rewriting: Rewriting | NotApplicable) -> Outcome:
    """Returns what became of a rewriting by a model as a row."""
    if isinstance(rewriting, NotApplicable):
        return _row(
            item, strategy.name, draw, generator="model", status="not_applicable", reason=rewriting.reason
        ), None
    if rewriting.damaged is None:
        return _row(
            item, strategy.name, draw, generator="model", status=rewriting.status, reason=rewriting.reason
        ), None
    return damaged_row(item, rewriting.damaged), rewriting.damaged.item


def damaged_row(item: Item, damaged: Damaged) -> dict[str, Any]:
    """Returns the row of a damaged item."""
    return _row(
        item,
        damaged.strategy,
        damaged.draw,
        generator=damaged.way,
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
        "generator": None,
        "draw": draw,
        "severity": 1,
        "ladder": None,
        "original_id": item.item_id,
        "item_id": None,
        "changed": None,
        "unchanged": False,
        "reason": None,
    } | more


# Which rated items are good enough to be damaged: those that people rated highly (comp-analysis, appendix C).

OVERALL = "overall"


def well_rated(items: Sequence[Item], ratings: Iterable[Mapping[str, Any]], at_least: float | None) -> list[Item]:
    """Returns the items whose mean rating by people, on a scale from 0 to 1, is high enough.

    What counts is `overall` where people rated it, and the mean over all that they rated elsewhere. An item that nobody
    rated is left out.

    Args:
        items: of rated corpora.
        ratings: rows of the table `ratings`; those by models do not count.
        at_least: the lowest mean, 0 to 1; None for all items.

    Raises:
        UserError: there are items, and none is rated so highly.
    """
    if at_least is None:
        return list(items)
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in ratings:
        if row["rater_kind"] == "human":
            share = (row["value"] - row["scale_min"]) / (row["scale_max"] - row["scale_min"])
            found[row["corpus"], row["item_id"]][row["dimension"]] += [share] * (row["n_raters"] or 1)
    quality = [_quality(found.get((item.corpus, item.item_id), {})) for item in items]
    if items and max(quality) < at_least:
        best = f"the best has {max(quality):.2f}" if max(quality) >= 0 else "people rated none of them"
        raise UserError(
            f"no item is rated {at_least:g} or more by people, as robustness.min_quality asks for ({best}); lower it, "
            "or name corpora that people rated under robustness.corpora"
        )
    return [item for item, value in zip(items, quality, strict=True) if value >= at_least]


def _quality(by_dimension: Mapping[str, Sequence[float]]) -> float:
    """Returns an item's mean rating, each dimension counting alike; below 0 where nobody rated it."""
    counted = [by_dimension[OVERALL]] if OVERALL in by_dimension else list(by_dimension.values())
    return sum(sum(values) / len(values) for values in counted) / len(counted) if counted else -1.0


# Rated items whose reference nobody gave: dialogues damaged by a known number of steps.


def constructed_items(
    corpus: str,
    dialogues: Sequence[Item],
    strategies: Sequence[Strategy],
    *,
    n_steps: int,
    random_seed: int,
    sensitivities: Sensitivities = NOTHING_ELSE,
) -> Iterator[tuple[Item, list[Rating]]]:
    """Yields every step of one ladder of each dialogue, with its reference.

    Args:
        corpus: name of the rated corpus.
        dialogues: undamaged, at dialogue level.
        strategies: taken in turn, one for each dialogue.
        n_steps: steps of a ladder; a dialogue on which not as many can be taken is left out.
        random_seed: of all draws.
        sensitivities: what lowers the user's criteria.
    """
    pool = build_pool(dialogues)
    place = 0
    for dialogue in dialogues:
        strategy = strategies[place % len(strategies)]
        ladder = build_ladder(dialogue, strategy, pool, random_seed=random_seed, n_steps=n_steps)
        if len(ladder.steps) < n_steps:
            continue
        place += 1
        for step, item in enumerate([dialogue, *(damaged.item for damaged in ladder.steps)]):
            own = replace(item, corpus=corpus)
            yield (
                own,
                [
                    _reference(own, dimension, n_steps - step, n_steps)
                    for dimension in _dimensions(strategy, sensitivities)
                ],
            )


def _reference(item: Item, dimension: str, value: int, highest: int) -> Rating:
    return Rating(
        corpus=item.corpus,
        item_id=item.item_id,
        dimension=dimension,
        rater_kind="construction",
        rater="construction",
        round=None,
        value=float(value),
        n_raters=None,
        scale_min=0.0,
        scale_max=float(highest),
    )


def _dimensions(strategy: Strategy, sensitivities: Sensitivities) -> list[str]:
    return list(dict.fromkeys([*(target.dimension for target in targets_of(strategy.name, sensitivities)), "overall"]))
