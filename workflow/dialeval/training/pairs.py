"""Pairs of a human turn or dialogue and a perturbed one, and their perturbations.

Perturbations keep their names. Beside them stand what is borrowed from other dialogues or from elsewhere in the same
one, and shuffled words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dialeval.config.training import DEFAULT_CRITERIA
from dialeval.corpora.clusters import generator_for
from dialeval.corpora.items import Item
from dialeval.criteria import Level
from dialeval.errors import UserError, nearest
from dialeval.perturbations.registry import NO_SENSITIVITIES, STRATEGIES, Sensitivities, perturb
from dialeval.perturbations.strategy import NewText, NotApplicable
from dialeval.perturbations.words import STOP_WORDS, Replacement
from dialeval.perturbations.words import replace as replace_words
from dialeval.text import is_unspaced, script_of
from dialeval.training.human_dialogues import HumanDialogue, Placed, number_of, plain, roles
from dialeval.training.negatives import SHORTEST, Surroundings, length_of


class Side(NamedTuple):
    """One side of a pair: speakers and utterances."""

    speakers: tuple[str, ...]
    utterances: tuple[str, ...]


class Negative(NamedTuple):
    """The worse one of a pair.

    Attributes:
        side: its utterances.
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
        true, negative: the two.
    """

    dialogue: HumanDialogue
    placed: Placed
    turn: int | None
    criterion: str
    true: Side
    negative: Negative


def rows_of(pair: Pair, training: str) -> Iterator[dict[str, Any]]:
    """Yield the two rows of the table `training_examples`, the positive one first."""
    dialogue, level = pair.dialogue, "dialogue" if pair.turn is None else "turn"
    place = [] if pair.turn is None else [str(pair.turn)]
    pair_id = "/".join([training, pair.criterion, dialogue.corpus, dialogue.language, dialogue.dialogue_id, *place])
    for good, side in ((1, pair.true), (0, pair.negative.side)):
        yield {
            "training": training,
            "example_id": f"{pair_id}/{'true' if good else pair.negative.kind}",
            "pair_id": pair_id,
            "part": pair.placed.part,
            "level": level,
            "criterion": pair.criterion,
            "domain": dialogue.domain,
            "language": dialogue.language,
            "good": good,
            "kind": pair.negative.kind,
            "corpus": dialogue.corpus,
            "dialogue_id": dialogue.dialogue_id,
            "cluster": pair.placed.cluster,
            "speakers": list(side.speakers),
            "utterances": list(side.utterances),
            "made_from": None if good else pair.negative.made_from,
        }


# Pairs of a true response and one that does not belong there, as PoE learns from (xDial-Eval, appendix C).

WAYS: Mapping[str, tuple[str, ...]] = MappingProxyType({"dullness": ("generic_answer", "generic_response")})
"""Ways of perturbations that are used where not all are: the speaker's earlier utterances are a kind of their own."""


def make_turn_pair(
    dialogue: HumanDialogue,
    placed: Placed,
    criterion: str,
    methods: Sequence[str],
    around: Surroundings,
    *,
    turn: int,
    max_context: int,
    random_seed: int,
) -> Pair | None:
    """Return a response with one of the kinds of negatives, drawn by the seed and the turn's id.

    Args:
        dialogue: the dialogue.
        placed: its cluster and part.
        criterion: what the negative is worse in.
        methods: the ways to make it, in a drawn order; where one does not apply, the next is tried.
        around: what may be put in.
        turn: 0-based number of the response, 1 or more.
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
    for kind in sorted(methods, key=lambda kind: number_of(*place, kind)):
        found = _instead(kind, dialogue, turn, item, placed, around, random_seed)
        if found and plain(found[0]) not in (response, ""):
            side = Side(names, (*true.utterances[:-1], Manner(dialogue.utterances).written(found[0])))
            return Pair(dialogue, placed, turn, criterion, true, Negative(side, kind, found[1]))
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
    """Return the replacement of a response, and its source."""
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
        perturbed = perturb(item, STRATEGIES[kind], around.pool(item.corpus), random_seed=random_seed, way=way)
        if not isinstance(perturbed, NotApplicable):
            return perturbed.item.response, None
    return None


def _from_elsewhere(dialogue: HumanDialogue, turn: int, random_seed: int) -> tuple[str, str] | None:
    response = plain(dialogue.utterances[turn])
    others = [text for text in dialogue.utterances if plain(text) not in (response, "")]
    if not others:
        return None
    text = others[number_of(random_seed, SAME_DIALOGUE, dialogue.name, turn) % len(others)]
    return text, dialogue.name


# Pairs of a dialogue and a spoiled copy, as FineD-Eval's rankers learn from (xDial-Eval, appendix C).

ADDING = ("self_contradiction",)
"""Kinds that add utterances at the end: they are made of a shorter dialogue, so that length tells nothing."""
MOST_ADDED = 2


def make_dialogue_pair(
    dialogue: HumanDialogue,
    placed: Placed,
    criterion: str,
    methods: Sequence[str],
    around: Surroundings,
    *,
    random_seed: int,
) -> Pair | None:
    """Return a dialogue with one of the kinds of negatives, drawn by the seed and the dialogue's id.

    Args:
        dialogue: the dialogue.
        placed: its cluster and part.
        criterion: what the negative is worse in.
        methods: the ways to make it, in a drawn order; where one does not apply, the next is tried.
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
    for kind in sorted(methods, key=lambda kind: number_of(*place, kind)):
        side = _spoiled(kind, item, around, random_seed)
        if side and [plain(text) for text in side.utterances] != texts and all(map(str.strip, side.utterances)):
            made_from = _source(item, side, around) if kind.startswith("utterance_replacement") else None
            written = Side(side.speakers, _as_it_is_written(true.utterances, side.utterances))
            return Pair(dialogue, placed, None, criterion, true, Negative(written, kind, made_from))
    return None


