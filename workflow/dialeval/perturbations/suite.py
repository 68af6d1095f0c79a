"""Perturbed items for robustness: every strategy on every item of its level, and items rated by construction.

The reference score of a constructed item is the number of steps between it and the top of its severity ladder, on the
dimensions that the strategy lowers and overall. It is no human rating; it tests whether a judge is better than chance
where there are none.
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
from dialeval.perturbations.registry import (
    NO_SENSITIVITIES,
    Sensitivities,
    build_ladder,
    perturb_repeatedly,
    targets_of,
)
from dialeval.perturbations.rewriting import Rewriting
from dialeval.perturbations.strategy import NotApplicable, Perturbed, Pool, Strategy, build_pool

Outcome = tuple[dict[str, Any], Item | None]
"""A row of the table `pairs`, and the perturbed item if there is one."""


def pools(items: Iterable[Item]) -> dict[str, Pool]:
    """Return the pool of replacements of each corpus."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.corpus, []).append(item)
    return {corpus: build_pool(group) for corpus, group in groups.items()}


def targets_of_items(
    pairs: Iterable[Mapping[str, Any]], sensitivities: Sensitivities = NO_SENSITIVITIES
) -> dict[tuple[str, str, str], set[str]]:
    """Return the criteria on which each item of some pairs is compared, by (corpus, language, item_id).

    Args:
        pairs: rows of the table `pairs`.
        sensitivities: the strategies that lower the user's criteria.
    """
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for row in pairs:
        if row["status"] != "ok":
            continue
        aimed_at = {target.dimension for target in targets_of(row["perturbation"], sensitivities)}
        for item_id in (row["original_id"], row["item_id"]):
            wanted.setdefault((row["corpus"], row["language"], item_id), set()).update(aimed_at)
    return wanted


def perturb_all(
    items: Sequence[Item],
    strategies: Iterable[Strategy],
    pool_of: Mapping[str, Pool],
    *,
    n_draws: Mapping[Level, int],
    random_seed: int,
) -> Iterator[Outcome]:
    """Yield every draw of every strategy on every item of its level."""
    for strategy in strategies:
        for item in items:
            if item.level != strategy.level:
                continue
            pool = pool_of[item.corpus]
            drawn = perturb_repeatedly(item, strategy, pool, random_seed=random_seed, n_draws=n_draws[item.level])
            for draw, result in enumerate(drawn):
                if isinstance(result, NotApplicable):
                    yield _row(item, strategy.name, draw, status="not_applicable", reason=result.reason), None
                else:
                    yield perturbed_row(item, result), result.item


def ladders(
    items: Sequence[Item],
    strategies: Iterable[Strategy],
    pool_of: Mapping[str, Pool],
    *,
    n_steps: int,
    random_seed: int,
) -> Iterator[Outcome]:
    """Yield the steps of a severity ladder of every strategy on every dialogue; step 0 is the dialogue itself."""
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
                        item,
                        strategy.name,
                        0,
                        severity_series=name,
                        status="not_applicable",
                        reason=ladder.reason or "one step",
                    ),
                    None,
                )
                continue
            yield (
                _row(item, strategy.name, 0, severity_series=name, severity=0, item_id=item.item_id, status="ok"),
                None,
            )
            for step in ladder.steps:
                yield perturbed_row(item, step) | {"severity_series": name}, step.item


def published_outcome(pair: Pair) -> Outcome:
    """Return the row of a published pair; a pair of equal texts counts, as in the paper."""
    row = _row(
        pair.original,
        pair.strategy,
        pair.row,
        generator="published",
        item_id=pair.perturbed.item_id,
        unchanged=pair.unchanged,
        status="ok",
    )
    return row, pair.perturbed


def rewritten_outcome(item: Item, strategy: Strategy, draw: int, rewriting: Rewriting | NotApplicable) -> Outcome:
    """Return the row of a rewriting by a model."""
    if isinstance(rewriting, NotApplicable):
        return _row(
            item, strategy.name, draw, generator="model", status="not_applicable", reason=rewriting.reason
        ), None
    if rewriting.perturbed is None:
        return _row(
            item, strategy.name, draw, generator="model", status=rewriting.status, reason=rewriting.reason
        ), None
    return perturbed_row(item, rewriting.perturbed), rewriting.perturbed.item


def perturbed_row(item: Item, perturbed: Perturbed) -> dict[str, Any]:
    """Return the row of a perturbed item."""
    return _row(
        item,
        perturbed.strategy,
        perturbed.draw,
        generator=perturbed.way,
        severity=perturbed.severity,
        item_id=perturbed.item.item_id,
        changed=perturbed.changed,
        status="ok",
    )


def _row(item: Item, strategy: str, draw: int, **more: Any) -> dict[str, Any]:
    return {
        "corpus": item.corpus,
        "language": item.language,
        "level": item.level,
        "cluster": item.cluster,
        "perturbation": strategy,
        "generator": None,
        "draw": draw,
        "severity": 1,
        "severity_series": None,
        "original_id": item.item_id,
        "item_id": None,
        "changed": None,
        "unchanged": False,
        "reason": None,
    } | more


OVERALL = "overall"


def well_rated(items: Sequence[Item], ratings: Iterable[Mapping[str, Any]], at_least: float | None) -> list[Item]:
    """Return the items whose mean human rating, scaled to 0 to 1, is high enough (comp-analysis, appendix C).

    The rating is that of `overall`, or the mean over all rated dimensions where `overall` is not rated. Items without
    human ratings are left out.

    Args:
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
        best = f"the highest rating is {max(quality):.2f}" if max(quality) >= 0 else "none of them has human ratings"
        raise UserError(
            f"no item has a human rating of {at_least:g} or more, as robustness.min_quality requires ({best}); "
            f"lower it, or set robustness.corpora to corpora with human ratings"
        )
    return [item for item, value in zip(items, quality, strict=True) if value >= at_least]


def _quality(by_dimension: Mapping[str, Sequence[float]]) -> float:
    """Return an item's mean rating, dimensions weighted equally; below 0 without ratings."""
    counted = [by_dimension[OVERALL]] if OVERALL in by_dimension else list(by_dimension.values())
    return sum(sum(values) / len(values) for values in counted) / len(counted) if counted else -1.0


def constructed_items(
    corpus: str,
    dialogues: Sequence[Item],
    strategies: Sequence[Strategy],
    *,
    n_steps: int,
    random_seed: int,
    sensitivities: Sensitivities = NO_SENSITIVITIES,
) -> Iterator[tuple[Item, list[Rating]]]:
    """Yield every step of one ladder of each dialogue, with its reference.

    Args:
        corpus: name of the rated corpus.
        dialogues: the originals, at dialogue level.
        strategies: taken in turn, one for each dialogue.
        n_steps: steps of a ladder; a dialogue on which not as many can be taken is left out.
        sensitivities: the strategies that lower the user's criteria.
    """
    pool = build_pool(dialogues)
    place = 0
    for dialogue in dialogues:
        strategy = strategies[place % len(strategies)]
        ladder = build_ladder(dialogue, strategy, pool, random_seed=random_seed, n_steps=n_steps)
        if len(ladder.steps) < n_steps:
            continue
        place += 1
        dimensions = dict.fromkeys(
            (*(target.dimension for target in targets_of(strategy.name, sensitivities)), OVERALL)
        )
        for step, item in enumerate([dialogue, *(perturbed.item for perturbed in ladder.steps)]):
            own = replace(item, corpus=corpus)
            yield (
                own,
                [_reference(own, dimension, n_steps - step, n_steps) for dimension in dimensions],
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
