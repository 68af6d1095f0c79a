"""A training set from its recipe: ordered examples, minimum sizes of parts, and overlap with judged dialogues."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from dialeval.config.training import TrainingSet
from dialeval.errors import UserError
from dialeval.tables.files import iterate_rows
from dialeval.tables.training import JUDGED_TEXTS, TRAINING_OVERLAP
from dialeval.training.human_dialogues import (
    PARTS,
    Part,
    dialogue_number,
    judged_passages,
    number_of,
    read_dialogues,
    split,
)
from dialeval.training.negatives import Known, Surroundings, surroundings_of
from dialeval.training.pairs import Pair, chosen_perturbations, make_dialogue_pair, make_turn_pair, rows_of

Place = tuple[int, int, str]
"""Position of a dialogue, of a turn in it (0 for a whole dialogue), and a criterion."""


def make_pairs(known: Sequence[Known], recipe: Recipe) -> Iterator[Pair]:
    """Yield the pairs of some dialogues in the order of these.

    Args:
        known: the dialogues with their clusters and parts.
        recipe: the training set.

    Raises:
        UserError: a kind or criterion is not known.
    """
    methods = recipe.methods()
    make = partial(_pair, known, recipe, methods, surroundings_of(known, recipe.random_seed))
    places = (
        (number, turn, criterion)
        for number, (dialogue, _) in enumerate(known)
        for turn in (range(1, len(dialogue.utterances)) if recipe.level == "turn" else (0,))
        for criterion in methods
    )
    if recipe.pairs_per_language is None:
        yield from filter(None, map(make, places))
        return
    groups: dict[str, dict[tuple[str, str], list[Place]]] = {}
    for place in places:
        one = known[place[0]][0]
        groups.setdefault(one.language, {}).setdefault((one.domain, place[2]), []).append(place)
    drawn: list[tuple[Place, Pair]] = []
    for of_language in groups.values():
        ordered = [_drawn(known, of, recipe.random_seed, make) for of in of_language.values()]
        drawn += spread(ordered, recipe.pairs_per_language)
    order = {criterion: number for number, criterion in enumerate(methods)}
    yield from (pair for _, pair in sorted(drawn, key=lambda one: (one[0][:2], order[one[0][2]])))


def _pair(
    known: Sequence[Known],
    recipe: Recipe,
    methods: Mapping[str, Sequence[str]],
    around: Mapping[tuple[str, str, str], Surroundings],
    place: Place,
) -> Pair | None:
    number, turn, criterion = place
    dialogue, placed = known[number]
    about = dialogue, placed, criterion, methods[criterion], around[dialogue.domain, dialogue.language, placed.part]
    if recipe.level == "dialogue":
        return make_dialogue_pair(*about, random_seed=recipe.random_seed)
    return make_turn_pair(*about, turn=turn, max_context=recipe.max_context, random_seed=recipe.random_seed)


def _drawn(
    known: Sequence[Known], places: Iterable[Place], random_seed: int, make: Callable[[Place], Pair | None]
) -> Iterator[tuple[Place, Pair]]:
    """Yield the pairs of some places in an order that is drawn by their ids."""

    def draw(place: Place) -> int:
        dialogue = known[place[0]][0]
        return number_of(random_seed, "drawn", dialogue.name, dialogue.language, place[1])

    for place in sorted(places, key=draw):
        pair = make(place)
        if pair:
            yield place, pair


# A number of things from several groups, as evenly as what these have allows.

Element = TypeVar("Element")


def spread(groups: Iterable[Iterable[Element]], n: int) -> Iterator[Element]:
    """Yield `n` elements, one of each group in turn; fewer if the groups have fewer.

    Args:
        groups: each in the order in which its things are taken.
        n: how many are wanted.
    """
    left = [iter(group) for group in groups]
    while left:
        going_on = []
        for group in left:
            if n <= 0:
                return
            for element in group:
                yield element
                n -= 1
                going_on.append(group)
                break
        left = going_on


# What a training set is made of, as the configuration has it.


class Recipe(TrainingSet):
    """A training set with all that decides its examples.

    Attributes:
        name: in the configuration.
        random_seed: of all draws.
        sensitivities: the user's criteria with the perturbations that lower them.
    """

    name: str
    random_seed: int = 0
    sensitivities: dict[str, list[str]] = Field({})

    def domain_of(self) -> dict[str, str]:
        """Return the domain of each corpus."""
        return {corpus: domain for domain, corpora in self.domains.items() for corpus in corpora}

    def methods(self) -> dict[str, tuple[str, ...]]:
        """Return the ways of making the negative example, by criterion.

        Raises:
            UserError: a kind or criterion is not known.
        """
        return chosen_perturbations(self.criteria, self.perturbations, self.level, self.sensitivities)


# A training set from its recipe: dialogues are read, split, and made into pairs.

LARGE_CLUSTER = 0.05
"""Share of the dialogues in one cluster above which a note reports it."""


def known_dialogues(recipe: Recipe, tables: Iterable[Path]) -> list[Known]:
    """Return the dialogues of a training set in all languages that its corpora have, with clusters and parts."""
    dialogues = read_dialogues(tables, recipe.domain_of())
    placed = split(dialogues, development=recipe.development, held_out=recipe.held_out, random_seed=recipe.random_seed)
    return list(zip(dialogues, placed, strict=True))


def training_rows(
    recipe: Recipe, tables: Iterable[Path], left_out: Collection[str], *, say: Callable[[str], object]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `training_examples`.

    Args:
        recipe: the training set.
        tables: tables `utterances` of its corpora, and of what is translated of them.
        left_out: names of dialogues that are not learned from.
        say: takes notices.

    Raises:
        UserError: a domain, or a language that was named, has nothing in one of the parts.
    """
    known = known_dialogues(recipe, tables)
    _refuse_absent_languages(recipe, known)
    chosen = [one for one in known if recipe.languages is None or one[0].language in recipe.languages]
    judged = Counter(one.domain for one, _ in chosen if one.name in left_out)
    usable = _without_repeats([one for one in chosen if one[0].name not in left_out], say)
    refuse_empty_parts(recipe, usable, judged)
    counts: Counter[tuple[str, str, str]] = Counter()
    for pair in make_pairs(usable, recipe):
        counts[pair.dialogue.domain, pair.dialogue.language, pair.placed.part] += 1
        yield from rows_of(pair, recipe.name)
    refuse_parts_without_pairs(recipe, counts)
    _print_counts(recipe, usable, counts, say)


