"""Perturbation strategies: their definition, their result, and the pool that replacements are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from dialeval.corpora.items import Item
from dialeval.criteria import Level
from dialeval.perturbations.entities import find_entities, listed_by_category
from dialeval.perturbations.words import content_words, pieces
from dialeval.text import normalised

TRIES = 40
"""How many utterances are drawn in search of one that is about something else."""

FEWEST_PIECES = 4
"""Words, or characters in scripts without blanks, that an utterance needs to be about anything."""


class PoolUtterance(NamedTuple):
    """An utterance, and the cluster (dialogue) it comes from."""

    text: str
    cluster: str


@dataclass(frozen=True)
class Pool:
    """Replacements from a corpus, by language.

    Attributes:
        utterances: responses of turn-level items and all utterances of dialogues, each once per cluster.
        entities: category -> distinct entities, with those of our own list after the corpus's.
    """

    utterances: Mapping[str, tuple[PoolUtterance, ...]] = field(default_factory=dict)
    entities: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def build_pool(items: Iterable[Item]) -> Pool:
    """Return the pool of a corpus; the order of the items decides which draw is which."""
    utterances: dict[str, dict[PoolUtterance, None]] = {}
    texts: dict[str, dict[str, None]] = {}
    for item in items:
        own = (item.response,) if item.level == "turn" else item.utterances
        utterances.setdefault(item.language, {}).update(
            (PoolUtterance(text.strip(), item.cluster), None) for text in own if text.strip()
        )
        if item.language == "en":
            texts.setdefault("en", {}).update(dict.fromkeys(item.utterances))
    return Pool(
        {language: tuple(found) for language, found in utterances.items()},
        {language: _entities(found) for language, found in texts.items()},
    )


def unrelated_utterance(
    pool: Pool, item: Item, rng: np.random.Generator, taken: Iterable[str] = ()
) -> str | NotApplicable:
    """Draw an utterance of another dialogue that is about something else.

    In English it has two content words and none of the dialogue's; in other languages it has `FEWEST_PIECES`. Where no
    draw finds one, any other utterance of another dialogue is taken.

    Args:
        item: the item that it is strange to.
        taken: further utterances that it must not repeat.
    """
    utterances = pool.utterances.get(item.language, ())
    if not utterances:
        return NotApplicable("the corpus has no other dialogue in this language")
    heard = {normalised(text) or text.strip() for text in (*item.utterances, *taken)}
    topics = frozenset[str]().union(*map(content_words, item.utterances)) if item.language == "en" else frozenset[str]()
    second_best = ""
    for place in rng.integers(len(utterances), size=TRIES):
        text, cluster = utterances[int(place)]
        if cluster == item.cluster or (normalised(text) or text) in heard:
            continue
        if _is_about_something(text, item.language) and not topics & content_words(text):
            return text
        second_best = second_best or text
    return second_best or NotApplicable("the corpus has no other dialogue in this language")


def draw_entity(
    pool: Pool, language: str, category: str, avoid: Iterable[str], rng: np.random.Generator
) -> str | NotApplicable:
    """Draw an entity of a category, none of `avoid` (in lower case)."""
    avoided = set(avoid)
    known = pool.entities.get(language) or listed_by_category()
    choice = [name for name in known.get(category, ()) if name.lower() not in avoided]
    if not choice:
        return NotApplicable("the corpus has no other named entity of the category")
    return choice[int(rng.integers(len(choice)))]


def entity_categories(pool: Pool, language: str) -> tuple[str, ...]:
    """Return the categories that have entities, sorted."""
    return tuple(sorted(pool.entities.get(language) or listed_by_category()))


def _entities(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        for entity in find_entities(text):
            kept = found.setdefault(entity.category, {})
            if entity.key not in kept or kept[entity.key].islower():
                kept[entity.key] = entity.key if entity.category in ("number", "day") else entity.text
    for category, names in listed_by_category().items():
        for name in names:
            kept = found.setdefault(category, {})
            if name.lower() not in kept or kept[name.lower()].islower():
                kept[name.lower()] = name
    return {category: tuple(kept.values()) for category, kept in found.items()}


def _is_about_something(text: str, language: str) -> bool:
    if language == "en":
        return len(content_words(text)) >= 2
    return len(pieces(text)[0]) >= FEWEST_PIECES


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A perturbed item, with its strategy and what changed.

    Attributes:
        strategy: name of the strategy.
        way: which of the strategy's ways or rules was used; `model` where a model rewrote the item.
        draw: 0-based number of this repetition; draws of one item differ from each other.
        severity: how many times the strategy was applied; 1 unless the item is a step of a severity ladder.
        original_id: `item_id` of the original item.
        item: the perturbed item; never equal to the original. Its `item_id` is `<original_id>/<strategy>/<draw>`.
        touched: 0-based numbers of the utterances in the perturbed item that changed, moved or are new.
        changed: what changed, for a reader, such as `2: "she" > "they"` (utterances counted from 0).
    """

    strategy: str
    way: str
    draw: int
    severity: int
    original_id: str
    item: Item
    touched: tuple[int, ...]
    changed: str


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Why an item could not be perturbed; equal reasons have equal texts, so that they can be counted."""

    reason: str


Scope = Literal["chatbot", "all"]
"""Whose utterances may be touched in a dialogue."""


@dataclass(frozen=True, slots=True)
class Case:
    """One item to perturb.

    Attributes:
        item: the item; its last utterance is the response at turn level.
        pool: replacements from other dialogues.
        editable: 0-based numbers of the utterances that may be touched, ascending.
        way: the only way that may be used; None leaves the choice to the strategy.
    """

    item: Item
    pool: Pool
    editable: tuple[int, ...]
    way: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """The utterances after a perturbation.

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
    """One utterance after a perturbation, and what changed in it."""

    text: str
    spans: tuple[str, ...] = ()


