"""What a check of the cluster tries: the resources that jobs ask for, and how Slurm is asked about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialeval.config import EmbeddedModel, EncoderModel, PublishedModel
from dialeval.config.configuration import Config
from dialeval.config.model_base import gpus_for, resource_for
from dialeval.config.models import Model
from dialeval.config.section import JobResources
from dialeval.jobs.cluster_check import Request
from dialeval.rules.jobs import canonical


def cluster_check(workflow: Any, config: Config, resources: Mapping[str, Any], own_environments: bool) -> str:
    """Return what is checked of the cluster that the command names.

    Args:
        workflow: Snakemake's own.
        config: the configuration.
        resources: those of a job as the profile has them.
        own_environments: whether jobs run in environments of their own.
    """
    executor = workflow.executor_settings
    return canonical(
        {
            "executor": getattr(workflow.executor_plugin, "name", ""),
            "requests": list(_requests(workflow.resource_settings.cores, config, resources)),
            "folders": {"results_dir": str(config.results_dir), "store_dir": str(config.store_dir)},
            "latency_wait": workflow.execution_settings.latency_wait,
            "own_environments": own_environments,
            "status_command": getattr(executor, "status_command", None),
            "first_look": getattr(executor, "init_seconds_before_status_checks", 40),
        }
    )


def _requests(cores: int | None, config: Config, resources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the requests of jobs without a model, of groups of them, and of jobs that ask or train a model."""
    named = {field: resources.get(field) for field in Request.model_fields}
    profile = {field: value for field, value in named.items() if value not in (None, "")}
    yield {**profile, "by": "jobs of the profile"}
    if cores:
        yield {**profile, **_together(cores, profile), "runtime": None, "gpu": 0}
    for by, (model, trains) in (_asking(config) | _training(config)).items():
        said = {field: resource_for(field, [model], trains) for field in JobResources.model_fields}
        own = {field: value for field, value in said.items() if value is not None}
        yield profile | own | {"by": by, "gpu": gpus_for([model], trains)}


def _together(cores: int, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of a group, which asks for as many jobs as may run at once."""
    each = profile.get("cpus_per_task", 1)
    at_once = max(cores // each, 1)
    bounded = {"cpus_per_task": at_once * each, "together": True, "by": f"groups of {at_once} jobs at once"}
    memory = profile.get("mem_mb")
    return bounded | ({"mem_mb": at_once * memory} if memory else {})


def _asking(config: Config) -> dict[str, tuple[Model, bool]]:
    models = config.models.items()
    asked = {name: model for name, model in models if not isinstance(model, EmbeddedModel | PublishedModel)}
    return {f"jobs of {name}": (model, False) for name, model in asked.items()}


def _training(config: Config) -> dict[str, tuple[Model, bool]]:
    models = config.models.items()
    trained = {name: one for name, one in models if isinstance(one, EncoderModel) or getattr(one, "lora", None)}
    return {f"training of {name}": (model, True) for name, model in trained.items()}
