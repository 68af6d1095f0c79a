"""Tiny metrics that the tests of trained encoders share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_metrics import tiny_encoder, tiny_metric


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def metric_folder(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return the folder of a metric with these fields; the same fields, the same folder."""
    made: dict[str, Path] = {}

    def folder(**fields: Any) -> Path:
        name = repr(sorted(fields.items()))
        if name not in made:
            made[name] = tiny_metric(tmp_path_factory.mktemp("metrics") / "metric", encoder, **fields)
        return made[name]

    return folder
