"""Telling true replies from strange ones: a logistic regression over how replies are described.

It is asked about nothing but this, with several strange replies in the place of every true one, which the judge's
classifiers for all kinds of damage are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.features import Described, describe
from dialeval.engines.embedded.reply_fit import ReplyFit
from dialeval.engines.embedded.statistics import Floats, Statistics
from dialeval.engines.embedded.texts import Batch
from dialeval.engines.request import Dialogue
from dialeval.text.folds import generator_for

N_STRANGE = 4
"""How many strange replies stand against each true one."""
MOST_TURNS = 5
"""From how many turns of a dialogue it is learned at most."""
STRENGTH = 0.1
"""Inverse strength of the penalty."""


@dataclass(frozen=True)
class Replies:
    """Replies of one inner fold, true and strange, described by what was learned from others.

    Attributes:
        values: replies by features.
        is_true: whether each is the one that was given.
    """

    values: Floats
    is_true: npt.NDArray[np.bool_]


class Selector:
    """Tells true replies from strange ones.

    Args:
        replies: of some folds; without true or without strange ones among them it has no opinion.
    """

    def __init__(self, replies: Sequence[Replies]) -> None:
        values = np.concatenate([one.values for one in replies])
        is_true = np.concatenate([one.is_true for one in replies])
        self._mean: Floats = values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
        self._scale: Floats = np.maximum(values.std(axis=0), 1e-9) if len(values) else np.ones(values.shape[1])
        self._weights: Floats = np.zeros(values.shape[1])
        self._constant = 0.0
        if is_true.any() and not is_true.all():
            from sklearn.linear_model import LogisticRegression  # only where something is learned

            regression = LogisticRegression(C=STRENGTH, class_weight="balanced", solver="newton-cholesky")
            regression.fit((values - self._mean) / self._scale, is_true)
            self._weights, self._constant = regression.coef_[0], float(regression.intercept_[0])

    def log_odds(self, values: Floats) -> Floats:
        """Returns log-odds for being a true reply, where true and strange ones are equally frequent."""
        shares = (values - self._mean) / self._scale * self._weights
        return np.asarray(shares.sum(axis=1) + self._constant, dtype=np.float64)


class SelectingReader:
    """Describes utterances as the forest does, and by how likely each is a true reply.

    Args:
        statistics: of some dialogues.
        fit: learned from the same.
        selector: learned from replies of others.
    """

    def __init__(self, statistics: Statistics, fit: ReplyFit, selector: Selector) -> None:
        self._statistics, self._fit, self._selector = statistics, fit, selector

    def describe(self, batch: Batch) -> Described:
        """Describes every utterance of the dialogues; the last column is the selector's, 0 at the first turn."""
        described = describe(batch, self._statistics)
        selected = (described.turn > 0) * self._selector.log_odds(self._fit.values(batch, described))
        return replace(described, values=np.column_stack([described.values, selected]))

    def rarity(self, utterances: Sequence[str]) -> Floats:
        """Returns the idf of the rarest word of each utterance."""
        return self._statistics.rarity(utterances)


def describe_replies(dialogues: Sequence[Dialogue], statistics: Statistics, fit: ReplyFit, random_seed: int) -> Replies:
    """Returns replies of one inner fold and strange ones in their places, drawn from the same fold.

    Args:
        dialogues: those of the fold.
        statistics: of dialogues of other folds.
        fit: learned from the same dialogues of other folds.
        random_seed: of what is drawn.
    """
    texts: list[Dialogue] = []
    is_true: list[bool] = []
    pool = [utterance for dialogue in dialogues for utterance in dialogue]
    for dialogue in dialogues:
        rng = generator_for(random_seed, "replies", *dialogue)
        for turn in sorted(rng.permutation(np.arange(1, len(dialogue)))[:MOST_TURNS]):
            drawn = [pool[int(number)] for number in rng.integers(len(pool), size=N_STRANGE)]
            strange = [utterance for utterance in drawn if utterance not in dialogue]
            texts += [dialogue[: turn + 1], *((*dialogue[:turn], utterance) for utterance in strange)]
            is_true += [True, *[False] * len(strange)]
    batch = Batch(texts, only_ends=True)
    return Replies(fit.values(batch, describe(batch, statistics)), np.array(is_true))
