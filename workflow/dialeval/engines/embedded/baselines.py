"""Baseline judges: length, overlap and perplexity.

Each gives one number between 0 and 1 for every dimension alike: of the last utterance (`turn`), or of the whole
dialogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.interfaces import Model
from dialeval.engines.embedded.statistics import FIRST_TOKEN, OTHER, KneserNey
from dialeval.engines.embedded.texts import Floats, Integers, Texts
from dialeval.engines.requests import Dialogue
from dialeval.text import is_word, tokens

HALF_LENGTH: Mapping[Level, float] = MappingProxyType({"turn": 12.0, "dialogue": 120.0})
"""Number of words at which `length` scores .5."""
ORDINARY = -5.0
"""Log-probability of a word, in nats, at which `perplexity` scores .5: about that of human utterances."""
MIN_COUNT = 2
"""Occurrences from which on a word has a probability of its own."""


class Length(Model):
    """Scores length: n words give n / (n + half)."""

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Score dialogues: dialogues by dimensions."""
        n_words = np.array(
            [len(_words(" ".join(_judged(dialogue, level)))) for dialogue in dialogues], dtype=np.float64
        )
        return _for_each_dimension(n_words / (n_words + HALF_LENGTH[level]), level)


class Overlap(Model):
    """Scores overlap: the share of a reply's different words that occur before it.

    At turn level the context counts; a dialogue's score is the mean over its replies of the overlap with the preceding
    utterance. Without a context, or without words, the score is 0.
    """

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Score dialogues: dialogues by dimensions."""
        score = _taken_up if level == "turn" else _mean_taken_up
        return _for_each_dimension(np.array([score(dialogue) for dialogue in dialogues], dtype=np.float64), level)


class Perplexity(Model):
    """Scores fluency: a logistic function of the mean log-probability of a word.

    Word trigrams are learned from human utterances; words that occur less than twice share one probability. The end of
    an utterance counts as a word.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        texts = Texts([utterance for dialogue in dialogues for utterance in dialogue])
        counted = np.bincount(texts.token, minlength=len(texts.vocabulary))
        known = sorted(texts.vocabulary[place] for place in np.flatnonzero(counted >= MIN_COUNT).tolist())
        self._number = {token: number for number, token in enumerate(known, start=FIRST_TOKEN)}
        self._rare = max(len(counted) - len(known), 1)
        self._trigrams = KneserNey(self._numbers(texts), texts.n, FIRST_TOKEN + len(known))

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Score dialogues: dialogues by dimensions."""
        judged = [_judged(dialogue, level) for dialogue in dialogues]
        total, n = self._log_probability([utterance for utterances in judged for utterance in utterances])
        starts = np.cumsum([0, *map(len, judged)])[:-1]
        mean = np.add.reduceat(total, starts) / np.add.reduceat(n, starts) if len(judged) else np.zeros(0)
        return _for_each_dimension(1.0 / (1.0 + np.exp(ORDINARY - mean)), level)

    def _log_probability(self, utterances: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the summed log-probability of each utterance's words and its end, and how many these are."""
        if not utterances:
            return np.zeros(0), np.zeros(0)
        texts = Texts(utterances)
        numbers, n = self._numbers(texts), texts.n + 1
        each = np.log(self._trigrams.probability(self._trigrams.grams(numbers, texts.n)))
        n_rare = np.bincount(texts.of[numbers == OTHER], minlength=len(n))
        total = np.add.reduceat(each, np.cumsum(n) - n) - n_rare * np.log(self._rare)
        return total, n.astype(np.float64)

    def _numbers(self, texts: Texts) -> Integers:
        return texts.numbers(self._number, OTHER)


def _words(text: str) -> list[str]:
    return [token for token in tokens(text) if is_word(token)]


def _judged(dialogue: Dialogue, level: Level) -> Dialogue:
    return dialogue[-1:] if level == "turn" else dialogue


def _for_each_dimension(score: Floats, level: Level) -> Floats:
    return np.repeat(score[:, None], len(DIMENSIONS[level]), axis=1)


def _taken_up(dialogue: Dialogue) -> float:
    """Return the share of the last utterance's different words that are in those before."""
    context = {word for utterance in dialogue[:-1] for word in _words(utterance)}
    reply = set(_words(dialogue[-1]))
    return len(reply & context) / len(reply) if reply else 0.0


def _mean_taken_up(dialogue: Dialogue) -> float:
    shares = [_taken_up(pair) for pair in pairwise(dialogue)]
    return float(np.mean(shares)) if shares else 0.0
