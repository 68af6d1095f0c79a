"""Says stock replies in turn, whatever was said."""

from __future__ import annotations

from dialeval.engines.embedded.chatbots import Generic
from dialeval.engines.embedded.interfaces import Learner, each_without_its_fold

LEARNER = Learner(each_without_its_fold(lambda *_: Generic()), (Generic,), needs=0)
