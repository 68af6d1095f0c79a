"""How fluent an utterance is: a Kneser-Ney trigram model over classes of words, computed for many utterances at once.

A few hundred dialogues are too few for a model of words that would tell a rare word from a wrong one. So frequent words
stand for themselves, and all others for the group with the same ending; what is left is mostly grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from dialeval.engines.embedded.kneser_ney import FIRST_TOKEN, OTHER, Floats, Integers, KneserNey
from dialeval.engines.embedded.texts import Texts

N_FREQUENT = 150
"""How many words stand for themselves."""
N_ENDINGS = 60
"""How many endings are told apart."""
ENDING = 2


class LanguageModel:
    """Tells how well words fit after each other, from the utterances it learned from."""

    def __init__(self, texts: Texts) -> None:
        place, n = np.unique(texts.token[texts.is_unfinished], return_counts=True)
        counted = {texts.vocabulary[number]: count for number, count in zip(place.tolist(), n.tolist(), strict=True)}
        frequent = _most_common(counted, N_FREQUENT)
        self._of_word = {token: number for number, token in enumerate(frequent, start=FIRST_TOKEN)}
        rare = counted.keys() - self._of_word.keys()
        endings = _most_common(Counter(token[-ENDING:] for token in rare), N_ENDINGS)
        self._of_ending = {ending: number for number, ending in enumerate(endings, start=FIRST_TOKEN + N_FREQUENT)}
        self._trigrams = KneserNey(*self._numbers(texts), FIRST_TOKEN + N_FREQUENT + N_ENDINGS)

    def fluency(self, texts: Texts) -> tuple[Floats, Floats]:
        """Returns how much likelier each word is where it stands than anywhere, in nats.

        Args:
            texts: at least one.

        Returns:
            The mean over the words and marks of each text, and the least of them.
        """
        tokens, n = self._numbers(texts)
        grams = self._trigrams.grams(tokens, n)
        codes, place = np.unique(grams, return_inverse=True)
        gain = (np.log(self._trigrams.probability(codes)) - np.log(self._trigrams.alone(codes)))[place]
        starts = np.cumsum(n + 1) - (n + 1)
        return np.add.reduceat(gain, starts) / (n + 1), np.minimum.reduceat(gain, starts)

    def _numbers(self, texts: Texts) -> tuple[Integers, Integers]:
        """Returns the numbers of the tokens that do not end a text, and how many each text has."""
        of_word = texts.numbers(self._of_word, OTHER)
        of_ending = texts.numbers_by_ending(self._of_ending, ENDING, OTHER)
        numbers = np.where(of_word == OTHER, of_ending, of_word)
        used = texts.is_unfinished
        return numbers[used], np.bincount(texts.of[used], minlength=len(texts.n))


def _most_common(counted: Mapping[str, int], n: int) -> list[str]:
    """Returns the most frequent elements; equally frequent ones in alphabetical order."""
    return sorted(counted, key=lambda element: (-counted[element], element))[:n]
