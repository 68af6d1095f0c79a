"""Parameters of the stages that make dialogues and items: corpora, self-chat, translations, training of judges."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from snakemake.io import ancient

from dialeval.config.corpora import Translation as TranslationSection
from dialeval.config.models import EmbeddedModel, PublishedModel
from dialeval.config.protocol_settings import SELFCHAT
from dialeval.rules.jobs import Parameters, StageJob
from dialeval.training.encoder import DECIDES as ENCODER_DECIDES
from dialeval.training.lora import DECIDES as LORA_DECIDES


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
        """Describe the job of `extract_seeds` and `seed_lengths`."""
        return StageJob("extract_seeds+seed_lengths", self.config.seeds.model_dump())

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

    def find_contamination(self) -> StageJob:
        """Describe the job of `find_contamination`."""
        selfchat = {SELFCHAT: 1 if self.config.selfchat.scenarios else 2}
        settings = {"corpora": list(self.config.corpora), "n_seed_utterances": selfchat}
        return StageJob("find_contamination", settings)

    def plan_completion(self, corpus: str) -> StageJob:
        """Describe a job of `plan_completion`."""
        section = self.config.memorization
        assert section
        settings = {"corpus": self._completed(corpus), "n": section.n, "random_seed": self.config.random_seed}
        return StageJob("plan_completion", settings | {"max_tokens": section.max_tokens})

    def measure_memorization(self) -> StageJob:
        """Describe the job of `measure_memorization`."""
        section = self.config.memorization
        assert section
        settings = {
            "corpora": [self._completed(corpus) for corpus in self.layout.completed_corpora],
            "control": section.control,
            "models": section.models,
            "n": section.n,
            "random_seed": self.config.random_seed,
        }
        return StageJob("measure_memorization", settings)

    def _completed(self, corpus: str) -> dict[str, str]:
        return {"name": corpus, "kind": "dialogues" if corpus in self.config.corpora else "items"}

    def download(self) -> StageJob:
        """Describe the job of `download`."""
        settings = {
            "corpora": self.config.public_corpora,
            "data_dir": str(self.config.data_dir),
            "mirror": self.config.mirror and str(self.config.mirror),
        }
        return StageJob("download", settings)


@dataclass(frozen=True)
class Selfchat(Parameters):
    """Parameters of the stages that make dialogues of chatbots."""

    def generate_dialogues(self, chatbot: str, shard: str = "1", shards: str = "1") -> StageJob:
        """Describe a job of `selfchat`."""
        partner = self.layout.partner
        settings = {
            "name": chatbot,
            "model": self.model_settings(chatbot),
            "selfchat": self.config.selfchat,
            "partner": self.model_settings(partner) if partner else None,
            "shard": int(shard),
            "shards": int(shards),
        }
        return StageJob("selfchat", settings, models=(chatbot, partner))

    def import_dialogues(self, chatbot: str) -> StageJob:
        """Describe a job of `import_dialogues`."""
        model = self.config.models[chatbot]
        assert isinstance(model, PublishedModel)
        settings = {
            "name": chatbot,
            "column": model.column or chatbot,
            "n_utterances": self.config.selfchat.n_utterances,
            "seeds_limit": self.config.seeds.limit,
        }
        return StageJob("import_dialogues", settings, reads=self.sources.dialogues(chatbot))

    def merge_dialogues(self) -> StageJob:
        """Describe a job of `merge_shards`."""
        return StageJob("merge_shards", {})

    def selfchat_items(self) -> StageJob:
        """Describe the job of `selfchat_items`."""
        return StageJob("selfchat_items", {"partnered": self.layout.partner is not None})

    def choose_tokenizer(self) -> StageJob:
        """Describe the job of `choose_tokenizer`."""
        return StageJob("choose_tokenizer", {"cl100k_file": self._cl100k_file, "fetch": self.config.tokens.fetch})

    def tabulate_lengths(self) -> StageJob:
        """Describe the job of `utterance_lengths`."""
        return StageJob("utterance_lengths", {"cl100k_file": self._cl100k_file})

    @property
    def _cl100k_file(self) -> str | None:
        file = self.config.tokens.cl100k_file
        return str(file) if file else None


@dataclass(frozen=True)
class Translation(Parameters):
    """Parameters of the stages of translation."""

    def plan_translation(self, corpus: str, language: str) -> StageJob:
        """Describe a job of `plan_translation`."""
        more = {"max_tokens": self.config.translate[corpus].max_tokens}
        return StageJob("plan_translation", self._translation(corpus, language) | more)

    def join_translation(self, corpus: str, language: str) -> StageJob:
        """Describe a job of `join_translation`."""
        more = {"translated_by": self.config.translate[corpus].translator}
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
        sections = {corpus: section for corpus, section in self.config.translate.items() if section.quality}
        files = {
            (metric, str(self.config.data_dir / path))
            for section in sections.values()
            if section.quality
            for metric, path in {"people": section.quality.ratings, **section.quality.scores}.items()
            if path
        }
        settings = {
            "measured": dict(sorted(self.layout.translation_scores().items())),
            "sources": {corpus: section.source for corpus, section in sections.items()},
            "back": {corpus: section.quality and section.quality.back for corpus, section in sections.items()},
            "judges": sorted({name for one in sections.values() if one.quality for name in one.quality.judges}),
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
        sensitivities = {
            criterion: lowering
            for criterion, lowering in self.config.sensitivities().items()
            if criterion in (section.criteria or ())
        }
        return {
            "name": name,
            **section.model_dump(mode="json", exclude={"overlap"}),
            "random_seed": self.config.random_seed,
            "sensitivities": sensitivities,
        }
