"""Prices, budgets, and the billed tokens of an attempt.

They change no answer, so they are no part of a job's settings: raising a budget re-runs nothing. A run passes them to
its jobs by the environment; a stage that is started by hand reads them from its model.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel

from dialeval.config.endpoints import OpenAIModel
from dialeval.config.models import Model
from dialeval.engines.openai_api.wire_format import openai_identity

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
        """Return the cost of tokens, or None where a price or a number of tokens is not known."""
        if self.price_input is None or self.price_output is None or input_tokens is None or output_tokens is None:
            return None
        return (input_tokens * self.price_input + output_tokens * self.price_output) / MILLION


def prices_of(model: Model) -> Prices:
    """Return the prices that a model's configuration gives; only models behind endpoints have any."""
    if isinstance(model, OpenAIModel):
        return Prices(price_input=model.price_input, price_output=model.price_output)
    return Prices()


class Bound(NamedTuple):
    """The largest numbers of tokens of an attempt."""

    input_tokens: int
    output_tokens: int


class Billed(NamedTuple):
    """Billed tokens of an attempt; `confirmed` by the endpoint, or else the largest numbers."""

    input_tokens: int
    output_tokens: int
    confirmed: bool = True


NO_TOKENS = Billed(0, 0)


VARIABLE = "DIALEVAL_SPENDING"
ORDINARY_OF_BATCH = 2.0
"""Price of an ordinary request of a model with `batch: true`, in batch prices: batches cost half."""


class ModelTerms(BaseModel, defer_build=True):
    """A model's prices and budget.

    Attributes:
        name: the model's name in the configuration.
        price_input: price of a million prompt tokens.
        price_output: price of a million answer tokens.
        ordinary: price of a request outside of batches, as a multiple of these.
        budget: the most that the model may cost, or None.
    """

    name: str
    price_input: float
    price_output: float
    ordinary: float = 1.0
    budget: float | None = None

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Return the cost of tokens."""
        return (input_tokens * self.price_input + output_tokens * self.price_output) / MILLION


class RunTerms(BaseModel, defer_build=True):
    """The terms of all models of a run that have prices.

    Attributes:
        budget: the most that all of them together may cost, or None.
        models: terms by the digest of the model's identity.
    """

    budget: float | None = None
    models: dict[str, ModelTerms] = {}


@dataclass(frozen=True)
class Terms:
    """The prices and budgets of one job.

    Attributes:
        digest: of the model's identity, the name of its folder in the ledger.
        model: the model's terms.
        run: the run's, with this model's.
    """

    digest: str
    model: ModelTerms
    run: RunTerms

    @property
    def limited(self) -> bool:
        """Whether any budget applies."""
        return self.model.budget is not None or self.run.budget is not None


def run_terms(models: Mapping[str, Model], budget: float | None) -> RunTerms:
    """Return the terms of a run."""
    terms: dict[str, ModelTerms] = {}
    for name, model in models.items():
        own = _terms_of(name, model)
        if own is not None and isinstance(model, OpenAIModel):
            digest = digest_of(model)
            twin = terms.get(digest)
            if twin is not None and twin.budget is not None:  # two names of one model: the smaller budget counts
                own.budget = twin.budget if own.budget is None else min(twin.budget, own.budget)
            terms[digest] = own
    return RunTerms(budget=budget, models=terms)


def announce(terms: RunTerms, environment: MutableMapping[str, str] = os.environ) -> None:
    """Pass the terms to the jobs that this process starts."""
    environment[VARIABLE] = terms.model_dump_json(exclude_defaults=True)


def terms_for(model: OpenAIModel) -> Terms | None:
    """Return the terms of a job's model, or None if it has no prices."""
    digest = digest_of(model)
    announced = os.environ.get(VARIABLE)
    run = RunTerms.model_validate_json(announced) if announced else RunTerms()
    own = _terms_of(model.model, model) or run.models.get(digest)
    if own is None:
        return None
    return Terms(digest, own, run.model_copy(update={"models": {**run.models, digest: own}}))


def digest_of(model: OpenAIModel) -> str:
    """Return the digest of a model's identity, by which its answers and its spending are found under any name."""
    return hashlib.sha256(openai_identity(model).encode()).hexdigest()[:12]


def _terms_of(name: str, model: Model) -> ModelTerms | None:
    if not isinstance(model, OpenAIModel) or model.price_input is None or model.price_output is None:
        return None
    return ModelTerms(
        name=name,
        price_input=model.price_input,
        price_output=model.price_output,
        ordinary=ORDINARY_OF_BATCH if model.batch else 1.0,
        budget=model.budget,
    )
