"""Parameters of the stages that make the report and the summary, estimate a run, and look after its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.config.consistency import asks_otherwise
from dialeval.config.models import METHODS, EmbeddedModel
from dialeval.engines.spending import prices as terms
from dialeval.engines.spending.prices import prices_of
from dialeval.measures.design import design_of
from dialeval.rules.jobs import StageJob
from dialeval.rules.judging import Judging


@dataclass(frozen=True)
class Report(Judging):
    """Parameters of the stages of the report."""

    def build_report(self) -> StageJob:
        """Describe the job of `build_report`."""
        return StageJob("build_report", self._page())

    def build_status_page(self) -> StageJob:
        """Describe the job of `build_status_page`, which reads of the report's files those that are there."""
        files = {name.rstrip("_"): paths for name, paths in self.layout.report_inputs().items()}
        return StageJob("build_status_page", self._page() | {"files": files})

    def summarise(self) -> StageJob:
        """Describe the job of `summarise`."""
        is_shown = self.config.models or self.layout.shown_protocols()
        settings = {
            **self._overview(),
            "protocols": self._protocols(),
            "transcripts": list(self.config.transcripts),
            "report": self.layout.REPORT if is_shown else "",
        }
        return StageJob("summarise", settings)

    def tabulate_usage(self) -> StageJob:
        """Describe the job of `tabulate_usage`."""
        return StageJob("tabulate_usage", {"prices": self.prices(), "spending": self.spending_folders()})

    def estimate(self) -> StageJob:
        """Describe the job of `estimate`."""
        about_chatbots = [name for name in self.layout.protocols if self.layout.is_about_chatbots(name)]
        in_rounds = [name for name in self.layout.adaptive_protocols if name not in about_chatbots]
        settings = {
            "models": {name: self.config.models[name] for name in self.layout.called_models()},
            "chatbots": self.config.chatbots,
            "selfchat": self.config.selfchat,
            "questions": [self._question_and_judges(name) for name in about_chatbots],
            "askers": self.layout.protocols_without_chatbots,
            "in_rounds": [self._question_and_judges(name) for name in in_rounds],
            "cascades": self.layout.cascades,
            "left_out": self._not_estimated(),
            "designs": self._designs(),
            "labels": self._labels(),
        }
        return StageJob("estimate", settings, templates=self.templates(about_chatbots))

    def clean(self) -> StageJob:
        """Describe the job of `clean` that lists files."""
        return StageJob("clean", {"remove": False})

    def clean_remove(self) -> StageJob:
        """Describe the job of `clean` that removes files."""
        return StageJob("clean", {"remove": True})

    def compare(self) -> StageJob:
        """Describe the job of `compare_runs`."""
        return StageJob("compare_runs", {})

    def prices(self) -> dict[str, Any]:
        """Return the prices of the models that have any."""
        found = {name: prices_of(model) for name, model in self.config.models.items()}
        return {name: price for name, price in found.items() if any(dict(price).values())}

    def spending_folders(self) -> dict[str, str]:
        """Return the digests under which the spending on models with prices is recorded."""
        models: dict[str, Any] = dict(self.config.models)
        return {name: terms.digest_of(models[name]) for name in self.prices()}

    # the page and the summary

    def _overview(self) -> dict[str, Any]:
        """Return the settings that page and summary share."""
        methods = {name: one.method for name, one in self.config.models.items() if isinstance(one, EmbeddedModel)}
        return {
            "title": self._title(),
            "chatbots": self.config.chatbots,
            "judges": self._judges(),
            "embedded": sorted(methods),
            "baselines": sorted(name for name, method in methods.items() if METHODS[method].is_baseline),
            "ensembles": self.config.ensembles,
            "results_dir": self.layout.results,
        }

    def _page(self) -> dict[str, Any]:
        return {
            **self._overview(),
            "protocols": [one | {"at": self.layout.protocols[one["name"]].n_utterances} for one in self._protocols()],
            "other_prompts": asks_otherwise(self.config),
            "random_seed": self.config.random_seed,
            "answers": self._answers(),
        }

    def _protocols(self) -> list[dict[str, Any]]:
        """Return the protocols about dialogues of systems."""
        return [
            {
                "name": name,
                "form": protocol.form,
                "sources": protocol.data.source,
                "measures": protocol.measured(),
                "lengths": protocol.data.n_utterances,
            }
            for name, protocol in self.layout.shown_protocols().items()
        ]

    def _judges(self) -> list[str]:
        """Return the judges of dialogues of systems; those of annotations are on no leaderboard."""
        forms = {name: one.form for name, one in self.layout.shown_protocols().items()}
        own = [judge for name, form in forms.items() if form != "annotate" for judge in self.config.judging(name)]
        return list(dict.fromkeys([*(self.config.judges if self.config.talks() else []), *own]))

    def _title(self) -> str:
        titles = list(self.layout.parts().values())
        return f"DialEval: {titles[0]}" if len(titles) == 1 else "DialEval"

    def _answers(self) -> dict[str, Any]:
        """Return protocols, prices and form of the answers of each model whose answers the page may show."""
        shown = self.layout.shown_requests()
        together = {one.name: (one.then, one.first) for name, one in self.layout.cascades.items() if name in shown}
        models = {name: self._answers_of(name, protocols) for name, protocols in self.layout.shown_answers().items()}
        return {"models": models, "together": together}

    def _answers_of(self, name: str, protocols: Sequence[str]) -> dict[str, Any]:
        model = self.config.models[name]
        prices = prices_of(model)
        return {
            "shards": dict.fromkeys(protocols, model.shards),
            "again": [protocol for protocol in protocols if self.layout.retried(name, protocol)],
            "merges": getattr(model, "system_message", "") == "merge",
            "from_texts": isinstance(model, EmbeddedModel),
            "published": name in self.layout.published,
            "price_input": prices.price_input,
            "price_output": prices.price_output,
        }

    # the estimate

    def _question_and_judges(self, protocol: str) -> dict[str, Any]:
        settings = self.layout.protocols[protocol]
        return self.question(protocol) | {"judges": settings.judges, "adaptive": settings.adaptive}

    def _not_estimated(self) -> list[str]:
        """Return the models' further requests, in words."""
        section = self.config.dialogbench
        written = section.written if section else None
        waiting = {
            "writes test items": written and written.writer,
            "filters test items": written and written.filter,
            "describes test items": section and section.classifier,
            "rewrites items": self.config.robustness and self.config.robustness.rewriter,
        }
        parts = [f"requests to {name} when it {task}" for task, name in waiting.items() if name]
        planned = set(self.layout.requests_planned_before())
        parts += [
            f"requests under {protocol}: {' and '.join(needed)} must write its items first"
            for protocol in self.layout.protocols_without_chatbots
            if (needed := self.config.models_before_planning(protocol))
            and self.layout.REQUESTS.format(protocol=protocol) not in planned
        ]
        most: dict[str, int] = {}
        for _, corpus, _, models in self.layout.quality_requests.values():
            quality = self.config.translate[corpus].quality
            for name in models:
                most[name] = most.get(name, 0) + (quality.sample if quality else 0)
        parts += [f"requests to {name} about samples of the translations (at most {n:,})" for name, n in most.items()]
        trained = [Path(path).name for path in self.layout.trained_before()]
        untrained = [name for name in self.layout.trained_judges() if name not in trained]
        if untrained:
            parts.append(f"the training of {', '.join(untrained)}, which takes time on this machine and has no price")
        return parts + [f"retries of {protocol}" for protocol in self.layout.retried_protocols]

    def _designs(self) -> list[dict[str, Any]]:
        """Return the designs of the protocols about dialogues of systems, and whether people label these."""
        return [
            {
                "design": design_of(self.config, name),
                "form": protocol.form,
                "repeats": protocol.repeats,
                "ends": self._score_range(name),
                "labelled": bool(self.config.labels) and name in self.layout.labelled_protocols,
                "target_difference": self.config.target_differences.get(name),
            }
            for name, protocol in self.layout.shown_protocols().items()
        ]

    def _score_range(self, protocol: str) -> dict[str, tuple[float, float]]:
        """Return the lowest and highest score of each criterion of a protocol of scales."""
        if self.layout.protocols[protocol].form != "scale":
            return {}
        return {one.name: (one.scale.low, one.scale.high) for one in self.config.criteria_of(protocol)}

    def _labels(self) -> dict[str, Any] | None:
        """Return how much people label, if they do."""
        section = self.config.labels
        if not section:
            return None
        return {
            "n": section.n,
            "n_annotators": len(section.annotators),
            "answers": min(section.annotators_per_item or len(section.annotators), len(section.annotators)),
            "price": section.price,
            "target": section.target,
            "confidence": section.confidence,
        }
