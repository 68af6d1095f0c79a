"""Scores on dimensions: which damage speaks against what, and how likely an utterance or a dialogue has it.

Nobody's ratings are learned from. A classifier tells the kinds of damage apart, and what is true; the score on a
dimension is how likely something is true, if it is either true or has a damage that hurts this dimension. Other damage
leaves it about where it is: who repeats himself is not beside the point for that. A score is put on a scale by its
place among those of true and of hurt examples, half of them each, from a classifier that never saw them.

A part of the judge, and with it the examples of its inner fold, hears those classifiers that did not learn from this
fold (`N_LEFT_OUT`).

Where a model that does nothing but tell true replies from strange ones has an opinion (`selection.py`), it decides on
what only the strange hurts: of an utterance, as far as that is either true or strange, and for what is something else
the score is one half; of a dialogue, by half, the other half being what the kinds of damage say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.classifiers import KindClassifier
from dialeval.engines.embedded.damage import KINDS
from dialeval.engines.embedded.examples import TRUE
from dialeval.engines.embedded.statistics import Floats, Integers
from dialeval.engines.embedded.trees import Growth

_STRANGE = {"replaced": 1.0, "strayed": 1.0, "reordered": 1.0}
_NOTHING_NEW = {"generic": 1.0, "repeated": 1.0}
_ALL = dict.fromkeys(KINDS, 1.0)
HARM: Mapping[Level, Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "turn": {
            "relevance": _STRANGE,
            "specificity": {"generic": 1.0, "repeated": 0.5},
            "interestingness": _NOTHING_NEW,
            "understandability": {"word salad": 1.0},
            "overall": _ALL,
        },
        "dialogue": {
            "coherence": _STRANGE,
            "engagingness": _NOTHING_NEW,
            "diversity": {"repeated": 1.0, "generic": 0.5},
            "informativeness": {"generic": 1.0, "repeated": 0.5},
            "overall": _ALL,
        },
    }
)
"""How much each kind of damage speaks against each dimension: 1 where it is the very opposite, less where it only takes
something away. Settled by what the words mean, before any rating was looked at."""

NEUTRAL = 0.1
"""What counts for no opinion: where an utterance is surely damaged, but not in a way that matters to a dimension, the
odds between true and hurt rest on two probabilities near 0, and its score shall be an ordinary one."""
GROWTH: Mapping[Level, Growth] = MappingProxyType(
    {"turn": Growth(n_trees=18, leaf=8, share=0.3), "dialogue": Growth(n_trees=30, leaf=4, share=0.2)}
)
GROWTH_ALONE = Growth(n_trees=3, leaf=14, share=0.5)
"""The trees of utterances that stand alone, of which little is known."""
N_LEFT_OUT = 2
"""Without how many inner folds each classifier learns, of three or more. The part of each of these folds asks it: every
part hears several classifiers, and fewer trees grow, on fewer examples, than if each had one of its own."""
_PLACES = np.linspace(0.005, 0.995, 199)
_ENDS = (0.001, 0.999)
"""The scale's values for scores beyond everything seen: no answer is certain."""


class Labelled(NamedTuple):
    """Described utterances or dialogues and their damage.

    Attributes:
        values: rows by features.
        kind: 0 for a true one, else the number in `KINDS` counted from 1.
        weight: what each counts for.
    """

    values: Floats
    kind: Integers
    weight: Floats


