"""Training as a part of a run: what is retrained, what is asked again, and the tiny configuration from end to end.

In the models' environment (.ci/models).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from recipes import follow, recipes
from workspace import ROOT, Workspace, new_workspace

from dialeval.corpora.dialogues import bundled_dialogues
from dialeval.engines.encoder.tiny_encoder import build_tiny_encoder
from dialeval.engines.tiny_model import build_tiny_model

pytestmark = [pytest.mark.workflow, pytest.mark.train, pytest.mark.timeout(3000)]

LEARNING = {"batch_size": 16, "learning_rate": 3e-3, "evaluations": 1, "gpus": 0}
ENCODER = {"engine": "encoder", "model": "tiny-encoder", "gpus": 0}
TURNS = {"level": "turn", "domains": {"daily": ["bundled"]}, "perturbations": ["repetition"], "max_context": 1}
DIALOGUES = {"level": "dialogue", "domains": {"daily": ["bundled"]}, "criteria": ["coherence"]}
RATED = [
    {"item_id": f"i{number}", "context": ["Is the boat in yet?"], "response": f"Number {number} {words}",
     "ratings": {"relevance": score}, "scale": [1, 5]}
    for number, (words, score) in enumerate([("came in.", 5), ("in in came", 2), ("is a fish.", 1)] * 4)
]  # fmt: skip
TRAINS = {"train_encoder", "train_lora", "make_training_data"}


def configure(workspace: Workspace, *, rank: int = 8, rated: list[Any] = RATED, **changes: Any) -> None:
    text = "".join(json.dumps(line) + "\n" for line in rated)
    (workspace.folder / "rated.jsonl").write_text(text, encoding="utf-8")
    models = {
        "panel": {**ENCODER, "train": {"data": "turns", "max_steps": 2, **LEARNING}},
        "other": {**ENCODER, "train": {"data": "turns", "max_steps": 3, **LEARNING}},
        "tuned": {
            "engine": "vllm", "model": "tiny-decoder", "gpus": 0, "dtype": "float32", "max_model_len": 2048,
            "kv_cache_memory_bytes": 268435456, "enforce_eager": True,
            "lora": {"train": ["turns"], "rank": rank, "max_steps": 1, "micro_batch_size": 16, **LEARNING},
        },
    }  # fmt: skip
    settings: dict[str, Any] = {
        "data_dir": ".",
        "chatbots": [],
        "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
        "training": {"turns": {**TURNS, "pairs_per_language": 60}},
        "models": models,
        "judges": ["panel", "other"],
        "protocols": {"yes_no": {}},
        "metaeval": {"corpora": {"mine": {"reader": "rated_jsonl", "path": "rated.jsonl"}}, "resamples": 20},
    }
    workspace.configure(**{"seeds": {"corpus": "bundled"}, **settings, **changes})


def build(module: str, folder: Path, name: str, *options: str) -> None:
    command = [sys.executable, "-m", f"dialeval.engines.{module}", name, *options]
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A finished run of two encoders; not to be changed."""
    workspace = new_workspace(tmp_path_factory.mktemp("trained") / "work")
    build_tiny_encoder(workspace.folder / "tiny-encoder")
    build_tiny_model(workspace.folder / "tiny-decoder", steps=0)
    configure(workspace)
    workspace.run(warm=False)
    return workspace


@pytest.fixture
def finished(trained: Workspace, tmp_path: Path) -> Workspace:
    return trained.copy(tmp_path / "work")


def test_a_second_run_says_nothing_is_to_be_done(trained: Workspace) -> None:
    assert "Nothing to be done" in trained.run(warm=False)
    record = pd.read_csv(trained.folder / "results/tables/training/record.csv")
    assert list(record.columns[:7]) == ["judge", "part", "kind", "n", "auc", "ci_low", "ci_high"]
    assert set(zip(record["judge"], record["moment"], strict=True)) == {
        (judge, moment) for judge in ("panel", "other") for moment in ("before", "after")
    }
    page = (trained.folder / "results/report/index.html").read_text(encoding="utf-8")
    assert "Did the trained judges learn?" in page


@pytest.mark.slow
def test_retrained_weights_re_run_their_judge_and_nothing_else(finished: Workspace) -> None:
    before = {name: finished.stored(f"{name}/*") for name in ("panel", "other")}
    raw = yaml.safe_load((finished.folder / "config.yaml").read_text(encoding="utf-8"))
    raw["models"]["panel"]["train"]["max_steps"] = 4
    configure(finished, models=raw["models"])
    jobs = finished.would_run()
    assert (jobs["train_encoder"], jobs["answer"]) == (1, 1)
    assert not {"make_training_data", "plan", "read_rated"} & set(jobs)
    finished.run(warm=False)
    assert finished.stored("other/*") == before["other"]
    assert len(finished.stored("panel/*")) == 2 * len(before["panel"]), "other weights give other answers"
    assert finished.would_run() == {}


