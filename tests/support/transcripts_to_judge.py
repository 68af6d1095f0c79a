"""Transcripts that a model behind an endpoint judges: the smallest run that asks somebody."""

from __future__ import annotations

import json
from typing import Any

import yaml
from workspace import Workspace

N_CASES = 4
QUALITY: dict[str, Any] = {"quality": {"form": "scale", "data": {"source": "talks"}, "criteria": ["overall"]}}


def configure(
    workspace: Workspace,
    url: str,
    model: str,
    *,
    systems: tuple[str, ...] = ("amber",),
    protocols: dict[str, Any] = QUALITY,
    key: str | None = None,
    **more: Any,
) -> None:
    """Write transcripts of systems on the same cases, and protocols about them; `key` names a variable."""
    lines = [
        {"dialogue_id": f"d{n}", "case_id": f"d{n}", "system": system, "utterances": [f"Hi {n}.", f"I am {system}."]}
        for system in systems
        for n in range(N_CASES)
    ]
    (workspace.folder / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = {"engine": "openai", "model": model, "base_url": url, "api_key_env": key, "concurrency": 1}
    config: dict[str, Any] = {
        "data_dir": ".",
        "models": {"gpt": asked},
        "judges": ["gpt"],
        "transcripts": {"talks": {"path": "talks.jsonl"}},
        "protocols": protocols,
    } | more
    (workspace.folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
