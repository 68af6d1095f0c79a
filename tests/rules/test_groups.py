"""Which jobs are submitted together, and what jobs of models ask of a cluster."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_executor_plugins.settings import ExecMode

from dialeval.config.configuration import Config
from dialeval.layout import Layout
from dialeval.rules.groups import MEMORY, Groups, Submissions
from dialeval.rules.jobs import Directives, StageJob

API = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": None}
BOT = {"engine": "embedded", "method": "forest"}
TALKER = {"engine": "embedded", "method": "random"}
VLLM = {"engine": "vllm", "model": "some/model", "tensor_parallel_size": 2, "resources": {"mem_mb": 90000}}
RAW: dict[str, Any] = {
    "models": {"bot": BOT, "talker": TALKER, "dear": API, "strong": API, "open": VLLM},
    "chatbots": ["talker", "dear"],
    "judges": ["bot", "dear"],
    "corpora": {"bundled": {"reader": "bundled", "language": "en"}},
    "seeds": {"corpus": "bundled"},
    "protocols": {
        "arena": {},
        "rating": {},
        "again": {
            "form": "scale", "data": {"source": ["selfchat"]}, "criteria": ["overall"], "retry_unparsed": True,
            "judges": ["dear"],
        },
        "closer": {
            "form": "pair", "data": {"source": "selfchat"},
            "judges": ["dear", "strong"],
            "cascade": {"first": "dear", "then": "strong", "share": 0.2},
        },
    },
    "robustness": {"corpora": ["bundled"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def config() -> Config:
    return Config.model_validate(RAW)


@pytest.fixture(scope="module")
def groups(config: Config) -> Groups:
    return Groups(Layout(config))


def submissions(config: Config, nodes: int | None, mode: ExecMode = ExecMode.DEFAULT) -> Submissions:
    settings = SimpleNamespace(nodes=nodes, default_resources=None)
    workflow = SimpleNamespace(exec_mode=mode, resource_settings=settings)
    return Submissions(workflow, Directives(config, lambda function, *arguments: function(*arguments)))


def test_models_behind_endpoints_are_alone_and_embedded_ones_are_not(groups: Groups) -> None:
    assert groups.answers("dear", "arena") is None
    assert groups.answers("bot", "arena") == "dialogues"
    assert groups.answers("bot", "rating") == "items"
    assert groups.selfchat("dear") is None
    assert groups.selfchat("talker") == "asking"


def test_retries_come_after_what_is_retried(groups: Groups) -> None:
    assert groups.answers("bot", "again") == "asking_again"
    assert groups.retries("bot", "again") == groups.parsing("bot", "again") == "dialogues"


def test_the_first_judge_of_a_cascade_chooses_for_the_second(groups: Groups) -> None:
    assert groups.parsing("dear", "closer") == "choosing"
    assert groups.parsing("strong", "closer") == "dialogues"


def test_examinations_have_a_group_of_their_own(groups: Groups) -> None:
    assert groups.measures("dialogbench_letter") == "examination"


def test_jobs_are_grouped_where_they_are_submitted_alone(config: Config, groups: Groups) -> None:
    here, cluster = submissions(config, None), submissions(config, 50)
    assert here.grouped("items") is None
    assert cluster.grouped("items") == "items"
    assert cluster.grouped(groups.answers)({"judge": "bot", "protocol": "arena"}) == "dialogues"
    on_a_node = submissions(config, None, ExecMode.REMOTE)
    assert on_a_node.grouped("items") == "items"


def test_jobs_of_models_ask_for_what_their_models_say(config: Config) -> None:
    cluster = submissions(config, 50)

    def asking(judge: str) -> StageJob:
        return StageJob("answer", {}, models=(judge,))

    resources = cluster.resources(asking)
    said = {name: _value(resources[name], "open") for name in ("gpu", "mem_mb")}
    assert said == {"gpu": 2, "mem_mb": 90000}
    assert {name: _value(resources[name], "bot") for name in ("gpu", "mem_mb")} == {"gpu": 0, "mem_mb": MEMORY}
    assert cluster.environment(asking)({"judge": "open"}) == "../envs/vllm.yaml"
    assert cluster.environment(asking)({"judge": "dear"}) == "../envs/core.yaml"


def _value(resource: Any, judge: str) -> Any:
    if not callable(resource):
        return resource
    names = resource.__code__.co_varnames[1 : resource.__code__.co_argcount]
    return resource({"judge": judge}, **dict.fromkeys(names))
