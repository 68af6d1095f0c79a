"""How fluent an utterance is: a Kneser-Ney trigram model over classes of words, computed for many utterances at once.

A few hundred dialogues are too few for a model of words that would tell a rare word from a wrong one. So frequent words
stand for themselves, and all others for the group with the same ending; what is left is mostly grammar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from dialeval.engines.embedded.kneser_ney import FIRST_TOKEN, OTHER, Floats, KneserNey
from dialeval.text.tokens import unfinished_tokens

N_FREQUENT = 150
"""How many words stand for themselves."""
N_ENDINGS = 60
"""How many endings are told apart."""
ENDING = 2


class LanguageModel:
    """Tells how well words fit after each other, from the utterances it learned from."""

    def __init__(self, utterances: Sequence[str]) -> None:
        found = [unfinished_tokens(utterance) for utterance in utterances]
        frequent = _most_common((token for utterance in found for token in utterance), N_FREQUENT)
        self._of_word = {token: number for number, token in enumerate(frequent, start=FIRST_TOKEN)}
        rare = {token for utterance in found for token in utterance} - self._of_word.keys()
        endings = _most_common((token[-ENDING:] for token in rare), N_ENDINGS)
        self._of_ending = {ending: number for number, ending in enumerate(endings, start=FIRST_TOKEN + N_FREQUENT)}
        texts = [self._numbers(utterance) for utterance in utterances]
        self._trigrams = KneserNey(texts, FIRST_TOKEN + N_FREQUENT + N_ENDINGS)

    def fluency(self, utterances: Sequence[str]) -> tuple[Floats, Floats]:
        """Returns how much likelier each word is where it stands than anywhere, in nats.

        Args:
            utterances: at least one.

        Returns:
            The mean over the words and marks of each utterance, and the least of them.
        """
        texts = [self._numbers(utterance) for utterance in utterances]
        code = self._trigrams.grams(texts)
        n = np.array([len(text) + 1 for text in texts])
        starts = np.cumsum([0, *n])[:-1]
        gain = np.log(self._trigrams.probability(code)) - np.log(self._trigrams.alone(code))
        return np.add.reduceat(gain, starts) / n, np.minimum.reduceat(gain, starts)

    def _numbers(self, utterance: str) -> list[int]:
        return [
            self._of_word.get(token) or self._of_ending.get(token[-ENDING:], OTHER)
            for token in unfinished_tokens(utterance)
        ]


def _most_common(elements: Iterable[str], n: int) -> list[str]:
    """Returns the most frequent elements; equally frequent ones in alphabetical order."""
    counted = sorted(Counter(elements).items(), key=lambda pair: (-pair[1], pair[0]))
    return [element for element, _ in counted[:n]]
