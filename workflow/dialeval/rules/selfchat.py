"""Parameters of the stages of self-chat."""

from __future__ import annotations

from dataclasses import dataclass

from dialeval.config import PublishedModel
from dialeval.rules.corpora import Parameters
from dialeval.rules.jobs import StageJob


@dataclass(frozen=True)
class Selfchat(Parameters):
    """Parameters of the stages that make dialogues of chatbots."""

    def generate_dialogues(self, chatbot: str, shard: str = "1", shards: str = "1") -> StageJob:
        """Describe a job of `selfchat`."""
        partner = self.layout.partner
        settings = {
            "name": chatbot,
            "model": self.asked_model(chatbot),
            "selfchat": self.config.selfchat,
            "partner": self.asked_model(partner) if partner else None,
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

    def tabulate_seeds(self) -> StageJob:
        """Describe the job of `seed_lengths`."""
        return StageJob("seed_lengths", {})

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
