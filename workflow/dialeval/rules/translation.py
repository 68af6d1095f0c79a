"""Parameters of the stages that translate corpora and check translations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dialeval.config.corpora import Translation as TranslationSection
from dialeval.rules.corpora import Parameters
from dialeval.rules.jobs import StageJob


@dataclass(frozen=True)
class Translation(Parameters):
    """Parameters of the stages of translation."""

    def plan_translation(self, corpus: str, language: str) -> StageJob:
        """Describe a job of `plan_translation`."""
        more = {"max_tokens": self.config.translate[corpus].max_tokens}
        return StageJob("plan_translation", self._translation(corpus, language) | more)

    def join_translation(self, corpus: str, language: str) -> StageJob:
        """Describe a job of `join_translation`."""
        more = {"translated_by": self.config.translate[corpus].by}
        return StageJob("join_translation", self._translation(corpus, language) | more)

    def sample_translation(self, corpus: str) -> StageJob:
        """Describe a job of `sample_translation`."""
        quality = self.config.translate[corpus].quality
        assert quality
        return StageJob("sample_translation", {"sample": quality.sample, "random_seed": self.config.random_seed})

    def plan_back_translation(self, corpus: str) -> StageJob:
        """Describe a job of `plan_back_translation`."""
        section = self.config.translate[corpus]
        return StageJob("plan_back_translation", {"source": section.source, "max_tokens": section.max_tokens})

    def plan_adequacy(self, corpus: str) -> StageJob:
        """Describe a job of `plan_adequacy`."""
        return StageJob("plan_adequacy", {"source": self.config.translate[corpus].source})

    def list_back_translations(self, corpus: str) -> StageJob:
        """Describe a job of `list_back_translations`."""
        section = self.config.translate[corpus]
        assert section.quality
        return StageJob("list_back_translations", {"source": section.source, "by": section.quality.back})

    def translation_quality(self) -> StageJob:
        """Describe the job of `translation_quality`."""
        asked = {corpus: section for corpus, section in self.config.translate.items() if section.quality}
        files = {
            (metric, str(self.config.data_dir / path))
            for section in asked.values()
            if section.quality
            for metric, path in {"people": section.quality.ratings, **section.quality.scores}.items()
            if path
        }
        settings = {
            "measured": dict(sorted(self.layout.translation_scores().items())),
            "sources": {corpus: section.source for corpus, section in asked.items()},
            "back": {corpus: section.quality and section.quality.back for corpus, section in asked.items()},
            "judges": sorted({name for one in asked.values() if one.quality for name in one.quality.judges}),
            "files": [{"metric": metric, "path": path} for metric, path in sorted(files)],
        }
        return StageJob("translation_quality", settings, reads=self.sources.translation_quality())

    def tabulate_translation(self) -> StageJob:
        """Describe the job of `tabulate_translation`."""
        return StageJob("tabulate_translation", {})

    def source_language(self, corpus: str) -> str:
        """Return the language that a corpus is translated from."""
        return self.config.translate[corpus].source

    def _translation(self, corpus: str, language: str) -> dict[str, Any]:
        section: TranslationSection = self.config.translate[corpus]
        return {
            "corpus": corpus,
            "kind": "dialogues" if corpus in self.config.corpora else "items",
            "source": section.source,
            "target": language,
            "context": section.context,
        }
