"""What a stage is told is of the configuration, is used, and can change what it makes."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple, get_type_hints

import pytest
from planned import pretend_to_finish
from pydantic import BaseModel
from workspace import ROOT, Workspace

from dialeval.config.models import ENGINES
from dialeval.stages import stage_functions

pytestmark = pytest.mark.workflow
OF_HOW_JOBS_RUN = {name for model in ENGINES.values() for name in model.how_jobs_run} | {"answering", "budget"}
PRICES = {"price_input", "price_output"}
"""What is asked costs by these, and nothing else follows from them."""
PRICED = {"tabulate_usage", "build_report"}
"""Stages that say what was paid: the table of usage, and the page beside each verdict."""
SHARDED = {"answer", "answer_items", "selfchat"}
"""Stages that are told which part of the work is theirs."""


class RecordedJob(NamedTuple):
    """What a job was told, as Snakemake recorded it.

    Attributes:
        stage: the stage's name.
        settings: its settings.
        params: all that a change of runs the job again.
    """

    stage: str
    settings: dict[str, Any]
    params: list[str]


def jobs_of(workspace: Workspace) -> Iterator[RecordedJob]:
    """Yield the settings of each job of a finished workspace."""
    for path in (workspace.folder / ".snakemake" / "metadata").rglob("*"):
        if not path.is_file():
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        words = shlex.split(record["shellcmd"].partition(" 2>&1")[0])
        if "dialeval.stages}" in words:  # ${DIALEVAL_STAGE:-python -u -m dialeval.stages}
            stage = words[words.index("dialeval.stages}") + 1]
            yield RecordedJob(stage, json.loads(words[words.index("--settings") + 1]), record["params"])


@pytest.fixture(scope="module")
def told(looks_finished: Workspace) -> list[RecordedJob]:
    jobs = list(jobs_of(looks_finished))
    assert len({stage for job in jobs for stage in job.stage.split("+")}) > 40
    return jobs


def keys_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from part
        for value in part.values():
            yield from keys_in(value)
    elif isinstance(part, list):
        for value in part:
            yield from keys_in(value)


def check_fields(told: list[RecordedJob]) -> None:
    """Nothing is made of what a stage has no field for, and yet a change of it runs the stage again."""
    unknown = {}
    for job in told:
        named = [function.split(":") for function in stage_functions(job.stage)]
        functions = [getattr(import_module(module), name) for module, name in named]
        kinds = [get_type_hints(function).get("settings", BaseModel) for function in functions]
        if more := job.settings.keys() - {field for kind in kinds for field in kind.model_fields}:
            unknown[job.stage] = more
    assert not unknown


def check_how_jobs_run(told: list[RecordedJob]) -> None:
    """How jobs run, and what answers cost, changes none."""
    for job in told:
        allowed = {"shard", "shards"} if job.stage in SHARDED else PRICES if job.stage in PRICED else set()
        models = [job.settings.get(part) or {} for part in ("model", "partner")]
        said = {name for model in models for name in model} | job.settings.keys() - allowed
        assert not said & OF_HOW_JOBS_RUN, job.stage
        assert allowed & PRICES or not set(keys_in(job.settings)) & PRICES, job.stage


def check_places(told: list[RecordedJob], workspace: Workspace) -> None:
    """A folder that moves changes nothing, nor does another machine."""
    for job in told:
        text = " ".join(job.params)
        for place in (str(workspace.folder), "/tmp", "/usr", "/root", "/home", "'store'"):
            assert place not in text, f"{job.stage}: {text}"


def test_every_setting_is_one_that_its_stage_has(told: list[RecordedJob]) -> None:
    check_fields(told)


def test_no_setting_says_how_jobs_run(told: list[RecordedJob]) -> None:
    check_how_jobs_run(told)


def test_no_param_names_the_machine(told: list[RecordedJob], looks_finished: Workspace) -> None:
    check_places(told, looks_finished)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", ["config", "configs/labels", "configs/transcripts"])
def test_so_it_is_in_shipped_configurations(configuration: str, workspace: Workspace) -> None:
    shutil.copytree(ROOT / "configs", workspace.folder / "configs")
    shutil.copyfile(ROOT / f"{configuration}.yaml", workspace.folder / "config.yaml")
    pretend_to_finish(workspace)
    told = list(jobs_of(workspace))
    assert told
    check_fields(told)
    check_how_jobs_run(told)
    check_places(told, workspace)
