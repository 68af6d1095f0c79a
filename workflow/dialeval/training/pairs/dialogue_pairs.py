"""Pairs of a dialogue and a spoiled copy, as FineD-Eval's rankers learn from (xDial-Eval, appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dialeval.corpora.items import Item
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.registry import STRATEGIES, damage
from dialeval.training.pairs.hashing import number_of
from dialeval.training.pairs.human_dialogues import HumanDialogue, roles
from dialeval.training.pairs.manner import Manner
from dialeval.training.pairs.pair import Pair, Side, Spoiled
from dialeval.training.pairs.shared_text import plain
from dialeval.training.pairs.splitting import Placed
from dialeval.training.pairs.surroundings import Surroundings

ADDING = ("self_contradiction",)
"""Kinds that add utterances at the end: they are made of a shorter dialogue, so that length tells nothing."""
MOST_ADDED = 2


def make_dialogue_pair(
    dialogue: HumanDialogue,
    placed: Placed,
    criterion: str,
    kinds: Sequence[str],
    around: Surroundings,
    *,
    random_seed: int,
) -> Pair | None:
    """Returns a dialogue with one of the kinds of negatives, drawn by the seed and the dialogue's id.

    Args:
        dialogue: the dialogue.
        placed: its cluster and part.
        criterion: what the negative is worse in.
        kinds: the ways to make it; where one does not apply, the next is tried.
        around: what may be put in.
        random_seed: of all draws.

    Returns:
        The pair; None where no kind applies.
    """
    second = next((name for name in dialogue.speakers if name != dialogue.speakers[0]), "")
    true = Side(roles(dialogue.speakers, second), dialogue.utterances)
    item = Item(dialogue.corpus, dialogue.dialogue_id, dialogue.language, "dialogue", placed.cluster, *true)
    texts = [plain(text) for text in true.utterances]
    place = (random_seed, criterion, dialogue.name, dialogue.language)
    for kind in sorted(kinds, key=lambda kind: number_of(*place, kind)):
        side = _spoiled(kind, item, around, random_seed)
        if side and [plain(text) for text in side.utterances] != texts and all(map(str.strip, side.utterances)):
            made_from = _source(item, side, around) if kind.startswith("utterance_replacement") else None
            written = Side(side.speakers, _as_it_is_written(true.utterances, side.utterances))
            return Pair(dialogue, placed, None, criterion, true, Spoiled(written, kind, made_from))
    return None


def _as_it_is_written(true: tuple[str, ...], spoiled: tuple[str, ...]) -> tuple[str, ...]:
    manner, said = Manner(true), set(true)
    return tuple(text if text in said else manner.written(text) for text in spoiled)


def _spoiled(kind: str, item: Item, around: Surroundings, random_seed: int) -> Side | None:
    n = len(item.utterances)
    for fewer in range(MOST_ADDED, 0, -1) if kind in ADDING else (0,):
        if n - fewer < 1:
            continue
        kept = replace(item, speakers=item.speakers[: n - fewer], utterances=item.utterances[: n - fewer])
        damaged = damage(kept, STRATEGIES[kind], around.pool(item.corpus), random_seed=random_seed)
        if not isinstance(damaged, NotApplicable) and len(damaged.item.utterances) == n:
            return Side(damaged.item.speakers, damaged.item.utterances)
    return None


def _source(item: Item, side: Side, around: Surroundings) -> str | None:
    """Returns the dialogues that new utterances come from, in the order of these."""
    new = [text.strip() for text, old in zip(side.utterances, item.utterances, strict=True) if text != old]
    found = dict.fromkeys(around.sources[text] for text in new if text in around.sources)
    return ", ".join(found) or None
