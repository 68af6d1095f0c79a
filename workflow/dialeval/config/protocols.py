"""The protocols that judges can follow."""

from __future__ import annotations

from dialeval.config.botchat import Arena, GTEval, UniEval
from dialeval.config.metaeval import Rating, YesNo
from dialeval.config.section import Section


class Protocols(Section):
    """The evaluations to run; leave one out to skip it."""

    unieval: UniEval | None = None
    arena: Arena | None = None
    gteval: GTEval | None = None
    rating: Rating | None = None
    yes_no: YesNo | None = None
