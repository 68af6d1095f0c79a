"""Writes word by word from Kneser-Ney trigrams, with the last utterance as topic."""

from __future__ import annotations

from dialeval.engines.embedded.chatbots import Ngram
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold
from dialeval.engines.embedded.texts import WordWeights

LEARNER = Learner(each_without_its_fold(Ngram), (Ngram, WordWeights))
