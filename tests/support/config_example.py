"""A configuration with every part, for tests that break it."""

from __future__ import annotations

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
    "metaeval": {"corpora": {"steps": {"reader": "ladder"}}},
    "robustness": {"corpora": ["bundled"]},
    "dialogbench": {"bundled": ["en"], "written": {}, "examine": {}},
}
