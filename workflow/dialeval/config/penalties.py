"""How much less likely a model finds a token that it has said already: OpenAI's two penalties."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dialeval.config.section import Number, Section

Penalty = Annotated[Number, Field(ge=-2, le=2)]


class Penalties(Section):
    """Sampling that keeps a model from saying the same again; 0, as it is by default, is not even sent."""

    presence_penalty: Penalty = Field(
        0.0, description="Makes what was said less likely, -2 to 2; 0: not sent. Embedded models have none."
    )
    frequency_penalty: Penalty = Field(0.0, description="The same for each time that it was said.")
