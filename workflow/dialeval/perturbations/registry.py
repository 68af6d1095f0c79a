"""Every perturbation strategy by name, and severity ladders of them.

In a dialogue every step perturbs utterances that no earlier step has touched; a turn-level strategy takes one utterance
after another as a response to those before it. A response can be perturbed again only by a strategy that is
`cumulative`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import replace as with_fields
from types import MappingProxyType

import numpy as np

from dialeval.corpora.clusters import generator_for
from dialeval.corpora.items import Item
from dialeval.errors import UserError, nearest
from dialeval.perturbations import dialogue_strategies, turn_strategies
from dialeval.perturbations.strategy import (
    Case,
    Edit,
    NotApplicable,
    Perturbed,
    Pool,
    Scope,
    Strategy,
    Target,
    chatbot_turns,
)

STRATEGIES = MappingProxyType(
    {strategy.name: strategy for strategy in (*turn_strategies.STRATEGIES, *dialogue_strategies.STRATEGIES)}
)
"""Name -> strategy, turn level before dialogue level, in the order of Table 10."""

Sensitivities = Mapping[str, Collection[str]]
"""Criterion of the user's -> strategies that lower it."""
NO_SENSITIVITIES: Sensitivities = MappingProxyType({})

ATTEMPTS = 8
"""Attempts at a draw that differs from the earlier ones."""


def find_strategy(name: str, place: str = "") -> Strategy:
    """Return a strategy by its name.

    Args:
        place: where the name stands, for the message.

    Raises:
        UserError: there is none of that name; the nearest one is offered.
    """
    if name not in STRATEGIES:
        where = f"{place}: " if place else ""
        raise UserError(f"{where}'{name}' is not a perturbation; {nearest(name, STRATEGIES)}")
    return STRATEGIES[name]


def targets_of(strategy: str, sensitivities: Sensitivities = NO_SENSITIVITIES) -> tuple[Target, ...]:
    """Return the criteria that a strategy lowers: Table 10's dimensions, and the user's criteria that name it.

    A user's criterion has the smallest of the strategy's own thresholds.

    Args:
        strategy: name of the strategy; one that is not ours lowers nothing that is known.
        sensitivities: what lowers the user's criteria.
    """
    if strategy not in STRATEGIES:
        return ()
    papers = STRATEGIES[strategy].targets
    theta = min((target.theta for target in papers), default=0.0)
    return (*papers, *(Target(name, theta) for name, strategies in sensitivities.items() if strategy in strategies))


def perturb(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    *,
    random_seed: int,
    way: str | None = None,
) -> Perturbed | NotApplicable:
    """Perturb an item by the rules of a strategy, without a model.

    The result depends on the random seed, the item, the strategy and the pool only.

    Args:
        item: a good response in its context, or a good dialogue; of the strategy's level.
        pool: replacements from the corpus (`strategy.build_pool`).
        way: the only way that may be used; None for any.

    Raises:
        ValueError: the strategy is of the other level or has no such way.
    """
    return _drawn(item, strategy, pool, random_seed, 0, 0, way)


def perturb_repeatedly(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    *,
    random_seed: int,
    n_draws: int,
) -> Iterator[Perturbed | NotApplicable]:
    """Yield draws 0 to `n_draws` - 1 of `perturb`, each different from earlier ones, or the reason for none."""
    seen: set[tuple[str, ...]] = set()
    for draw in range(n_draws):
        result: Perturbed | NotApplicable = NotApplicable("no further result that differs from those before")
        for attempt in range(ATTEMPTS):
            drawn = _drawn(item, strategy, pool, random_seed, draw, attempt)
            if isinstance(drawn, NotApplicable):
                result = drawn if not seen else result
                break
            if drawn.item.utterances not in seen:
                seen.add(drawn.item.utterances)
                result = drawn
                break
        yield result


def _drawn(
    item: Item, strategy: Strategy, pool: Pool, random_seed: int, draw: int, attempt: int, way: str | None = None
) -> Perturbed | NotApplicable:
    parts = [item.corpus, item.language, item.item_id, strategy.name, str(draw)]
    rng = generator_for(random_seed, *parts, *([str(attempt)] if attempt else []))
    case = Case(item, pool, turns_in_scope(item, strategy.scope), way)
    edit = apply_strategy(case, strategy, rng)
    if isinstance(edit, NotApplicable):
        return edit
    new, touched = perturbed_item(item, edit, f"{strategy.name}/{draw}")
    return Perturbed(strategy.name, edit.way, draw, 1, item.item_id, new, touched, "; ".join(edit.spans))


