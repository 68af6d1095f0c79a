"""Parameters of the stages in which judges answer requests and people label, and of those that read the answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialeval.config.configuration import Config
from dialeval.config.corpora import COMPLETE
from dialeval.config.criteria import protocol_dimensions, protocol_sensitivities
from dialeval.config.labels import Labels as LabelsSection
from dialeval.config.models import PublishedModel
from dialeval.config.protocols import SHIPPED
from dialeval.criteria import FAILURES_PROTOCOL
from dialeval.errors import UserError
from dialeval.labels.ledger import ledger_digest, ledger_path
from dialeval.measures.design import design_of
from dialeval.rules.jobs import Parameters, StageJob

ONLY_PLANNING = {"judges", "measures", "retry_unparsed", "n_utterances", "adaptive", "cascade"}
"""Fields of a protocol on which no request and no judgement depends."""


@dataclass(frozen=True)
class Judging(Parameters):
    """Parameters of the stages of judging."""

    def plan(self, protocol: str) -> StageJob:
        """Describe a job of `plan_<form>`."""
        settings = self.layout.protocols[protocol]
        more: dict[str, Any] = {}
        if self.layout.gives_scores(protocol):
            more = {
                "dimensions": protocol_dimensions(self.config, settings),
                "n_seed_utterances": self.n_seed_utterances,
                "own": self.own_criteria(protocol),
                "sensitivities": protocol_sensitivities(self.config, settings),
            }
        if settings.form == "annotate":
            more = {"n_seed_utterances": self.n_seed_utterances}
        return StageJob(f"plan_{settings.form}", self.question(protocol) | more, templates=self.templates([protocol]))

    def answer(self, judge: str, protocol: str, shard: str = "1", shards: str = "1") -> StageJob:
        """Describe a job of `answer`, or of `answer_items`, which shortens requests that do not fit."""
        own = self.layout.protocols.get(protocol)
        more: dict[str, Any] = {}
        gives_scores = self.layout.gives_scores(protocol)
        if own is not None:
            more = {"question": self.question(protocol)}
            more |= {"criteria": self.own_criteria(protocol), "template": own.template} if gives_scores else {}
            more |= {"retries_unparsed": True} if own.retry_unparsed else {}
        settings = {
            "name": judge,
            "protocol": protocol,
            **self.stored_under(protocol),
            "model": self.model_settings(judge),
            "shard": int(shard),
            "shards": int(shards),
            **more,
        }
        return StageJob("answer_items" if gives_scores else "answer", settings, models=(judge,))

    def plan_retries(self, protocol: str) -> StageJob:
        """Describe a job of `plan_retries`."""
        return StageJob("plan_retries", self.question(protocol) | {"own": self.own_criteria(protocol)})

    def answer_retries(self, judge: str, protocol: str) -> StageJob:
        """Describe a job of `answer` that retries."""
        settings = {
            "name": judge,
            "protocol": f"{protocol}-again",
            **self.stored_under(protocol, "-again"),
            "model": self.model_settings(judge),
        }
        return StageJob("answer", settings, models=(judge,))

    def answer_adaptively(self, judge: str, protocol: str) -> StageJob:
        """Describe a job of `answer_adaptively`."""
        settings = {
            "name": judge,
            "protocol": protocol,
            **self.stored_under(protocol),
            "model": self.model_settings(judge),
            "question": self.question(protocol),
            "adaptive": self.layout.protocols[protocol].adaptive,
        }
        return StageJob("answer_adaptively", settings, models=(judge,))

    def import_answers(self, judge: str, protocol: str) -> StageJob:
        """Describe a job of `import_answers`."""
        model = self.config.models[judge]
        assert isinstance(model, PublishedModel)
        arena = self.config.protocols.arena
        settings = {
            "protocol": protocol,
            "judge_column": model.judge_column,
            "names": model.names,
            "arena_lengths": arena.n_utterances if arena and protocol == "arena" else [],
        }
        return StageJob("import_answers", settings, reads=self.sources.responses(judge, protocol))

    def parse(self, judge: str, protocol: str) -> StageJob:
        """Describe a job of `parse_<form>`."""
        more = {"own": self.own_criteria(protocol)} if self.layout.gives_scores(protocol) else {}
        form = self.layout.protocols[protocol].form
        return StageJob(f"parse_{form}", self.question(protocol) | more | {"judge": judge})

    def ensemble_judgements(self, ensemble: str, method: str) -> StageJob:
        """Describe a job of `ensemble_judgements`."""
        members = self.layout.ensembles[ensemble][method]
        return StageJob("ensemble_judgements", {"name": ensemble, "method": method, "members": members})

    def tabulate_rounds(self, protocol: str) -> StageJob:
        """Describe a job of `tabulate_rounds`."""
        return StageJob("tabulate_rounds", {"protocol": protocol})

    def sample_cascade(self, protocol: str) -> StageJob:
        """Describe a job of `sample_cascade`."""
        form = self.layout.protocols[protocol].form
        return StageJob("sample_cascade", {"form": form, "cascade": self.layout.cascades[protocol]})

    def cascade_judgements(self, cascade: str) -> StageJob:
        """Describe a job of `cascade_judgements`."""
        return StageJob("cascade_judgements", {"name": cascade})

    def find_failures(self) -> StageJob:
        """Describe the job of `find_failures`."""
        section = self.config.protocols.failures
        assert section
        settings = {
            "protocol": FAILURES_PROTOCOL,
            "length_share": section.length_share,
            "n_seed_utterances": self.n_seed_utterances,
        }
        return StageJob("find_failures", settings)

    def question(self, protocol: str) -> dict[str, Any]:
        """Return the question of a protocol, without the fields that only other stages need."""
        return {
            "name": protocol,
            "shipped": protocol in SHIPPED,
            "protocol": self.config.resolved_protocols()[protocol].model_dump(mode="json", exclude=ONLY_PLANNING),
            "criteria": [asdict(one) for one in self.config.criteria_of(protocol)],
        }

    def own_criteria(self, protocol: str) -> list[dict[str, Any]]:
        """Return the user's criteria that a protocol may ask about."""
        return [asdict(one) for one in self.config.protocol_criteria(protocol)]

    def templates(self, protocols: Iterable[str]) -> list[str]:
        """Return the templates that protocols name."""
        named = [self.layout.protocols[name].template for name in protocols]
        return sorted({template for template in named if template})

    def stored_under(self, protocol: str, suffix: str = "") -> dict[str, str]:
        """Return the folder of the store, if its name differs from the protocol's."""
        if protocol in self.layout.translated:
            return {"folder": "translate"}
        if protocol in self.layout.completing_models:
            return {"folder": COMPLETE}
        if protocol in self.layout.quality_requests:
            return {"folder": self.layout.quality_requests[protocol][0]}
        own = self.config.protocols.own.get(protocol)
        return {"folder": f"{own.form}{suffix}"} if own else {}

    @property
    def n_seed_utterances(self) -> int:
        """Return the number of turns that begin each dialogue of self-chat and are not judged."""
        return 1 if self.config.selfchat.scenarios else 2


