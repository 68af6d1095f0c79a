"""Turn-level strategies of comp-analysis: each perturbs the response alone."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from dialeval.perturbations.contradiction import exchange_entities, negated_verbs, swapped_entities, swapped_references
from dialeval.perturbations.entities import category_of, find_entities
from dialeval.perturbations.pronouns import Feature, replace_pronouns
from dialeval.perturbations.shortening import generic_reply, is_question
from dialeval.perturbations.strategy import (
    Case,
    Edit,
    NewText,
    NotApplicable,
    apply_first_applicable,
    apply_in_random_order,
    earlier_turns_of_last_speaker,
    entity_categories,
    rules_of,
    span,
    unrelated_utterance,
)
from dialeval.perturbations.words import (
    Replacement,
    SynonymsOf,
    fitting_synonym,
    has_word,
    in_case_of,
    listed_synonyms,
    neighbour,
    pieces,
    replace,
    starts_sentence,
    words,
)
from dialeval.text import normalised

HISTORY_SHARE = 0.1
"""How often Random Response takes an utterance of the context: rarely, as in the published set (23 of 1894)."""

MOST_COPIES = 3
"""How many copies of the repeated portion Repetition adds at most."""

_DETACHED_NOT = re.compile(r"\s?['’]\s?t\b", re.IGNORECASE)


@rules_of("Random Response", "turn", {"relevance": 0.3}, ("other_dialogue", "history"))
def random_response(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Replace the response by an utterance of another dialogue (`other_dialogue`) or of its own (`history`)."""
    ways = {"other_dialogue": _from_another_dialogue, "history": _from_history}
    if rng.random() < HISTORY_SHARE:
        ways = dict(reversed(ways.items()))
    return apply_first_applicable(ways, case, rng)