class Dimensions:
    """Scores utterances in their context, or dialogues, on the dimensions of their level.

    Args:
        level: which dimensions.
        examples: those of the inner fold of each part, of which there are two or more.
        growth: of the trees that a part hears, all its classifiers' together.
        random_seed: of the same.
        selected: whether the last feature is the log-odds for being true and not strange, from elsewhere.
    """

    def __init__(
        self,
        level: Level,
        examples: Sequence[Labelled],
        growth: Growth,
        random_seed: int,
        *,
        selected: bool = False,
    ) -> None:
        self._selected, self._level = selected, level
        self._strange = [number for number, harm in enumerate(HARM[level].values()) if harm == _STRANGE]
        self._harm = np.array(
            [[0.0, *(HARM[level][dimension].get(kind, 0.0) for kind in KINDS)] for dimension in DIMENSIONS[level]]
        )
        folds = range(len(examples))
        kept = [*combinations(folds, max(len(folds) - N_LEFT_OUT, 1))]
        taught = [_together([examples[fold] for fold in group]) for group in kept]
        self._asked = [[number for number, group in enumerate(kept) if fold not in group] for fold in folds]
        growth = growth._replace(n_trees=ceil(growth.n_trees / len(self._asked[0])))
        self._classifiers = [KindClassifier(*group, growth, random_seed) for group in taught]
        self._n_taught = np.array([float(len(group.values)) for group in taught])

    def learn_scales(self, opinions: Sequence[Floats], held_back: Sequence[Labelled]) -> None:
        """Learns which score is which on the scale, before anything is scored.

        Args:
            opinions: for each part, what it thinks of examples that it did not learn from.
            held_back: these examples.
        """
        scores = np.concatenate([self._scores(probabilities) for probabilities in opinions])
        kind = np.concatenate([examples.kind for examples in held_back])
        weight = np.concatenate([examples.weight for examples in held_back])
        self._scales = [
            _scale(scores[:, number], weight * np.where(kind == TRUE, 1.0, harm[kind]), kind == TRUE)
            for number, harm in enumerate(self._harm)
        ]

    def probabilities(self, by_part: Sequence[Floats]) -> list[Floats]:
        """Returns what each part thinks of the rows that it described.

        Returns:
            Rows by 1 + kinds of damage; where there is a selector's opinion, it is one more column, as a probability.
        """
        return [self.opinion(part, values) for part, values in enumerate(by_part)]

    def opinion(self, part: int, values: Floats) -> Floats:
        """Returns what one part thinks of rows."""
        asked = self._asked[part]
        said = [self._classifiers[number].probabilities(values) for number in asked]
        kinds = np.average(said, axis=0, weights=self._n_taught[asked])
        return np.column_stack([kinds, 1.0 / (1.0 + np.exp(-values[:, -1]))]) if self._selected else kinds

    def fitting(self, probabilities: Floats) -> Floats:
        """Returns the score that only what is strange hurts, before it is put on its scale."""
        return np.asarray(self._scores(probabilities)[:, self._strange[0]], dtype=np.float64)

    def scores(self, probabilities: Sequence[Floats]) -> Floats:
        """Returns scores between 0 and 1, rows by dimensions, from what each part thinks."""
        scores = self._scores(np.mean(probabilities, axis=0))
        return np.column_stack([np.interp(scores[:, number], *scale) for number, scale in enumerate(self._scales)])

    def _scores(self, probabilities: Floats) -> Floats:
        """Returns rows by dimensions: how likely true, if it is either true or hurt in this dimension."""
        prior = np.array([0.5, *[0.5 / len(KINDS)] * len(KINDS)])
        kinds = probabilities[:, : len(prior)]
        cautious = kinds + NEUTRAL * prior
        is_true = cautious[:, [TRUE]]
        scores = np.asarray(is_true / (is_true + (cautious[:, None, :] * self._harm).sum(axis=2)), dtype=np.float64)
        if self._selected:
            selected = probabilities[:, -1]
            for number in self._strange:
                either = kinds[:, TRUE] + (kinds * self._harm[number]).sum(axis=1)
                of_turn, of_dialogue = 0.5 + either * (selected - 0.5), (scores[:, number] + selected) / 2
                scores[:, number] = of_turn if self._level == "turn" else of_dialogue
        return scores


def _scale(scores: Floats, weight: Floats, is_true: Integers) -> tuple[Floats, Floats]:
    """Returns scores and their places among all, between which a straight line leads; both rise strictly.

    Args:
        scores: of examples.
        weight: what each counts for; true ones and others are made to count the same in all.
        is_true: whether each is undamaged.
    """
    used = weight > 0
    scores, weight, is_true = scores[used], weight[used], is_true[used]
    total = np.where(is_true, weight[is_true].sum(), weight[~is_true].sum())
    order = np.argsort(scores, kind="stable")
    share = (weight / total)[order]
    below = (np.cumsum(share) - share / 2) / share.sum()
    at, first = np.unique(np.interp(_PLACES, below, scores[order]), return_index=True)
    last = np.append(first[1:], len(_PLACES)) - 1
    places = (_PLACES[first] + _PLACES[last]) / 2
    if at[0] > 0.0:
        at, places = np.append(0.0, at), np.append(_ENDS[0], places)
    if at[-1] < 1.0:
        at, places = np.append(at, 1.0), np.append(places, _ENDS[1])
    return at, places


def _together(labelled: Sequence[Labelled]) -> Labelled:
    return Labelled(*(np.concatenate(column) for column in zip(*labelled, strict=True)))
