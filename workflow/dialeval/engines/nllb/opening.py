"""Opens a translation model of the NLLB family."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dialeval.config.models import NllbModel
from dialeval.engines.local_models import TRANSLATES, missing_libraries
from dialeval.engines.nllb.engine import NllbEngine
from dialeval.engines.nllb.translator import Translator
from dialeval.engines.request import Engine
from dialeval.errors import UserError
from dialeval.fingerprints.code import fingerprint


def open_model(model: NllbModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a model; see `engines.opening`.

    Raises:
        UserError: a library is missing, or the model cannot be had.
    """
    if problem := missing_libraries("engine 'nllb'", TRANSLATES):
        raise UserError(problem)
    translator = Translator(model)
    identity = {
        "engine": "nllb",
        "weights": translator.weights,
        "beams": model.beams,
        "precision": model.precision,
        "code": fingerprint("dialeval.engines.nllb.translator"),
    }
    return NllbEngine(model, translator, identity=json.dumps(identity, sort_keys=True))
