"""What jobs of a model ask a cluster's scheduler for, besides GPUs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from dialeval.config.section import Section, Whole

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