@rules_of("Replace Pronoun", "turn", {"relevance": 0.2}, ("gender", "number", "person"), languages=("en",))
def replace_pronoun(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Change the gender, number or person of the response's pronouns.

    `gender` exchanges he and she with it and they, `number` singular with plural, `person` the first person with the
    second or third.
    """

    def replaced(way: Feature) -> NewText | NotApplicable:
        return replace_pronouns(case.item.response, way, rng)

    return apply_in_random_order(
        {
            "gender": lambda *_: replaced("gender"),
            "number": lambda *_: replaced("number"),
            "person": lambda *_: replaced("person"),
        },
        case,
        rng,
    )


@rules_of(
    "Replace Named Entity",
    "turn",
    {"relevance": 0.2},
    ("same_category", "other_category"),
    languages=("en",),
    by_model=True,
)
def replace_named_entity(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Replace named entities and numbers by named entities and numbers of the same or of another category."""
    return apply_in_random_order(
        {"same_category": _entities_of_same_category, "other_category": _entities_of_other_category}, case, rng
    )


@rules_of(
    "Contradiction",
    "turn",
    {"relevance": 0.2},
    ("negation", "entities", "references"),
    languages=("en",),
    by_model=True,
)
def contradiction(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Negate verbs, swap entities of the context, or replace co-references.

    `negation` negates statements. `entities` swaps entities that the context mentions at least twice for others of the
    same category. `references` replaces pronouns that stand for a named person by another name.
    """
    ways = {"negation": negated_verbs, "entities": swapped_entities, "references": swapped_references}
    return apply_in_random_order(ways, case, rng)


@rules_of("Repetition", "turn", {"understandability": 0.2}, ("span",), cumulative=True)
def repetition(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Repeat a random part of the response, in place."""
    return apply_first_applicable({"span": _repeated_portion}, case, rng)


@rules_of(
    "Unnatural Paraphrase",
    "turn",
    {"understandability": 0.2},
    ("synonyms",),
    languages=("en",),
    by_model=True,
    cumulative=True,
)
def unnatural_paraphrase(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Replace random content words by rare synonyms, from our list or from WordNet."""
    return apply_first_applicable({"synonyms": partial(rare_synonyms, listed_synonyms)}, case, rng)


@rules_of(
    "Dullness",
    "turn",
    {"interestingness": 0.2, "specificity": 0.2},
    ("generic_response", "generic_answer", "earlier_utterance"),
)
def dullness(case: Case, rng: np.random.Generator) -> Edit | NotApplicable:
    """Replace the response by a stock remark or answer, or by an earlier utterance of its speaker.

    The stock reply is a `generic_answer` after a question, else a `generic_response`. The third way is
    `earlier_utterance`.
    """
    follows_question = bool(case.item.context) and is_question(case.item.context[-1], case.item.language)
    generic = "generic_answer" if follows_question else "generic_response"
    if case.way in ("generic_answer", "generic_response") and case.way != generic:
        return NotApplicable(
            "the response answers no question" if generic == "generic_response" else "the response answers a question"
        )
    return apply_in_random_order({generic: _generic, "earlier_utterance": _earlier_utterance}, case, rng)


def rare_synonyms(synonyms_of: SynonymsOf, case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    """Return the response with at least half of the words that have such synonyms replaced by them.

    Args:
        synonyms_of: gives the unnatural synonyms of a word form in lower case.
    """
    text = case.item.response
    found = words(text)
    choice: list[tuple[Replacement, str]] = []
    for place, word in enumerate(found):
        beside = (neighbour(text, found, place, -1), neighbour(text, found, place, 1))
        synonym = fitting_synonym(word, *beside, synonyms_of)
        if synonym and not _DETACHED_NOT.match(text, word.end):
            form = synonym.forms[int(rng.integers(len(synonym.forms)))]
            new = in_case_of(word.text, form, first=starts_sentence(text, word.start))
            choice.append((Replacement(word.start, word.end, new), word.text))
    if not choice:
        return NotApplicable("no word with an unnatural synonym")
    n_replaced = int(rng.integers((len(choice) + 1) // 2, len(choice) + 1))
    drawn = [choice[int(place)] for place in sorted(rng.permutation(len(choice))[:n_replaced])]
    changes = [change for change, _ in drawn]
    return NewText(replace(text, changes), tuple(span(old, change.new) for change, old in drawn))


def _from_another_dialogue(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    drawn = unrelated_utterance(case.pool, case.item, rng)
    return drawn if isinstance(drawn, NotApplicable) else NewText(drawn, (span(case.item.response, drawn),))


def _from_history(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    return _earlier_text(case, range(len(case.item.context)), "nothing else was said before", rng)


def _earlier_text(
    case: Case, turns: range | tuple[int, ...], reason: str, rng: np.random.Generator
) -> NewText | NotApplicable:
    """Draw one of some utterances that is not the response."""
    response = normalised(case.item.response)
    others = [
        case.item.utterances[turn] for turn in turns if normalised(case.item.utterances[turn]) not in (response, "")
    ]
    if not others:
        return NotApplicable(reason)
    drawn = others[int(rng.integers(len(others)))]
    return NewText(drawn, (span(case.item.response, drawn),))


def _entities_of_same_category(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    found = list(find_entities(case.item.response))
    if not found:
        return NotApplicable("no named entity or number")
    return exchange_entities(case, found, category_of(found), {}, rng)


def _entities_of_other_category(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    found = list(find_entities(case.item.response))
    if not found:
        return NotApplicable("no named entity or number")
    categories: dict[str, str] = {}
    for key, category in category_of(found).items():
        others = [name for name in entity_categories(case.pool, case.item.language) if name != category]
        categories[key] = others[int(rng.integers(len(others)))]
    return exchange_entities(case, found, categories, {}, rng)


def _repeated_portion(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    found, blank = pieces(case.item.response)
    worded = [place for place, piece in enumerate(found) if has_word(piece)]
    if not worded:
        return NotApplicable("the response has no words")
    shortest = min(len(worded), 2)  # one word out of many is easily overlooked
    n_words = int(rng.integers(shortest, max(shortest, len(worded) // 2 + 1) + 1))
    first = int(rng.integers(len(worded) - n_words + 1))
    start, end = worded[first], worded[first + n_words - 1] + 1
    copies = int(rng.integers(2, MOST_COPIES + 1))
    portion = found[start:end]
    text = blank.join([*found[:end], *portion * copies, *found[end:]])
    return NewText(text, (f'"{blank.join(portion)}" {copies} times more',))


def _generic(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    previous = case.item.context[-1] if case.item.context else ""
    reply = generic_reply(previous, case.item.language, case.item.utterances, rng)
    if reply is None:
        return NotApplicable("no generic replies in this language")
    return NewText(reply, (span(case.item.response, reply),))


def _earlier_utterance(case: Case, rng: np.random.Generator) -> NewText | NotApplicable:
    return _earlier_text(case, earlier_turns_of_last_speaker(case.item), "the speaker said nothing else before", rng)


STRATEGIES = (
    random_response, replace_pronoun, replace_named_entity, contradiction, repetition, unnatural_paraphrase, dullness,
)  # fmt: skip
"""All turn-level strategies, in the order of Table 10, with its dimensions and thresholds."""
