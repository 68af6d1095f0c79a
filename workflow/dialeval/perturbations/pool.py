"""What other dialogues offer as replacements: utterances of other dialogues, and named entities by category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dialeval.corpora.items import Item
from dialeval.perturbations.entities import find_entities, listed_by_category
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.words import content_words, pieces
from dialeval.text.tokens import normalised

TRIES = 40
"""How many utterances are drawn in search of one that is about something else."""

FEWEST_PIECES = 4
"""Words, or characters in scripts without blanks, that an utterance needs to be about anything."""


class Said(NamedTuple):
    """An utterance, and the cluster (dialogue) it comes from."""

    text: str
    cluster: str


@dataclass(frozen=True)
class Pool:
    """Replacements from a corpus, by language.

    Attributes:
        said: responses of turn-level items and all utterances of dialogues, each once per cluster.
        entities: category -> distinct entities, with those of our own list after the corpus's.
    """

    said: Mapping[str, tuple[Said, ...]] = field(default_factory=dict)
    entities: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def build_pool(items: Iterable[Item]) -> Pool:
    """Returns the pool of a corpus; the order of the items decides which draw is which."""
    said: dict[str, dict[Said, None]] = {}
    texts: dict[str, dict[str, None]] = {}
    for item in items:
        own = (item.response,) if item.level == "turn" else item.utterances
        said.setdefault(item.language, {}).update(
            (Said(text.strip(), item.cluster), None) for text in own if text.strip()
        )
        if item.language == "en":
            texts.setdefault("en", {}).update(dict.fromkeys(item.utterances))
    return Pool(
        {language: tuple(found) for language, found in said.items()},
        {language: _entities(found) for language, found in texts.items()},
    )


def strange_utterance(
    pool: Pool, item: Item, rng: np.random.Generator, taken: Iterable[str] = ()
) -> str | NotApplicable:
    """Draws an utterance of another dialogue that is about something else.

    In English it has two words that carry meaning and none that was said in the dialogue; elsewhere it is long enough
    to be about something. Where the draws find none such, any other utterance of another dialogue will do.

    Args:
        pool: where to draw from.
        item: the item that it is strange to.
        rng: source of the draws.
        taken: further utterances that it must not repeat.
    """
    said = pool.said.get(item.language, ())
    if not said:
        return NotApplicable("the corpus has no other dialogue in this language")
    heard = {normalised(text) or text.strip() for text in (*item.utterances, *taken)}
    topics = frozenset[str]().union(*map(content_words, item.utterances)) if item.language == "en" else frozenset[str]()
    second_best = ""
    for place in rng.integers(len(said), size=TRIES):
        text, cluster = said[int(place)]
        if cluster == item.cluster or (normalised(text) or text) in heard:
            continue
        if _is_about_something(text, item.language) and not topics & content_words(text):
            return text
        second_best = second_best or text
    return second_best or NotApplicable("the corpus has no other dialogue in this language")


def another_entity(
    pool: Pool, language: str, category: str, avoid: Iterable[str], rng: np.random.Generator
) -> str | NotApplicable:
    """Draws an entity of a category, none of `avoid` (in lower case)."""
    avoided = set(avoid)
    known = pool.entities.get(language) or listed_by_category()
    choice = [name for name in known.get(category, ()) if name.lower() not in avoided]
    if not choice:
        return NotApplicable("the corpus has no other named entity of the category")
    return choice[int(rng.integers(len(choice)))]


def entity_categories(pool: Pool, language: str) -> tuple[str, ...]:
    """Returns the categories that have entities, sorted."""
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
