"""Rates by how likely the words are."""

from __future__ import annotations

from dialeval.engines.embedded.baselines import Perplexity
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold
from dialeval.engines.embedded.language_model import KneserNey, Order

LEARNER = Learner(each_without_its_fold(lambda dialogues, _: Perplexity(dialogues)), (Perplexity, KneserNey, Order))