Rule = Callable[[Case, np.random.Generator], NewText | NotApplicable]
"""One rule that perturbs a response (the last utterance)."""


@dataclass(frozen=True, slots=True)
class Target:
    """A dimension that a strategy lowers, and the drop in score above which it counts as noticed (Table 10)."""

    dimension: str
    theta: float


Apply = Callable[[Case, np.random.Generator], Edit | NotApplicable]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A perturbation strategy.

    Attributes:
        name: as in the configuration.
        title: as the paper's tables print it.
        level: of the items that it perturbs.
        targets: Table 10's dimensions and thresholds.
        apply: the rules; they need no model.
        ways: names of the ways to choose from.
        scope: whose utterances a dialogue-level strategy touches by default.
        languages: language codes that the rules know; empty where they need no knowledge of a language.
        by_model: whether the rewriting model applies it too by default; false where rules do as well.
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


def rules_of(
    title: str, level: Level, targets: Mapping[str, float], ways: tuple[str, ...], **more: Any
) -> Callable[[Apply], Strategy]:
    """Return a decorator that makes a function the rules of a strategy with its name.

    Args:
        title: as the paper's tables print it.
        targets: Table 10's dimensions, each with its threshold.
    """
    lowered = tuple(Target(dimension, theta) for dimension, theta in targets.items())
    return lambda apply: Strategy(apply.__name__, title, level, lowered, apply, ways, **more)


def span(before: str, after: str) -> str:
    """Return one change for a reader."""
    return f'"{before}" > "{after}"'


def apply_in_random_order(ways: Mapping[str, Rule], case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Perturb the response by the first rule that applies, trying the rules in random order."""
    order = [list(ways)[int(place)] for place in rng.permutation(len(ways))]
    return apply_first_applicable({name: ways[name] for name in order}, case, rng)


def apply_first_applicable(ways: Mapping[str, Rule], case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Perturb the response by the first rule that applies, in the order given.

    Returns:
        The edit; if no rule applies, the reasons of all of them.
    """
    reasons: dict[str, None] = {}
    for name, way in ways.items():
        if case.way not in (None, name):
            continue
        new = way(case, rng)
        if isinstance(new, NotApplicable):
            reasons[new.reason] = None
        elif new.text.strip() == case.item.response.strip() or not new.text.strip():
            reasons["the perturbation would change nothing"] = None
        else:
            return Edit(name, (*case.item.context, new.text), new.spans)
    return NotApplicable("; ".join(sorted(reasons)))


def edit_utterances(
    case: Case, way: str, change: Callable[[int, Sequence[str]], NewText | NotApplicable]
) -> Edit | NotApplicable:
    """Apply a change to every editable utterance; not applicable where it changes fewer than half of them.

    Args:
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
        why = max(reasons, key=lambda reason: reasons[reason]) if reasons else "the perturbation would change nothing"
        return NotApplicable(why if not n_changed else f"fewer than half of the utterances would change: {why}")
    return Edit(way, tuple(utterances), tuple(spans))


def chatbot_turns(item: Item) -> tuple[int, ...]:
    """Return the 0-based numbers of the chatbot's utterances.

    A speaker named `chatbot` is the chatbot; beside a speaker named `human` it is the other one. Where neither is
    known, it is the last speaker at turn level, and the second to speak in a dialogue. Where the source names fewer
    than two speakers, they are taken to alternate.
    """
    speakers = item.speakers
    names = list(dict.fromkeys(speakers))
    if len(names) < 2:
        last_is_chatbot = item.level == "turn" or len(speakers) % 2 == 0
        return tuple(turn for turn in range(len(speakers)) if ((len(speakers) - 1 - turn) % 2 == 0) == last_is_chatbot)
    if "chatbot" in names:
        chatbot = "chatbot"
    elif "human" in names:
        chatbot = next(name for name in names if name != "human")
    else:
        chatbot = speakers[-1] if item.level == "turn" else names[1]
    return tuple(turn for turn, speaker in enumerate(speakers) if speaker == chatbot)


def earlier_turns_of_last_speaker(item: Item) -> tuple[int, ...]:
    """Return the 0-based numbers of the earlier utterances of the last speaker."""
    last = len(item.speakers) - 1
    if len(set(item.speakers)) < 2:
        return tuple(turn for turn in range(last) if (last - turn) % 2 == 0)
    return tuple(turn for turn in range(last) if item.speakers[turn] == item.speakers[last])


def is_last_speaker(item: Item, turn: int) -> bool:
    """Return whether an utterance's speaker also has the last utterance."""
    if len(set(item.speakers)) < 2:
        return (len(item.speakers) - 1 - turn) % 2 == 0
    return item.speakers[turn] == item.speakers[-1]
