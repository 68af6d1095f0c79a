"""Opens a model behind an endpoint, with the account that its budget is kept in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.requests import Engine
from dialeval.engines.spending.account import Account
from dialeval.engines.spending.prices import terms_for
from dialeval.errors import UserError


def open_model(model: OpenAIModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a model; see `engines.opening`."""
    terms = terms_for(model)
    if terms is not None and terms.limited and store is None:
        raise UserError(f"model '{model.model}' has a budget, and there is no store that says what was spent of it")
    account = Account(store, terms, protocol) if terms is not None and store is not None else None
    engine = OpenAIEngine(model, account=account)
    if not model.batch:
        return engine
    from dialeval.engines.openai_api.batches.engine import BatchEngine  # the `openai` client is slow to import

    return BatchEngine(engine, model)
