"""A perturbation strategy: a name, what it aims at, and a function that damages the utterances of one case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dialeval.corpora.items import Item
from dialeval.criteria import Level
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.pool import Pool

Scope = Literal["chatbot", "all"]
"""Whose utterances may be touched in a dialogue."""


@dataclass(frozen=True, slots=True)
class Case:
    """One item that is to be damaged.

    Attributes:
        item: the item; its last utterance is the response at turn level.
        pool: what other dialogues offer as replacements.
        editable: 0-based numbers of the utterances that may be touched, ascending.
        way: the only way that may be used; None leaves the choice to the strategy.
    """

    item: Item
    pool: Pool
    editable: tuple[int, ...]
    way: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """The utterances after the damage.

    Attributes:
        way: which way was used.
        utterances: all utterances; as many as before, unless `added_speakers` says who spoke the new ones at the end.
        spans: what changed, one readable text for each change, such as `"she" > "they"`.
        added_speakers: speakers of the utterances that were added at the end.
    """

    way: str
    utterances: tuple[str, ...]
    spans: tuple[str, ...] = ()
    added_speakers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewText:
    """One utterance after the damage, and what changed in it."""

    text: str
    spans: tuple[str, ...] = ()


Apply = Callable[[Case, np.random.Generator], Edit | NotApplicable]
Way = Callable[[Case, np.random.Generator], NewText | NotApplicable]
"""One way to damage a response (the last utterance)."""


@dataclass(frozen=True, slots=True)
class Target:
    """A dimension that the damage lowers, and the drop above which it counts as noticed (Table 10)."""

    dimension: str
    theta: float


@dataclass(frozen=True, slots=True)
class Strategy:
    """A perturbation strategy.

    Attributes:
        name: as in the configuration.
        title: as the paper's tables print it.
        level: what it damages.
        targets: Table 10's dimensions and thresholds.
        apply: the rules; they need no model.
        ways: names of the ways to choose from.
        scope: whose utterances a dialogue-level strategy touches unless told otherwise.
        languages: language codes that the rules know; empty where they need no knowledge of a language.
        by_model: whether a rewriting model makes it too, unless it is told what to make; not where rules lose nothing.
        unit: how many utterances of a dialogue one application needs: one step of a severity ladder.
        cumulative: whether applying it again to the same response makes that response worse still.
    """

    name: str
    title: str
    level: Level
    targets: tuple[Target, ...]
    apply: Apply
    ways: tuple[str, ...]
    scope: Scope = "chatbot"
    languages: tuple[str, ...] = ()
    by_model: bool = False
    unit: int = 1
    cumulative: bool = False


def span(before: str, after: str) -> str:
    """Returns one change for a reader."""
    return f'"{before}" > "{after}"'


def one_of(ways: Mapping[str, Way], case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Damages the response in the first of the ways that applies, the ways being tried in random order."""
    order = [list(ways)[int(place)] for place in rng.permutation(len(ways))]
    return first_of({name: ways[name] for name in order}, case, rng)


def first_of(ways: Mapping[str, Way], case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Damages the response in the first of the ways that applies, in the order given.

    Returns:
        The edit; if no way applies, the reasons of all of them.
    """
    reasons: dict[str, None] = {}
    for name, way in ways.items():
        if case.way not in (None, name):
            continue
        new = way(case, rng)
        if isinstance(new, NotApplicable):
            reasons[new.reason] = None
        elif new.text.strip() == case.item.response.strip() or not new.text.strip():
            reasons["the damage would change nothing"] = None
        else:
            return Edit(name, (*case.item.context, new.text), new.spans)
    return NotApplicable("; ".join(sorted(reasons)))


def edit_each(
    case: Case, way: str, change: Callable[[int, Sequence[str]], NewText | NotApplicable]
) -> Edit | NotApplicable:
    """Changes every utterance that may be touched, if the change applies to at least half of them.

    Args:
        case: the dialogue.
        way: name of the way.
        change: gets the number of an utterance and all utterances, as far as they are changed already.
    """
    utterances = list(case.item.utterances)
    spans: list[str] = []
    reasons: dict[str, int] = {}
    n_changed = 0
    for number in case.editable:
        new = change(number, utterances)
        if isinstance(new, NotApplicable):
            reasons[new.reason] = reasons.get(new.reason, 0) + 1
        elif new.text.strip() and new.text.strip() != utterances[number].strip():
            utterances[number] = new.text
            spans += new.spans
            n_changed += 1
    if not n_changed or 2 * n_changed < len(case.editable):
        why = max(reasons, key=lambda reason: reasons[reason]) if reasons else "the damage would change nothing"
        return NotApplicable(why if not n_changed else f"fewer than half of the utterances would change: {why}")
    return Edit(way, tuple(utterances), tuple(spans))