def _spoiled(kind: str, item: Item, around: Surroundings, random_seed: int) -> Side | None:
    n = len(item.utterances)
    for fewer in range(MOST_ADDED, 0, -1) if kind in ADDING else (0,):
        if n - fewer < 1:
            continue
        kept = replace(item, speakers=item.speakers[: n - fewer], utterances=item.utterances[: n - fewer])
        perturbed = perturb(kept, STRATEGIES[kind], around.pool(item.corpus), random_seed=random_seed)
        if not isinstance(perturbed, NotApplicable) and len(perturbed.item.utterances) == n:
            return Side(perturbed.item.speakers, perturbed.item.utterances)
    return None


def _source(item: Item, side: Side, around: Surroundings) -> str | None:
    """Return the dialogues that new utterances come from, in the order of these."""
    new = [text.strip() for text, old in zip(side.utterances, item.utterances, strict=True) if text != old]
    found = dict.fromkeys(around.sources[text] for text in new if text in around.sources)
    return ", ".join(found) or None


def _as_it_is_written(true: tuple[str, ...], negative: tuple[str, ...]) -> tuple[str, ...]:
    manner, spellings = Manner(true), set(true)
    return tuple(text if text in spellings else manner.written(text) for text in negative)


# Writes what is put into a dialogue as the dialogue is written, so that capitals and blanks do not give it away.

_MARK = re.compile(r"(?<=\w)([.,!?;:…]+)(?=\s|$)")
_DETACHED_MARK = re.compile(r"(?<=\s)[.,!?;:…]+(?=\s|$)")
_ENDING = re.compile(r"(?<=[a-z])(n't|['’](?:s|m|d|re|ve|ll))\b", re.IGNORECASE)


class Manner:
    """How the utterances of a dialogue are written.

    Args:
        utterances: of the true dialogue.
    """

    def __init__(self, utterances: Sequence[str]) -> None:
        text = "\n".join(utterances)
        self._lower = text == text.lower()
        self._detached = bool(_DETACHED_MARK.search(text)) and not _MARK.search(text)

    def written(self, text: str) -> str:
        """Return a text without capitals, and with blanks before marks, where the dialogue is written so."""
        if self._lower:
            text = text.lower()
        if self._detached:
            text = _ENDING.sub(r" \1", _MARK.sub(r" \1", text))
        return text


# Words of an utterance in another order, with marks and blanks where they were.

FEWEST_WORDS = 4
"""Words without which an order can hardly be wrong."""
UNSPACED_WORD = 2
"""Characters that stay together in a script without blanks: most words are about so long."""
_TRIES = 20
# an ending that stands alone, as in "you 've", keeps its apostrophe, and 6:30 is one word
_WORD = re.compile(r"(?:(?<=\s)['’])?(?:\d+(?:[.:,]\d+)+|[^\W_]+(?:[-’'][^\W_]+)*)")

Stretch = tuple[int, int]


def shuffled_words(text: str, rng: np.random.Generator) -> NewText | NotApplicable:
    """Return a text in which at least half of the places of words have another word."""
    stretches = _stretches(text)
    found = [text[start:end] for start, end in stretches]
    if len({word.lower() for word in found}) < FEWEST_WORDS:
        return NotApplicable("too few words")
    inner = _inner_cases(text, found)
    for _ in range(_TRIES):
        new = [inner[int(place)] for place in rng.permutation(len(inner))]
        moved = sum(one.lower() != other.lower() for one, other in zip(new, found, strict=True))
        if 2 * moved < len(found):
            continue
        if found[0][:1].isupper():
            new[0] = new[0][:1].upper() + new[0][1:]
        return NewText(
            replace_words(text, (Replacement(*stretch, word) for stretch, word in zip(stretches, new, strict=True)))
        )
    return NotApplicable("the words are the same in any order")


