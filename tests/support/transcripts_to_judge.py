"""Transcripts of one system that a model behind an endpoint judges: the smallest run that asks somebody."""

from __future__ import annotations

import json
from typing import Any

import yaml
from workspace import Workspace

N_CASES = 4


def configure(workspace: Workspace, url: str, model: str, *, protocols: int = 1, **more: Any) -> None:
    """Writes transcripts of one system, and protocols about them; `more` are other parts of the configuration."""
    lines = [{"dialogue_id": f"d{n}", "system": "amber", "utterances": [f"Hi {n}.", "Hello."]} for n in range(N_CASES)]
    (workspace.folder / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = {"engine": "openai", "model": model, "base_url": url, "api_key_env": None}
    config: dict[str, Any] = {
        "data_dir": ".",
        "models": {"gpt": asked},
        "judges": ["gpt"],
        "transcripts": {"talks": {"path": "talks.jsonl"}},
        "protocols": {
            f"quality{n or ''}": {"form": "scale", "of": {"source": "talks"}, "criteria": ["overall"]}
            for n in range(protocols)
        },
    } | more
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
