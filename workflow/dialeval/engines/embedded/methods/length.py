"""Rates by the number of words."""

from __future__ import annotations

from dialeval.engines.embedded.baselines import Length
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold

LEARNER = Learner(each_without_its_fold(lambda *_: Length()), (Length,), needs=0)