@dataclass(frozen=True)
class Labels(Judging):
    """Parameters of the stages of human labels."""

    def draw_to_label(self, protocol: str) -> StageJob:
        """Describe a job of `draw_to_label`."""
        section = self._section
        drawing = {"n": section.n, "by": section.sampling_design, "random_seed": self.config.random_seed}
        return StageJob("draw_to_label", self._labelled(protocol) | drawing)

    def labelling_page(self, sheet: str, annotator: str) -> StageJob:
        """Describe a job of `labelling_page`."""
        section = self._section
        protocol, level = self.layout.sheets[sheet]
        more = {
            "level": level,
            "annotator": annotator,
            "annotators": self.layout.annotators,
            "annotators_per_item": section.annotators_per_item,
            **({"guidelines": section.guidelines} if section.guidelines else {}),
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
        """Describe the job of `correct`, and of `measure_ranks` by human-corrected estimates."""
        section = self._section
        settings = {
            "protocols": [labelled_design(self.config, name) for name in self.layout.labelled_protocols],
            "target": section.target,
            "panel": section.panel,
            "confidence": section.confidence,
            "resamples": self.config.elo.resamples,
            "random_seed": self.config.random_seed,
        }
        return StageJob("correct+measure_ranks", settings | {"protocol": "labels"})

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
        """Return the question for people under a protocol."""
        fields = {"form", "data", "options", "criteria"}
        return self.question(protocol) | {
            "protocol": self.layout.labelled_protocols[protocol].model_dump(mode="json", include=fields),
            "n_seed_utterances": self.n_seed_utterances,
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
                f"{ledger} is not the record of the sample of these pages: it was removed, another run extended it, or "
                f"labels.path is another folder. Restore it if it was removed, then run the same command with "
                f"`--forcerun draw_to_label` at the end"
            )


_CORRECTED_BY = (
    "protocol", "form", "judges", "members", "systems", "criteria", "lengths", "reference", "measures", "families"
)  # fmt: skip


def labelled_design(config: Config, name: str) -> dict[str, Any]:
    """Return the design of a labelled protocol, reduced to the settings that the correction depends on."""
    design, protocol = design_of(config, name), config.resolved_protocols()[name]
    about = design.model_dump(mode="json") | {
        "form": protocol.form,
        "members": [judge for judge in design.judges if judge in (protocol.judges or ())],  # which answer everything
        "families": {model: family for model, family in design.families.items() if family != model},
    }
    return {setting: about[setting] for setting in _CORRECTED_BY}
