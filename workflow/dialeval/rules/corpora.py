"""Parameters of the stages that read corpora and transcripts, and that let embedded models learn."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from dialeval.config import EmbeddedModel, VllmModel
from dialeval.config.configuration import Config
from dialeval.config.training import LoraTraining
from dialeval.engines.spending.prices import Prices
from dialeval.layout import Layout
from dialeval.rules.jobs import StageJob
from dialeval.rules.sources import Sources


@dataclass(frozen=True)
class Parameters:
    """What describes the jobs of stages: methods whose arguments bear the names of wildcards."""

    layout: Layout
    sources: Sources

    @property
    def config(self) -> Config:
        """Return the configuration."""
        return self.layout.config

    def asked_model(self, name: str) -> dict[str, Any]:
        """Return a model without what changes no response: prices, budget, how its jobs run, and its training."""
        model = self.config.models[name]
        if isinstance(model, VllmModel) and model.lora:
            model = model.model_copy(update={"lora": LoraTraining(train=model.lora.train)})
        return model.model_dump(mode="json", exclude={*model.how_jobs_run, "budget", *Prices.model_fields})


def given(section: Any, names: Collection[str]) -> dict[str, Any]:
    """Return those fields of a section that are not null: a null changes no settings."""
    values = {name: getattr(section, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Corpora(Parameters):
    """Parameters of the stages of corpora."""

    def read_corpus(self, corpus: str) -> StageJob:
        """Describe a job of `read_corpus`."""
        section = self.config.corpora[corpus]
        settings = {
            "name": corpus,
            "reader": section.reader,
            "path": str(self.config.corpus_path(corpus) or "") or None,
            "language": section.language,
        }
        return StageJob("read_corpus", settings, reads=self.sources.corpus(corpus))

    def extract_seeds(self) -> StageJob:
        """Describe the job of `extract_seeds`."""
        return StageJob("extract_seeds", self.config.seeds.model_dump())

    def read_scenarios(self) -> StageJob:
        """Describe the job of `read_scenarios`."""
        scenarios = self.config.selfchat.scenarios
        settings = {"limit": scenarios and scenarios.limit, "opened": self.config.partner_is_embedded()}
        return StageJob("read_scenarios", settings, reads=self.sources.scenarios())

    def learn_embedded(self, model: str) -> StageJob:
        """Describe a job of `learn_embedded`."""
        learner = self.config.models[model]
        assert isinstance(learner, EmbeddedModel)
        settings = {
            "name": model,
            "method": learner.method,
            "folds": learner.folds,
            "random_seed": self.config.random_seed,
        }
        return StageJob("learn_embedded", settings, modules=[learner.learned_by])

    def read_transcripts(self, source: str) -> StageJob:
        """Describe a job of `read_transcripts`."""
        settings = {
            "name": source,
            "path": str(self.config.transcripts_path(source)),
            "options": self.config.transcripts[source].options(),
        }
        return StageJob("read_transcripts", settings, reads=self.sources.transcripts(source))

    def download(self) -> StageJob:
        """Describe the job of `download`."""
        settings = {
            "corpora": self.config.public_corpora,
            "data_dir": str(self.config.data_dir),
            "mirror": self.config.mirror and str(self.config.mirror),
        }
        return StageJob("download", settings)
