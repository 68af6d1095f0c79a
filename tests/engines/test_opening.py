"""From a configuration to the engine that it asks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import OpenAIModel, PublishedModel
from dialeval.engines.openai_api.batches.engine import BatchEngine
from dialeval.engines.openai_api.engine import OpenAIEngine
from dialeval.engines.opening import open_engine
from dialeval.errors import UserError

PRICED = {"price_input": 1.0, "price_output": 2.0, "budget": 5.0}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, OpenAIEngine),
        ({"batch": True}, BatchEngine),
        (PRICED, OpenAIEngine),
        (PRICED | {"batch": True}, BatchEngine),
    ],
)
def test_endpoints(tmp_path: Path, options: dict[str, Any], kind: type) -> None:
    model = OpenAIModel.model_validate({"engine": "openai", "model": "m", "api_key_env": None} | options)
    engine = open_engine(model, [], tmp_path, "arena")
    assert type(engine) is kind
    assert hasattr(engine, "answer_all") is model.batch
    assert engine.identity == OpenAIEngine(model.model_copy(update={"batch": False, "budget": None})).identity


def test_no_client_is_imported_that_is_not_used() -> None:
    """Only batches go by the `openai` client, which takes longer to import than all the rest."""
    code = "import sys, dialeval.engines.openai_api.opening; print(*sys.modules)"
    job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"aiohttp", "openai", "httpx2"} & {*job.stdout.split()} == {"aiohttp"}


def test_published_models_are_not_asked() -> None:
    with pytest.raises(UserError, match="its answers are read from files"):
        open_engine(PublishedModel(engine="published"), [])
