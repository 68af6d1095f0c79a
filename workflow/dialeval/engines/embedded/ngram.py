"""A chatbot that writes its reply word by word: an interpolated Kneser-Ney trigram model with a topic.

The sentence begins from a mark for the kind of utterance it answers (a question, a statement), and words that people
use in replies to the words of the last utterance are likelier. Sampling goes down the orders as interpolation does:
from the trigram with the mass that absolute discounting leaves it, else from the bigram, else from the unigram; the
lower orders count in how many different places a word follows (Kneser and Ney, 1995).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dialeval.engines.embedded.retrieval import is_question
from dialeval.engines.embedded.word_weights import WordWeights
from dialeval.engines.request import Dialogue
from dialeval.text.folds import generator_for
from dialeval.text.tokens import is_word, join_tokens, surface_tokens

DISCOUNT = 0.6
"""What absolute discounting takes off every count, for the lower order to have."""
TOPIC_BOOST = 4.0
"""How many times likelier the most topical word is made, on top of once."""
MAX_TOKENS = 40
MIN_WORDS = 2
ATTEMPTS = 5
UNHEARD = 0.05
"""The share of a reply's words that nobody said before."""

_END = 0
_ANSWER = 1
_REACTION = 2
_START = 3
_UNKNOWN = -1
_MARKS = ("</s>", "<answer>", "<reaction>", "<s>")

