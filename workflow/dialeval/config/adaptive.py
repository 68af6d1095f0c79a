"""Adaptive comparisons: pairs are asked about until they are settled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from dialeval.config.mistakes import Mistake
from dialeval.config.section import Count, Number, Section

if TYPE_CHECKING:
    from dialeval.config.whole import Config


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


def unfit_rounds(config: Config) -> Iterator[Mistake]:
    """Yields what does not go together with asking in rounds."""
    for name, protocol in config.resolved_protocols().items():
        if protocol.adaptive is None:
            continue
        field = f"protocols.{name}.adaptive"
        if protocol.cascade is not None:
            words = (
                "a cascade's expensive judge is asked a random share, and not until a pair is settled; "
                "take out one of adaptive and cascade"
            )
            yield Mistake(field, words, (f"protocols.{name}.cascade",))
        for judge in protocol.judges or ():
            model = config.models.get(judge)
            if model is not None and model.shards > 1:
                words = (
                    f"whether a pair is settled follows from all of a judge's verdicts, so one job asks for them, and "
                    f"models.{judge}.shards is {model.shards}; set it to 1, or give the protocol other judges"
                )
                yield Mistake(field, words, (f"models.{judge}",))
