"""Paths of the report, of files from earlier runs, and of the outputs of targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dialeval import layout
from dialeval.config.models import EmbeddedModel
from dialeval.config.protocol_settings import Protocol
from dialeval.layout.dialogues import Below
from dialeval.layout.tables import Figures


@dataclass(frozen=True)
class Layout(Figures):
    """The files of a run."""

    REPORT = Below("report/index.html")
    STATUS_PAGE = Below("report/status.html")
    SUMMARY = Below("summary.md")
    COMPARISON = Below(layout.COMPARISON)
    GRAPH = Below(".graph-{target}.json")
    LOG = Below("logs/{part}.log")
    CONFIGURATION = Below("configuration.yaml")

    # targets

    def botchat_files(self) -> list[str]:
        """Return BotChat's tables and figures, and the measures of all protocols."""
        failures = [path for suffix in ("svg", "pdf") for path in self.failure_figures(suffix)]
        return self.tables("", self.botchat_names()) + self.both_figures("botchat") + failures

    def battle_files(self) -> list[str]:
        """Return the tables and figures of all battles."""
        names = self.config.battles
        figures = [pattern.format(battles=name) for name in names for pattern in (self.BATTLE_SVG, self.BATTLE_PDF)]
        return self.tables("battles", names) + figures + self.tables("battles/differences", names)

    def metaeval_files(self) -> list[str]:
        """Return the tables and figures of meta-evaluation."""
        return self.metaeval_tables() + (self.both_figures("metaeval") if self.config.metaeval else [])

    def robustness_files(self) -> list[str]:
        """Return the tables and figures of robustness."""
        return self.robustness_tables() + (self.both_figures("robustness") if self.config.robustness else [])

    def dialogbench_files(self) -> list[str]:
        """Return the tables, figures, expert sheet and models' answers of DialogBench.

        The answers are here since Snakemake does not compare a job of which an output is missing: without them, the
        target `dialogbench` would not examine another model.
        """
        if not self.config.dialogbench:
            return []
        tables = self.dialogbench_tables() + self.test_answers()
        return tables + self.expert_sheet() + self.both_figures("dialogbench")

    def training_files(self) -> list[str]:
        """Return the tables and figures of training; if no model learns, the training data only."""
        if self.config.used_training():
            return self.training_tables() + self.both_figures("training")
        return self.training_data_table() if self.config.training else []

    def all_files(self) -> list[str]:
        """Return all files that the configuration asks for."""
        is_shown = self.config.models or self.shown_protocols()
        return [
            *(self.botchat_files() if self.config.talks() else []),
            *([self.REPORT] if is_shown else []),
            *([self.USAGE_TABLE, self.USAGE_TABLE_CSV] if self.config.models else []),
            self.SUMMARY,
            *self.contamination_tables(),
            *self.battle_files(),
            *self.metaeval_files(),
            *self.translation_tables(),
            *self.robustness_files(),
            *self.dialogbench_files(),
            *self.validity_tables(),
            *self.label_tables(),
            *self.own_results(),
            *self.training_files(),
        ]

    # what a run leaves beside its results

    def below(self, path: str) -> str:
        """Return a path below the results."""
        return f"{self.results}/{path}"

    def log(self, part: str) -> str:
        """Return the log of a rule."""
        return self.LOG.format(part=part)

    def graph(self, target: str) -> str:
        """Return the file with the graph of all jobs that a target reads and removes."""
        return self.GRAPH.format(target=target)

    # the report

    def report_inputs(self) -> dict[str, list[str]]:
        """Return the files that the report reads, by option of its stage."""
        return {
            "seeds": self.report_seeds(),
            "human": self.report_human(),
            "dialogues": self.dialogues(),
            "verdicts": self.judgements_of(self.shown_protocols()),
            "items_": self.rated_items(),
            "ratings": self.ratings() + self.imputed_ratings(),
            "scores": self.all_scores() if self.config.metaeval or self.config.robustness else [],
            "perturbed": self._perturbed_and_originals(),
            "pairs": self.perturbed_pairs(),
            "test_items": [self.TEST_ITEMS] if self.examined else [],
            "test_answers": self.test_answers(),
            "transcripts": self.transcript_items(),
            "hidden_messages": self.hidden_messages(),
            "labels": [self.LABELS] if self.has_labels else [],
            "tables": self.report_tables(),
            "usage": self.report_usage(),
            "figures": self.report_figures(),
        }

    def report_seeds(self) -> list[str]:
        """Return the seeds, if chatbots talk."""
        return [self.seeds] if self.config.talks() else []

    def report_human(self) -> list[str]:
        """Return the human dialogues, if chatbots talk."""
        return [self.human] if self.config.talks() else []

    def _perturbed_and_originals(self) -> list[str]:
        perturbed = self.perturbed_items()
        return perturbed + self.items_to_perturb() if perturbed else []

    def report_usage(self) -> list[str]:
        """Return the table of usage, if the run has models."""
        return [self.USAGE_TABLE] if self.config.models else []

    def report_tables(self) -> list[str]:
        """Return the tables that the report shows or names."""
        names = self.botchat_names() if self.config.talks() else self.measure_names()
        tables = [self.TABLE.format(name=name, suffix="parquet") for name in names]
        if self.config.talks():
            embedded = [judge for judge in self.config.judges if isinstance(self.config.models[judge], EmbeddedModel)]
            tables += [self.EMBEDDED.format(model=judge) for judge in embedded]
        parts = [
            *self.validity_tables(),
            *self.label_tables(),
            *self.metaeval_tables(),
            *self.robustness_tables(),
            *self.dialogbench_tables(),
            *self.training_tables(),
            *self.translation_tables(),
            *self.contamination_tables(),
        ]
        return tables + [path for path in parts if path.endswith(".parquet")]

    def parts(self) -> dict[str, str]:
        """Return the names and titles of the parts of this run."""
        parts = {
            "botchat": ("BotChat", self.config.talks()),
            "metaeval": ("meta-evaluation", self.config.metaeval),
            "robustness": ("robustness", self.config.robustness),
            "dialogbench": ("DialogBench", self.config.dialogbench),
            "training": ("training", self.config.used_training()),
        }
        return {part: title for part, (title, is_there) in parts.items() if is_there}

    def report_figures(self) -> list[str]:
        """Return the figures that the report shows."""
        files = [path for part in self.parts() for path in self.figures(part, "svg")]
        return files + self.measure_figures("svg") + self.label_figures("svg")

    def shown_requests(self) -> dict[str, Protocol]:
        """Return the protocols whose requests the report may show: about dialogues of systems, and about items."""
        about_items = {
            name: protocol
            for name, protocol in self.protocols.items()
            if self.gives_scores(name) and self.is_about_items(protocol) and self.config.judging(name)
        }
        return {**self.shown_protocols(), **about_items}

    def shown_answers(self) -> dict[str, list[str]]:
        """Return, by model, the protocols under which the report may show its answers."""
        answers: dict[str, list[str]] = {}
        for name in self.shown_requests():
            for judge in self.config.judges_of(name):
                answers.setdefault(judge, []).append(name)
        for model, method in self.examined:
            answers.setdefault(model, []).append(f"dialogbench_{method}")
        return answers

    def report_answers(self) -> list[str]:
        """Return the requests and responses of the models whose answers the report may show."""
        files: list[str] = []
        for name, protocols in self.shown_answers().items():
            files += [self.REQUESTS.format(protocol=protocol) for protocol in protocols]
            files += [path for protocol in protocols for path in self._retries(name, protocol)]
            files += [path for protocol in protocols for path in self.responses(name, protocol)]
        return list(dict.fromkeys(files))

    def _retries(self, judge: str, protocol: str) -> list[str]:
        responses = self.retried(judge, protocol)
        return [self.RETRIES.format(judge=judge, protocol=protocol), *responses] if responses else []

    # what an estimate reads

    @property
    def protocols_without_chatbots(self) -> dict[str, list[str] | None]:
        """Return the models that get requests which need no chatbot's dialogues, by protocol."""
        found = {name: protocol.judges for name, protocol in self.protocols.items() if not self.is_about_chatbots(name)}
        found |= {name: self.translating_models[name] for name in self.translated}
        found |= self.completing_models
        methods = self.config.dialogbench.examine.by_method() if self.config.dialogbench else {}
        return found | {f"dialogbench_{name}": protocols for name, protocols in methods.items()}

    def plannable_requests(self) -> list[str]:
        """Return the requests that an estimate plans: those that need no model's words."""
        names = [name for name in self.protocols_without_chatbots if not self.config.models_before_planning(name)]
        return [self.REQUESTS.format(protocol=name) for name in names]

    def requests_planned_before(self) -> list[str]:
        """Return the requests that an earlier run planned and that depend on models' responses."""
        names = [name for name in self.protocols_without_chatbots if self.config.models_before_planning(name)]
        return _existing(self.REQUESTS.format(protocol=name) for name in names)

    def learned_for_estimate(self) -> list[str]:
        """Return the learned files of embedded models; an estimate trains no model."""
        return [path for name in self.called_models() for path in self.learned(name) if path.endswith(".learned")]

    def trained_before(self) -> list[str]:
        """Return the folders of models that an earlier run trained, by which their stored answers are found."""
        names = [name for name in self.called_models() if self.config.models[name].learns_from]
        return [
            self.TRAINED.format(judge=name) for name in names if Path(self.TRAINED_DIGEST.format(judge=name)).exists()
        ]

    def published_dialogues(self) -> list[str]:
        """Return the dialogues of published chatbots."""
        return self.dialogues_of(name for name in self.config.chatbots if name in self.published)

    def judged_before(self) -> list[str]:
        """Return the judgements about dialogues of systems that an earlier run made."""
        return _existing(self.judgements_of(self.shown_protocols()))

    def estimated_before(self) -> list[str]:
        """Return the human-corrected estimates that an earlier run made."""
        return _existing(self.corrected_tables()[:1] if self.has_labels else [])

    def spread_before(self) -> list[str]:
        """Return the variance components of labels that an earlier run made."""
        return _existing([self.LABEL_COMPONENTS] if self.has_labels else [])

    def replacement_before(self) -> list[str]:
        """Return the alternative annotator tests that an earlier run made."""
        return _existing(self.tables("labels", ["replacement"])[:1] if self.has_labels else [])


def _existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if Path(path).exists()]
