"""What a dialogue's negatives may be made of: the other dialogues of its domain, language and part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from dialeval.corpora.items import Item
from dialeval.perturbations.pool import Pool, build_pool
from dialeval.training.pairs.human_dialogues import HumanDialogue
from dialeval.training.pairs.lending import Lender
from dialeval.training.pairs.near_misses import NearMisses
from dialeval.training.pairs.splitting import Placed

Known = tuple[HumanDialogue, Placed]


class Surroundings:
    """What can be put into dialogues of one domain, language and part; each piece is made when it is first asked for.

    Args:
        dialogues: these, with their clusters.
        random_seed: of all draws.
    """

    def __init__(self, dialogues: Sequence[Known], random_seed: int) -> None:
        self._dialogues = dialogues
        self._random_seed = random_seed
        self._pools: dict[str, Pool] = {}

    @cached_property
    def lender(self) -> Lender:
        """Returns what lends utterances."""
        return Lender(self._dialogues, self._random_seed)

    @cached_property
    def near_misses(self) -> NearMisses:
        """Returns what finds near misses among these utterances."""
        return NearMisses(self.lender.utterances)

    @cached_property
    def sources(self) -> dict[str, str]:
        """Returns from which dialogue a text is, the first that has it."""
        found: dict[str, str] = {}
        for dialogue, _ in self._dialogues:
            for text in dialogue.utterances:
                found.setdefault(text.strip(), dialogue.name)
        return found

    def pool(self, corpus: str) -> Pool:
        """Returns what perturbations put in, of one corpus: another corpus changes nothing for this one."""
        if corpus not in self._pools:
            own = (known for known in self._dialogues if known[0].corpus == corpus)
            self._pools[corpus] = build_pool(_items(own))
        return self._pools[corpus]


def surroundings_of(known: Iterable[Known], random_seed: int) -> dict[tuple[str, str, str], Surroundings]:
    """Returns them by domain, language and part."""
    groups: dict[tuple[str, str, str], list[Known]] = {}
    for dialogue, placed in known:
        groups.setdefault((dialogue.domain, dialogue.language, placed.part), []).append((dialogue, placed))
    return {key: Surroundings(group, random_seed) for key, group in groups.items()}


def _items(known: Iterable[Known]) -> Iterable[Item]:
    for one, placed in known:
        yield Item(one.corpus, one.dialogue_id, one.language, "dialogue", placed.cluster, one.speakers, one.utterances)
