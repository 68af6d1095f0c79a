"""A configuration that has something of every part, for dry runs: nothing in it is ever asked."""

from __future__ import annotations

from typing import Any

from workspace import ROOT, SMALL, Workspace

ENDPOINT = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
WIDE: dict[str, Any] = {
    **SMALL,
    "data_dir": "data",
    "models": {
        **SMALL["models"],
        "ngram": {"engine": "embedded", "method": "ngram", "folds": 3},
        "chat": {**ENDPOINT, "model": "chat-1"},
        "large": {**ENDPOINT, "model": "large-1", "price_input": 1.0, "price_output": 2.0},
    },
    "chatbots": ["random", "generic", "chat"],
    "judges": ["forest"],
    "protocols": {
        **SMALL["protocols"],
        "failures": {},
        "rating": {"judges": ["forest"]},
        "yes_no": {"judges": ["forest", "large"]},
        "helpful": {
            "form": "pair",
            "data": {"source": "selfchat", "n_utterances": [8]},
            "options": {"A": "left", "B": "right", "Tie": "tie"},
            "judges": ["large"],
        },
        "quality": {"form": "scale", "data": {"source": "support"}, "criteria": ["coherence", "overall"]},
    },
    "transcripts": {"support": {"path": "support.jsonl"}},
    "labels": {
        "path": "labels",
        "n": 3,
        "annotators": ["simulated-1"],
        "simulated": ["simulated-1"],
        "questions": {"arena": "Which conversation has an AI in it?"},
    },
    "metaeval": {
        "corpora": {"steps": {"reader": "severity_levels", "dialogues": "bundled", "steps": 2, "limit": 4}},
        "score_files": {"mine": {"path": "mine.csv", "scale_min": 0, "scale_max": 1}},
    },
    "robustness": {"corpora": ["bundled"], "limit": 4, "rewriter": "large", "severity_levels": {"limit": 2}},
    "dialogbench": {
        "bundled": ["en"],
        "written": {"writer": "large", "filter": "forest"},
        "examine": {"letter": ["random", "chat"], "choice": ["forest"], "perplexity": ["ngram"]},
    },
    "battles": {"mine": {"path": "battles.csv"}},
}


def make_wide(workspace: Workspace) -> None:
    """Write the configuration and the files that it names."""
    data = workspace.folder / "data"
    data.mkdir()
    dialogues = (ROOT / "configs" / "transcripts" / "support.jsonl").read_text(encoding="utf-8")
    (data / "support.jsonl").write_text(dialogues, encoding="utf-8")
    labels = workspace.folder / "labels"
    labels.mkdir()
    for name in ("draw-quality.csv", "quality-simulated-1.csv"):
        (labels / name).write_bytes((ROOT / "configs" / "labels" / name).read_bytes())
    (data / "mine.csv").write_text("corpus,item_id,dimension,value\n", encoding="utf-8")
    (data / "battles.csv").write_text("left,right,outcome\na,b,left\nb,c,tie\n", encoding="utf-8")
    workspace.configure(**WIDE)
