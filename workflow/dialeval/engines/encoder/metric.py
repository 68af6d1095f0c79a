"""What a trained metric is beside its weights: the file `metric.json` of its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dialeval.criteria import LEVELS, Level
from dialeval.errors import UserError

FILE = "metric.json"
FORMAT = 1
"""Number of the form of this file; another one is refused."""
Score = Literal["mean", "own"]


class Metric(NamedTuple):
    """What a folder with a trained metric says of it.

    Attributes:
        level: whether it scores the last utterance in its context (`turn`), or a dialogue.
        criteria: what it was trained on.
        experts: names of its heads: domains of a panel for turns, criteria of a metric for dialogues.
        max_tokens: longest input in the encoder's tokens.
        adapter_size: width of the adapters, one per expert in every layer; 0 without.
        body: name of the encoder that the training began with.
        revision: of that encoder.
        versions: of the libraries that trained it; for the record.
    """

    level: Level
    criteria: tuple[str, ...]
    experts: tuple[str, ...]
    max_tokens: int
    adapter_size: int = 0
    body: str = ""
    revision: str | None = None
    versions: tuple[tuple[str, str], ...] = ()

    def knows(self, level: str, criterion: str) -> bool:
        """Returns whether it was trained for a criterion at a level."""
        return level == self.level and criterion in self.criteria

    def to_json(self) -> str:
        """Returns the content of `metric.json`."""
        content = {"format": FORMAT, "pooling": "mean", **self._asdict(), "versions": dict(self.versions)}
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def read_metric(folder: Path) -> Metric:
    """Reads what a folder says of its metric.

    Raises:
        UserError: there is no such file, or it is none that this version can use.
    """
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{folder} holds no trained metric: {FILE} is not there; name a folder that a run has made under "
            "results/trained"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}; train the metric again") from None
    try:
        return _metric(content)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise UserError(
            f"{path} does not describe a metric of this version: {reason}; train the metric again"
        ) from None


def _metric(content: Any) -> Metric:
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    if content["format"] != FORMAT or content["pooling"] != "mean":
        raise ValueError(f"its format is {content['format']}, pooling {content['pooling']}")
    level = next((level for level in LEVELS if level == content["level"]), None)
    if level is None:
        raise ValueError(f"its level is {content['level']!r}")
    metric = Metric(
        level,
        tuple(map(str, content["criteria"])),
        tuple(map(str, content["experts"])),
        int(content["max_tokens"]),
        int(content["adapter_size"]),
        str(content["body"]),
        content["revision"],
        tuple((str(name), str(version)) for name, version in content["versions"].items()),
    )
    if not metric.criteria or not metric.experts:
        raise ValueError("it has no criteria or no experts")
    return metric
