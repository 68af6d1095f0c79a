"""Every perturbation strategy by name, and the one way to apply it to an item."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace as with_fields
from types import MappingProxyType

import numpy as np

from dialeval.corpora.items import Item
from dialeval.errors import UserError, nearest
from dialeval.perturbations import dialogue, turn
from dialeval.perturbations.item_damage import Damaged, NotApplicable
from dialeval.perturbations.pool import Pool
from dialeval.perturbations.speakers import chatbot_turns
from dialeval.perturbations.strategy import Case, Edit, Scope, Strategy, Target
from dialeval.text.folds import generator_for

STRATEGIES = MappingProxyType({strategy.name: strategy for strategy in (*turn.STRATEGIES, *dialogue.STRATEGIES)})
"""Name -> strategy, turn level before dialogue level, in the order of Table 10."""

Hurt = Mapping[str, Collection[str]]
"""Criterion of the user's -> strategies that lower it."""
NOTHING_ELSE: Hurt = MappingProxyType({})

ATTEMPTS = 8
"""How many times a draw is made again when it repeats an earlier one."""


def find_strategy(name: str, place: str = "") -> Strategy:
    """Returns a strategy by its name.

    Args:
        name: of the strategy.
        place: where the name stands, for the message.

    Raises:
        UserError: there is none of that name; the nearest one is offered.
    """
    if name not in STRATEGIES:
        where = f"{place}: " if place else ""
        raise UserError(f"{where}there is no perturbation strategy '{name}'; {nearest(name, STRATEGIES)}")
    return STRATEGIES[name]


def targets_of(strategy: str, hurt: Hurt = NOTHING_ELSE) -> tuple[Target, ...]:
    """Returns what a strategy lowers: Table 10's dimensions, and the user's criteria that say so.

    A user's criterion has the smallest of the strategy's own thresholds.

    Args:
        strategy: name of the strategy; one that is not ours lowers nothing that is known.
        hurt: what lowers the user's criteria.
    """
    if strategy not in STRATEGIES:
        return ()
    papers = STRATEGIES[strategy].targets
    theta = min((target.theta for target in papers), default=0.0)
    return (*papers, *(Target(name, theta) for name, strategies in hurt.items() if strategy in strategies))


def damage(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    *,
    random_seed: int,
    draw: int = 0,
    scope: Scope | None = None,
    way: str | None = None,
) -> Damaged | NotApplicable:
    """Damages an item by the rules of a strategy, without a model.

    The result depends on the random seed, the item, the strategy, the draw and the pool, and on nothing else.

    Args:
        item: a good response in its context, or a good dialogue; of the strategy's level.
        strategy: what to do.
        pool: replacements from the corpus (`pool.build_pool`).
        random_seed: seed of all draws.
        draw: 0-based number of the repetition.
        scope: whose utterances a dialogue-level strategy may touch; None for the strategy's own.
        way: the only way that may be used; None for any.

    Raises:
        ValueError: the strategy is of the other level or has no such way.
    """
    return _drawn(item, strategy, pool, random_seed, draw, 0, scope, way)


def damages(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    *,
    random_seed: int,
    n_draws: int,
    scope: Scope | None = None,
    way: str | None = None,
) -> Iterator[Damaged | NotApplicable]:
    """Yields the draws 0 to `n_draws` - 1 of `damage`, each other than all before it, or why there is none.

    Args:
        item, strategy, pool, random_seed, scope, way: as for `damage`.
        n_draws: how many times the item is damaged.
    """
    seen: set[tuple[str, ...]] = set()
    for draw in range(n_draws):
        result: Damaged | NotApplicable = NotApplicable("no further result that differs from those before")
        for attempt in range(ATTEMPTS):
            drawn = _drawn(item, strategy, pool, random_seed, draw, attempt, scope, way)
            if isinstance(drawn, NotApplicable):
                result = drawn if not seen else result
                break
            if drawn.item.utterances not in seen:
                seen.add(drawn.item.utterances)
                result = drawn
                break
        yield result


def turns_in_scope(item: Item, scope: Scope) -> tuple[int, ...]:
    """Returns the 0-based numbers of the utterances that may be touched: at turn level only the response."""
    if item.level == "turn":
        return (len(item.utterances) - 1,)
    return tuple(range(len(item.utterances))) if scope == "all" else chatbot_turns(item)


def apply_strategy(case: Case, strategy: Strategy, rng: np.random.Generator) -> Edit | NotApplicable:
    """Applies the rules of a strategy, and refuses what they cannot or did not damage.

    Raises:
        ValueError: the strategy is of the other level or has no such way.
    """
    if case.item.level != strategy.level:
        raise ValueError(
            f"'{strategy.name}' damages a {strategy.level}, but '{case.item.item_id}' is a {case.item.level}"
        )
    if case.way is not None and case.way not in strategy.ways:
        raise ValueError(f"'{strategy.name}' has no way '{case.way}'; it has {', '.join(strategy.ways)}")
    if strategy.languages and case.item.language not in strategy.languages:
        return NotApplicable(f"no rules for language '{case.item.language}'")
    if not case.editable:
        return NotApplicable("no utterance of the chatbot")
    if not any(case.item.utterances[place].strip() for place in case.editable):
        return NotApplicable("nothing is said")
    edit = strategy.apply(case, rng)
    if isinstance(edit, Edit) and edit.utterances == case.item.utterances:
        return NotApplicable("the damage would change nothing")
    return edit


def damaged_item(item: Item, edit: Edit, suffix: str) -> tuple[Item, tuple[int, ...]]:
    """Returns the item after an edit, and the numbers of the utterances that changed, moved or are new."""
    new = with_fields(
        item,
        item_id=f"{item.item_id}/{suffix}",
        utterances=edit.utterances,
        speakers=(*item.speakers, *edit.added_speakers),
    )
    n_before = len(item.utterances)
    touched = [n for n, text in enumerate(edit.utterances) if n >= n_before or text != item.utterances[n]]
    return new, tuple(touched)


def _drawn(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    random_seed: int,
    draw: int,
    attempt: int,
    scope: Scope | None,
    way: str | None,
) -> Damaged | NotApplicable:
    parts = [item.corpus, item.language, item.item_id, strategy.name, str(draw)]
    rng = generator_for(random_seed, *parts, *([str(attempt)] if attempt else []))
    case = Case(item, pool, turns_in_scope(item, scope or strategy.scope), way)
    edit = apply_strategy(case, strategy, rng)
    if isinstance(edit, NotApplicable):
        return edit
    new, touched = damaged_item(item, edit, f"{strategy.name}/{draw}")
    return Damaged(strategy.name, edit.way, draw, 1, item.item_id, new, touched, "; ".join(edit.spans))
