"""A pair that judges learn from: a true dialogue, or turn in its context, and a spoiled one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from dialeval.training.pairs.human_dialogues import HumanDialogue
from dialeval.training.pairs.splitting import Placed


class Side(NamedTuple):
    """One of a pair: who says what."""

    speakers: tuple[str, ...]
    utterances: tuple[str, ...]


class Spoiled(NamedTuple):
    """The worse one of a pair.

    Attributes:
        side: what is said in it.
        kind: how it was made.
        made_from: corpus and dialogue of the words that were put in; None where none were.
    """

    side: Side
    kind: str
    made_from: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair.

    Attributes:
        dialogue: that it is made of.
        placed: cluster and part of the dialogue.
        turn: 0-based number of the response; None for a whole dialogue.
        criterion: what the spoiled one is worse in.
        true, spoiled: the two.
    """

    dialogue: HumanDialogue
    placed: Placed
    turn: int | None
    criterion: str
    true: Side
    spoiled: Spoiled


def rows_of(pair: Pair, training: str) -> Iterator[dict[str, Any]]:
    """Yields the two rows of the table `training_examples`, the true one first."""
    dialogue, level = pair.dialogue, "dialogue" if pair.turn is None else "turn"
    place = [] if pair.turn is None else [str(pair.turn)]
    pair_id = "/".join([training, pair.criterion, dialogue.corpus, dialogue.language, dialogue.dialogue_id, *place])
    for good, side in ((1, pair.true), (0, pair.spoiled.side)):
        yield {
            "training": training,
            "example_id": f"{pair_id}/{'true' if good else pair.spoiled.kind}",
            "pair_id": pair_id,
            "part": pair.placed.part,
            "level": level,
            "criterion": pair.criterion,
            "domain": dialogue.domain,
            "language": dialogue.language,
            "good": good,
            "kind": pair.spoiled.kind,
            "corpus": dialogue.corpus,
            "dialogue_id": dialogue.dialogue_id,
            "cluster": pair.placed.cluster,
            "speakers": list(side.speakers),
            "utterances": list(side.utterances),
            "made_from": None if good else pair.spoiled.made_from,
        }
