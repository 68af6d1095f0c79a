"""What a job asks a cluster's scheduler for, by the models that it is of."""

from __future__ import annotations

from collections.abc import Iterable

from dialeval.config.any_model import AnyModel
from dialeval.config.job_resources import JobResources

BY_ENGINE = {
    "vllm": JobResources(mem_mb=64_000, runtime=720, cpus_per_task=4),
    "encoder": JobResources(mem_mb=16_000, runtime=240, cpus_per_task=4),
    "nllb": JobResources(mem_mb=16_000, runtime=240, cpus_per_task=4),
    "openai": JobResources(runtime=240),
}
"""What jobs ask for where a model says nothing: weights are read into memory, and endpoints set their own pace.

A job that runs out of time has lost nothing, and one that asks for more than its partition allows never starts."""

TRAINING = {
    "encoder": JobResources(mem_mb=32_000, runtime=1440, cpus_per_task=4),
    "vllm": JobResources(mem_mb=64_000, runtime=2880, cpus_per_task=4),
}
"""The same of jobs that train an encoder, or an adapter; one that runs out of time begins at its last checkpoint."""


def resource_for(field: str, models: Iterable[AnyModel], trains: bool = False) -> int | str | None:
    """Returns what a job of several models asks for: the largest number of theirs, or the first name.

    Args:
        field: of `JobResources`.
        models: whose job it is, such as a chatbot and its partner.
        trains: whether the job trains the model, as its `lora` or `train` says; else it answers.

    Returns:
        None where neither a model nor its engine says anything.
    """
    said = []
    for model in models:
        own = _own(model, trains)
        by_engine = (TRAINING if trains else BY_ENGINE).get(getattr(model, "engine", ""), JobResources())
        value = getattr(own, field)
        said.append(getattr(by_engine, field) if value is None else value)
    found = [value for value in said if value is not None]
    numbers = [value for value in found if isinstance(value, int)]
    return max(numbers) if numbers else next(iter(found), None)


def gpus_for(models: Iterable[AnyModel], trains: bool = False) -> int:
    """Returns how many GPUs a job of several models asks for; two in vLLM are one in two roles."""
    if trains:
        return max((model.training.gpus for model in models if model.training), default=0)
    return max((model.scheduled_gpus for model in models), default=0)


def _own(model: AnyModel, trains: bool) -> JobResources:
    if not trains:
        return model.resources
    return model.training.resources if model.training else JobResources()
