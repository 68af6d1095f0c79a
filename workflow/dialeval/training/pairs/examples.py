"""All pairs of a training set: which turns and dialogues are taken, and in which order they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dialeval.criteria import Level
from dialeval.training.pairs.dialogue_pairs import make_dialogue_pair
from dialeval.training.pairs.hashing import number_of
from dialeval.training.pairs.pair import Pair
from dialeval.training.pairs.sampling import spread
from dialeval.training.pairs.surroundings import Known, Surroundings, surroundings_of
from dialeval.training.pairs.turn_pairs import make_turn_pair

Place = tuple[int, int, int]
"""Position of a dialogue, of a turn in it (0 for a whole dialogue) and of a criterion: the order of the table."""


@dataclass(frozen=True)
class Wanted:
    """What pairs are made of dialogues.

    Attributes:
        level: of the pairs.
        kinds: criterion -> ways of spoiling.
        pairs_per_language: the most; None for all.
        max_context: utterances before a response that are kept.
        random_seed: of all draws.
    """

    level: Level
    kinds: Mapping[str, Sequence[str]]
    pairs_per_language: int | None
    max_context: int
    random_seed: int


def make_pairs(known: Sequence[Known], wanted: Wanted) -> Iterator[Pair]:
    """Yields the pairs of some dialogues in the order of these.

    Args:
        known: the dialogues with their clusters and parts.
        wanted: what is made of them.
    """
    make = partial(_pair, known, wanted, surroundings_of(known, wanted.random_seed))
    if wanted.pairs_per_language is None:
        yield from filter(None, (make(place) for place in _places(known, wanted)))
        return
    groups: dict[str, dict[tuple[str, int], list[Place]]] = {}
    for place in _places(known, wanted):
        one = known[place[0]][0]
        groups.setdefault(one.language, {}).setdefault((one.domain, place[2]), []).append(place)
    drawn: list[tuple[Place, Pair]] = []
    for of_language in groups.values():
        ordered = [_drawn(known, places, wanted.random_seed, make) for places in of_language.values()]
        drawn += spread(ordered, wanted.pairs_per_language)
    yield from (pair for _, pair in sorted(drawn, key=lambda one: one[0]))


def _places(known: Sequence[Known], wanted: Wanted) -> Iterator[Place]:
    for number, (dialogue, _) in enumerate(known):
        for turn in range(1, len(dialogue.utterances)) if wanted.level == "turn" else (0,):
            for criterion in range(len(wanted.kinds)):
                yield number, turn, criterion


def _drawn(
    known: Sequence[Known], places: Iterable[Place], random_seed: int, make: Callable[[Place], Pair | None]
) -> Iterator[tuple[Place, Pair]]:
    """Yields the pairs of some places in an order that is drawn by their ids."""

    def draw(place: Place) -> int:
        dialogue = known[place[0]][0]
        return number_of(random_seed, "drawn", dialogue.name, dialogue.language, place[1])

    for place in sorted(places, key=draw):
        pair = make(place)
        if pair:
            yield place, pair


def _pair(
    known: Sequence[Known], wanted: Wanted, around: Mapping[tuple[str, str, str], Surroundings], place: Place
) -> Pair | None:
    number, turn, criterion = place
    dialogue, placed = known[number]
    name = list(wanted.kinds)[criterion]
    near = around[dialogue.domain, dialogue.language, placed.part]
    if wanted.level == "dialogue":
        return make_dialogue_pair(dialogue, placed, name, wanted.kinds[name], near, random_seed=wanted.random_seed)
    return make_turn_pair(
        dialogue, placed, turn, name, wanted.kinds[name], near,
        max_context=wanted.max_context, random_seed=wanted.random_seed,
    )  # fmt: skip
