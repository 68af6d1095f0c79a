"""What tokens cost, where the configuration says it."""

from __future__ import annotations

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.openai_model import OpenAIModel

MILLION = 1_000_000


class Prices(BaseModel, defer_build=True):
    """Prices of a model's tokens, in a currency of the user's.

    Attributes:
        price_input: price of a million prompt tokens, or None.
        price_output: price of a million answer tokens, reasoning included, or None.
    """

    price_input: float | None = None
    price_output: float | None = None

    def cost(self, input_tokens: float | None, output_tokens: float | None) -> float | None:
        """Returns the cost of so many tokens, or None where a price or a number of tokens is not known."""
        if self.price_input is None or self.price_output is None or input_tokens is None or output_tokens is None:
            return None
        return (input_tokens * self.price_input + output_tokens * self.price_output) / MILLION


def prices_of(model: Model) -> Prices:
    """Returns the prices that a model's configuration gives; only models behind endpoints have any."""
    if isinstance(model, OpenAIModel):
        return Prices(price_input=model.price_input, price_output=model.price_output)
    return Prices()
