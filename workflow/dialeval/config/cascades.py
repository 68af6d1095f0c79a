"""Cascades: a dear judge is asked where a cheap one is least sure."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dialeval.config.section import Name, Number, Section


class Cascade(Section):
    """Two judges as one: `first` answers everything, `then` the share of it where `first` is least sure."""

    first: Name = Field(description="The cheap judge.")
    then: Name = Field(description="The dear judge.")
    share: Annotated[Number, Field(gt=0, lt=1)] = Field(0.3, description="Share of the requests that `then` is asked.")

    @property
    def name(self) -> str:
        """What tables call the two as one judge."""
        return f"{self.first}-then-{self.then}"