@dataclass(frozen=True, slots=True)
class Ladder:
    """A severity ladder: a strategy applied 0, 1, 2, ... times to one item, each step on the one before.

    Attributes:
        original: step 0.
        steps: steps 1, 2, ...; `severity` is the number of the step.
        reason: why there are fewer steps than requested; empty if there are as many.
    """

    original: Item
    steps: tuple[Perturbed, ...]
    reason: str


def build_ladder(
    item: Item,
    strategy: Strategy,
    pool: Pool,
    *,
    random_seed: int,
    n_steps: int,
) -> Ladder:
    """Return the severity ladder of an item and a strategy; the id of a step is `<original>/<strategy>/0/<step>`.

    Args:
        item: a dialogue for any strategy, or a response in its context for a turn-level one.
        n_steps: number of steps beyond the original.

    Raises:
        ValueError: a dialogue-level strategy and a turn-level item.
    """
    if item.level == "turn" and strategy.level == "dialogue":
        raise ValueError(f"'{strategy.name}' perturbs dialogues, but '{item.item_id}' is a response")
    rng = generator_for(random_seed, item.corpus, item.language, item.item_id, strategy.name, "0", "ladder")
    steps: list[Perturbed] = []
    current = item
    waiting = _groups(item, strategy, rng)
    reason = ""
    while len(steps) < n_steps and not reason:
        edit = _next_step(current, strategy, pool, waiting, rng, first=not steps)
        if isinstance(edit, NotApplicable):
            reason = edit.reason
            break
        new, _ = perturbed_item(with_fields(current, item_id=item.item_id), edit, f"{strategy.name}/0/{len(steps) + 1}")
        n_before = len(item.utterances)
        touched = tuple(n for n, text in enumerate(new.utterances) if n >= n_before or text != item.utterances[n])
        spans = "; ".join(edit.spans)
        steps.append(Perturbed(strategy.name, edit.way, 0, len(steps) + 1, item.item_id, new, touched, spans))
        current = with_fields(new, item_id=item.item_id)
    return Ladder(item, tuple(steps), reason)


def _groups(item: Item, strategy: Strategy, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return the utterances that each step perturbs, in random order; of a response always the last one."""
    if item.level == "turn":
        return [(len(item.utterances) - 1,)]
    places = turns_in_scope(item, strategy.scope)
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
    """Perturb the next utterances that can be perturbed; those that were tried leave `waiting`."""
    if current.level == "turn":
        if not first and not strategy.cumulative:
            return NotApplicable("a second application makes the response no worse")
        return apply_strategy(Case(current, pool, waiting[0]), strategy, rng)
    last = NotApplicable("no further utterance to perturb")
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


def turns_in_scope(item: Item, scope: Scope) -> tuple[int, ...]:
    """Return the 0-based numbers of the utterances that may be touched: at turn level only the response."""
    if item.level == "turn":
        return (len(item.utterances) - 1,)
    return tuple(range(len(item.utterances))) if scope == "all" else chatbot_turns(item)


def apply_strategy(case: Case, strategy: Strategy, rng: np.random.Generator) -> Edit | NotApplicable:
    """Apply the rules of a strategy; not applicable where they change nothing.

    Raises:
        ValueError: the strategy is of the other level or has no such way.
    """
    if case.item.level != strategy.level:
        raise ValueError(
            f"'{strategy.name}' perturbs a {strategy.level}, but '{case.item.item_id}' is a {case.item.level}"
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
        return NotApplicable("the perturbation would change nothing")
    return edit


def perturbed_item(item: Item, edit: Edit, suffix: str) -> tuple[Item, tuple[int, ...]]:
    """Return the item after an edit, and the numbers of the utterances that changed, moved or are new."""
    new = with_fields(
        item,
        item_id=f"{item.item_id}/{suffix}",
        utterances=edit.utterances,
        speakers=(*item.speakers, *edit.added_speakers),
    )
    n_before = len(item.utterances)
    touched = [n for n, text in enumerate(edit.utterances) if n >= n_before or text != item.utterances[n]]
    return new, tuple(touched)
