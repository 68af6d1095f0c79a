"""Rates by the number of words."""

from __future__ import annotations

from dialeval.engines.embedded.abilities import Learner, each_without_its_fold
from dialeval.engines.embedded.baselines import Length

LEARNER = Learner(each_without_its_fold(lambda *_: Length()), (Length,), needs=0)
