"""The whole configuration, and how its parts must fit together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from dialeval.config.botchat import Battles, Elo, Selfchat
from dialeval.config.corpora import Corpus, Seeds
from dialeval.config.dialogbench import DialogBench, check_models
from dialeval.config.metaeval import MetaEval
from dialeval.config.models import EMBEDDED_SERVES, EmbeddedModel, Model, PublishedModel
from dialeval.config.protocols import Protocols
from dialeval.config.robustness import Robustness
from dialeval.config.running import Answering, Prompts, Tokens
from dialeval.config.section import Name, Section
from dialeval.errors import nearest

BOTCHAT = ("unieval", "arena", "gteval")
"""The protocols that judge chatbots' dialogues."""
SCORING = ("rating", "yes_no")
"""The protocols that score rated and damaged items."""
PARTS = ("metaeval", "robustness", "dialogbench")
"""The parts that need no chatbots."""
_WITHOUT_CHATBOTS: dict[str, Any] = {
    "models": {}, "corpora": {"bundled": {"reader": "bundled"}}, "seeds": {"corpus": "bundled"}
}  # fmt: skip


class Config(Section):
    """The whole configuration of a run."""

    model_config = ConfigDict(
        json_schema_extra={"required": [], "anyOf": [{"required": ["models"]}, {"required": ["battles"]}]}
    )

    data_dir: Path = Field(Path("data"), description="Folder of public data, laid out as their origins do.")
    public_corpora: list[str] = Field([], description="Public corpora that `snakemake download` fetches into data_dir.")
    mirror: Path | None = Field(
        None, description="Folder laid out like data_dir that `snakemake download` copies from, without a network."
    )
    results_dir: Path = Field(Path("results"), description="Where tables, figures and reports go.")
    store_dir: Path = Field(Path("store"), description="Where every model's answers are kept for good.")
    random_seed: Annotated[int, Field(ge=0)] = Field(0, description="Seed of all randomness.")
    models: dict[Name, Model] = Field(
        description="Every model that chats or judges, by a name of yours. Battles alone need no models."
    )
    chatbots: list[Name] = Field([], description="Models that chat.")
    judges: list[Name] = Field([], description="Models that judge.")
    corpora: dict[Name, Corpus] = Field(min_length=1, description="Where dialogues come from, by a name of yours.")
    seeds: Seeds
    selfchat: Selfchat = Selfchat()
    protocols: Protocols = Protocols()
    metaeval: MetaEval | None = None
    robustness: Robustness | None = None
    dialogbench: DialogBench | None = None
    battles: dict[Name, Battles] = Field({}, description="Tables of battles to rate on their own, by a name of yours.")
    elo: Elo = Elo()
    answering: Answering = Answering()
    prompts: Prompts = Prompts()
    tokens: Tokens = Tokens()

    @model_validator(mode="before")
    @classmethod
    def _parts_stand_alone(cls, raw: Any) -> Any:
        """Fills in what a configuration without chatbots need not say: where seeds come from."""
        if not isinstance(raw, Mapping) or raw.get("chatbots"):
            return raw
        alone = any(raw.get(part) for part in PARTS) or (raw.get("battles") and "models" not in raw)
        return {**_WITHOUT_CHATBOTS, **raw} if alone else raw

    @model_validator(mode="after")
    def _names_are_defined(self) -> Self:
        if not self.models and not self.battles:
            raise ValueError("models: at least 1 item is needed; name the models that chat and judge")
        rewriter = self.robustness.rewriter if self.robustness else None
        places: tuple[tuple[str, list[str], Mapping[str, object]], ...] = (
            ("chatbots", self.chatbots, self.models),
            ("judges", self.judges, self.models),
            *((f"protocols.{name}.judges", self.judges_of(name), self.models) for name in SCORING),
            ("seeds.corpus", [self.seeds.corpus], self.corpora),
            *(
                (f"metaeval.corpora.{name}.dialogues", [rated.dialogues], self.corpora)
                for name, rated in (self.metaeval.corpora.items() if self.metaeval else ())
                if rated.reader == "ladder"
            ),
            ("robustness.corpora", self.robustness.corpora if self.robustness else [], self.sources()),
            ("robustness.rewriter", [rewriter] if rewriter else [], self.models),
            *(
                (field, names, self.models)
                for field, names in (self.dialogbench.models() if self.dialogbench else {}).items()
            ),
            ("dialogbench.written.corpus", self.dialogbench.corpora() if self.dialogbench else [], self.corpora),
        )
        for field, names, known in places:
            kind = "corpus" if field.endswith(("corpus", "corpora", "dialogues")) else "model"
            for name in names:
                if name not in known:
                    words = f"'{name}' is not a {kind} of this configuration; {nearest(name, known)}"
                    raise ValueError(f"{field}: {words}")
            if len(set(names)) < len(names):
                twice = sorted({name for name in names if names.count(name) > 1})
                raise ValueError(f"{field}: {', '.join(twice)} is listed twice; list every name once")
        return self

    @model_validator(mode="after")
    def _models_can_do_their_part(self) -> Self:
        if "human" in self.models:
            raise ValueError("models: 'human' names the human dialogues in every table; choose another name")
        folded: dict[str, str] = {}
        for name, model in self.models.items():
            other = folded.setdefault(name.lower(), name)
            if other != name:
                raise ValueError(
                    f"models: '{other}' and '{name}' differ only in case, as files on some disks may not; rename one"
                )
            if not isinstance(model, EmbeddedModel):
                continue
            for corpus in model.learn_from:
                if corpus not in self.corpora:
                    raise ValueError(
                        f"models.{name}.learn_from: '{corpus}' is not a corpus of this configuration; "
                        f"{nearest(corpus, self.corpora)}"
                    )
        jobs = [("chatbots", self.chatbots, "selfchat")]
        configured = [name for name in (*BOTCHAT, *SCORING) if getattr(self.protocols, name)] or ["unieval"]
        jobs += [("judges", self.judges, name) for name in BOTCHAT if name in configured]
        jobs += [(f"protocols.{name}.judges", self.judges_of(name), name) for name in SCORING]
        for field, names, protocol in jobs:
            for name in names:
                model = self.models[name]
                if isinstance(model, EmbeddedModel) and protocol not in EMBEDDED_SERVES[model.method]:
                    able = (method for method, served in EMBEDDED_SERVES.items() if protocol in served)
                    raise ValueError(
                        f"{field}: '{name}' is an embedded model of method '{model.method}', which cannot serve there "
                        f"({protocol}); methods that can: {', '.join(able)}"
                    )
                if isinstance(model, PublishedModel) and protocol in SCORING:
                    raise ValueError(
                        f"{field}: '{name}' is a published model, of which nothing can be asked; give its scores under "
                        "metaeval.score_files"
                    )
        for n in self.protocols.arena.n_utterances if self.protocols.arena else []:
            if n > self.selfchat.n_utterances:
                raise ValueError(
                    f"protocols.arena.n_utterances: {n} is longer than the dialogues, "
                    f"selfchat.n_utterances = {self.selfchat.n_utterances}"
                )
        return self

    @model_validator(mode="after")
    def _parts_are_complete(self) -> Self:
        """Says what a part lacks, and refuses one name for two corpora."""
        both = sorted(set(self.corpora) & set(self.metaeval.corpora)) if self.metaeval else []
        if both:
            raise ValueError(f"metaeval.corpora: '{both[0]}' is a name under corpora, too; give one of them another")
        for part in ("metaeval", "robustness"):
            if getattr(self, part) and not any(self.judges_of(name) for name in SCORING):
                files = part == "metaeval" and self.metaeval and self.metaeval.score_files
                if not files:
                    raise ValueError(
                        f"{part}: no judge scores anything; name judges and put `rating: {{}}` or `yes_no: {{}}` under "
                        "protocols"
                    )
        if self.robustness and not self.robustness.corpora and not self.robustness.published:
            raise ValueError("robustness: there is nothing to damage; name corpora, or the folder of published sets")
        if self.dialogbench:
            check_models(self.dialogbench, self.models)
        return self

    @model_validator(mode="after")
    def _published_models_name_their_files(self) -> Self:
        for name in self.chatbots:
            model = self.models[name]
            if isinstance(model, PublishedModel) and model.dialogues is None:
                raise ValueError(
                    f"chatbots: '{name}' is a published model without dialogues; name their file: "
                    f"models.{name}.dialogues"
                )
        for name in self.judges:
            model = self.models[name]
            if not isinstance(model, PublishedModel):
                continue
            for field, path in self._answer_files(name).items():
                if path is None:
                    raise ValueError(
                        f"judges: '{name}' is a published model without answers for protocols.{field}; name their "
                        f"file, models.{name}.{field}, or leave the protocol out"
                    )
            for model_name in model.names.values():
                if model_name not in self.models:
                    raise ValueError(
                        f"models.{name}.names: '{model_name}' is not a model of this configuration; "
                        f"{nearest(model_name, self.models)}"
                    )
        return self

    def judges_of(self, protocol: str) -> list[str]:
        """Returns the models that judge under a protocol; none if it is not configured."""
        section = getattr(self.protocols, protocol)
        if section is None:
            return []
        own: list[str] | None = getattr(section, "judges", None)
        return self.judges if own is None else own

    def asked_judges(self) -> list[str]:
        """Returns every model that judges under some protocol."""
        return list(dict.fromkeys(name for protocol in (*BOTCHAT, *SCORING) for name in self.judges_of(protocol)))

    def talks(self) -> bool:
        """Returns whether dialogues of chatbots are wanted: there are some, or nothing else is asked for."""
        return bool(self.models) and (bool(self.chatbots) or not any(getattr(self, part) for part in PARTS))

    def models_in_use(self) -> list[str]:
        """Returns every model that chats, judges, scores, rewrites, writes items or is examined."""
        rewriter = [self.robustness.rewriter] if self.robustness and self.robustness.rewriter else []
        asked = [*self.chatbots, *self.judges, *self.asked_judges(), *rewriter, *self.dialogbench_models()]
        return list(dict.fromkeys(asked))

    def dialogbench_models(self) -> list[str]:
        """Returns every model that writes, filters, describes or answers test items."""
        parts = self.dialogbench.models().values() if self.dialogbench else ()
        return list(dict.fromkeys(name for names in parts for name in names))

    def item_path(self, name: str) -> Path:
        """Returns where published test items lie."""
        assert self.dialogbench
        return self._in_data_dir(self.dialogbench.published[name].path)

    def sources(self) -> dict[str, object]:
        """Returns all corpora whose items can be damaged: of dialogues, and rated ones."""
        return {**self.corpora, **(self.metaeval.corpora if self.metaeval else {})}

    def damaged_dialogues(self) -> list[str]:
        """Returns the corpora of dialogues that are damaged."""
        return [name for name in (self.robustness.corpora if self.robustness else []) if name in self.corpora]

    def damaged_rated(self) -> list[str]:
        """Returns the rated corpora whose items are damaged."""
        return [name for name in (self.robustness.corpora if self.robustness else []) if name not in self.corpora]

    def strategies_named(self) -> dict[str, list[str]]:
        """Returns the perturbations that the configuration names, by field."""
        named: dict[str, list[str]] = {}
        if self.robustness:
            named["robustness.strategies"] = self.robustness.strategies or []
            named["robustness.ladders.strategies"] = (
                self.robustness.ladders.strategies if self.robustness.ladders else []
            )
        for name, rated in self.metaeval.corpora.items() if self.metaeval else ():
            if rated.reader == "ladder":
                named[f"metaeval.corpora.{name}.strategies"] = rated.strategies
        return named

    def published_damage(self) -> Path | None:
        """Returns the folder of the published damaged sets."""
        path = self.robustness.published if self.robustness else None
        return None if path is None else self._in_data_dir(path)

    def rated_path(self, name: str) -> Path | None:
        """Returns where a rated corpus lies, or None for our own."""
        path = self.metaeval.corpora[name].path if self.metaeval else None
        return None if path is None else self._in_data_dir(path)

    def score_path(self, name: str) -> Path:
        """Returns where a file of ready scores lies."""
        assert self.metaeval
        return self._in_data_dir(self.metaeval.score_files[name].path)

    def _answer_files(self, judge: str) -> dict[str, Path | None]:
        """Returns the files that the protocols need of a published judge, by field; None where one is not named."""
        model, protocols = self.models[judge], self.protocols
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
        model = self.models[chatbot]
        path = model.dialogues if isinstance(model, PublishedModel) else None
        return None if path is None else self._in_data_dir(path)

    def published_answers(self, judge: str, protocol: str) -> list[Path]:
        """Returns where a published judge's answers lie: one file, for Arena one for each N in order."""
        files = self._answer_files(judge).items()
        return [self._in_data_dir(path) for field, path in files if path and field.split(".")[0] == protocol]

    def published_sources(self) -> dict[str, Path]:
        """Returns all files that published models in use are read from, by field."""
        sources = {f"models.{name}.dialogues": self.published_dialogues(name) for name in self.chatbots}
        for name in self.judges:
            for field, path in self._answer_files(name).items():
                sources[f"models.{name}.{field}"] = path and self._in_data_dir(path)
        return {field: path for field, path in sources.items() if path is not None}

    def corpus_path(self, name: str) -> Path | None:
        """Returns where a corpus lies, or None for a bundled one."""
        path = self.corpora[name].path
        return None if path is None else self._in_data_dir(path)

    def battles_path(self, name: str) -> Path:
        """Returns where a table of battles lies."""
        return self._in_data_dir(self.battles[name].path)

    def _in_data_dir(self, path: Path) -> Path:
        return self.data_dir.expanduser() / path.expanduser()

    def families(self) -> dict[str, str]:
        """Returns the family of every model that chats or judges."""
        return {name: self.models[name].family or name for name in (*self.chatbots, *self.judges)}

    def used_corpora(self) -> list[str]:
        """Returns the corpora that the seeds come from or that an embedded model in use learns from."""
        rated = self.metaeval.corpora.values() if self.metaeval else ()
        ladders = [one.dialogues for one in rated if one.reader == "ladder"]
        used = {self.seeds.corpus, *self.damaged_dialogues(), *ladders}
        used.update(self.dialogbench.corpora() if self.dialogbench else [])
        for name in self.models_in_use():
            model = self.models[name]
            if isinstance(model, EmbeddedModel):
                used.update(model.learn_from)
        return sorted(used)
