"""Pairs of a true response and one that does not belong there, as PoE learns from (xDial-Eval, appendix C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dialeval.corpora.items import Item
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.registry import STRATEGIES, damage
from dialeval.text.folds import generator_for
from dialeval.training.pairs.hashing import number_of
from dialeval.training.pairs.human_dialogues import HumanDialogue, roles
from dialeval.training.pairs.kinds import NEAR, RANDOM, SAME_DIALOGUE, SIMILAR_LENGTH, WORD_ORDER
from dialeval.training.pairs.lending import SHORTEST, length_of
from dialeval.training.pairs.manner import Manner
from dialeval.training.pairs.pair import Pair, Side, Spoiled
from dialeval.training.pairs.shared_text import plain
from dialeval.training.pairs.splitting import Placed
from dialeval.training.pairs.surroundings import Surroundings
from dialeval.training.pairs.word_order import shuffled_words

WAYS: Mapping[str, tuple[str, ...]] = MappingProxyType({"dullness": ("generic_answer", "generic_response")})
"""Ways of perturbations that are used where not all are: what the speaker said before is a kind of its own."""


def make_turn_pair(
    dialogue: HumanDialogue,
    placed: Placed,
    turn: int,
    criterion: str,
    kinds: Sequence[str],
    around: Surroundings,
    *,
    max_context: int,
    random_seed: int,
) -> Pair | None:
    """Returns a response with one of the kinds of negatives, drawn by the seed and the turn's id.

    Args:
        dialogue: the dialogue.
        placed: its cluster and part.
        turn: 0-based number of the response, 1 or more.
        criterion: what the negative is worse in.
        kinds: the ways to make it; where one does not apply, the next is tried.
        around: what may be put in.
        max_context: utterances before the response that are kept.
        random_seed: of all draws.

    Returns:
        The pair; None where no kind applies, or the response says nothing.
    """
    response = plain(dialogue.utterances[turn])
    if not response:
        return None
    kept = slice(max(0, turn - max_context), turn + 1)
    names = roles(dialogue.speakers, dialogue.speakers[turn])[kept]
    true = Side(names, dialogue.utterances[kept])
    item_id = f"{dialogue.dialogue_id}/{turn}"
    item = Item(dialogue.corpus, item_id, dialogue.language, "turn", placed.cluster, *true)
    place = (random_seed, criterion, dialogue.name, dialogue.language, turn)
    for kind in sorted(kinds, key=lambda kind: number_of(*place, kind)):
        found = _instead(kind, dialogue, turn, item, placed, around, random_seed)
        if found and plain(found[0]) not in (response, ""):
            side = Side(names, (*true.utterances[:-1], Manner(dialogue.utterances).written(found[0])))
            return Pair(dialogue, placed, turn, criterion, true, Spoiled(side, kind, found[1]))
    return None


def _instead(
    kind: str,
    dialogue: HumanDialogue,
    turn: int,
    item: Item,
    placed: Placed,
    around: Surroundings,
    random_seed: int,
) -> tuple[str, str | None] | None:
    """Returns what stands in the response's place, and where it comes from."""
    if kind in (RANDOM, SIMILAR_LENGTH, NEAR):
        if length_of(item.response) < SHORTEST:  # what is lent is longer: length would tell the two apart
            return None
        heard = {plain(text) for text in item.utterances}
        drawn = number_of(random_seed, kind, dialogue.name, turn)
        if kind == RANDOM:
            lent = around.lender.any(placed.cluster, heard, drawn)
        elif kind == SIMILAR_LENGTH:
            lent = around.lender.of_length(length_of(item.response), placed.cluster, heard, drawn)
        else:
            lent = around.near_misses.find(item.context[-1], item.response, placed.cluster, heard)
        return (lent.text, lent.made_from) if lent else None
    if kind == SAME_DIALOGUE:
        return _from_elsewhere(dialogue, turn, random_seed)
    if kind == WORD_ORDER:
        rng = generator_for(random_seed, kind, item.corpus, item.language, item.item_id)
        new = shuffled_words(item.response, rng)
        return None if isinstance(new, NotApplicable) else (new.text, None)
    for way in WAYS.get(kind, (None,)):
        damaged = damage(item, STRATEGIES[kind], around.pool(item.corpus), random_seed=random_seed, way=way)
        if not isinstance(damaged, NotApplicable):
            return damaged.item.response, None
    return None


def _from_elsewhere(dialogue: HumanDialogue, turn: int, random_seed: int) -> tuple[str, str] | None:
    response = plain(dialogue.utterances[turn])
    others = [text for text in dialogue.utterances if plain(text) not in (response, "")]
    if not others:
        return None
    text = others[number_of(random_seed, SAME_DIALOGUE, dialogue.name, turn) % len(others)]
    return text, dialogue.name
