"""Parameters of the stages of meta-evaluation and robustness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dialeval.config.criteria import fillable, joined_criteria
from dialeval.config.ensembles import one_model, pool_of
from dialeval.config.metaeval import MetaEval, Robustness, partial_to
from dialeval.rules.corpora import Parameters, given
from dialeval.rules.jobs import StageJob


@dataclass(frozen=True)
class MetaEvaluation(Parameters):
    """Parameters of the stages that compare judges with people, and items with perturbed items."""

    def read_rated(self, corpus: str) -> StageJob:
        """Describe a job of `read_rated`."""
        section = self._metaeval.corpora[corpus]
        more: dict[str, Any] = {}
        if section.asks:
            more["asks"] = section.asks
        if section.kept is not None:
            more |= {"limit": section.kept, "random_seed": self.config.random_seed}
        named = {*(section.asked or ()), *section.asks.values()}
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
            "strategies": section.strategies,
            "steps": section.steps,
            "limit": section.kept,
            "random_seed": self.config.random_seed,
            "hurt": self.config.hurt(section.strategies),
        }
        return StageJob("construct_rated", settings)

    def read_scores(self, metric: str) -> StageJob:
        """Describe a job of `read_scores`."""
        section = self._metaeval.score_files[metric]
        settings = {"name": metric, "scale_min": section.scale_min, "scale_max": section.scale_max, **self._joined()}
        return StageJob("read_scores", settings, reads=self.sources.scores(metric))

    def fill_ratings(self, judge: str) -> StageJob:
        """Describe the job of `fill_ratings`."""
        asked = {name: fillable(corpus) for name, corpus in self._metaeval.corpora.items() if corpus.asked}
        return StageJob("fill_ratings", {"judge": judge, "dimensions": asked})

    def tabulate_rated(self) -> StageJob:
        """Describe the job of `tabulate_rated`."""
        return StageJob("tabulate_rated", self._settings("translated"))

    def tabulate_repeats(self) -> StageJob:
        """Describe the job of `tabulate_repeats`."""
        return StageJob("tabulate_repeats", self._settings())

    def correlate(self) -> StageJob:
        """Describe the job of `correlate`."""
        names = ("benchmarks", "published_as", "ensembles", "models", "fill", "partial", "joined")
        return StageJob("correlate", self._settings(*names))

    def tabulate_by_language(self) -> StageJob:
        """Describe the job of `tabulate_by_language`."""
        return StageJob("tabulate_by_language", {})

    def find_ceilings(self) -> StageJob:
        """Describe the job of `find_ceilings`."""
        return StageJob("find_ceilings", self._settings("benchmarks", "partial", "joined"))

    def ensembles(self) -> StageJob:
        """Describe the job of `ensembles`."""
        names = ("benchmarks", "published_as", "ensemble_size", "ensemble_pool", "ensembles", "models", "partial")
        return StageJob("ensembles", self._settings(*names, "joined"))

    def damage_items(self) -> StageJob:
        """Describe the job of `damage_items`."""
        section = self._robustness
        ladders, published, wordnet = section.ladders, self.config.published_damage(), self.config.wordnet()
        settings = {
            **self._perturbed(section),
            "ladder_strategies": ladders.strategies if ladders else [],
            "ladder_steps": ladders.steps if ladders else 2,
            "ladder_limit": ladders.limit if ladders else None,
            "published": str(published) if published else None,
            **given(section, ["min_quality"]),
            **({"wordnet": str(wordnet)} if wordnet else {}),
        }
        return StageJob("damage_items", settings, reads=self.sources.perturbing())

    def rewrite_items(self, model: str) -> StageJob:
        """Describe the job of `rewrite_items`."""
        section = self._robustness
        settings = {
            "name": model,
            "model": self.asked_model(model),
            **self._perturbed(section),
            "temperature": section.rewriter_temperature,
            **given(section, ["min_quality", "rewritten"]),
        }
        return StageJob("rewrite_items", settings, models=(model,))

    def tabulate_robustness(self) -> StageJob:
        """Describe the job of `robustness`."""
        section = self._robustness
        settings = {"thetas": section.thetas, "confidence": section.confidence, "hurt": self.config.hurt()}
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
            "strategies": section.strategies,
            "limit": section.limit,
            "dialogue_draws": section.dialogue_draws,
            "turn_draws": section.turn_draws,
            "random_seed": self.config.random_seed,
        }

    def _joined(self) -> dict[str, Any]:
        joined = joined_criteria(self.config)
        return {"joined": joined} if joined else {}

    def _settings(self, *names: str) -> dict[str, Any]:
        """Return how intervals are made, and what else a stage needs; what is not configured changes no settings."""
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
                name: dict.fromkeys(asked.into, asked.by) for name, asked in self.config.translate.items()
            }
        if section.fill:
            known |= {"fill": section.fill, "partial": partial_to(self.config)}
        return {
            "resamples": section.resamples,
            "confidence": section.confidence,
            "random_seed": self.config.random_seed,
            **{name: known[name] for name in names if name in known},
        }
