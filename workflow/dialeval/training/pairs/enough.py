"""Whether there are dialogues enough for every part of every domain, and what to do where there are not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dialeval.errors import UserError
from dialeval.training.pairs.recipe import Recipe
from dialeval.training.pairs.splitting import PARTS, Part
from dialeval.training.pairs.surroundings import Known

ENOUGH = 5
"""Dialogues that a part should have on average, for the draw not to leave it empty."""


def refuse_empty_parts(recipe: Recipe, usable: Sequence[Known], n_judged: Mapping[str, int]) -> None:
    """Ends a run in which a domain would have nothing to learn from, to stop at, or to hold back.

    Args:
        recipe: the training set.
        usable: the dialogues in the languages asked for, without those that are judged.
        n_judged: domain -> dialogues that are left out since they are judged.

    Raises:
        UserError: the domain, the part, and how many dialogues are needed.
    """
    for domain in recipe.domains:
        parts = [placed.part for dialogue, placed in usable if dialogue.domain == domain]
        for part in PARTS:
            if part not in parts:
                judged = n_judged.get(domain, 0)
                raise UserError(
                    f"training.{recipe.name}.domains.{domain}: of {len(parts)} dialogues"
                    + (f" ({judged} more are left out, since they are judged)" if judged else "")
                    + f" none falls into the part '{part}'; {_remedy(recipe, part)}"
                )


def refuse_parts_without_pairs(recipe: Recipe, counts: Mapping[tuple[str, str, str], int]) -> None:
    """Ends a run in which nothing could be made of the dialogues of a part.

    Args:
        recipe: the training set.
        counts: pairs by domain, language and part.

    Raises:
        UserError: the domain and the part.
    """
    for domain in recipe.domains:
        for part in PARTS:
            if not any(n for (of, _, there), n in counts.items() if (of, there) == (domain, part)):
                kinds = ", ".join(dict.fromkeys(kind for own in recipe.wanted().kinds.values() for kind in own))
                raise UserError(
                    f"training.{recipe.name}.domains.{domain}: no pair could be made of the dialogues of the part "
                    f"'{part}', by none of {kinds}; more dialogues or kinds are needed, or a larger pairs_per_language"
                )


def _remedy(recipe: Recipe, part: Part) -> str:
    shares = {"development": recipe.development, "held_back": recipe.held_back}
    share = shares.get(part, 1 - sum(shares.values()))
    enough = f"about {math.ceil(ENOUGH / share)} dialogues that share no text with each other are needed"
    return enough if part == "train" else f"{enough}, or a larger share ({part}, now {share:g})"
