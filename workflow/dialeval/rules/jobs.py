"""Parameters of the jobs of a stage: settings, fingerprints, the user's files that it reads, and its command."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from snakemake.io import ancient

from dialeval.config.configuration import Config
from dialeval.config.labels import labelled_protocols
from dialeval.config.metaeval import PACKAGE
from dialeval.config.models import VllmModel
from dialeval.config.training import LoraTraining
from dialeval.corpora import robustness_sets
from dialeval.corpora.readers import rated_source_files, source_files
from dialeval.corpora.transcripts import readers
from dialeval.dialogbench.items import item_files
from dialeval.engines.availability import local_content
from dialeval.engines.spending.prices import Prices
from dialeval.labels.spreadsheets import label_files, ledger_files
from dialeval.layout.run import Layout
from dialeval.perturbations.wordnet import wordnet_files
from dialeval.provenance.fingerprints import content_digest, fingerprint
from dialeval.stages import stage_functions

InWords = Callable[..., Any]
"""Calls a function, and ends the run in words where that raises a mistake of the user's."""


class Wildcards(Protocol):
    """The wildcards of a job."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a wildcard's value."""


class Files(Protocol):
    """The inputs or outputs of a job: a list of paths, some of which have names."""

    def __iter__(self) -> Iterator[str]:
        """Return all paths."""

    def keys(self) -> Iterable[str]:
        """Return the names."""

    def get(self, name: str) -> str | Sequence[str]:
        """Return the path or paths of a name."""


@dataclass(frozen=True)
class StageJob:
    """Stage and settings of a job: what its results depend on, besides its inputs.

    Attributes:
        stage: the stage that runs, or several that run in one process: `first+second`.
        settings: the stage's part of the configuration.
        models: the models that the job asks; their engines and local files count too. None stands for no model.
        templates: prompts that the stage renders, besides those that its code names.
        modules: modules whose code counts beside the stage's own.
        reads: files of the user's that are compared by content; None where those of the models are.
        trains: the model that the job trains; the files that it starts from are compared by content.
    """

    stage: str
    settings: Mapping[str, Any]
    models: Sequence[str | None] = ()
    templates: Sequence[str] = ()
    modules: Sequence[str] = ()
    reads: Sequence[Path | str] | None = None
    trains: str | None = None


Describe = Callable[..., StageJob]
"""Describes a job; the arguments bear the names of wildcards."""


class Directives:
    """Turns functions of the library into values of rules' directives.

    Snakemake compares a parameter with the last run's only if its function takes nothing but wildcards.
    """

    def __init__(self, config: Config, in_words: InWords) -> None:
        self.config = config
        self.in_words = in_words
        self._described: dict[Any, StageJob] = {}

    def by_wildcards(self, function: Callable[..., Any]) -> Callable[[Wildcards], Any]:
        """Return a function of wildcards that calls one whose arguments bear the names of wildcards."""
        return lambda wildcards: self.in_words(_call, function, wildcards)

    def learned(self, function: Callable[[str], list[str]], wildcard: str) -> Callable[[Wildcards], list[str]]:
        """Return the files that the model which a wildcard names has learned, as inputs."""
        return lambda wildcards: by_digest(function(wildcards.get(wildcard)))

    def described(self, describe: Describe, wildcards: Wildcards) -> StageJob:
        """Return the stage and settings of a job."""
        names = tuple(wildcards.get(name) for name in _arguments(describe))
        key = (describe, names)
        if key not in self._described:
            self._described[key] = self.in_words(_call, describe, wildcards)
        return self._described[key]

    def job(
        self,
        describe: Describe,
        *compared: str,
        always_anew: bool = False,
        store: bool = False,
        in_folder: bool = False,
        untold: Sequence[str] = (),
        **paths: Any,
    ) -> dict[str, Any]:
        """Return the parameters of a rule whose jobs run a stage.

        Args:
            describe: what a job of the rule depends on.
            compared: what else Snakemake compares with the last run: `stage` where that depends on wildcards, `content`
                where files are read that are no inputs, or change without a new time stamp.
            always_anew: whether the files of such a job follow from more than Snakemake and the stage know; none is
                restored.
            store: whether the stage has the store of responses.
            in_folder: whether the stage names its files itself, in the folder of the first output.
            untold: named inputs and outputs that are no options of the command.
            paths: further options of the command, as they are or as functions of wildcards; one of an input's name
                follows that.
        """
        texts: dict[str, Callable[[StageJob], str]] = {
            "stage": lambda one: one.stage,
            "settings": lambda one: canonical(one.settings),
            "code": self.code,
            "content": self.content,
        }

        def parameter(text: Callable[[StageJob], str]) -> Callable[[Wildcards], str]:
            return lambda wildcards: text(self.described(describe, wildcards))

        def command(wildcards: Wildcards, input: Files, output: Files) -> str:
            one = self.described(describe, wildcards)
            made = {name: paths for name, paths in _by_name(output).items() if paths}  # not each job makes every output
            files = [_by_name(input), made]
            files.append({name: path(wildcards) if callable(path) else path for name, path in paths.items()})
            parts = [
                one.stage,
                *(["--always-anew"] if always_anew else []),
                *([f"--content={shlex.quote(self.content(one))}"] if "content" in compared else []),
                *_options(files, untold),
                *([f"--folder {shlex.quote(str(Path(next(iter(output))).parent))}"] if in_folder else []),
                *(['--store="$DIALEVAL_STORE"'] if store else []),
            ]
            return " ".join(parts)

        more = {name: parameter(texts[name]) for name in ("settings", "code", *compared)}
        return {**more, **paths, "command": command}

    def code(self, job: StageJob) -> str:
        """Return the fingerprint of a stage's code and templates, and of the engines of its models."""
        models = [self.config.models[name] for name in job.models if name in self.config.models]
        engines = sorted({module for model in models for module in model.modules})
        own = self._fingerprint((*stage_functions(job.stage), *engines), tuple(job.templates))
        return "-".join([own, *map(fingerprint, job.modules)])

    def content(self, job: StageJob) -> str:
        """Return a digest of files that count by their content: the user's, or those that models load from here."""
        if job.reads is not None:
            return str(self.in_words(content_digest, map(Path, job.reads)))
        known = sorted({name for name in (*job.models, job.trains) if name is not None and name in self.config.models})
        return " ".join(filter(None, map(self._model_content, known)))

    @cache  # noqa: B019 - one for the whole run
    def _fingerprint(self, modules: tuple[str, ...], templates: tuple[str, ...]) -> str:
        prompts = self.config.prompts
        return fingerprint(*modules, templates=templates, prompts_directory=prompts.directory, prompt_set=prompts.set)

    @cache  # noqa: B019 - one for the whole run
    def _model_content(self, name: str) -> str:
        return str(self.in_words(local_content, self.config.models[name]))


