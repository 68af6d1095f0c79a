"""A training set from its recipe: dialogues are read, split, and made into pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.training.examples import make_pairs
from dialeval.training.human_dialogues import read_dialogues
from dialeval.training.pair import rows_of
from dialeval.training.recipe import Recipe
from dialeval.training.shared_text import whole
from dialeval.training.splitting import PARTS, split
from dialeval.training.surroundings import Known

ENOUGH = 5
"""Dialogues that a part should have, for the draw not to leave it empty."""
LARGE_CLUSTER = 0.05
"""Share of the dialogues in one cluster above which that is told."""


def known_dialogues(recipe: Recipe, tables: Iterable[Path]) -> list[Known]:
    """Returns the dialogues of a training set in all languages that its corpora have, with clusters and parts."""
    dialogues = read_dialogues(tables, recipe.domain_of())
    placed = split(
        dialogues, development=recipe.development, held_back=recipe.held_back, random_seed=recipe.random_seed
    )
    return list(zip(dialogues, placed, strict=True))


def training_rows(
    recipe: Recipe, tables: Iterable[Path], left_out: Collection[str], *, say: Callable[[str], object]
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `training_examples`.

    Args:
        recipe: the training set.
        tables: tables `utterances` of its corpora, and of what is translated of them.
        left_out: names of dialogues that are not learned from.
        say: takes what is to be told.

    Raises:
        UserError: a domain, or a language that was named, has nothing in one of the parts.
    """
    known = known_dialogues(recipe, tables)
    usable = _without_repeats([one for one in known if one[0].name not in left_out], recipe, say)
    counts: Counter[tuple[str, str, str]] = Counter()
    for pair in make_pairs(usable, recipe.wanted()):
        counts[pair.dialogue.domain, pair.dialogue.language, pair.placed.part] += 1
        yield from rows_of(pair, recipe.name)
    _refuse_empty_parts(recipe, usable, counts)
    _tell(recipe, usable, counts, say)


def _without_repeats(known: Sequence[Known], recipe: Recipe, say: Callable[[str], object]) -> list[Known]:
    """Returns the dialogues of the languages that are asked for, each once in a domain."""
    seen: set[tuple[str, str, int]] = set()
    kept, clusters = [], Counter[str]()
    for dialogue, placed in known:
        key = (dialogue.domain, dialogue.language, whole(dialogue.utterances))
        if key in seen or (recipe.languages is not None and dialogue.language not in recipe.languages):
            continue
        seen.add(key)
        kept.append((dialogue, placed))
        clusters[placed.cluster] += 1
    n_asked = sum(recipe.languages is None or one.language in recipe.languages for one, _ in known)
    if n_asked > len(kept):
        say(f"{n_asked - len(kept)} dialogues are left out, since they stand in the same domain before")
    for name, n in clusters.most_common(1):
        n_languages = len({dialogue.language for dialogue, _ in kept})
        if n > max(LARGE_CLUSTER * len(kept), 2 * n_languages):
            say(f"{n} of {len(kept)} dialogues hold text of each other and are in one part, such as '{name}'")
    return kept


def _refuse_empty_parts(recipe: Recipe, known: Sequence[Known], counts: Mapping[tuple[str, str, str], int]) -> None:
    languages = {one.language for one, _ in known}
    for name in recipe.languages or ():
        if name not in languages:
            raise UserError(
                f"training.{recipe.name}.languages: none of the dialogues is in '{name}'; they are in "
                f"{', '.join(sorted(languages)) or 'none'}"
            )
    for domain in recipe.domains:
        n = sum(one.domain == domain for one, _ in known)
        for part in PARTS:
            if any(counts.get((domain, language, part)) for language in languages):
                continue
            share = {"development": recipe.development, "held_back": recipe.held_back}.get(
                part, 1 - recipe.development - recipe.held_back
            )
            more = f", or a larger share ({part}, now {share:g})" if part != "train" else ""
            raise UserError(
                f"training.{recipe.name}.domains.{domain}: of {n} dialogues none is left for the part '{part}'; about "
                f"{math.ceil(ENOUGH / share)} dialogues that share no text are needed{more}"
            )


def _tell(
    recipe: Recipe, known: Sequence[Known], counts: Mapping[tuple[str, str, str], int], say: Callable[[str], object]
) -> None:
    for domain, language in sorted({(domain, language) for domain, language, _ in counts}):
        parts = ", ".join(f"{counts.get((domain, language, part), 0)} {part}" for part in PARTS)
        n = sum((one.domain, one.language) == (domain, language) for one, _ in known)
        say(f"{recipe.name}, {domain}, {language}: pairs of {n} dialogues: {parts}")
