"""Checks whether engines can answer on this installation, and digests of local files."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from dialeval.config.endpoints import OpenAIModel
from dialeval.config.models import EncoderModel, Model, NllbModel, VllmModel
from dialeval.engines.encoder.metric import read_metric
from dialeval.engines.installation import (
    LEARNS_TO_ANSWER,
    LEARNS_TO_SCORE,
    SCORES,
    TRANSLATES,
    check_precision,
    missing_libraries,
    no_device,
    too_few_gpus,
    vllm_missing,
)
from dialeval.engines.vllm_engine.model_files import (
    beyond_window,
    folder_digest,
    missing_folder,
    not_a_model,
    without_chat_template,
)
from dialeval.errors import UserError
from dialeval.provenance.fingerprints import content_digest, kept


def unavailable(model: Model, *, own_environment: bool = False) -> str | None:
    """Return why a model cannot answer on this installation, with a remedy, or None if it can.

    Args:
        own_environment: whether its jobs run in an environment that is made for them.
    """
    if isinstance(model, VllmModel):
        learns = LEARNS_TO_ANSWER if model.lora else ()
        missing = None if own_environment else vllm_missing() or missing_libraries("lora", learns)
        weights = "load_format" not in model.engine_args  # other formats have other files
        return (
            missing or _incomplete(model.model, weights=weights) or without_chat_template(model) or beyond_window(model)
        )
    if isinstance(model, NllbModel):
        missing = None if own_environment else missing_libraries("engine 'nllb'", TRANSLATES)
        return missing or check_precision(model.precision, model.gpus)
    if isinstance(model, EncoderModel):
        needed = LEARNS_TO_SCORE if model.train else SCORES
        missing = None if own_environment else missing_libraries("engine 'encoder'", needed)
        return (
            missing
            or check_precision(model.precision, model.gpus)
            or _no_metric(model.weights)
            or _incomplete(model.model)
        )
    return None


def without_key(model: Model) -> str | None:
    """Return the variable of a missing key, with a remedy, or None; stored answers need no key."""
    if isinstance(model, OpenAIModel):
        variables = {"api_key_env": model.api_key_env} if model.api_key_env else {}
        variables |= {f"headers_env.{header}": variable for header, variable in model.headers_env.items()}
        for field, variable in variables.items():
            if not os.environ.get(variable, "").strip():
                needless = "set api_key_env: null" if field == "api_key_env" else f"remove {field}"
                return (
                    f"the environment variable {variable}, which {field} names, is not set; export it, or {needless} "
                    "for an endpoint that does not need it"
                )
    return None


def cannot_compute_here(model: Model, *, own_environment: bool = False) -> str | None:
    """Return why a model's job cannot run on this machine, with a remedy, or None if it can.

    For a job that runs here: on a cluster the machine that plans need not have what those that compute have.

    Args:
        own_environment: whether its jobs run in an environment that is made for them.
    """
    if isinstance(model, EncoderModel | VllmModel) and model.model and (reason := missing_folder(model.model)):
        return reason
    if isinstance(model, EncoderModel):
        trains = too_few_gpus(model.train.gpus, "train.gpus") if model.train else None
        return trains or too_few_gpus(model.gpus, "gpus")
    if isinstance(model, NllbModel):
        return too_few_gpus(model.gpus, "gpus")
    return no_device(model, own_environment=own_environment) if isinstance(model, VllmModel) else None


def _incomplete(name: str | None, *, weights: bool = True) -> str | None:
    """Return the problem of a local folder with a model; None for a complete one, or if it is not on this machine."""
    return not_a_model(name, weights=weights) if name and Path(name).expanduser().exists() else None


def _no_metric(folder: Path | None) -> str | None:
    """Return why a folder that should hold a trained metric holds none, or None."""
    try:
        if folder is not None:
            read_metric(folder.expanduser())
    except UserError as error:
        return f"weights: {error}"
    return None


def local_content(model: Model) -> str:
    """Return a digest of a model's local files: adapter, chat template, weights; empty without any.

    It differs whenever the model's identity in the store differs. Of weights that vLLM and NLLB load, the size and
    samples of files of more than 256 MB are hashed; all other files are hashed completely.

    Raises:
        UserError: a file cannot be read.
    """
    digests = [_content(path, all_bytes=isinstance(model, EncoderModel)) for path in model.reads]
    return "-".join(digest[:32] for digest in digests)


def _content(path: Path, *, all_bytes: bool) -> str:
    if not path.is_dir():
        return content_digest([path])
    try:
        files = sorted(file for file in path.iterdir() if file.is_file())
        if all_bytes:
            return content_digest(files)
        return kept("model", files, partial(folder_digest, path)).removeprefix("sha256:")
    except OSError as error:
        raise UserError(
            f"{error.filename or path} cannot be read: {error.strerror or error}; check its permissions"
        ) from error
