"""Embedded chatbots: retrieval, n-grams, stock replies, random replies.

`Retrieval` describes a context by TF-IDF: the last utterance counts most, the ones before it less and less. It repeats
no utterance of the dialogue and quotes no human dialogue twice.

`Ngram` begins a sentence from a mark for the utterance that it answers (question or statement); words that humans use
in replies to the words of the last utterance are likelier. It samples from the trigram with the mass that absolute
discounting leaves it, else from the bigram, else from the unigram; the lower orders count in how many contexts a word
follows (Kneser and Ney, 1995).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dialeval.corpora.clusters import generator_for
from dialeval.criteria import DIMENSIONS, Level
from dialeval.engines.embedded.interfaces import Model
from dialeval.engines.embedded.texts import Floats, Integers, Row, WordWeights, joined
from dialeval.engines.requests import Dialogue
from dialeval.text import QUESTION_MARKS, Script, is_word, join_tokens, normalised, script_of, surface_tokens, tokens

Booleans = npt.NDArray[np.bool_]

CONTEXT_WEIGHTS = (1.0, 0.5, 0.25)
"""Weight of the last utterance, of the one before it, and so on."""
TOPIC_WEIGHT = 0.3
"""Weight of the similarity between the reply and the dialogue."""
FORM_WEIGHT = 0.1
"""Weight of a candidate that answered a question if and only if the last utterance is one."""
STAGE_WEIGHT = 0.05
"""Weight of a candidate from the same turn of its dialogue."""
SHARPNESS = 10.0
"""Log-odds between options per unit of similarity."""
LATE = 4
"""The turn (0-based) from which on all turns count as the same."""
TOO_SIMILAR = 0.7
"""Cosine with an earlier utterance from which on a candidate counts as a repetition."""
_CACHED = 8192
"""Utterances for which the replies that repeat them are kept."""


class Retrieval(Model):
    """Selects the reply of the most similar context in the dialogues that it learned from."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        places = [(dialogue, turn) for dialogue in dialogues for turn in range(1, len(dialogue))]
        self._replies = [dialogue[turn] for dialogue, turn in places]
        self._source = np.repeat(np.arange(len(dialogues)), [len(dialogue) - 1 for dialogue in dialogues])
        self._sources_of: dict[str, list[int]] = {}
        for source, dialogue in enumerate(dialogues):
            for text in dict.fromkeys(map(normalised, dialogue)):  # not a set, whose order is each process's own
                self._sources_of.setdefault(text, []).append(source)
        self._weights = WordWeights([tokens(utterance) for dialogue in dialogues for utterance in dialogue])
        self._reply_vectors = self._weights.rows(self._replies)
        self._contexts = joined([self._context(dialogue[:turn]) for dialogue, turn in places], self._weights.n_words)
        self._after_question = np.array([is_question(dialogue[turn - 1]) for dialogue, turn in places])
        self._stage = np.array([min(turn, LATE) for _, turn in places])

    def reply(self, utterances: Sequence[str]) -> str:
        """Return the reply to a dialogue so far; the same for the same utterances."""
        scores = self._contexts @ self._weights.dense(self._context(utterances))
        scores = scores + TOPIC_WEIGHT * (self._reply_vectors @ self._topic(utterances))
        scores += FORM_WEIGHT * (self._after_question == is_question(utterances[-1]))
        scores += STAGE_WEIGHT * (self._stage == min(len(utterances), LATE))
        return self._replies[int(np.argmax(np.where(self._spent(utterances), -np.inf, scores)))]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Return for each option its similarity to human replies in similar contexts, and to the dialogue."""
        offered = self._weights.rows(options)
        similarity = self._contexts @ self._weights.dense(self._context(utterances))
        best = (offered @ self._reply_vectors.T).multiply(similarity[None, :]).max(axis=1).toarray()
        return np.asarray(SHARPNESS * (best + TOPIC_WEIGHT * (offered @ self._topic(utterances))), dtype=np.float64)

    def _context(self, utterances: Sequence[str]) -> Row:
        """Return the direction of the last utterances."""
        return self._weights.direction(reversed(utterances), CONTEXT_WEIGHTS)

    def _topic(self, utterances: Sequence[str]) -> Floats:
        """Return the direction of all utterances, with its zeros."""
        return self._weights.dense(self._weights.direction(utterances, repeat(1.0)))

    def _spent(self, utterances: Sequence[str]) -> Booleans:
        """Return which replies are excluded, unless that would leave none.

        Those are repetitions, and replies from a dialogue that was quoted already: in a self-chat, the next utterance
        of a quoted dialogue is always the best match, and the chatbot would replay a human dialogue.
        """
        equal, similar = (np.zeros(len(self._replies), dtype=np.bool_) for _ in range(2))
        was_quoted = np.zeros(int(self._source[-1]) + 1, dtype=np.bool_)
        for text in {normalised(utterance) for utterance in utterances}:
            equal[self._places_of.get(text, [])] = True
            was_quoted[self._sources_of.get(text, [])] = True
        for utterance in utterances:
            similar[self._similar(utterance)] = True
        quoted = was_quoted[self._source]
        for spent in (equal | similar | quoted, equal | similar, equal):
            if not spent.all():
                return spent
        return np.zeros(len(equal), dtype=np.bool_)

    @cached_property
    def _places_of(self) -> dict[str, list[int]]:
        """The places of each normalised reply."""
        places: dict[str, list[int]] = {}
        for place, text in enumerate(map(normalised, self._replies)):
            places.setdefault(text, []).append(place)
        return places

    @cached_property
    def _similar(self) -> Callable[[str], Integers]:
        """A function that returns the places of the replies that repeat an utterance."""

        def similar(utterance: str) -> Integers:
            cosines = self._reply_vectors @ self._weights.dense(self._weights.row(utterance))
            return np.flatnonzero(cosines > TOO_SIMILAR)

        return lru_cache(_CACHED)(similar)


def is_question(utterance: str) -> bool:
    """Return whether an utterance has a question mark."""
    return any(mark in utterance for mark in QUESTION_MARKS)


# A chatbot that writes its reply word by word: an interpolated Kneser-Ney trigram model with a topic.

DISCOUNT = 0.6
"""What absolute discounting takes off every count, for the lower order to have."""
TOPIC_BOOST = 4.0
"""How many times likelier the most topical word is made, on top of once."""
MAX_TOKENS = 40
MIN_WORDS = 2
ATTEMPTS = 5
UNHEARD = 0.05
"""The probability of a word outside the vocabulary."""

_END = 0
_ANSWER = 1
_REACTION = 2
_START = 3
_UNKNOWN = -1
_MARKS = ("</s>", "<answer>", "<reaction>", "<s>")

History = tuple[int, ...]
Continuations = tuple[Integers, Floats]
"""Tokens that follow a history, and their counts."""
Discounted = tuple[Integers, Floats, float]
"""Tokens that follow a history, what discounting leaves of their counts, and the share that it leaves in all."""


class Ngram(Model):
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
        continuations = _kneser_ney(sentences)
        self._histories = np.array([history + (_UNKNOWN,) * (2 - len(history)) for history in continuations])
        self._ends = np.cumsum([0, *(len(following) for following, _ in continuations.values())])
        self._following, self._counts = (np.concatenate(p) for p in zip(*continuations.values(), strict=True))

        last = [last for last, _ in pairs]
        self._weights = WordWeights([*map(tokens, last)])
        self._last_by_word = self._weights.rows(last).T.tocsr()
        self._replies = WordWeights(surfaces, self._vocabulary).matrix(surfaces)

    def reply(self, utterances: Sequence[str]) -> str:
        """Return the reply to a dialogue so far; the same for the same utterances."""
        rng = generator_for(self._random_seed, *utterances)
        boost = self._topic(utterances[-1])
        for _ in range(ATTEMPTS):
            words = self._sentence(_mark(utterances[-1]), boost, rng)
            if sum(map(is_word, words)) >= MIN_WORDS:
                break
        return join_tokens(words) if words else "..."

    def log_probability(self, utterances: Sequence[str], continuation: str) -> tuple[float, int]:
        """Return the log-probability of a reply to a dialogue, in nats, and its number of tokens, its end included.

        It is that of `reply` without its repeated attempts, but with the share `UNHEARD` for all words alike, known or
        not, so that no word is impossible.
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

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Return for each option the mean log-probability of its tokens as a reply."""
        return np.array([total / n for total, n in (self.log_probability(utterances, option) for option in options)])

    def _topic(self, last: str) -> Floats:
        """Return a factor of 1 or more for every token: how much it belongs in a reply to this utterance."""
        asked = self._weights.rows([last])
        lift = ((asked @ self._last_by_word) @ self._replies).toarray().ravel()
        peak = lift.max(initial=0.0)
        return np.asarray(1.0 + TOPIC_BOOST * (lift / peak if peak > 0 else lift), dtype=np.float64)

    def _sentence(self, mark: int, boost: Floats, rng: np.random.Generator) -> list[str]:
        words: list[int] = [_START, mark]
        while len(words) < MAX_TOKENS + 2:
            word = self._next(tuple(words[-2:]), boost, rng)
            if word == _END:
                break
            words.append(word)
        return [self._vocabulary[word] for word in words[2:]]

    def _next(self, history: History, boost: Floats, rng: np.random.Generator) -> int:
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

    @cached_property
    def _after(self) -> Callable[[History], Discounted | None]:
        """Return a function that gives the discounted counts of tokens after a history; None if it never occurred."""
        places = {tuple(w for w in words if w != _UNKNOWN): n for n, words in enumerate(self._histories.tolist())}

        def after(history: History) -> Discounted | None:
            if history not in places:
                return None
            here = slice(self._ends[places[history]], self._ends[places[history] + 1])
            counts = self._counts[here]
            discounted = counts - DISCOUNT
            return self._following[here], discounted, float(discounted.sum() / counts.sum())

        return lru_cache(None)(after)

    def _probability(self, history: History, word: int, boost: Floats) -> float:
        """Return how likely `_next` draws a word."""
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


def _mark(last: str) -> int:
    return _ANSWER if is_question(last) else _REACTION


def _kneser_ney(sentences: Sequence[Sequence[int]]) -> dict[History, Continuations]:
    """Return the successors of histories of two, one and no tokens; lower orders count distinct predecessors."""
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


# Two chatbots that ignore the dialogue: stock replies, and random human utterances.

FIRST_IS_LIKELIER = 4.0
"""Log-odds between the first option and any other."""


class Stock(NamedTuple):
    """The stock replies of one language."""

    to_questions: tuple[str, ...]
    to_statements: tuple[str, ...]


STOCK: dict[Script, Stock] = {
    "spaced": Stock(
        to_questions=(
            "I am not sure about that.",
            "That is a good question.",
            "It depends, I think.",
        ),
        to_statements=(
            "I see.",
            "That sounds good.",
            "Okay, tell me more.",
            "I understand what you mean.",
        ),
    ),
    "unspaced": Stock(
        to_questions=("这个我不太清楚。", "你问得真好。", "看情况吧。"),
        to_statements=("我明白了。", "听起来不错。", "好的，再说说看。", "我懂你的意思。"),
    ),
}


class Generic(Model):
    """Answers with stock replies in turn: one list for questions, one for everything else."""

    def reply(self, utterances: Sequence[str]) -> str:
        """Return the reply to a dialogue so far; the same for the same utterances."""
        stock = STOCK[script_of(utterances[-1:])]
        replies = stock.to_questions if is_question(utterances[-1]) else stock.to_statements
        return replies[(len(utterances) // 2 - 1) % len(replies)]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Return log-odds for each option: always for the first."""
        return np.array([FIRST_IS_LIKELIER, *[0.0] * (len(options) - 1)])


class Random(Model):
    """Replies with a human utterance drawn at random, and scores at random."""

    def __init__(self, dialogues: Sequence[Dialogue], random_seed: int) -> None:
        self._utterances = [utterance for dialogue in dialogues for utterance in dialogue]
        self._random_seed = random_seed

    def reply(self, utterances: Sequence[str]) -> str:
        """Return the reply to a dialogue so far; the same for the same utterances."""
        rng = generator_for(self._random_seed, *utterances)
        return self._utterances[int(rng.integers(len(self._utterances)))]

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Return for each option a number drawn at random: the same for the same options in the same order."""
        return generator_for(self._random_seed, "options", *utterances, *options).random(len(options))

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Score dialogues at random, on every dimension apart: dialogues by dimensions, between 0 and 1."""
        n = len(DIMENSIONS[level])
        scores = [generator_for(self._random_seed, "rating", level, *dialogue).random(n) for dialogue in dialogues]
        return np.array(scores).reshape(len(dialogues), n)
