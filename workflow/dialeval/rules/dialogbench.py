"""Parameters of the stages of DialogBench."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dialeval.config.dialogbench import DOMAINS, DialogBench, Examine, parts_in_items
from dialeval.config.ensembles import model_types, tagged
from dialeval.rules.jobs import Parameters, StageJob

WRITING_FIELDS = (
    "per_cell", "languages", "max_rounds", "temperature", "max_tokens", "presence_penalty", "frequency_penalty",
    "min_turns", "max_length_ratio", "max_question_share", "duplicate_similarity",
)  # fmt: skip
"""Fields of `dialogbench.written` that the stage has too."""


@dataclass(frozen=True)
class TestItems(Parameters):
    """Parameters of the stages that write test items and examine models on them."""

    def write_items(self) -> StageJob:
        """Describe the job of `dialogbench_write`."""
        written = self._section.written
        assert written
        by_rule = [name for name in written.ablations if name != "filter"]
        settings = {
            "name": written.writer,
            "model": self.model_settings(written.writer) if written.writer else None,
            "tasks": written.chosen_tasks,
            "domains": written.domains or DOMAINS,
            "procedures": ["full", *(f"-{name}" for name in by_rule)],
            "random_seed": self.config.random_seed,
            **{name: getattr(written, name) for name in WRITING_FIELDS},
        }
        return StageJob("dialogbench_write", settings, models=self._maker("writing"))

    def filter_items(self) -> StageJob:
        """Describe the job of `dialogbench_filter`."""
        return StageJob("dialogbench_filter", self._judge("filter"), models=self._maker("filter"))

    def describe_items(self) -> StageJob:
        """Describe the job of `dialogbench_classify`."""
        return StageJob("dialogbench_classify", self._judge("classification"), models=self._maker("classification"))

    def read_items(self) -> StageJob:
        """Describe the job of `dialogbench_read` and `dialogbench_plan`."""
        section = self._section
        published = {
            name: {"path": str(self.config.item_path(name)), "language": one.language, "task": one.task}
            for name, one in section.published.items()
        }
        settings = {
            "bundled": section.bundled,
            "published": published,
            "variants": ["full", *(f"-{name}" for name in self._ablations if name != "domains")],
            "limit": section.limit,
            "random_seed": self.config.random_seed,
            "examinations": {method: self._examination(method) for method in Examine.model_fields},
        }
        return StageJob("dialogbench_read+dialogbench_plan", settings, reads=self.sources.test_items())

    def draw_expert_sheet(self) -> StageJob:
        """Describe the job of `dialogbench_sheet`."""
        experts = self._section.experts
        assert experts
        settings = {"per_task": experts.per_task, "random_seed": self.config.random_seed}
        return StageJob("dialogbench_sheet", settings)

    def read_expert_answers(self) -> StageJob:
        """Describe the job of `dialogbench_experts`."""
        experts = self._section.experts
        assert experts
        settings = {"simulated": experts.simulated}
        return StageJob("dialogbench_experts", settings, reads=self.sources.expert_answers())

    def tabulate_dialogbench(self) -> StageJob:
        """Describe the job of `dialogbench_parse` and `dialogbench_tables`."""
        section = self._section
        names = {name for name, method in self.layout.examined}
        kind_of = {name: kind for name, kind in model_types(self.config).items() if name in names}
        groups = {kind: [name for name, own in kind_of.items() if own == kind] for kind in ("base", "chat")}
        groups |= {
            tag: [name for name in members if name in names]
            for tag, members in tagged(self.config).items()
            if tag not in groups
        }
        settings = {
            "confidence": section.confidence,
            "ablations": self._ablations,
            "groups": {name: members for name, members in groups.items() if members},
            "kinds": kind_of,
            "parts": parts_in_items(section, self.config.models),
            "at_least": section.experts.at_least if section.experts else None,
            "random_seed": self.config.random_seed,
        }
        return StageJob("dialogbench_parse+dialogbench_tables", settings)

    def _examination(self, method: str) -> dict[str, Any]:
        section = self._section
        # probabilities are read of a response's first token, to which no penalty applies
        has_penalties = method == "letter"
        return {
            "circular": section.circular and method != "perplexity",
            "presentation": section.presentation,
            "max_tokens": section.max_tokens,
            "presence_penalty": section.presence_penalty if has_penalties else 0.0,
            "frequency_penalty": section.frequency_penalty if has_penalties else 0.0,
        }

    @property
    def _section(self) -> DialogBench:
        assert self.config.dialogbench
        return self.config.dialogbench

    @property
    def _ablations(self) -> list[str]:
        written = self._section.written
        return list(written.ablations) if written else []

    def _maker(self, part: str) -> tuple[str | None]:
        return (self.layout.item_makers[part],)

    def _judge(self, part: str) -> dict[str, Any]:
        name = self.layout.item_makers[part]
        return {"name": name, "model": self.model_settings(name)} if name else {}