class Bound:
    """The functions of an object, each as a function of wildcards; other attributes as they are."""

    def __init__(self, of: object, directives: Directives) -> None:
        self._of = of
        self._directives = directives

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return self._directives.by_wildcards(found) if inspect.ismethod(found) else found


def canonical(settings: Mapping[str, Any]) -> str:
    """Return settings as JSON; equal settings are equal texts."""
    return json.dumps(settings, sort_keys=True, ensure_ascii=False, default=lambda part: part.model_dump(mode="json"))


def by_digest(files: Iterable[str]) -> list[str]:
    """Return files as inputs; one whose digest is among them counts by that, and only has to exist."""
    listed = list(files)
    return [ancient(path) if f"{path}.digest" in listed else path for path in listed]


def one_of(names: Iterable[str]) -> str:
    """Return the constraint of a wildcard to some names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def _call(function: Callable[..., Any], wildcards: Wildcards) -> Any:
    """Call a function; an argument with a default may have no wildcard."""
    given = {name: wildcards.get(name) for name in _arguments(function)}
    return function(**{name: one for name, one in given.items() if one is not None or not _arguments(function)[name]})


@cache
def _arguments(function: Callable[..., Any]) -> dict[str, bool]:
    """Return the arguments of a function, and whether each has a default."""
    parameters = inspect.signature(function).parameters
    return {name: one.default is not inspect.Parameter.empty for name, one in parameters.items()}


def _by_name(files: Files) -> dict[str, Any]:
    """Return the named files; those without a name are read or made without being an option."""
    return {name: files.get(name) for name in files.keys()}  # noqa: SIM118 - iterating gives the files


def _options(files: Iterable[Mapping[str, Any]], untold: Sequence[str]) -> Iterator[str]:
    """Yield `--name FILE ...` for each name; an underscore at its end sets it apart from methods, such as `items`."""
    values: dict[str, list[str]] = {}
    for named in files:
        for name, value in named.items():
            paths = [value] if isinstance(value, str | Path) else value
            values.setdefault(name.rstrip("_").replace("_", "-"), []).extend(map(str, paths))
    for name, paths in values.items():
        if name.replace("-", "_") not in untold:
            yield " ".join([f"--{name}", *map(shlex.quote, paths)])


@dataclass(frozen=True)
class Parameters:
    """What describes the jobs of stages: methods whose arguments bear the names of wildcards."""

    layout: Layout
    sources: Sources

    @property
    def config(self) -> Config:
        """Return the configuration."""
        return self.layout.config

    def model_settings(self, name: str) -> dict[str, Any]:
        """Return a model without settings that change no response: prices, budget, job settings and training."""
        model = self.config.models[name]
        if isinstance(model, VllmModel) and model.lora:
            model = model.model_copy(update={"lora": LoraTraining(train=model.lora.train)})
        return model.model_dump(mode="json", exclude={*model.how_jobs_run, "budget", *Prices.model_fields})


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
        path: Any = self.config.rated_path(corpus)  # of a reader that needs none, None
        return rated_source_files(self.config.rated_corpora[corpus].reader, path)

    def scores(self, metric: str) -> list[Path]:
        """Return a file of scores."""
        return [self.config.score_path(metric)]

    def perturbed(self) -> list[str]:
        """Return the published perturbed sets that are read."""
        folder = self.config.published_perturbations()
        strategies = self.config.robustness.perturbations if self.config.robustness else None
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
        """Return the files of human ratings of translations, and of scores."""
        named = [
            path
            for settings in self.config.translate.values()
            if settings.quality
            for path in (settings.quality.ratings, *settings.quality.scores.values())
        ]
        return [str(self.config.data_dir / path) for path in named if path]

    def battles(self, battles: str) -> list[Path]:
        """Return the file of a table of battles."""
        return [self.config.battles_path(battles)]

    def labels(self) -> list[str]:
        """Return the files of human labels."""
        return [str(path) for folder in self._label_folders() for path in label_files(folder)]

    def ledgers(self) -> list[str]:
        """Return the ledgers of the label samples."""
        return [str(path) for folder in self._label_folders() for path in ledger_files(folder)]

    def _label_folders(self) -> list[Path]:
        section = self.config.labels
        return [section.path.expanduser()] if section and labelled_protocols(self.config) else []


def given(section: Any, names: Collection[str]) -> dict[str, Any]:
    """Return those fields of a section that are not null: a null changes no settings."""
    values = {name: getattr(section, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
