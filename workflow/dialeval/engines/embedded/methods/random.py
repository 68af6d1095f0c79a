"""Says an utterance drawn at random from people's dialogues, and rates at random."""

from __future__ import annotations

from dialeval.engines.embedded.abilities import Learner, each_without_its_fold
from dialeval.engines.embedded.stock_replies import Random

LEARNER = Learner(each_without_its_fold(Random), (Random,))
