"""Groups of jobs that a cluster gets in one submission, and the resources of models' jobs.

Jobs that ask a model on a GPU or behind an endpoint, and jobs that train, are submitted alone; all others take seconds.
A job only needs jobs of its own group and of groups above it here, so that no group waits for itself:

    reading            corpora, transcripts, seeds, perturbation by rule, learning of embedded models
                           translations, alone
    preparing          translated corpora, training sets
                           translations back and training, alone
    back_translations  samples with their translations back
                           self-chat, rewriting, writing and filtering of test items, alone
    asking             self-chat of embedded models, requests to judges and to examined models
                           responses of judges, alone
    asking_again       responses of embedded models that are retried, and the retries
                           responses to them, alone
    choosing           judgements of a cascade's first judge, and the requests to its second
                           their responses, alone
    items              responses of embedded models about items, judgements, meta-evaluation, robustness
    examination        responses of embedded models to test items, tables of DialogBench
    dialogues          responses of embedded models about dialogues of systems, judgements, measures, labels
    report             training, translation, validity of judges, the report, usage
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snakemake_interface_executor_plugins.settings import ExecMode

from dialeval.config.configuration import Config
from dialeval.config.endpoints import gpus_for, resource_for
from dialeval.config.models import EmbeddedModel, EncoderModel, Model, PublishedModel
from dialeval.config.section import JobResources
from dialeval.jobs.cluster_check import Request
from dialeval.layout.run import Layout
from dialeval.rules.jobs import Describe, Directives, Wildcards, canonical

MEMORY = 2000
"""MB of a job of which neither the configuration nor the profile says any; see benchmarks/README.md."""


@dataclass(frozen=True)
class Groups:
    """The groups of jobs, by wildcards; None for a job that is submitted alone."""

    layout: Layout

    @property
    def preparing(self) -> str | None:
        """Return the group of translated corpora and training sets.

        Where a translator is trained, some training comes before some translation.
        """
        models = self.layout.config.models
        translators = [models[name] for name in self.layout.translators if name in models]
        return None if any(model.learns_from for model in translators) else "preparing"

    def selfchat(self, chatbot: str) -> str | None:
        """Return the group of a chatbot's self-chat."""
        return None if self._goes_alone(chatbot, self.layout.partner) else "asking"

    def rewriting(self, model: str) -> str | None:
        """Return the group of a model's rewriting of items."""
        return None if self._goes_alone(model) else "asking"

    def test_items(self, part: str) -> str | None:
        """Return the group of a rule that makes test items; none if a model makes them."""
        if self._goes_alone(self.layout.item_makers[part]):
            return None
        return {"writing": "reading", "filter": "asking", "classification": "examination"}[part]

    def parsing(self, judge: str, protocol: str) -> str:
        """Return the group of a judge's judgements."""
        cascade = self.layout.cascades.get(protocol)
        return "choosing" if cascade and cascade.first == judge else self.measures(protocol)

    def answers(self, judge: str, protocol: str) -> str | None:
        """Return the group of a judge's responses."""
        if self._goes_alone(judge):
            return None
        return "asking_again" if protocol in self.layout.retried_protocols else self.parsing(judge, protocol)

    def retries(self, judge: str, protocol: str) -> str | None:
        """Return the group of a judge's responses to retries."""
        return None if self._goes_alone(judge) else self.parsing(judge, protocol)

    def measures(self, protocol: str) -> str:
        """Return the group of the measures of a protocol."""
        if protocol.startswith("dialogbench_"):
            return "examination"
        settings = self.layout.protocols.get(protocol)
        return "items" if settings and self.layout.is_about_items(settings) else "dialogues"

    def ensembles(self, method: str) -> str:
        """Return the group of an ensemble's judgements; without a protocol, its members share items."""
        settings = self.layout.protocols.get(method)
        return "dialogues" if settings and not self.layout.is_about_items(settings) else "items"

    def _goes_alone(self, *names: str | None) -> bool:
        known = self.layout.config.models
        return any(not isinstance(known[name], EmbeddedModel) for name in names if name in known)


