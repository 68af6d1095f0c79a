"""From a model's configuration to an engine that answers for it. An engine is imported when it is opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dialeval.config import EmbeddedModel, Model, OpenAIModel, VllmModel
from dialeval.engines.request import Engine
from dialeval.errors import UserError
from dialeval.fingerprint import fingerprint


def open_engine(model: Model, learned: Sequence[Path], store: Path | None = None, protocol: str = "") -> Engine:
    """Returns the engine of a model.

    Args:
        model: its configuration.
        learned: for an embedded model, the file of what it learned; empty for others.
        store: the folder of the stores, where is written down what is spent; needed where anything can be.
        protocol: what it is asked under, for the same.

    Raises:
        UserError: the engine cannot be had here.
    """
    if isinstance(model, OpenAIModel):
        return _behind_an_endpoint(model, store, protocol)
    if isinstance(model, VllmModel):
        from dialeval.engines.vllm_engine import VllmEngine

        return VllmEngine(model)
    if isinstance(model, EmbeddedModel):
        return _embedded(model, learned)
    raise UserError(f"a model of engine '{model.engine}' is not asked; its answers are read from files")


def _behind_an_endpoint(model: OpenAIModel, store: Path | None, protocol: str) -> Engine:
    from dialeval.engines.openai_api.batches.engine import BatchEngine
    from dialeval.engines.openai_api.engine import OpenAIEngine
    from dialeval.engines.spending.account import Account
    from dialeval.engines.spending.terms import terms_for

    terms = terms_for(model)
    if terms is not None and terms.limited and store is None:
        raise UserError(f"model '{model.model}' has a budget, and there is no store that says what was spent of it")
    account = Account(store, terms, protocol) if terms is not None and store is not None else None
    engine = OpenAIEngine(model, account=account)
    return BatchEngine(engine, model) if model.batch else engine


def _embedded(model: EmbeddedModel, learned: Sequence[Path]) -> Engine:
    from dialeval.engines.embedded.engine import EmbeddedEngine
    from dialeval.engines.embedded.learned_file import read_learned

    parameters = read_learned(learned[0])
    identity = {
        "engine": "embedded",
        "method": model.method,
        "learned": parameters.digest,
        "code": fingerprint("dialeval.engines.embedded.engine"),
    }
    return EmbeddedEngine(parameters, identity=json.dumps(identity, sort_keys=True), concurrency=model.concurrency)
