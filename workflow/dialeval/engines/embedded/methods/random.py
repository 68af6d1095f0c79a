"""Says an utterance drawn at random from people's dialogues, and rates at random."""

from __future__ import annotations

from dialeval.engines.embedded.chatbots import Random
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold

LEARNER = Learner(each_without_its_fold(Random), (Random,))
