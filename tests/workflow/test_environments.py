"""Which conda environments a run asks for; a stand-in for conda says no more than that it is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from workspace import Workspace

pytestmark = pytest.mark.workflow


@pytest.mark.usefixtures("conda")
def test_only_jobs_of_vllm_models_get_an_environment_with_vllm(workspace: Workspace) -> None:
    output = workspace.run("--dry-run", "--sdm", "conda")
    assert "envs/core.yaml will be created" in output
    assert "envs/vllm.yaml" not in output
    vllm = {"engine": "vllm", "model": str(Path("some", "model"))}
    forest = {"engine": "embedded", "method": "forest", "folds": 3}
    workspace.configure(models={"forest": forest, "open": vllm}, chatbots=["open"])
    output = workspace.run("--dry-run", "--sdm", "conda")
    assert "envs/core.yaml will be created" in output
    assert "envs/vllm.yaml will be created" in output


LEARNS = {
    "chatbots": [],
    "training": {"dialogues": {"level": "dialogue", "domains": {"all": ["bundled"]}, "overlap": "leave_out"}},
    "protocols": {"yes_no": {}},
    "metaeval": {"corpora": {"steps": {"reader": "severity_levels"}}},
}


@pytest.mark.usefixtures("conda")
def test_jobs_that_train_get_libraries_and_gpus_of_their_own(workspace: Workspace) -> None:
    encoder = {"engine": "encoder", "model": "some/encoder", "train": {"data": "dialogues", "gpus": 2}, "shards": 3}
    tuned = {"engine": "vllm", "model": "some/model", "lora": {"train": ["dialogues"], "gpus": 4}, "gpus": 1}
    workspace.configure(models={"fined": encoder, "tuned": tuned}, judges=["fined", "tuned"], **LEARNS)
    output = workspace.run("--dry-run", "--sdm", "conda", "--workflow-profile", "none")
    assert {name for name in ("core", "vllm", "train") if f"envs/{name}.yaml will be created" in output} == {
        "core", "vllm", "train",
    }  # fmt: skip
    gpus = re.findall(r"\bgpu=(\d+)", output)
    assert sorted(gpus) == ["1"] * 4 + ["2", "4"]  # three shards of one and the other judge, and two trainings
    workspace.configure(models={"fined": encoder}, judges=["fined"], **LEARNS)
    output = workspace.run("--dry-run", "--sdm", "conda")
    assert "envs/vllm.yaml" not in output


@pytest.mark.parametrize("name", ["core", "vllm", "train"])
def test_an_environment_is_filled_by_a_script_of_its_name(workspace: Workspace, name: str) -> None:
    assert (workspace.folder / "envs" / f"{name}.yaml").is_file()
    script = (workspace.folder / "envs" / f"{name}.post-deploy.sh").read_text(encoding="utf-8")
    assert "DIALEVAL_PROJECT" in script
    assert (f"[{name}]" in script) is (name != "core")


def test_jobs_without_a_gpu_are_refused_before_any_runs(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    library = workspace.own_library()  # where a stand-in for vLLM's build for GPUs is found
    (library / "vllm").mkdir()
    (library / "vllm" / "__init__.py").write_text("raise RuntimeError('vLLM is imported where nothing is computed')\n")
    (library / "vllm-0.32.0.dist-info").mkdir()
    metadata = "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0\n"
    (library / "vllm-0.32.0.dist-info" / "METADATA").write_text(metadata)
    models = {"open": {"engine": "vllm", "model": "some/model"}, "forest": {"engine": "embedded", "method": "forest"}}
    workspace.configure(models=models, chatbots=["open"])
    assert "This was a dry-run" in workspace.run("--dry-run")  # planned here, to be run elsewhere
    output = workspace.run(ok=False)
    assert "models.open: vllm 0.32.0 needs an NVIDIA GPU, and" in output
    assert "engine: openai" in output
    assert "nothing is computed" not in output
    assert not list((workspace.folder / "results").rglob("*.parquet"))
    workspace.run(str(Path("results", "corpora", "bundled.parquet")))  # a job that needs no GPU runs as ever


@pytest.mark.usefixtures("conda")
def test_translations_and_their_measures_get_what_each_needs(workspace: Workspace) -> None:
    quality = {"back": "nllb", "metrics": ["cometkiwi22", "bertscore"]}
    workspace.configure(
        models={"nllb": {"engine": "nllb"}, "length": {"engine": "embedded", "method": "length", "folds": 2}},
        chatbots=[],
        judges=["length"],
        protocols={"yes_no": {}},
        metaeval={"corpora": {"steps": {"reader": "severity_levels"}}},
        translate={"steps": {"into": ["fr"], "translator": "nllb", "quality": quality}},
    )
    output = workspace.run("--dry-run", "--sdm", "conda", "--workflow-profile", "none")
    made = {name for name in ("core", "vllm", "train", "comet") if f"envs/{name}.yaml will be created" in output}
    assert made == {"core", "train", "comet"}
