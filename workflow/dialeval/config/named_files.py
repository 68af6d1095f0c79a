"""Where the files lie that a configuration names: relative paths in it are seen from `data_dir`."""

from __future__ import annotations

from pathlib import Path

from dialeval.config.fields import Fields
from dialeval.config.models import PublishedModel
from dialeval.config.robustness import PACKAGE


class WithFiles(Fields):
    """A configuration with the places of its files."""

    def item_path(self, name: str) -> Path:
        """Returns where published test items lie."""
        assert self.dialogbench
        return self._in_data_dir(self.dialogbench.published[name].path)

    def expert_answers(self) -> Path | None:
        """Returns the file of what experts answered to test items, if there is one."""
        experts = self.dialogbench.experts if self.dialogbench else None
        return self._in_data_dir(experts.answers) if experts and experts.answers else None

    def published_damage(self) -> Path | None:
        """Returns the folder of the published damaged sets."""
        path = self.robustness.published if self.robustness else None
        return None if path is None else self._in_data_dir(path)

    def wordnet(self) -> Path | None:
        """Returns the folder of WordNet, or the word that stands for a package's."""
        path = self.robustness.wordnet if self.robustness else None
        return path if path is None or str(path) == PACKAGE else self._in_data_dir(path)

    def scenarios_path(self) -> Path | None:
        """Returns where the table of scenarios lies, if there is one."""
        return None if self.selfchat.scenarios is None else self._in_data_dir(self.selfchat.scenarios.path)

    def rated_path(self, name: str) -> Path | None:
        """Returns where a rated corpus lies, or None for our own."""
        path = self.metaeval.corpora[name].path if self.metaeval else None
        return None if path is None else self._in_data_dir(path)

    def score_path(self, name: str) -> Path:
        """Returns where a file of ready scores lies."""
        assert self.metaeval
        return self._in_data_dir(self.metaeval.score_files[name].path)

    def answer_files(self, judge: str) -> dict[str, Path | None]:
        """Returns the files that the protocols need of a published judge, by field; None where one is not named."""
        model, protocols = self.models.get(judge), self.protocols
        if not isinstance(model, PublishedModel):
            return {}
        files: dict[str, Path | None] = {}
        if protocols.unieval:
            files["unieval"] = model.unieval
        if protocols.gteval:
            files["gteval"] = model.gteval
        for n in protocols.arena.n_utterances if protocols.arena else []:
            files[f"arena.{n}"] = (model.arena or {}).get(n)
        return files

    def published_dialogues(self, chatbot: str) -> Path | None:
        """Returns where a published chatbot's dialogues lie."""
        model = self.models.get(chatbot)
        path = model.dialogues if isinstance(model, PublishedModel) else None
        return None if path is None else self._in_data_dir(path)

    def published_answers(self, judge: str, protocol: str) -> list[Path]:
        """Returns where a published judge's answers lie: one file, for Arena one for each N in order."""
        files = self.answer_files(judge).items()
        return [self._in_data_dir(path) for field, path in files if path and field.split(".")[0] == protocol]

    def published_sources(self) -> dict[str, Path]:
        """Returns all files that published models in use are read from, by field."""
        sources = {f"models.{name}.dialogues": self.published_dialogues(name) for name in self.chatbots}
        for name in self.judges:
            for field, path in self.answer_files(name).items():
                sources[f"models.{name}.{field}"] = path and self._in_data_dir(path)
        return {field: path for field, path in sources.items() if path is not None}

    def corpus_path(self, name: str) -> Path | None:
        """Returns where a corpus lies, or None for a bundled one."""
        path = self.corpora[name].path
        return None if path is None else self._in_data_dir(path)

    def transcripts_path(self, name: str) -> Path:
        """Returns where transcripts lie."""
        return self._in_data_dir(self.transcripts[name].path)

    def battles_path(self, name: str) -> Path:
        """Returns where a table of battles lies."""
        return self._in_data_dir(self.battles[name].path)

    def _in_data_dir(self, path: Path) -> Path:
        return self.data_dir.expanduser() / path.expanduser()
