"""Files of the user's that the stages of a run read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialeval.config.configuration import Config
from dialeval.config.labels import labelled_protocols
from dialeval.config.metaeval import PACKAGE
from dialeval.corpora import robustness_sets
from dialeval.corpora.rated_readers import rated_source_files
from dialeval.corpora.readers import source_files
from dialeval.corpora.transcripts import readers
from dialeval.dialogbench.items import item_files
from dialeval.labels.spreadsheets import label_files, ledger_files
from dialeval.perturbations.wordnet import wordnet_files


@dataclass(frozen=True)
class Sources:
    """The user's files that a run reads; arguments bear the names of wildcards.

    Attributes:
        config: the configuration.
        is_downloading: whether the run only fetches files, so that some are not there yet.
    """

    config: Config
    is_downloading: bool = False

    def corpus(self, corpus: str) -> list[Path]:
        """Return the files of a corpus."""
        return source_files(self.config.corpora[corpus].reader, self.config.corpus_path(corpus))

    def scenarios(self) -> list[Path]:
        """Return the file of scenarios, if there is one."""
        path = self.config.scenarios_path()
        return [path] if path else []

    def transcripts(self, source: str) -> list[Path]:
        """Return the files of transcripts."""
        return readers.source_files(self.config.transcripts[source].reader, self.config.transcripts_path(source))

    def dialogues(self, chatbot: str) -> list[Path]:
        """Return the file of a published chatbot's dialogues."""
        path = self.config.published_dialogues(chatbot)
        return [path] if path else []

    def responses(self, judge: str, protocol: str) -> list[Path]:
        """Return the files of a published judge's responses."""
        return self.config.published_answers(judge, protocol)

    def rated(self, corpus: str) -> list[Path]:
        """Return the files of a rated corpus."""
        assert self.config.metaeval
        path: Any = self.config.rated_path(corpus)  # of a reader that needs none, None
        return rated_source_files(self.config.metaeval.corpora[corpus].reader, path)

    def scores(self, metric: str) -> list[Path]:
        """Return a file of scores."""
        return [self.config.score_path(metric)]

    def perturbed(self) -> list[str]:
        """Return the published perturbed sets that are read."""
        folder = self.config.published_damage()
        strategies = self.config.robustness.strategies if self.config.robustness else None
        return [str(path) for path in (robustness_sets.files_in(folder, strategies) if folder else [])]

    def wordnet(self) -> list[str]:
        """Return the files of the user's folder of WordNet; a package's count by their content alone."""
        folder = self.config.wordnet()
        if folder is None or str(folder) == PACKAGE or self.is_downloading:
            return []
        return [str(path) for path in wordnet_files(folder)]

    def perturbing(self) -> list[str | Path]:
        """Return all files that rules perturb with: the published sets, and WordNet, a package's too."""
        folder = self.config.wordnet()
        return [*self.perturbed(), *(wordnet_files(folder) if folder else [])]

    def test_items(self) -> list[str]:
        """Return the files of published test items."""
        published = self.config.dialogbench.published if self.config.dialogbench else {}
        return [str(path) for name in published for path in item_files(self.config.item_path(name))]

    def expert_answers(self) -> list[str]:
        """Return the file of experts' answers to test items, if there is one."""
        path = self.config.expert_answers()
        return [str(path)] if path else []

    def translation_quality(self) -> list[str]:
        """Return the files of people's ratings of translations, and of scores."""
        named = [
            path
            for asked in self.config.translate.values()
            if asked.quality
            for path in (asked.quality.ratings, *asked.quality.scores.values())
        ]
        return [str(self.config.data_dir / path) for path in named if path]

    def battles(self, battles: str) -> list[Path]:
        """Return the file of a table of battles."""
        return [self.config.battles_path(battles)]

    def labels(self) -> list[str]:
        """Return the files of people's labels."""
        return [str(path) for folder in self._label_folders() for path in label_files(folder)]

    def ledgers(self) -> list[str]:
        """Return the ledgers of what was drawn to label."""
        return [str(path) for folder in self._label_folders() for path in ledger_files(folder)]

    def _label_folders(self) -> list[Path]:
        section = self.config.labels
        return [section.path.expanduser()] if section and labelled_protocols(self.config) else []