History = tuple[int, ...]
Continuations = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Tokens that follow a history, and their counts."""
Discounted = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], float]
"""Tokens that follow a history, what discounting leaves of their counts, and the share that it leaves in all."""

_PREPARED = ("_by_word", "_discounted")
"""What is not kept in the file: it follows from the rest."""


class Ngram:
    """Writes replies from trigram statistics of the dialogues it learned from."""

    def __init__(self, dialogues: Sequence[Dialogue], random_seed: int) -> None:
        self._random_seed = random_seed
        pairs = [(last, reply) for dialogue in dialogues for last, reply in pairwise(dialogue)]
        surfaces = [surface_tokens(reply) for _, reply in pairs]
        self._vocabulary = [*_MARKS, *sorted({token for reply in surfaces for token in reply})]
        number = self._number = {token: index for index, token in enumerate(self._vocabulary)}
        sentences = [
            (_START, _mark(last), *(number[token] for token in reply), _END)
            for (last, _), reply in zip(pairs, surfaces, strict=True)
        ]
        self._continuations = _kneser_ney(sentences)

        self._weights, self._asked = WordWeights.learned_from([last for last, _ in pairs])
        _, self._answered = WordWeights.learned_from([reply for _, reply in pairs], number, surface_tokens)
        self._prepare()

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the reply to a dialogue so far; the same for the same utterances."""
        rng = generator_for(self._random_seed, *utterances)
        boost = self._topic(utterances[-1])
        for _ in range(ATTEMPTS):
            words = self._sentence(_mark(utterances[-1]), boost, rng)
            if sum(map(is_word, words)) >= MIN_WORDS:
                break
        return join_tokens(words) if words else "..."

    def log_probability(self, utterances: Sequence[str], continuation: str) -> tuple[float, int]:
        """Returns the log-probability of a reply to a dialogue, in nats, and its number of tokens, its end included.

        It is that of `reply` without its repeated attempts, save that a word that was never heard is not impossible:
        the share `UNHEARD` goes to all words alike, known or not.
        """
        boost = self._topic(utterances[-1])
        history: tuple[int, int] = (_START, _mark(utterances[-1]))
        words = [self._number.get(token) for token in surface_tokens(continuation)]
        total = 0.0
        for word in [*words, _END]:
            probability = 0.0 if word is None else self._probability(history, word, boost)
            total += math.log((1 - UNHEARD) * probability + UNHEARD / len(self._vocabulary))
            history = (history[1], _UNKNOWN if word is None else word)
        return total, len(words) + 1

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> npt.NDArray[np.float64]:
        """Returns for each option the mean log-probability of its tokens as a reply."""
        return np.array([total / n for total, n in (self.log_probability(utterances, option) for option in options)])

    def __getstate__(self) -> dict[str, Any]:
        """Returns the model with its many small arrays of continuations in one."""
        histories = [history + (_UNKNOWN,) * (2 - len(history)) for history in self._continuations]
        return {
            **{name: value for name, value in self.__dict__.items() if name not in _PREPARED},
            "_continuations": [
                np.array(histories, dtype=np.int64),
                np.cumsum([0, *(len(following) for following, _ in self._continuations.values())]),
                *(np.concatenate(parts) for parts in zip(*self._continuations.values(), strict=True)),
            ],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        histories, ends, following, counts = state["_continuations"]
        self._continuations = {
            tuple(word for word in history if word != _UNKNOWN): (following[start:end], counts[start:end])
            for history, (start, end) in zip(histories.tolist(), pairwise(ends.tolist()), strict=True)
        }
        self._prepare()

    def _prepare(self) -> None:
        """Makes room for what follows from what was learned and is asked for at every word."""
        self._by_word = self._asked.T.tocsr()
        self._discounted: dict[History, Discounted] = {}

    def _after(self, history: History) -> Discounted | None:
        """Returns what follows a history, discounted; None, if it was never heard."""
        if history not in self._discounted:
            if history not in self._continuations:
                return None
            following, counts = self._continuations[history]
            kept = float((counts - DISCOUNT).sum() / counts.sum())
            self._discounted[history] = (following, counts - DISCOUNT, kept)
        return self._discounted[history]

    def _probability(self, history: History, word: int, boost: npt.NDArray[np.float64]) -> float:
        """Returns how likely `_next` draws a word."""
        probability, left = 0.0, 1.0
        for used in (history, history[1:], ()):
            after = self._after(used)
            if after is None:
                continue
            following, discounted, kept = after
            kept = kept if used else 1.0
            weights = discounted * boost[following]
            place = int(np.searchsorted(following, word))
            if place < len(following) and following[place] == word:
                probability += left * kept * weights[place] / weights.sum()
            left *= 1 - kept
        return float(probability)

    def _topic(self, last: str) -> npt.NDArray[np.float64]:
        """Returns a factor of 1 or more for every token: how much it belongs in a reply to this utterance."""
        asked = self._weights.rows([last])
        lift = ((asked @ self._by_word) @ self._answered).toarray().ravel()
        peak = lift.max(initial=0.0)
        return np.asarray(1.0 + TOPIC_BOOST * (lift / peak if peak > 0 else lift), dtype=np.float64)

    def _sentence(self, mark: int, boost: npt.NDArray[np.float64], rng: np.random.Generator) -> list[str]:
        words: list[int] = [_START, mark]
        while len(words) < MAX_TOKENS + 2:
            word = self._next(tuple(words[-2:]), boost, rng)
            if word == _END:
                break
            words.append(word)
        return [self._vocabulary[word] for word in words[2:]]

    def _next(self, history: History, boost: npt.NDArray[np.float64], rng: np.random.Generator) -> int:
        for used in (history, history[1:], ()):
            after = self._after(used)
            if after is None:
                continue
            following, discounted, kept = after
            if used and rng.random() >= kept:
                continue
            weights = (discounted * boost[following]).cumsum()
            return int(following[weights.searchsorted(rng.random() * weights[-1], side="right")])
        return _END


def _mark(last: str) -> int:
    return _ANSWER if is_question(last) else _REACTION


def _kneser_ney(sentences: Sequence[Sequence[int]]) -> dict[History, Continuations]:
    """Returns what follows every history of two, one and no tokens; lower orders count distinct predecessors."""
    trigrams = Counter(tuple(sentence[i : i + 3]) for sentence in sentences for i in range(len(sentence) - 2))
    bigrams = Counter(trigram[1:] for trigram in trigrams)
    unigrams = Counter(bigram[1:] for bigram in bigrams)
    following: dict[History, list[tuple[int, int]]] = defaultdict(list)
    for counts in (trigrams, bigrams, unigrams):
        for ngram, count in counts.items():
            following[ngram[:-1]].append((ngram[-1], count))
    return {
        history: (np.array([token for token, _ in pairs]), np.array([count for _, count in pairs], dtype=np.float64))
        for history, pairs in ((history, sorted(pairs)) for history, pairs in following.items())
    }
