"""The ways of spoiling that training knows, and the criteria that each of them lowers.

Perturbations keep their names. Beside them stand what is borrowed from other dialogues or from elsewhere in the same
one, and shuffled words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from dialeval.config.training import DEFAULT_CRITERIA
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest
from dialeval.perturbations.registry import NOTHING_ELSE, STRATEGIES, Hurt

RANDOM, SAME_DIALOGUE, NEAR, SIMILAR_LENGTH = "random", "same_dialogue", "near", "similar_length"
WORD_ORDER = "word_order"
BORROWED = (RANDOM, SAME_DIALOGUE, NEAR, SIMILAR_LENGTH)
"""Kinds that put an utterance of people in the response's place."""
INSTEAD: Mapping[str, str] = MappingProxyType({"random_response": RANDOM})
"""Perturbations that are known here by another name."""

_OF_TURNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # a response that says nothing, is garbled or denies what was said does not answer what was said before
        "relevance": (*BORROWED, WORD_ORDER, "repetition", "dullness", "contradiction", "replace_pronoun",
                      "replace_named_entity"),
        "understandability": (WORD_ORDER, "repetition", "unnatural_paraphrase"),
        "specificity": ("dullness",),
        "interestingness": ("dullness",),
    }
)  # fmt: skip
_OF_DIALOGUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "coherence": ("order_shuffle", "utterance_replacement", "utterance_replacement_2", "utterance_replacement_3",
                      "self_contradiction"),
        "engagingness": ("self_contradiction", "utterance_duplication", "repeating_others", "generic_utterance"),
        "informativeness": ("generic_utterance", "content_reduction"),
    }
)  # fmt: skip


def kinds_of_level(level: Level) -> tuple[str, ...]:
    """Returns every kind of a level, by name."""
    perturbations = [name for name, one in STRATEGIES.items() if one.level == level and name not in INSTEAD]
    return (*BORROWED, WORD_ORDER, *perturbations) if level == "turn" else tuple(perturbations)


def kinds_for(criterion: str, level: Level, hurt: Hurt = NOTHING_ELSE) -> tuple[str, ...]:
    """Returns the kinds that lower a criterion; none where nothing is known to.

    Args:
        criterion: a shipped one or the user's.
        level: of what is judged.
        hurt: the user's criteria with the perturbations that lower them.
    """
    if criterion == "overall":
        return kinds_of_level(level)
    if criterion in hurt:
        named = [INSTEAD.get(name, name) for name in hurt[criterion]]
        return tuple(name for name in dict.fromkeys(named) if name in kinds_of_level(level))
    return (_OF_TURNS if level == "turn" else _OF_DIALOGUES).get(criterion, ())


def chosen_kinds(
    criteria: Collection[str] | None, kinds: Collection[str] | None, level: Level, hurt: Hurt = NOTHING_ELSE
) -> dict[str, tuple[str, ...]]:
    """Returns the kinds by criterion.

    Args:
        criteria: None for those that the paper's metrics learn.
        kinds: None for all that lower a criterion.
        level: of what is judged.
        hurt: the user's criteria with the perturbations that lower them.

    Raises:
        UserError: a kind is not known at this level, or a criterion is left without any.
    """
    known = kinds_of_level(level)
    for name in kinds or ():
        if name not in known:
            meant = f"it is called '{INSTEAD[name]}' here" if name in INSTEAD else nearest(name, known)
            raise UserError(f"'{name}' is no way of spoiling a {level}; {meant}")
    found = {}
    for criterion in criteria or DEFAULT_CRITERIA[level]:
        lowering = kinds_for(criterion, level, hurt)
        found[criterion] = tuple(name for name in lowering if kinds is None or name in kinds)
        if not lowering:
            able = [name for name in (*_OF_TURNS, *_OF_DIALOGUES, "overall") if kinds_for(name, level)]
            raise UserError(
                f"nothing is known to lower '{criterion}' of a {level}; criteria that something lowers: "
                f"{', '.join(able)}; one of yours says what lowers it under criteria.{criterion}.hurt_by"
            )
        if not found[criterion]:
            raise UserError(f"none of the kinds lowers '{criterion}'; what does: {', '.join(lowering)}")
    return found
