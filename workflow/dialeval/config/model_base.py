"""The fields that all models share, and the resources that their jobs request from a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from dialeval.config.section import Integer, JobResources, Name, Number, Section

if TYPE_CHECKING:
    from dialeval.config.training import Learning


Concurrency = Annotated[Integer, Field(ge=1, le=10_000)]
Seconds = Annotated[Number, Field(gt=0, le=10_000_000)]


class AnyModel(Section):
    """What all models have.

    Attributes:
        opened_by: module whose `open_model` gives the engine; empty where nothing is asked.
        runs_in: which of envs/*.yaml its jobs run in.
        how_jobs_run: the fields that say how its jobs run and change no answer: other values of theirs re-run nothing.
    """

    opened_by: ClassVar[str] = ""
    runs_in: ClassVar[Literal["core", "train", "vllm"]] = "core"
    how_jobs_run: ClassVar[frozenset[str]] = frozenset({"concurrency", "shards"})

    # these four change no answer, so they are left out of every dump: of settings, identities and provenance
    family: str | None = Field(
        None,
        min_length=1,
        exclude=True,
        description="Model family, for self-preference of judges; null: the model's name.",
    )
    kind: Literal["chat", "base"] | None = Field(
        None,
        exclude=True,
        description=(
            "chat (instruction-tuned) or base (pre-trained only), for tables that average over each; null: unknown."
        ),
    )
    tags: list[Name] = Field(
        [],
        exclude=True,
        description="Tags such as open-source. Settings that take a group of models accept a tag.",
    )
    resources: JobResources = Field(
        JobResources(),
        exclude=True,
        description="Resources of the model's jobs on a cluster (see docs/cluster.md); for GPUs set `gpus`.",
    )
    shards: Annotated[Integer, Field(ge=1, le=1_000)] = Field(
        1, description="Number of jobs that this model's work is split into."
    )
    concurrency: Concurrency = Field(64, description="Maximum number of concurrent requests.")

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return 0

    @property
    def training(self) -> Learning | None:
        """How the run trains it."""
        return None

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules whose code answers for it, besides that which asks."""
        return (self.opened_by,) if self.opened_by else ()

    @property
    def is_tuned(self) -> bool:
        """Whether it was trained further than the model that its name is known for."""
        return False

    @property
    def reads(self) -> tuple[Path, ...]:
        """Files and folders of this machine that its answers rest on, as far as they are there."""
        return ()

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training sets that the run trains it on."""
        return ()


# Cluster resources

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
    given = []
    for model in models:
        own = _own(model, trains)
        by_engine = (TRAINING if trains else BY_ENGINE).get(getattr(model, "engine", ""), JobResources())
        value = getattr(own, field)
        given.append(getattr(by_engine, field) if value is None else value)
    found = [value for value in given if value is not None]
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
