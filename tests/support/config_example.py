"""A configuration with every part, for tests that break it."""

from __future__ import annotations

import copy
from typing import Any

BASE: dict[str, Any] = {
    "models": {
        "retrieval": {"engine": "embedded", "method": "retrieval"},
        "forest": {"engine": "embedded", "method": "forest"},
        "gpt": {"engine": "openai", "model": "gpt"},
        "local": {"engine": "vllm", "model": "local"},
    },
    "chatbots": ["retrieval", "gpt"],
    "judges": ["forest"],
    "corpora": {"bundled": {"reader": "bundled"}},
    "seeds": {"corpus": "bundled"},
    "protocols": {"unieval": {}, "arena": {}, "gteval": {}, "rating": {}, "yes_no": {}},
    "metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}},
    "robustness": {"corpora": ["bundled"]},
    "dialogbench": {"bundled": ["en"], "written": {}, "examine": {}},
}


def changed(path: str, value: Any, base: dict[str, Any] = BASE) -> dict[str, Any]:
    """Return a configuration with another value at a path, such as `models.gpt.model`."""
    raw = copy.deepcopy(base)
    *parents, last = path.split(".")
    place = raw
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return raw
