"""Which dialogues judges learn from, which stop the learning, and which are held back.

Dialogues that hold the same passages, and translations of one dialogue, are a cluster and never in two parts. The part
follows from the text of a cluster's first dialogue, so that further dialogues leave those before where they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from dialeval.corpora.clusters import sharing_clusters
from dialeval.training.pairs.hashing import share_of
from dialeval.training.pairs.human_dialogues import HumanDialogue
from dialeval.training.pairs.shared_text import passages, plain, whole

Part = Literal["train", "development", "held_back"]
PARTS: tuple[Part, ...] = ("train", "development", "held_back")
FORMULA = 50
"""A passage that more dialogues than this hold is a formula, such as a greeting: it makes them no cluster."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a dialogue belongs.

    Attributes:
        cluster: name of the first dialogue of its cluster.
        part: of the cluster.
    """

    cluster: str
    part: Part


def split(
    dialogues: Sequence[HumanDialogue], *, development: float, held_back: float, random_seed: int
) -> list[Placed]:
    """Returns cluster and part of each dialogue.

    Args:
        dialogues: in an order in which new ones come last.
        development: share of the clusters that stop the training.
        held_back: share of the clusters that are never learned from.
        random_seed: of the draw.
    """
    clusters = clusters_of(dialogues)
    part_of: dict[int, Part] = {}
    for first in set(clusters):
        drawn = share_of(random_seed, "part", *map(plain, dialogues[first].utterances))
        part_of[first] = part_at(drawn, development, held_back)
    return [Placed(dialogues[first].name, part_of[first]) for first in clusters]


def part_at(drawn: float, development: float, held_back: float) -> Part:
    """Returns the part at a number drawn from 0 to 1: those held back come first, then development."""
    if drawn < held_back:
        return "held_back"
    return "development" if drawn < held_back + development else "train"


def clusters_of(dialogues: Sequence[HumanDialogue]) -> list[int]:
    """Returns for each dialogue the position of the first one of its cluster."""
    found = [{whole(one.utterances), *passages(one.utterances, singles=False)} for one in dialogues]
    holders = Counter(passage for own in found for passage in own)
    keys: list[list[Hashable]] = [
        [one.name, whole(one.utterances), *(passage for passage in own if holders[passage] <= FORMULA)]
        for one, own in zip(dialogues, found, strict=True)
    ]
    return sharing_clusters(keys)
