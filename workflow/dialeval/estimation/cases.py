"""What one seed or case more would cost: all that models are asked about it, and what the chatbots say on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dialeval.engines.prices import Prices
from dialeval.engines.spending.terms import ORDINARY_OF_BATCH
from dialeval.estimation.estimates import Estimate

TALKS = ("selfchat", "partner")
"""Under these chatbots talk; what is judged rests on it."""


def cost_of_case(
    estimates: Sequence[Estimate],
    prices: Mapping[str, Prices],
    batched: Collection[str],
    protocol: str,
    n_cases: int,
    *,
    talks: bool,
) -> dict[str, float | None]:
    """Returns by judge what a case more costs under a protocol; None where no model that is asked has prices.

    Args:
        estimates: one per model and protocol.
        prices: of models that have any.
        batched: models that are asked in batches, of which these are the prices; self-chat is not.
        protocol: the protocol.
        n_cases: how many cases there are.
        talks: whether chatbots first talk on a case.
    """

    def cost(estimate: Estimate) -> float | None:
        each = prices.get(estimate.model.name, Prices()).cost(estimate.prompt, estimate.answer.expected)
        outside = estimate.protocol in TALKS and estimate.model.name in batched
        factor = ORDINARY_OF_BATCH if outside else 1.0
        return None if each is None else each * factor * estimate.requests / max(n_cases, 1)

    talking = [cost(one) for one in estimates if talks and one.protocol in TALKS]
    judging = {one.model.name: cost(one) for one in estimates if one.protocol == protocol}
    return {judge: _sum([own, *talking]) for judge, own in judging.items()}


def _sum(costs: Sequence[float | None]) -> float | None:
    """Returns the sum of what is known: models without prices bill nothing that could be counted."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None
