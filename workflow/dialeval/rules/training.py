"""Parameters of the stages that make training data and train judges."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from snakemake.io import ancient

from dialeval.rules.corpora import Parameters
from dialeval.rules.jobs import StageJob
from dialeval.training.encoder import DECIDES as ENCODER_DECIDES
from dialeval.training.lora import DECIDES as LORA_DECIDES


@dataclass(frozen=True)
class Training(Parameters):
    """Parameters of the stages of training."""

    def judged_texts(self) -> StageJob:
        """Describe the job of `judged_texts`."""
        return StageJob("judged_texts", {})

    def check_overlap(self, training: str) -> StageJob:
        """Describe a job of `check_overlap`."""
        overlap = self.config.training[training].overlap
        return StageJob("check_overlap", self._set(training) | {"overlap": overlap})

    def make_training_data(self, training: str) -> StageJob:
        """Describe a job of `make_training_data`."""
        return StageJob("make_training_data", self._set(training))

    def tabulate_training_data(self) -> StageJob:
        """Describe the job of `tabulate_training_data`."""
        return StageJob("tabulate_training_data", {})

    def tabulate_training(self) -> StageJob:
        """Describe the job of `tabulate_training`."""
        settings = {"judges": self.layout.trained_judges(), "random_seed": self.config.random_seed}
        return StageJob("tabulate_training", settings)

    def train_lora(self, judge: str) -> StageJob:
        """Describe a job of `train_lora`: with the fields of its model on which the weights depend."""
        model: Any = self.config.models[judge]
        learned = {one for name in model.learns_from for one in self.config.training[name].criteria or ()}
        deciding = {field: getattr(model, field) for field in LORA_DECIDES}
        settings = {
            "name": judge,
            "model": {"engine": model.engine, "revision": model.revision, **deciding},
            "criteria": [asdict(one) for one in self.config.own_criteria(learned)],
            "random_seed": self.config.random_seed,
        }
        return StageJob("train_lora", settings, trains=judge)

    def train_encoder(self, judge: str) -> StageJob:
        """Describe a job of `train_encoder`: with the fields of its model on which the weights depend."""
        model: Any = self.config.models[judge]
        deciding = {field: getattr(model, field) for field in ENCODER_DECIDES}
        settings = {
            "name": judge,
            "model": {"engine": model.engine, **deciding},
            "random_seed": self.config.random_seed,
        }
        return StageJob("train_encoder", settings, trains=judge)

    def left_out(self, training: str) -> list[str]:
        """Return the dialogues that are left out of a training set.

        Where overlap is refused instead, the check only has to have been made.
        """
        overlap = self.layout.overlap(training)
        leaves_out = self.config.training[training].overlap == "leave_out"
        return overlap if leaves_out else [ancient(path) for path in overlap]

    def _set(self, name: str) -> dict[str, Any]:
        section = self.config.training[name]
        hurt = {
            criterion: lowering
            for criterion, lowering in self.config.hurt().items()
            if criterion in (section.criteria or ())
        }
        return {
            "name": name,
            **section.model_dump(mode="json", exclude={"overlap"}),
            "random_seed": self.config.random_seed,
            "hurt": hurt,
        }
