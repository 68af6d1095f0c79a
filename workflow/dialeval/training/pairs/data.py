"""A training set from its recipe: dialogues are read, split, and made into pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.training.pairs.enough import refuse_empty_parts, refuse_parts_without_pairs
from dialeval.training.pairs.examples import make_pairs
from dialeval.training.pairs.human_dialogues import read_dialogues
from dialeval.training.pairs.pair import rows_of
from dialeval.training.pairs.recipe import Recipe
from dialeval.training.pairs.shared_text import whole
from dialeval.training.pairs.splitting import PARTS, split
from dialeval.training.pairs.surroundings import Known

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
    _refuse_absent_languages(recipe, known)
    asked = [one for one in known if recipe.languages is None or one[0].language in recipe.languages]
    judged = Counter(one.domain for one, _ in asked if one.name in left_out)
    usable = _without_repeats([one for one in asked if one[0].name not in left_out], say)
    refuse_empty_parts(recipe, usable, judged)
    counts: Counter[tuple[str, str, str]] = Counter()
    for pair in make_pairs(usable, recipe.wanted()):
        counts[pair.dialogue.domain, pair.dialogue.language, pair.placed.part] += 1
        yield from rows_of(pair, recipe.name)
    refuse_parts_without_pairs(recipe, counts)
    _tell(recipe, usable, counts, say)


def _refuse_absent_languages(recipe: Recipe, known: Iterable[Known]) -> None:
    there = {one.language for one, _ in known}
    for name in recipe.languages or ():
        if name not in there:
            raise UserError(
                f"training.{recipe.name}.languages: none of the dialogues is in '{name}'; they are in "
                f"{', '.join(sorted(there)) or 'none'}"
            )


def _without_repeats(known: Sequence[Known], say: Callable[[str], object]) -> list[Known]:
    """Returns the dialogues, each text once in a domain and language."""
    seen: set[tuple[str, str, int]] = set()
    kept, clusters = [], Counter[str]()
    for dialogue, placed in known:
        key = (dialogue.domain, dialogue.language, whole(dialogue.utterances))
        if key not in seen:
            seen.add(key)
            kept.append((dialogue, placed))
            clusters[placed.cluster] += 1
    if len(known) > len(kept):
        say(f"{len(known) - len(kept)} dialogues are left out, since they stand in the same domain before")
    n_languages = len({dialogue.language for dialogue, _ in kept})
    for name, n in clusters.most_common(1):
        if n > max(LARGE_CLUSTER * len(kept), 2 * n_languages):
            say(f"{n} of {len(kept)} dialogues hold text of each other and are in one part, such as '{name}'")
    return kept


def _tell(
    recipe: Recipe, known: Sequence[Known], counts: Mapping[tuple[str, str, str], int], say: Callable[[str], object]
) -> None:
    for domain, language in sorted({(domain, language) for domain, language, _ in counts}):
        parts = ", ".join(f"{counts.get((domain, language, part), 0)} {part}" for part in PARTS)
        n = sum((one.domain, one.language) == (domain, language) for one, _ in known)
        say(f"{recipe.name}, {domain}, {language}: pairs of {n} dialogues: {parts}")