def _refuse_absent_languages(recipe: Recipe, known: Iterable[Known]) -> None:
    there = {one.language for one, _ in known}
    for name in recipe.languages or ():
        if name not in there:
            raise UserError(
                f"training.{recipe.name}.languages: none of the dialogues is in '{name}'; they are in "
                f"{', '.join(sorted(there)) or 'none'}"
            )


def _without_repeats(known: Sequence[Known], say: Callable[[str], object]) -> list[Known]:
    """Return the dialogues, each text once in a domain and language."""
    seen: set[tuple[str, str, int]] = set()
    kept, clusters = [], Counter[str]()
    for dialogue, placed in known:
        key = (dialogue.domain, dialogue.language, dialogue_number(dialogue.utterances))
        if key not in seen:
            seen.add(key)
            kept.append((dialogue, placed))
            clusters[placed.cluster] += 1
    if len(known) > len(kept):
        say(f"{len(known) - len(kept)} repeated dialogues of a domain are left out")
    n_languages = len({dialogue.language for dialogue, _ in kept})
    for name, n in clusters.most_common(1):
        if n > max(LARGE_CLUSTER * len(kept), 2 * n_languages):
            say(f"{n} of {len(kept)} dialogues share text with others and are in one part with them, such as '{name}'")
    return kept


def _print_counts(
    recipe: Recipe, known: Sequence[Known], counts: Mapping[tuple[str, str, str], int], say: Callable[[str], object]
) -> None:
    for domain, language in sorted({(domain, language) for domain, language, _ in counts}):
        parts = ", ".join(f"{counts.get((domain, language, part), 0)} {part}" for part in PARTS)
        n = sum((one.domain, one.language) == (domain, language) for one, _ in known)
        say(f"{recipe.name}, {domain}, {language}: pairs of {n} dialogues: {parts}")


