"""From a model's configuration to an engine that answers for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dialeval.config import EmbeddedModel, Model
from dialeval.engines.availability import unavailable
from dialeval.engines.embedded.engine import EmbeddedEngine
from dialeval.engines.embedded.learning import Learned
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
    if isinstance(model, EmbeddedModel):
        parameters = Learned.load(learned[0])
        identity = {
            "engine": "embedded",
            "method": model.method,
            "learned": parameters.digest,
            "code": fingerprint("dialeval.engines.embedded.engine"),
        }
        return EmbeddedEngine(parameters, identity=json.dumps(identity, sort_keys=True), concurrency=model.concurrency)
    raise UserError(unavailable(model) or f"engine '{model.engine}' cannot be opened")
