"""Selects a person's reply from the most similar place."""

from __future__ import annotations

from dialeval.engines.embedded.chatbots import Retrieval
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold
from dialeval.engines.embedded.texts import WordWeights

LEARNER = Learner(each_without_its_fold(lambda dialogues, _: Retrieval(dialogues)), (Retrieval, WordWeights))
