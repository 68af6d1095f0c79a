"""From a model's configuration to an engine that answers for it. An engine is imported when it is opened.

The configuration says in which module (`opened_by`): no code here names an engine, so that a fingerprint of what asks a
model holds that model's engine and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from dialeval.config.models import Model
from dialeval.engines.requests import Engine
from dialeval.errors import UserError


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
    if not model.opened_by:
        raise UserError(f"a model of engine '{model.engine}' is not asked; its answers are read from files")
    engine: Engine = import_module(model.opened_by).open_model(model, learned, store, protocol)
    return engine
