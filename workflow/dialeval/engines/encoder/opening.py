"""Opens a trained metric from its folder: that of a run, or one that the configuration names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dialeval.config.models import EncoderModel
from dialeval.engines.encoder.engine import EncoderEngine
from dialeval.engines.encoder.folder import folder_digest
from dialeval.engines.encoder.metric import read_metric
from dialeval.engines.local_models import SCORES, check_precision, missing_libraries
from dialeval.engines.request import Engine
from dialeval.errors import UserError
from dialeval.fingerprints.code import fingerprint


def open_model(model: EncoderModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a metric; `learned` begins with the folder that a run has trained.

    Raises:
        UserError: a library is missing, or the folder holds no metric.
    """
    problem = missing_libraries("engine 'encoder'", SCORES) or check_precision(model.precision, model.gpus)
    if problem:
        raise UserError(problem)
    return metric_engine(model, model.weights.expanduser() if model.weights else learned[0])


def metric_engine(model: EncoderModel, folder: Path) -> EncoderEngine:
    """Returns the engine of the metric in a folder, which needs no library before it is asked.

    Raises:
        UserError: the folder holds no metric.
    """
    metric = read_metric(folder)
    identity = {
        "engine": "encoder",
        "metric": folder_digest(folder),
        "score": model.score,
        "precision": model.precision,
        "code": fingerprint("dialeval.engines.encoder.scoring", "dialeval.engines.encoder.network"),
    }
    return EncoderEngine(folder, model, metric, identity=json.dumps(identity, sort_keys=True))
