"""What a run does before its first job and after its last, with jobs in place of Snakemake's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dialeval.config.configuration import Config
from dialeval.layout.run import Layout
from dialeval.rules.hooks import Hooks

KEYED = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "A_KEY_THAT_IS_NOT_SET"}
VLLM = {"engine": "vllm", "model": "some/model"}
RAW: dict[str, Any] = {
    "models": {"bot": {"engine": "embedded", "method": "random"}, "keyed": KEYED, "user": KEYED, "open": VLLM},
    "chatbots": ["bot"],
    "judges": ["keyed"],
    "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
    "seeds": {"corpus": "bundled"},
    "selfchat": {"partner": "user"},
    "protocols": {"unieval": {}},
}


class Wildcards(dict[str, str]):
    """Wildcards, which are a list of their values to Snakemake."""

    def __iter__(self) -> Any:
        return iter(self.values())

    def __getattr__(self, name: str) -> str:
        return self[name]


class Workflow(SimpleNamespace):
    """A workflow with some jobs to run."""

    def __init__(self, *jobs: SimpleNamespace) -> None:
        self.forgotten: list[str] = []
        super().__init__(
            output_settings=SimpleNamespace(quiet=None),
            dag=SimpleNamespace(needrun_jobs=lambda: iter(jobs), jobs=jobs),
            persistence=SimpleNamespace(cleanup_metadata=self.forgotten.append),
            scheduler=SimpleNamespace(failed=[]),
            rules=[SimpleNamespace(name="all", output=[]), SimpleNamespace(name="plan", output=["o"])],
            touch=False,
            local_exec=True,
        )


def job(rule: str, *outputs: str, params: list[Any] | None = None, gpu: int = 0, **wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(
        rule=SimpleNamespace(name=rule),
        output=list(outputs),
        input=[],
        log=["results/logs/a.log"],
        params=params or [],
        resources={"gpu": gpu},
        wildcards=Wildcards(wildcards),
    )


class Run(SimpleNamespace):
    """The start of a run, with what it said."""

    def __init__(self, workflow: Workflow) -> None:
        self.notices: list[str] = []
        super().__init__(
            workflow=workflow,
            log=SimpleNamespace(progress=None),
            say=self.notices.append,
            rule_name=str,
            error=RuntimeError,
            has_own_environments=False,
        )


def hooks_of(*jobs: SimpleNamespace, results: Path | None = None) -> Hooks:
    raw = {**RAW, **({"results_dir": str(results)} if results else {})}
    run: Any = Run(Workflow(*jobs))
    return Hooks(run, Layout(Config.model_validate(raw)), dict)


def test_a_job_names_the_models_of_its_wildcards_and_the_simulated_user() -> None:
    hooks = hooks_of()
    assert hooks.models_of(job("answer", judge="keyed", protocol="unieval")) == {"keyed"}
    assert hooks.models_of(job("generate_dialogues", chatbot="bot")) == {"bot", "user"}
    assert hooks.models_of(job("write_items")) == set()


def test_models_without_a_key_are_named_once() -> None:
    usage = "results/usage/keyed/unieval-1-of-1.json"
    jobs = [job("answer", usage, judge="keyed", shard=shard) for shard in "12"]
    hooks = hooks_of(*jobs, job("parse", "results/judgements/keyed/unieval.parquet", judge="user"))
    hooks._name_missing_keys()
    (notices,) = hooks.run.notices  # type: ignore[attr-defined]
    assert "models.keyed: " in notices
    assert "A_KEY_THAT_IS_NOT_SET" in notices


def test_no_job_begins_without_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialeval.rules.hooks.cannot_compute_here", lambda model, own_environment: "no GPU")
    hooks = hooks_of(job("answer", gpu=1, judge="open"))
    with pytest.raises(RuntimeError, match=r"models\.open: no GPU"):
        hooks._refuse_jobs_without_a_device()
    hooks.workflow.local_exec = False
    hooks._refuse_jobs_without_a_device()
    hooks_of(job("answer", gpu=0, judge="open"))._refuse_jobs_without_a_device()


def test_what_a_failed_run_did_not_make_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: list[Any] = []
    monkeypatch.setattr("dialeval.rules.hooks.print_at_exit", lambda *arguments: settings.append(arguments))
    there, gone = tmp_path / "there.parquet", tmp_path / "gone.parquet"
    there.touch()
    hooks = hooks_of(job("plan", str(there), str(gone)), results=tmp_path)
    hooks.on_error()
    assert there.stat().st_mtime == 1
    assert hooks.workflow.forgotten == [str(gone)]
    assert settings


def test_a_job_writes_its_outputs_its_log_and_what_its_parameters_name() -> None:
    hooks = hooks_of()
    written = hooks._written_by(
        job("train_lora", "results/trained/a", params=["results/checkpoints/a", "settings", ["results/other"], 3])
    )
    assert written == ["trained/a", "logs/a.log", "checkpoints/a", "other"]


def test_targets_are_the_rules_without_outputs() -> None:
    hooks = hooks_of()
    assert hooks.run.log.targets() == ["all"]
