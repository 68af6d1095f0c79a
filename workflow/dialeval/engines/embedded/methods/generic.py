"""Says stock replies in turn, whatever was said."""

from __future__ import annotations

from dialeval.engines.embedded.abilities import Learner, each_without_its_fold
from dialeval.engines.embedded.stock_replies import Generic

LEARNER = Learner(each_without_its_fold(lambda *_: Generic()), (Generic,), needs=0)
