"""What every model has, whatever runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from dialeval.config.job_resources import JobResources
from dialeval.config.section import Name, Number, Section, Whole

if TYPE_CHECKING:
    from dialeval.config.training import Learning

Concurrency = Annotated[Whole, Field(ge=1, le=10_000)]
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
        description="Models of one family, for the judges' self-preference; null: the model's own name.",
    )
    kind: Literal["chat", "base"] | None = Field(
        None,
        exclude=True,
        description="Whether it was tuned to follow instructions (chat) or only trained on text (base), for tables "
        "with a row for each kind; null: neither is said.",
    )
    tags: list[Name] = Field(
        [],
        exclude=True,
        description="Groups that it belongs to, in words of yours, such as open-source; a tag stands for all its "
        "models wherever a group of models may be named.",
    )
    resources: JobResources = Field(
        JobResources(),
        exclude=True,
        description="What its jobs ask a cluster's scheduler for, see docs/cluster.md; `gpus` is a field of its own.",
    )
    shards: Annotated[Whole, Field(ge=1, le=1_000)] = Field(
        1, description="Number of jobs that this model's work is split into."
    )
    concurrency: Concurrency = Field(64, description="Requests in flight at once.")

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