@pytest.mark.slow
def test_what_is_judged_besides_trains_nothing(finished: Workspace) -> None:
    more = [*RATED, {**RATED[0], "item_id": "new"}]
    configure(finished, rated=more)
    assert not TRAINS & set(finished.would_run())
    finished.run(warm=False)
    assert finished.would_run() == {}


def test_a_changed_corpus_retrains_what_learns_from_it(finished: Workspace) -> None:
    configure(finished, corpora={"bundled": {"reader": "bundled", "language": "zh"}})
    jobs = finished.would_run()
    assert (jobs["make_training_data"], jobs["train_encoder"]) == (1, 2)


def test_a_further_language_requests_its_translations_and_scores(finished: Workspace) -> None:
    configure(finished, judges=["panel", "other"], translate={"mine": {"into": ["zh"], "translator": "tuned"}})
    models = yaml.safe_load((finished.folder / "config.yaml").read_text(encoding="utf-8"))["models"]
    del models["tuned"]["lora"]
    configure(finished, models=models, translate={"mine": {"into": ["zh"], "translator": "tuned"}})
    jobs = finished.would_run()
    assert not TRAINS & set(jobs)
    assert jobs["answer"] == 3, "the translation, and the scores of two judges"


@pytest.mark.slow
def test_the_recipe_of_the_docs_trains_on_ones_own_dialogues(workspace: Workspace) -> None:
    build("encoder.tiny_encoder", workspace.folder, "tiny-encoder")
    dialogues = [[part.text for part in one.utterances] for one in bundled_dialogues("en").dialogues]
    for name, system, chosen in (("desk", None, dialogues[:80]), ("support", "north", dialogues[80:90])):
        lines = [
            {"dialogue_id": f"{name}-{number}", "utterances": [
                {"speaker": ("user", "assistant")[turn % 2], "text": text} for turn, text in enumerate(texts)]}
            | ({"system": system} if system else {})
            for number, texts in enumerate(chosen)
        ]  # fmt: skip
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (workspace.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    recipe = recipes(ROOT / "docs/training.md")["Training on your own dialogues"]
    small = {
        "model: xlm-roberta-base, ": "model: tiny-encoder, gpus: 0, ",
        "train: {": "train: {gpus: 0, max_steps: 2, ",
        "{engine: encoder, weights": "{engine: encoder, gpus: 0, weights",
    }
    follow(recipe, workspace.folder, small)
    for command in recipe.commands:
        workspace.run(*command[3:], warm=False)
    means = pd.read_csv(workspace.folder / "results/judged-support/tables/quality/means.csv")
    assert set(means["criterion"]) == {"coherence", "engagingness", "informativeness"}
    assert means["n"].tolist() == [10] * 3


@pytest.mark.slow
def test_the_tiny_configuration_from_end_to_end(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "work")
    folder = workspace.folder
    (folder / "configs").mkdir()
    shutil.copy(ROOT / "configs/train-tiny.yaml", folder / "configs")
    for line in (ROOT / "configs/train-tiny.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("#   python -m dialeval.engines."):
            module, name, *options = line.removeprefix("#   python -m dialeval.engines.").split()
            build(module, folder, name, *options)
    process = workspace.start("--configfile", "configs/train-tiny.yaml")
    output, _ = process.communicate(timeout=2400)
    assert process.returncode == 0, output
    tables = folder / "results/train-tiny/tables"
    record = pd.read_csv(tables / "training/record.csv")
    after = record[(record["moment"] == "after") & (record["language"] == "all")]
    gains = after.set_index(["judge", "criterion", "kind"])["gain_ci_low"]
    assert gains["panel", "understandability", "repetition"] > 0
    assert gains["heads", "all", "all"] > 0
    assert set(record["judge"]) == {"panel", "heads", "tuned"}
    runs = pd.read_csv(tables / "training/runs.csv").set_index("judge")
    assert runs.loc["tuned", "label_mass_after"] > 3 * runs.loc["tuned", "label_mass_before"]
    correlations = pd.read_csv(tables / "metaeval/correlations.csv")
    assert set(correlations["judge"]) >= {"heads", "tuned", "tuned-heads"}
    ratios = pd.read_csv(tables / "robustness/robustness.csv")
    assert set(ratios["judge"]) >= {"panel", "tuned", "tuned-panel"}
    counts = Counter(pd.read_csv(tables / "training/data.csv")["left_out"] > 0)
    assert counts[True], "what is judged is left out of what is learned from"