# Whether there are dialogues enough for every part of every domain, and what to do where there are not.

ENOUGH = 5
"""Dialogues that a part should have on average, for the draw not to leave it empty."""


def refuse_empty_parts(recipe: Recipe, usable: Sequence[Known], n_judged: Mapping[str, int]) -> None:
    """End a run in which a domain would have nothing to learn from, to stop at, or to hold out.

    Args:
        recipe: the training set.
        usable: the dialogues in the chosen languages, without those that are judged.
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
                    + f" none is in part '{part}'; {_remedy(recipe, part)}"
                )


def refuse_parts_without_pairs(recipe: Recipe, counts: Mapping[tuple[str, str, str], int]) -> None:
    """End a run in which nothing could be made of the dialogues of a part.

    Args:
        recipe: the training set.
        counts: pairs by domain, language and part.

    Raises:
        UserError: the domain and the part.
    """
    for domain in recipe.domains:
        for part in PARTS:
            if not any(n for (named, _, there), n in counts.items() if (named, there) == (domain, part)):
                perturbations = ", ".join(dict.fromkeys(kind for own in recipe.methods().values() for kind in own))
                raise UserError(
                    f"training.{recipe.name}.domains.{domain}: no pair could be made from the dialogues of part "
                    f"'{part}' by any of {perturbations}; add dialogues or perturbations, or raise "
                    "pairs_per_language"
                )


def _remedy(recipe: Recipe, part: Part) -> str:
    shares = {"development": recipe.development, "held_out": recipe.held_out}
    share = shares.get(part, 1 - sum(shares.values()))
    enough = f"about {math.ceil(ENOUGH / share)} dialogues without common text are needed"
    return enough if part == "train" else f"{enough}, or a larger share ({part}, now {share:g})"


# Which dialogues of a training set are judged later: they are known by their text, wherever it stands.

SHOWN = 5
"""Of the dialogues that are judged, how many a message names."""


def overlap_rows(training: str, known: Sequence[Known], judged: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `training_overlap`: dialogues that are judged, and all that share text with them.

    Args:
        training: name of the training set.
        known: its dialogues with their clusters.
        judged: table `judged_texts`.
    """
    item_of = {row["passage"]: (row["corpus"], row["item_id"]) for row in iterate_rows(judged, JUDGED_TEXTS)}
    matches: dict[str, tuple[str, str]] = {}
    own: list[tuple[str, str] | None] = []
    for dialogue, placed in known:
        held = sorted(judged_passages(dialogue.utterances) & item_of.keys())
        own.append(item_of[held[0]] if held else None)
        if held:
            matches.setdefault(placed.cluster, item_of[held[0]])
    for (dialogue, placed), match in zip(known, own, strict=True):
        if placed.cluster in matches:
            corpus, item_id = match or matches[placed.cluster]
            yield {
                "training": training,
                "domain": dialogue.domain,
                "language": dialogue.language,
                "corpus": dialogue.corpus,
                "dialogue_id": dialogue.dialogue_id,
                "cluster": placed.cluster,
                "item_corpus": corpus,
                "item_id": item_id,
            }


def refuse_overlap(training: str, rows: Sequence[dict[str, Any]], n_dialogues: int) -> None:
    """Refuse a run in which judges would learn from dialogues that they judge.

    Raises:
        UserError: their number, some of them, and what to do.
    """
    if not rows:
        return
    shown = "; ".join(
        f"'{row['dialogue_id']}' of {row['corpus']} is in item '{row['item_id']}' of {row['item_corpus']}"
        for row in rows[:SHOWN]
    )
    more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    raise UserError(
        f"training.{training}: {len(rows)} of {n_dialogues} dialogues of the training set are also judged, or share "
        f"text with judged ones: {shown}{more}; write `overlap: leave_out` under training.{training} to train on "
        f"the others only, or use other corpora"
    )


def left_out_dialogues(overlaps: Iterable[Path]) -> frozenset[str]:
    """Return the names of the dialogues that tables `training_overlap` name."""
    rows = (row for path in overlaps for row in iterate_rows(path, TRAINING_OVERLAP, ["corpus", "dialogue_id"]))
    return frozenset(f"{row['corpus']}/{row['dialogue_id']}" for row in rows)
