"""From a model's configuration to an engine that answers for it. An engine is imported when it is opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dialeval.config import EmbeddedModel, Model, OpenAIModel, VllmModel
from dialeval.engines.request import Engine
from dialeval.errors import UserError
from dialeval.fingerprint import fingerprint


def open_engine(model: Model, learned: Sequence[Path]) -> Engine:
    """Returns the engine of a model.

    Args:
        model: its configuration.
        learned: for an embedded model, the file of what it learned; empty for others.

    Raises:
        UserError: the engine cannot be had here.
    """
    if isinstance(model, OpenAIModel):
        return _behind_an_endpoint(model)
    if isinstance(model, VllmModel):
        from dialeval.engines.vllm_engine import VllmEngine

        return VllmEngine(model)
    if isinstance(model, EmbeddedModel):
        return _embedded(model, learned)
    raise UserError(f"a model of engine '{model.engine}' is not asked; its answers are read from files")


def _behind_an_endpoint(model: OpenAIModel) -> Engine:
    from dialeval.engines.budget import BudgetedBatchEngine, BudgetedEngine
    from dialeval.engines.openai_api.batches.engine import BatchEngine
    from dialeval.engines.openai_api.engine import OpenAIEngine

    engine = OpenAIEngine(model)
    if model.batch:
        in_batches = BatchEngine(engine, model)
        return in_batches if model.budget is None else BudgetedBatchEngine(in_batches, model)
    return engine if model.budget is None else BudgetedEngine(engine, model)


def _embedded(model: EmbeddedModel, learned: Sequence[Path]) -> Engine:
    from dialeval.engines.embedded.engine import EmbeddedEngine
    from dialeval.engines.embedded.learning import Learned

    parameters = Learned.load(learned[0])
    identity = {
        "engine": "embedded",
        "method": model.method,
        "learned": parameters.digest,
        "code": fingerprint("dialeval.engines.embedded.engine"),
    }
    return EmbeddedEngine(parameters, identity=json.dumps(identity, sort_keys=True), concurrency=model.concurrency)
