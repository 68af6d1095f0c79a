"""Adaptive comparisons: pairs are asked about until they are settled."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dialeval.config.section import Count, Number, Section


class Adaptive(Section):
    """Rounds of cases for the pairs that are still open (see docs/protocols.md)."""

    block: Count = Field(20, description="Cases that each round adds.")
    error: Annotated[Number, Field(gt=0, lt=0.5)] = Field(
        0.05, description="Chance that two equal systems are called different."
    )
    per: Literal["pair", "family"] = Field(
        "pair", description="Whether `error` is that of each pair or of all pairs together."
    )
    boundary: Literal["obrien_fleming", "confidence_sequence"] = Field(
        "obrien_fleming",
        description="obrien_fleming (looks are planned: one after each block) or confidence_sequence (one may stop and "
        "look at any time, at a price).",
    )
    requests: Count | None = Field(
        None, description="Most requests to each judge; a round that would pass it is not begun. null: no limit."
    )
