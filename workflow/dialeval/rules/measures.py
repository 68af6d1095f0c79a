"""Parameters of the stages that turn judgements into tables, and outputs of the rules that draw them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from snakemake.io import report

from dialeval.config.consistency import asks_otherwise
from dialeval.config.criteria import imputable, joined_criteria
from dialeval.config.ensembles import one_model, pool_of
from dialeval.config.metaeval import MetaEval, Robustness, partial_to
from dialeval.figures.registry import Drawing, text_of
from dialeval.measures.design import design_of
from dialeval.rules.jobs import Describe, Directives, Parameters, StageJob, given

PRINTED_IN = {"unieval", "arena", "gteval", "metaeval", "robustness", "dialogbench"}
"""The folders of tables whose figures have numbers that a paper prints."""


@dataclass(frozen=True)
class Measures(Parameters):
    """Parameters of the stages of measures and figures."""

    def measure(self, protocol: str) -> StageJob:
        """Describe the job of `measure_<measure>` for every measure of a protocol."""
        measures = self.layout.measured_protocols[protocol]
        stages = "+".join(f"measure_{measure}" for measure in measures)
        return StageJob(stages, design_of(self.config, protocol).needed_by(*measures))

    def rate_battles(self, battles: str) -> StageJob:
        """Describe a job of `rate_battles`."""
        settings = {
            **self.config.battles[battles].columns(),
            "elo": self.config.elo,
            "random_seed": self.config.random_seed,
        }
        return StageJob("rate_battles", settings, reads=self.sources.battles(battles))

    def tabulate_judge_validity(self, protocol: str) -> StageJob:
        """Describe a job of `tabulate_judge_validity`; scores under the protocol itself come first."""
        protocols = self.layout.protocols
        others = [name for name, other in protocols.items() if other.form == protocols[protocol].form]
        settings = {
            "judges": self.config.judging(protocol),
            "criteria": protocols[protocol].criteria,
            "methods": list(dict.fromkeys([protocol, *others])),
            "language": self.config.corpora[self.config.seeds.corpus].language,
        }
        return StageJob("tabulate_judge_validity", settings)

    def draw(self, protocol: str, measure: str) -> StageJob:
        """Describe a job that draws a measure of a protocol."""
        return self.drawing(self.layout.drawn_measure(protocol, measure))

    def draw_battles(self, battles: str) -> StageJob:
        """Describe a job that draws the ratings of a table of battles."""
        return self.drawing(self.layout.drawn_battles(battles))

    def drawing(self, drawn: Sequence[Drawing]) -> StageJob:
        """Describe a job of `draw`."""
        folders = {table.partition("/")[0] for one in drawn for table in one.tables}
        is_marked = folders & PRINTED_IN and asks_otherwise(self.config)
        settings = {
            "drawings": [one.settings() for one in drawn],
            **({"other_prompts": True} if is_marked else {}),
        }
        return StageJob("draw", settings, modules=sorted({one.module for one in drawn}))


@dataclass(frozen=True)
class MetaEvaluation(Parameters):
    """Parameters of the stages that compare judges with people, and items with perturbed items."""

    def read_rated(self, corpus: str) -> StageJob:
        """Describe a job of `read_rated`."""
        section = self._metaeval.corpora[corpus]
        more: dict[str, Any] = {}
        if section.criterion_map:
            more["criterion_map"] = section.criterion_map
        if section.kept is not None:
            more |= {"limit": section.kept, "random_seed": self.config.random_seed}
        named = {*(section.judged_criteria or ()), *section.criterion_map.values()}
        settings = {
            "name": corpus,
            "reader": section.reader,
            "path": str(self.config.rated_path(corpus)),
            "languages": section.languages,
            "own_criteria": [name for name in self.config.criteria if name in named],
            **more,
        }
        return StageJob("read_rated", settings, reads=self.sources.rated(corpus))

    def construct_rated(self, corpus: str) -> StageJob:
        """Describe a job of `construct_rated`."""
        section = self._metaeval.corpora[corpus]
        settings = {
            "name": corpus,
            "languages": section.languages,
            "strategies": section.perturbations,
            "steps": section.steps,
            "limit": section.kept,
            "random_seed": self.config.random_seed,
            "sensitivities": self.config.sensitivities(section.perturbations),
        }
        return StageJob("construct_rated", settings)

    def read_scores(self, metric: str) -> StageJob:
        """Describe a job of `read_scores`."""
        section = self._metaeval.score_files[metric]
        settings = {"name": metric, **section.model_dump(exclude={"path"}), **self._joined()}
        return StageJob("read_scores", settings, reads=self.sources.scores(metric))

    def impute_ratings(self, judge: str) -> StageJob:
        """Describe the job of `impute_ratings`."""
        dimensions = {
            name: imputable(corpus) for name, corpus in self._metaeval.corpora.items() if corpus.judged_criteria
        }
        return StageJob("impute_ratings", {"judge": judge, "dimensions": dimensions})

    def tabulate_repeats(self) -> StageJob:
        """Describe the job of `tabulate_repeats`."""
        return StageJob("tabulate_repeats", self._settings())

    def tabulate_metaeval(self) -> StageJob:
        """Describe the job that compares judges' scores with human ratings."""
        stages = ("tabulate_rated", "correlate", "tabulate_by_language", "find_ceilings", "ensembles")
        names = (
            "benchmarks", "published_as", "ensemble_size", "ensemble_pool", "ensembles", "models", "imputer", "partial",
            "joined", "translated",
        )  # fmt: skip
        return StageJob("+".join(stages), self._settings(*names))

    def perturb_items(self) -> StageJob:
        """Describe the job of `perturb_items`."""
        section = self._robustness
        ladders, published, wordnet = (
            section.severity_levels,
            self.config.published_perturbations(),
            self.config.wordnet(),
        )
        settings = {
            **self._perturbed(section),
            "ladder_strategies": ladders.perturbations if ladders else [],
            "ladder_steps": ladders.steps if ladders else 2,
            "ladder_limit": ladders.limit if ladders else None,
            "published": str(published) if published else None,
            **given(section, ["min_quality"]),
            **({"wordnet": str(wordnet)} if wordnet else {}),
        }
        return StageJob("perturb_items", settings, reads=self.sources.perturbing())

    def rewrite_items(self, model: str) -> StageJob:
        """Describe the job of `rewrite_items`."""
        section = self._robustness
        settings = {
            "name": model,
            "model": self.model_settings(model),
            **self._perturbed(section),
            "temperature": section.rewriter_temperature,
            **given(section, ["min_quality", "rewritten"]),
        }
        return StageJob("rewrite_items", settings, models=(model,))

    def tabulate_robustness(self) -> StageJob:
        """Describe the job of `robustness`."""
        section = self._robustness
        settings = {
            "thresholds": section.thresholds,
            "confidence": section.confidence,
            "sensitivities": self.config.sensitivities(),
        }
        return StageJob("robustness", settings)

    @property
    def _metaeval(self) -> MetaEval:
        assert self.config.metaeval
        return self.config.metaeval

    @property
    def _robustness(self) -> Robustness:
        assert self.config.robustness
        return self.config.robustness

    def _perturbed(self, section: Robustness) -> dict[str, Any]:
        return {
            "strategies": section.perturbations,
            "limit": section.limit,
            "dialogue_draws": section.dialogue_draws,
            "turn_draws": section.turn_draws,
            "random_seed": self.config.random_seed,
        }

    def _joined(self) -> dict[str, Any]:
        joined = joined_criteria(self.config)
        return {"joined": joined} if joined else {}

    def _settings(self, *names: str) -> dict[str, Any]:
        """Return the settings of intervals and the stage's other settings; unset ones are left out."""
        section = self._metaeval
        known: dict[str, Any] = {
            "benchmarks": {name: one.benchmark for name, one in section.corpora.items()},
            "published_as": self.config.published_systems(),
            "ensemble_size": section.ensemble_size,
            "ensemble_pool": pool_of(self.config),
            "ensembles": list(self.layout.ensembles),
            "models": one_model(self.config),
            **self._joined(),
        }
        if self.config.translate:
            known["translated"] = {
                name: dict.fromkeys(wanted.into, wanted.translator) for name, wanted in self.config.translate.items()
            }
        if section.imputer:
            known |= {"imputer": section.imputer, "partial": partial_to(self.config)}
        return {
            "resamples": section.resamples,
            "confidence": section.confidence,
            "random_seed": self.config.random_seed,
            **{name: known[name] for name in names if name in known},
        }


