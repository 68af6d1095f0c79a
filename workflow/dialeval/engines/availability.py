"""Which engines can answer on this installation; asked before any job runs, so it imports none of them."""

from __future__ import annotations

import os
from pathlib import Path

from dialeval.config import EncoderModel, Model, NllbModel, OpenAIModel, VllmModel
from dialeval.engines.encoder.installation import check_precision, encoder_missing, no_gpu
from dialeval.engines.encoder.metric import read_metric
from dialeval.engines.nllb.installation import nllb_missing
from dialeval.engines.vllm_engine.devices import no_device
from dialeval.engines.vllm_engine.installation import vllm_missing
from dialeval.errors import UserError


def unavailable(model: Model, *, own_environment: bool = False) -> str | None:
    """Returns why a model cannot answer on this installation and what to do about it, or None if it can.

    Args:
        model: the model's configuration.
        own_environment: whether its jobs run in an environment that is made for them.
    """
    if isinstance(model, VllmModel):
        return None if own_environment else vllm_missing()
    if isinstance(model, NllbModel):
        return (None if own_environment else nllb_missing()) or check_precision(model.precision, model.gpus)
    if isinstance(model, EncoderModel):
        missing = None if own_environment else encoder_missing(trains=model.train is not None)
        return missing or check_precision(model.precision, model.gpus) or _no_metric(model.weights)
    if isinstance(model, OpenAIModel) and model.api_key_env and not os.environ.get(model.api_key_env):
        return (
            f"the environment variable {model.api_key_env}, which api_key_env names, is not set; "
            "export it, or set api_key_env: null for an endpoint without keys"
        )
    return None


def cannot_compute_here(model: Model, *, own_environment: bool = False) -> str | None:
    """Returns why a job of a model cannot run on this very machine and what to do about it, or None if it can.

    For a job that runs here: on a cluster the machine that plans need not have what those that compute have.

    Args:
        model: the model's configuration.
        own_environment: whether its jobs run in an environment that is made for them.
    """
    if isinstance(model, EncoderModel):
        trains = no_gpu(model.train.gpus, "train.gpus") if model.train else None
        return trains or no_gpu(model.gpus, "gpus")
    if isinstance(model, NllbModel):
        return no_gpu(model.gpus, "gpus")
    return no_device(model, own_environment=own_environment) if isinstance(model, VllmModel) else None


def _no_metric(folder: Path | None) -> str | None:
    """Returns why a folder that should hold a trained metric holds none, or None."""
    try:
        if folder is not None:
            read_metric(folder.expanduser())
    except UserError as error:
        return f"weights: {error}"
    return None
