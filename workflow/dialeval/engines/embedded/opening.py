"""Opens an embedded model from the file of what it learned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from dialeval.config.models import EmbeddedModel
from dialeval.engines.embedded.engine import EmbeddedEngine
from dialeval.engines.embedded.learned_file import read_learned
from dialeval.engines.request import Engine
from dialeval.fingerprints.code import fingerprint
from dialeval.fingerprints.content import content_digest


def open_model(model: EmbeddedModel, learned: Sequence[Path], store: Path | None, protocol: str) -> Engine:
    """Returns the engine of a model; see `engines.opening`.

    What it learned is known by the file's content: however the learning changed, other numbers are another model.
    """
    parameters = read_learned(learned[0], model.method)
    identity = {
        "engine": "embedded",
        "method": model.method,
        "learned": content_digest(learned[:1]),
        "code": fingerprint("dialeval.engines.embedded.engine", model.learned_by),
    }
    return EmbeddedEngine(parameters, identity=json.dumps(identity, sort_keys=True), concurrency=model.concurrency)
