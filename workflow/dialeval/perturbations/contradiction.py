"""Responses that contradict their context: negated verbs, exchanged entities, and exchanged co-references."""

from __future__ import annotations

import numpy as np

from dialeval.perturbations.entities import Entity, category_of, find_entities
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.negation import negate
from dialeval.perturbations.pool import another_entity
from dialeval.perturbations.strategy import Case, NewText, span
from dialeval.perturbations.words import Replacement, replace, sentences, words

NOTHING_TO_NEGATE = "no statement that can be negated"

FEWEST_MENTIONS = 2
"""How often the context must mention an entity for its exchange to contradict the context."""


def negated_verbs(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Negates the first verb of every statement of the response; one that is negated already loses its negation."""
    return negate_statements(case.item.response)


def negate_statements(text: str) -> NewText | NotApplicable:
    """Negates every statement of an English text that the rules can negate."""
    changes: list[Replacement] = []
    spans: list[str] = []
    for start, end in sentences(text):
        negated = negate(text[start:end])
        if negated:
            changes.append(Replacement(start, end, negated.text))
            spans.append(span(negated.before, negated.after))
    return NewText(replace(text, changes), tuple(spans)) if changes else NotApplicable(NOTHING_TO_NEGATE)


def swapped_entities(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Exchanges the entities of the response that the context mentions twice or more for others of the same kind."""
    mentions: dict[str, int] = {}
    for text in case.item.context:
        for entity in find_entities(text):
            mentions[entity.key] = mentions.get(entity.key, 0) + 1
    swapped = [entity for entity in find_entities(case.item.response) if mentions.get(entity.key, 0) >= FEWEST_MENTIONS]
    if not swapped:
        return NotApplicable("no named entity that the context mentions twice")
    return exchange(case, swapped, category_of(swapped), mentions, rng)


def swapped_references(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Exchanges the pronouns of the response that stand for a person of the context for the name of another person."""
    persons = [entity for text in case.item.context for entity in find_entities(text) if entity.category == "person"]
    if not persons:
        return NotApplicable("no co-reference to a named entity of the context")
    name = another_entity(case.pool, case.item.language, "person", {entity.key for entity in persons}, rng)
    if isinstance(name, NotApplicable):
        return name
    text = case.item.response
    changes: list[Replacement] = []
    spans: dict[str, None] = {}
    found = words(text)
    for place, word in enumerate(found):
        bare = word.lower.split("'")[0]
        if bare not in ("he", "she", "him", "his", "her"):
            continue
        noun_follows = place + 1 < len(found) and not text[word.end : found[place + 1].start].strip()
        owns = bare == "his" or (bare == "her" and noun_follows)
        new = f"{name}'s" if owns else name
        changes.append(Replacement(word.start, word.start + len(bare), new))
        spans[span(word.text[: len(bare)], new)] = None
    if not changes:
        return NotApplicable("no co-reference to a named entity of the context")
    return NewText(replace(text, changes), tuple(spans))


def exchange(
    case: Case,
    entities: list[Entity],
    categories: dict[str, str],
    avoid: dict[str, int],
    rng: np.random.Generator,
) -> NewText | NotApplicable:
    """Exchanges entities of the response, each by one and the same other entity throughout.

    Args:
        case: the item and its pool.
        entities: what is exchanged.
        categories: which category each one's replacement comes from, by `Entity.key`.
        avoid: keys that may not be drawn.
        rng: source of the draws.
    """
    text = case.item.response
    instead: dict[str, str] = {}
    taken = {*avoid, *(entity.key for entity in entities)}
    for key, category in categories.items():
        new = another_entity(case.pool, case.item.language, category, taken, rng)
        if isinstance(new, NotApplicable):
            return new
        instead[key] = new
        taken.add(new.lower())
    lower = not any(letter.isupper() for letter in text)
    changes: list[Replacement] = []
    for entity in entities:
        new = instead[entity.key].lower() if lower else instead[entity.key]
        changes.append(Replacement(entity.start, entity.end, new[:1].upper() + new[1:] if entity.start == 0 else new))
    return NewText(replace(text, changes), tuple(dict.fromkeys(span(text[c.start : c.end], c.new) for c in changes)))
