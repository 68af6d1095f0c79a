"""Rated items whose reference nobody gave: dialogues damaged by a known number of steps.

The reference of an item is how many steps short of the most damage it is, on the dimensions that the damage aims at and
overall. It is known by construction and says nothing of people; it serves to see that a judge can be told from chance
where there are no human ratings at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dialeval.corpora.items import Item, Rating
from dialeval.perturbations.pool import build_pool
from dialeval.perturbations.registry import NOTHING_ELSE, Hurt, targets_of
from dialeval.perturbations.severity import build_ladder
from dialeval.perturbations.strategy import Strategy


def constructed_items(
    corpus: str,
    dialogues: Sequence[Item],
    strategies: Sequence[Strategy],
    *,
    n_steps: int,
    random_seed: int,
    hurt: Hurt = NOTHING_ELSE,
) -> Iterator[tuple[Item, list[Rating]]]:
    """Yields every step of one ladder of each dialogue, with its reference.

    Args:
        corpus: name of the rated corpus.
        dialogues: undamaged, at dialogue level.
        strategies: taken in turn, one for each dialogue.
        n_steps: steps of a ladder; a dialogue on which not as many can be taken is left out.
        random_seed: of all draws.
        hurt: what lowers the user's criteria.
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
                [_reference(own, dimension, n_steps - step, n_steps) for dimension in _dimensions(strategy, hurt)],
            )


def _dimensions(strategy: Strategy, hurt: Hurt) -> list[str]:
    return list(dict.fromkeys([*(target.dimension for target in targets_of(strategy.name, hurt)), "overall"]))


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
