"""What jobs of models ask a cluster's scheduler for, and that it is no part of what a stage is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from config_example import BASE

from dialeval.config import VllmModel, load_config
from dialeval.config.endpoints import BY_ENGINE, gpus_for, resource_for
from dialeval.config.models import EmbeddedModel, EncoderModel
from dialeval.config.section import JobResources
from dialeval.config.training import LoraTraining
from dialeval.errors import UserError


def vllm(**fields: Any) -> VllmModel:
    return VllmModel.model_validate({"engine": "vllm", "model": "some/model", **fields})


def test_a_model_requests_its_own_resources_or_those_of_its_engine() -> None:
    model = vllm(resources={"mem_mb": 99_000, "slurm_partition": "gpu"})
    assert resource_for("mem_mb", [model]) == 99_000
    assert resource_for("slurm_partition", [model]) == "gpu"
    assert resource_for("runtime", [model]) == BY_ENGINE["vllm"].runtime
    assert resource_for("gpu_model", [model]) is None
    embedded = EmbeddedModel(engine="embedded", method="forest")
    assert [resource_for(field, [embedded]) for field in JobResources.model_fields] == [None] * 6


def test_a_job_of_two_models_requests_the_larger_number_and_the_first_name() -> None:
    small, large = vllm(resources={"mem_mb": 1000}), vllm(resources={"mem_mb": 2000, "gpu_model": "a100"}, gpus=3)
    assert resource_for("mem_mb", [small, large]) == 2000
    assert resource_for("gpu_model", [small, large]) == "a100"
    assert gpus_for([small, large]) == 3
    assert gpus_for([]) == 0


def test_a_job_that_trains_requests_its_own_resources() -> None:
    learns = {"train": ["set"], "gpus": 2, "resources": {"runtime": 90}}
    model = vllm(lora=learns, tensor_parallel_size=4, resources={"runtime": 10})
    assert (resource_for("runtime", [model], trains=True), resource_for("runtime", [model])) == (90, 10)
    assert (gpus_for([model], trains=True), gpus_for([model])) == (2, 4)
    assert resource_for("mem_mb", [model], trains=True) == 64_000
    encoder = EncoderModel.model_validate({"engine": "encoder", "model": "m", "train": {"data": "set"}})
    assert resource_for("runtime", [encoder], trains=True) == 1440
    assert gpus_for([vllm()], trains=True) == 0


def test_no_stage_gets_it() -> None:
    fields = {"gpus": 7, "resources": {"mem_mb": 12_345, "slurm_extra": "--qos=long"}}
    assert vllm(**fields).model_dump_json() == vllm().model_dump_json()
    told = LoraTraining.model_validate({"train": ["set"], "resources": {"runtime": 9}}).model_dump(mode="json")
    assert "resources" not in told
    assert "12345" not in json.dumps(vllm(**fields).model_dump(mode="json"))


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"mem_mb": 1}, "mem_mb"),
        ({"mem_mb": "64G"}, "mem_mb"),
        ({"runtime": 0}, "runtime"),
        ({"runtime": True}, "runtime"),
        ({"memory": 64_000}, "memory"),
        ({"slurm_partition": "gpu; rm"}, "slurm_partition"),
        ({"slurm_extra": "long"}, "options begin with a dash"),
        ({"gpu_model": "a100:4"}, "gpu_model"),
    ],
)
def test_what_no_scheduler_takes_is_refused_by_its_field(resources: dict[str, Any], words: str) -> None:
    model = {"engine": "vllm", "model": "some/model"}
    with pytest.raises(UserError) as refused:
        load_config(BASE | {"models": BASE["models"] | {"open": model | {"resources": resources}}})
    assert "models.open" in str(refused.value)
    assert words in str(refused.value)


def test_an_embedded_model_runs_in_a_group_without_resources_of_its_own() -> None:
    forest = {"engine": "embedded", "method": "forest", "resources": {"runtime": 5}}
    with pytest.raises(UserError, match="remove resources, and set default-resources of the profile"):
        load_config(BASE | {"models": BASE["models"] | {"forest": forest}})
