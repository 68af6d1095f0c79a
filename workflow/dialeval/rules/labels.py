"""Parameters of the stages that draw what people label, read their labels, and correct judges' numbers by them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.config.labels import Labels as LabelsSection
from dialeval.errors import UserError
from dialeval.labels.joined_judgements import labelled_design
from dialeval.labels.ledger import ledger_digest, ledger_path
from dialeval.rules.jobs import StageJob
from dialeval.rules.judging import Judging


@dataclass(frozen=True)
class Labels(Judging):
    """Parameters of the stages of people's labels."""

    def draw_to_label(self, protocol: str) -> StageJob:
        """Describe a job of `draw_to_label`."""
        section = self._section
        drawing = {"n": section.n, "by": section.by, "random_seed": self.config.random_seed}
        return StageJob("draw_to_label", self._labelled(protocol) | drawing)

    def labelling_page(self, sheet: str, annotator: str) -> StageJob:
        """Describe a job of `labelling_page`."""
        section = self._section
        protocol, level = self.layout.sheets[sheet]
        more = {
            "level": level,
            "annotator": annotator,
            "annotators": self.layout.annotators,
            "each": section.each,
            "instead": section.questions.get(protocol, ""),
        }
        return StageJob("labelling_page", self._labelled(protocol) | more)

    def read_labels(self) -> StageJob:
        """Describe the job of `read_labels`."""
        section, tables = self._section, self.layout.labelled_items()
        protocols = [
            self._labelled(name)
            | {"items": [tables.index(path) for path in self.layout.items(name)]}
            | ({"instead": section.questions[name]} if name in section.questions else {})
            for name in self.layout.labelled_protocols
        ]
        settings = {"protocols": protocols, "annotators": self.layout.annotators, "simulated": section.simulated}
        return StageJob("read_labels", settings, reads=[*self.sources.labels(), *self.sources.ledgers()])

    def correct(self) -> StageJob:
        """Describe the job of `correct`."""
        section = self._section
        settings = {
            "protocols": [labelled_design(self.config, name) for name in self.layout.labelled_protocols],
            "target": section.target,
            "panel": section.panel,
            "confidence": section.confidence,
        }
        return StageJob("correct", settings)

    def rank_by_labels(self) -> StageJob:
        """Describe the job of `rank_systems` by human-corrected estimates."""
        return StageJob("rank_systems", {"protocol": "labels", "confidence": self._section.confidence})

    def tabulate_agreement(self) -> StageJob:
        """Describe the job of `tabulate_agreement`."""
        settings = {
            "resamples": self.config.elo.resamples,
            "confidence": self._section.confidence,
            "random_seed": self.config.random_seed,
        }
        return StageJob("tabulate_agreement", settings)

    def labelling_sheets(self) -> list[str]:
        """Return the pages and sheets of all annotators.

        Raises:
            UserError: a ledger is not the one that the pages were drawn with.
        """
        for protocol in self.layout.labelled_protocols:
            self._check_ledger(protocol)
        return self.layout.labelling_sheets()

    @property
    def _section(self) -> LabelsSection:
        assert self.config.labels
        return self.config.labels

    def _labelled(self, protocol: str) -> dict[str, Any]:
        """Return what people are asked under a protocol."""
        asked = {"form", "of", "options", "criteria"}
        return self.question(protocol) | {
            "protocol": self.layout.labelled_protocols[protocol].model_dump(mode="json", include=asked),
            "said_before": self.said_before,
            "own": self.own_criteria(protocol),
        }

    def _check_ledger(self, protocol: str) -> None:
        """Refuse a ledger that changed. It is no file of Snakemake's, which would be free to delete it."""
        drawn = Path(self.layout.DRAWN_LEDGER.format(protocol=protocol))
        ledger = ledger_path(Path(self.layout.labels_folder), protocol)
        if "draw_to_label" in sys.argv or not drawn.is_file():
            return
        if drawn.read_text(encoding="utf-8").strip() != ledger_digest(ledger):
            raise UserError(
                f"{ledger} is not the ledger that these pages were drawn with: it is gone, somebody drew more "
                "elsewhere, or labels.path names another folder. Bring it back if it is gone; then run the same "
                "command with `--forcerun draw_to_label` behind it"
            )
