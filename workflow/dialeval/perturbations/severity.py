"""Severity ladders: one strategy applied 0, 1, 2, ... times to one item, each step building on the one before.

In a dialogue every step damages utterances that no step before has touched; a turn-level strategy takes one utterance
after another as a response to what stands before it. A response by itself can only be damaged again where that makes
it worse (`Strategy.cumulative`).
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as with_fields

import numpy as np

from dialeval.corpora.items import Item
from dialeval.perturbations.item_damage import Damaged, NotApplicable
from dialeval.perturbations.pool import Pool
from dialeval.perturbations.registry import apply_strategy, damaged_item, turns_in_scope
from dialeval.perturbations.strategy import Case, Edit, Scope, Strategy
from dialeval.text.folds import generator_for


@dataclass(frozen=True, slots=True)
class Ladder:
    """The steps of one ladder.

    Attributes:
        original: step 0.
        steps: steps 1, 2, ...; `severity` is the number of the step.
        reason: why there are not more steps; empty if there are as many as were asked for.
    """

    original: Item
    steps: tuple[Damaged, ...]
    reason: str


def build_ladder(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    *,
    random_seed: int,
    n_steps: int,
    draw: int = 0,
    scope: Scope | None = None,
) -> Ladder:
    """Applies a strategy again and again.

    Args:
        item: a dialogue for any strategy, or a response in its context for a turn-level one.
        strategy: what is applied.
        pool: replacements from the corpus.
        random_seed: seed of all draws.
        n_steps: how many steps beyond the original are wanted.
        draw: 0-based number of the repetition; the `item_id` of a step is `<original>/<strategy>/<draw>/<step>`.
        scope: whose utterances of a dialogue may be touched; None for the strategy's own.

    Raises:
        ValueError: a dialogue-level strategy and a turn-level item.
    """
    if item.level == "turn" and strategy.level == "dialogue":
        raise ValueError(f"'{strategy.name}' damages dialogues, but '{item.item_id}' is a response")
    rng = generator_for(random_seed, item.corpus, item.language, item.item_id, strategy.name, str(draw), "ladder")
    steps: list[Damaged] = []
    current = item
    waiting = _groups(item, strategy, scope, rng)
    reason = ""
    while len(steps) < n_steps and not reason:
        edit = _next_step(current, strategy, pool, waiting, rng, first=not steps)
        if isinstance(edit, NotApplicable):
            reason = edit.reason
            break
        new, _ = damaged_item(
            with_fields(current, item_id=item.item_id), edit, f"{strategy.name}/{draw}/{len(steps) + 1}"
        )
        n_before = len(item.utterances)
        touched = tuple(n for n, text in enumerate(new.utterances) if n >= n_before or text != item.utterances[n])
        spans = "; ".join(edit.spans)
        steps.append(Damaged(strategy.name, edit.way, draw, len(steps) + 1, item.item_id, new, touched, spans))
        current = with_fields(new, item_id=item.item_id)
    return Ladder(item, tuple(steps), reason)


def _groups(item: Item, strategy: Strategy, scope: Scope | None, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Returns which utterances the steps damage, in random order; for a response it is always the last one."""
    if item.level == "turn":
        return [(len(item.utterances) - 1,)]
    places = turns_in_scope(item, scope or strategy.scope)
    order = [places[int(place)] for place in rng.permutation(len(places))]
    starts = range(0, len(order) - strategy.unit + 1, strategy.unit)
    return [tuple(sorted(order[start : start + strategy.unit])) for start in starts]


def _next_step(
    current: Item,
    strategy: Strategy,
    pool: Pool,
    waiting: list[tuple[int, ...]],
    rng: np.random.Generator,
    *,
    first: bool,
) -> Edit | NotApplicable:
    """Damages the next utterances that can be damaged; those that were tried leave `waiting`."""
    if current.level == "turn":
        if not first and not strategy.cumulative:
            return NotApplicable("applied again, it makes a response no worse")
        return apply_strategy(Case(current, pool, waiting[0]), strategy, rng)
    last = NotApplicable("no further utterance to damage")
    while waiting:
        places = waiting.pop(0)
        edit = _at(current, strategy, pool, places, rng)
        if isinstance(edit, Edit) and edit.utterances != current.utterances:
            return edit
        last = edit if isinstance(edit, NotApplicable) and first else last
    return last


def _at(
    current: Item, strategy: Strategy, pool: Pool, places: tuple[int, ...], rng: np.random.Generator
) -> Edit | NotApplicable:
    if strategy.level == "dialogue":
        return apply_strategy(Case(current, pool, places), strategy, rng)
    place = places[0]
    response = with_fields(
        current, level="turn", utterances=current.utterances[: place + 1], speakers=current.speakers[: place + 1]
    )
    edit = apply_strategy(Case(response, pool, (place,)), strategy, rng)
    if isinstance(edit, NotApplicable):
        return edit
    return with_fields(edit, utterances=(*edit.utterances, *current.utterances[place + 1 :]))