def _stretches(text: str) -> list[Stretch]:
    if script_of((text,)) == "spaced":
        return [found.span() for found in _WORD.finditer(text)]
    found: list[Stretch] = []
    for place, letter in enumerate(text):
        if not letter.isalnum():
            continue
        joins = found and found[-1][1] == place and _joins(text[slice(*found[-1])], letter)
        found[-1:] = [(found[-1][0], place + 1)] if joins else [*found[-1:], (place, place + 1)]
    return found


def _joins(word: str, letter: str) -> bool:
    """Return whether two characters belong to one word."""
    if is_unspaced(letter):
        return is_unspaced(word[-1]) and len(word) < UNSPACED_WORD
    return not is_unspaced(word[-1])


def _inner_cases(text: str, found: list[str]) -> list[str]:
    """Return the words with the capitals that they have within a sentence."""
    first = found[0]
    if first.lower().replace("’", "'") in STOP_WORDS and first.split("'")[0].split("’")[0] != "I":
        return [first.lower(), *found[1:]]
    return found


# The ways of spoiling that training knows, and the criteria that each of them lowers.

RANDOM, SAME_DIALOGUE, NEAR, SIMILAR_LENGTH = "random", "same_dialogue", "near", "similar_length"
WORD_ORDER = "word_order"
BORROWED = (RANDOM, SAME_DIALOGUE, NEAR, SIMILAR_LENGTH)
"""Kinds that put an utterance of people in the response's place."""
INSTEAD: Mapping[str, str] = MappingProxyType({"random_response": RANDOM})
"""Perturbations that are known here by another name."""

_OF_TURNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # a response that says nothing, is garbled or denies an earlier utterance does not answer it
        "relevance": (*BORROWED, WORD_ORDER, "repetition", "dullness", "contradiction", "replace_pronoun",
                      "replace_named_entity"),
        "understandability": (WORD_ORDER, "repetition", "unnatural_paraphrase"),
        "specificity": ("dullness",),
        "interestingness": ("dullness",),
    }
)  # fmt: skip
_OF_DIALOGUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "coherence": ("order_shuffle", "utterance_replacement", "utterance_replacement_2", "utterance_replacement_3",
                      "self_contradiction"),
        "engagingness": ("self_contradiction", "utterance_duplication", "repeating_others", "generic_utterance"),
        "informativeness": ("generic_utterance", "content_reduction"),
    }
)  # fmt: skip


def perturbations_of_level(level: Level) -> tuple[str, ...]:
    """Return every kind of a level, by name."""
    perturbations = [name for name, one in STRATEGIES.items() if one.level == level and name not in INSTEAD]
    return (*BORROWED, WORD_ORDER, *perturbations) if level == "turn" else tuple(perturbations)


def perturbations_for(criterion: str, level: Level, sensitivities: Sensitivities = NO_SENSITIVITIES) -> tuple[str, ...]:
    """Return the perturbations that lower a criterion; empty if none is known.

    Args:
        criterion: a shipped one or the user's.
        level: of what is judged.
        sensitivities: the user's criteria with the perturbations that lower them.
    """
    if criterion == "overall":
        return perturbations_of_level(level)
    if criterion in sensitivities:
        named = [INSTEAD.get(name, name) for name in sensitivities[criterion]]
        return tuple(name for name in dict.fromkeys(named) if name in perturbations_of_level(level))
    return (_OF_TURNS if level == "turn" else _OF_DIALOGUES).get(criterion, ())


def chosen_perturbations(
    criteria: Collection[str] | None,
    perturbations: Collection[str] | None,
    level: Level,
    sensitivities: Sensitivities = NO_SENSITIVITIES,
) -> dict[str, tuple[str, ...]]:
    """Return the perturbations by criterion.

    Args:
        criteria: None for those that the paper's metrics learn.
        perturbations: None for all that lower a criterion.
        level: of what is judged.
        sensitivities: the user's criteria with the perturbations that lower them.

    Raises:
        UserError: a perturbation is not known at this level, or a criterion is left without any.
    """
    known = perturbations_of_level(level)
    for name in perturbations or ():
        if name not in known:
            meant = f"use '{INSTEAD[name]}'" if name in INSTEAD else nearest(name, known)
            raise UserError(f"'{name}' is not a perturbation of a {level}; {meant}")
    found = {}
    for criterion in criteria or DEFAULT_CRITERIA[level]:
        lowering = perturbations_for(criterion, level, sensitivities)
        found[criterion] = tuple(name for name in lowering if perturbations is None or name in perturbations)
        if not lowering:
            able = [name for name in (*_OF_TURNS, *_OF_DIALOGUES, "overall") if perturbations_for(name, level)]
            raise UserError(
                f"no perturbation lowers '{criterion}' of a {level}; criteria with a perturbation: "
                f"{', '.join(able)}; name "
                f"perturbations of your own criterion under criteria.{criterion}.sensitive_to"
            )
        if not found[criterion]:
            raise UserError(f"none of the perturbations lowers '{criterion}'; these do: {', '.join(lowering)}")
    return found
