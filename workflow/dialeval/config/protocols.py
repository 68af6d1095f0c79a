"""The protocols that judges can follow: the papers', with their options, and any others of the user's."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from dialeval.config.botchat import Arena, GTEval, UniEval
from dialeval.config.failures import Failures
from dialeval.config.metaeval import Rating, YesNo
from dialeval.config.protocol import Protocol
from dialeval.config.section import Name, Section


class Protocols(Section):
    """The evaluations to run; leave one out to skip it. Any other name is a protocol of your own, see below."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Name, Protocol] = Field(init=False)

    unieval: UniEval | None = None
    arena: Arena | None = None
    gteval: GTEval | None = None
    rating: Rating | None = None
    yes_no: YesNo | None = None
    failures: Failures | None = None

    @property
    def own(self) -> dict[str, Protocol]:
        """Returns the user's own protocols by name."""
        return self.__pydantic_extra__