CAPTION = "captions/figures.rst"


@dataclass(frozen=True)
class FigureRules:
    """The figures of a run, which Snakemake's own report shows with title and caption."""

    measures: Measures
    directives: Directives

    def files(self, part: str, category: str) -> list[Any]:
        """Return the figures of a part as SVG, for the report, and as PDF."""
        layout = self.measures.layout
        titles = [one.name.replace("_", " ") for one in layout.drawn[part]]
        svg = zip(layout.figures(part, "svg"), titles, strict=True)
        return [self.shown(path, category, title) for path, title in svg] + layout.figures(part, "pdf")

    def shown(self, path: str, category: str, title: str) -> Any:
        """Return a figure that the report shows under a title."""
        return report(path, caption=CAPTION, category=category, labels={"figure": title})

    def part(self, part: str) -> dict[str, Any]:
        """Return the parameters of the job that draws the figures of a part."""
        drawn = self.measures.layout.drawn[part]
        return self.job(partial(self.measures.drawing, drawn))

    def job(self, describe: Describe) -> dict[str, Any]:
        """Return the parameters of jobs that draw figures; Snakemake compares no parameter that takes `output`."""
        return self.directives.job(describe, in_folder=True) | {"captions": lambda wildcards, output: captions(output)}


def captions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return titles and captions of figures for Snakemake's own report, from those SVG files that exist."""
    svg = [path for path in map(Path, paths) if path.suffix == ".svg" and path.exists()]
    texts = [text_of(path.read_text(encoding="utf-8"), path.stem) for path in svg]
    return [(one.title, one.caption) for one in texts]
