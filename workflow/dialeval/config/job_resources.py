"""What jobs of a model ask a cluster's scheduler for, besides GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from dialeval.config.section import Section, Whole

if TYPE_CHECKING:
    from dialeval.config.any_model import AnyModel

Word = Annotated[str, Field(min_length=1, max_length=200)]


class JobResources(Section):
    """What a job asks a cluster's scheduler for, by Snakemake's names; changing it re-runs nothing.

    What is null is as the engine's jobs ask by themselves, and else as `default-resources` of the profile has it.
    """

    mem_mb: Annotated[Whole, Field(ge=100, le=100_000_000)] | None = Field(None, description="Memory in MB.")
    runtime: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = Field(None, description="Longest time in minutes.")
    cpus_per_task: Annotated[Whole, Field(ge=1, le=10_000)] | None = Field(None, description="Cores.")
    gpu_model: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$", max_length=80)] | None = Field(
        None, description="Kind of GPU by the cluster's name, such as a100."
    )
    slurm_partition: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.,-]+$", max_length=200)] | None = Field(
        None, description="Partition of a Slurm cluster."
    )
    slurm_extra: Word | None = Field(None, description="Further options of sbatch, such as --qos=long.")

    @field_validator("slurm_extra")
    @classmethod
    def _are_options(cls, value: str | None) -> str | None:
        if value is not None and (not value.startswith("-") or "\n" in value):
            raise ValueError(f"'{value}' is no option of sbatch; options begin with a dash, such as --qos=long")
        return value


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