class Submissions:
    """The directives of rules that concern a cluster: groups, resources, and environments of jobs of models."""

    def __init__(self, workflow: Any, directives: Directives) -> None:
        self.directives = directives
        self.models = directives.config.models
        self.defaults = workflow.resource_settings.default_resources
        # where nothing is submitted, groups would only cost: Snakemake looks through all jobs for each job of a group
        self.are_made = workflow.exec_mode != ExecMode.DEFAULT or workflow.resource_settings.nodes is not None

    def grouped(self, group: str | Callable[..., str | None] | None) -> Any:
        """Return a rule's group where jobs are submitted: a name, or a function of wildcards."""
        if not self.are_made:
            return None
        return self.directives.by_wildcards(group) if callable(group) else group

    def environment(self, describe: Describe) -> Callable[[Wildcards], str]:
        """Return the conda environment of jobs that ask models, by wildcards."""

        def file(wildcards: Wildcards) -> str:
            needed = {model.runs_in for model in self._models(describe, wildcards)}
            return f"../envs/{next((name for name in ('vllm', 'train') if name in needed), 'core')}.yaml"

        return file

    def resources(self, describe: Describe, trains: bool = False) -> dict[str, Any]:
        """Return the resources of jobs that ask models, or train them.

        What neither the models nor their engines say is as `default-resources` has it. What no model of the run says is
        left to that altogether: Snakemake calls a function anew for every job.
        """
        models = self.models.values()
        values = [
            field
            for field in JobResources.model_fields
            if any(resource_for(field, [model], trains) is not None for model in models)
        ]
        found: dict[str, Any] = {} if "mem_mb" in (self.defaults or {}) else {"mem_mb": MEMORY}
        found |= {field: self._resource(field, describe, trains) for field in values}
        if not any(gpus_for([model], trains) for model in models):
            return found | {"gpu": 0}
        return found | {"gpu": lambda wildcards: gpus_for(self._models(describe, wildcards), trains)}

    def _models(self, describe: Describe, wildcards: Wildcards) -> Sequence[Model]:
        job = self.directives.described(describe, wildcards)
        return [self.models[name] for name in (*job.models, job.trains) if name in self.models]

    def _resource(self, field: str, describe: Describe, trains: bool) -> Callable[..., Any]:
        def value(wildcards: Wildcards, input: Any, attempt: Any, threads: Any, rulename: str, async_run: Any) -> Any:
            given = resource_for(field, self._models(describe, wildcards), trains)
            if given is not None:
                return given
            if not self.defaults or field not in self.defaults:
                return MEMORY if field == "mem_mb" else None
            values = {
                "input": input,
                "attempt": attempt,
                "threads": threads,
                "rulename": rulename,
                "async_run": async_run,
            }
            return self.defaults[field].evaluate(wildcards, **values).value

        return value


def cluster_check(workflow: Any, config: Config, resources: Mapping[str, Any], own_environments: bool) -> str:
    """Return the checks of the cluster that the command names.

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
    for name, (model, trains) in (_asking(config) | _training(config)).items():
        values = {field: resource_for(field, [model], trains) for field in JobResources.model_fields}
        own = {field: value for field, value in values.items() if value is not None}
        yield profile | own | {"by": name, "gpu": gpus_for([model], trains)}


def _together(cores: int, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resources of a group, for as many jobs as may run at once."""
    each = profile.get("cpus_per_task", 1)
    at_once = max(cores // each, 1)
    bounded = {"cpus_per_task": at_once * each, "together": True, "by": f"groups of {at_once} jobs at once"}
    memory = profile.get("mem_mb")
    return bounded | ({"mem_mb": at_once * memory} if memory else {})


def _asking(config: Config) -> dict[str, tuple[Model, bool]]:
    models = config.models.items()
    requested = {name: model for name, model in models if not isinstance(model, EmbeddedModel | PublishedModel)}
    return {f"jobs of {name}": (model, False) for name, model in requested.items()}


def _training(config: Config) -> dict[str, tuple[Model, bool]]:
    models = config.models.items()
    trained = {name: one for name, one in models if isinstance(one, EncoderModel) or getattr(one, "lora", None)}
    return {f"training of {name}": (model, True) for name, model in trained.items()}
