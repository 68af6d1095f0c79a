"""The typed configuration: every field described here, every error worded for the person who wrote the file.

`load_config` is called before any rule is defined, so a mistake is found before any job runs. The JSON schema in
`workflow/schemas/config.schema.json` is generated from these classes (`python -m dialeval.config`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dialeval.errors import UserError, nearest

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class _Section(BaseModel):
    """A part of the configuration: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def canonical(self) -> str:
        """Returns the part as canonical JSON: the same settings always give the same string."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)


class _Model(_Section):
    shards: Count = Field(1, description="Number of jobs that this model's work is split into.")
    concurrency: Count = Field(64, description="Requests in flight at once.")


class EmbeddedModel(_Model):
    """A small classical model that needs no weights, no key and no network."""

    engine: Literal["embedded"]
    method: Literal["retrieval", "ngram", "random", "generic", "forest"] = Field(
        description="retrieval, ngram, random and generic chat; forest judges."
    )
    learn_from: list[Name] = Field(
        ["bundled"], min_length=1, description="Corpora to learn from, fold by fold: never from what it is asked about."
    )
    folds: Annotated[int, Field(ge=2, le=20)] = Field(5, description="Folds of dialogues that are left out in turn.")
    concurrency: Count = Field(512, description="Requests in flight at once.")


class VllmModel(_Model):
    """A model that vLLM runs in this process, on GPUs."""

    engine: Literal["vllm"]
    model: str = Field(min_length=1, description="Hugging Face name or local folder.")
    revision: str | None = Field(None, description="Commit or tag of the weights; pin it for results to be repeatable.")


class OpenAIModel(_Model):
    """A model behind an OpenAI-compatible endpoint."""

    engine: Literal["openai"]
    model: str = Field(min_length=1, description="The model's name at the endpoint.")
    base_url: str = Field("https://api.openai.com/v1", description="Address of the endpoint.")
    api_key_env: str | None = Field(
        "OPENAI_API_KEY",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="NAME of the environment variable with the key; the key itself stands nowhere.",
    )


Model = Annotated[EmbeddedModel | VllmModel | OpenAIModel, Field(discriminator="engine")]
ENGINES: dict[str, type[_Model]] = {"embedded": EmbeddedModel, "vllm": VllmModel, "openai": OpenAIModel}
CHATBOT_METHODS = ("retrieval", "ngram", "random", "generic")
JUDGE_METHODS = ("forest",)


class Corpus(_Section):
    """Where dialogues come from."""

    reader: Literal["bundled", "botchat_workbook", "mutual_folder", "jsonl"] = Field(
        description="bundled (ours), botchat_workbook (xlsx), mutual_folder (text files), jsonl (your own, see docs)."
    )
    path: Path | None = Field(None, description="File or folder, relative to data_dir or absolute; not for bundled.")
    language: str = Field("en", min_length=2, description="Language, where the source does not say it itself.")

    @model_validator(mode="after")
    def _path_fits_reader(self) -> Self:
        if (self.path is None) != (self.reader == "bundled"):
            raise ValueError(
                "the bundled corpus takes no path" if self.path else f"reader '{self.reader}' needs a path to read from"
            )
        return self


class Seeds(_Section):
    """Which human dialogues give the ChatSEEDs."""

    corpus: Name = Field(description="The corpus whose first two utterances are the seeds.")
    arena_min_utterances: Annotated[int, Field(ge=2)] = Field(
        4, description="Human utterances that a seed needs to serve Arena and GTEval."
    )
    limit: Count | None = Field(None, description="Use only the first so many seeds, for a trial run.")


class Selfchat(_Section):
    """How a chatbot talks to itself (BotChat 3.1, 4.1)."""

    n_utterances: Annotated[int, Field(ge=3)] = Field(
        16, description="Length N of a dialogue, the seed's two included."
    )
    temperature: Annotated[float, Field(ge=0)] = Field(0.0, description="Sampling temperature; the paper's is 0.")
    max_tokens: Count = Field(1024, description="Longest utterance in the model's tokens.")


class _JudgingProtocol(_Section):
    temperature: Annotated[float, Field(ge=0)] = Field(0.0, description="Sampling temperature of the judge.")
    max_tokens: Count = Field(512, description="Longest answer of the judge in its tokens.")


class UniEval(_JudgingProtocol):
    """Is one dialogue human? (BotChat 3.2)"""

    n_utterances: list[Annotated[int, Field(ge=2)]] = Field(
        [4, 8, 12, 16], min_length=1, description="Lengths N at which pass rates are given."
    )


class Arena(_JudgingProtocol):
    """Which of two models' dialogues is the machine's? (BotChat 3.3)"""

    n_utterances: list[Annotated[int, Field(ge=3)]] = Field(
        [8, 16], min_length=1, description="Lengths N that dialogues are cut to."
    )


class GTEval(_JudgingProtocol):
    """Can the judge tell a dialogue from the human one? (BotChat 3.4)"""


class Protocols(_Section):
    """The evaluations to run; leave one out to skip it."""

    unieval: UniEval | None = None
    arena: Arena | None = None
    gteval: GTEval | None = None


class Elo(_Section):
    """Bootstrap Elo (BotChat, appendix A)."""

    k: Annotated[float, Field(gt=0)] = Field(32.0, description="Largest change of a rating in one comparison.")
    scale: Annotated[float, Field(gt=0)] = Field(400.0, description="Rating difference of odds 10 to 1.")
    initial: float = Field(1000.0, description="Rating that every model begins with.")
    shuffles: Count = Field(1000, description="Orders of the comparisons whose median is the rating.")
    repeats: Count = Field(10, description="Independent bootstraps whose mean is reported.")
    resamples: Count = Field(1000, description="Resamples of the seeds behind every interval.")


class Answering(_Section):
    """What happens when a request fails."""

    max_failure_share: Share = Field(
        0.0, description="Share of a job's requests that may fail without failing the job."
    )


class Prompts(_Section):
    """Where the prompts come from."""

    directory: Path | None = Field(None, description="A folder with templates that replace ours of the same name.")


class Tokens(_Section):
    """How utterance lengths are counted."""

    cl100k_file: Path | None = Field(None, description="tiktoken's cl100k_base vocabulary file, for work offline.")


class Config(_Section):
    """The whole configuration of a run."""

    data_dir: Path = Field(Path("data"), description="Folder of public data, laid out as their origins do.")
    results_dir: Path = Field(Path("results"), description="Where tables, figures and reports go.")
    store_dir: Path = Field(Path("store"), description="Where every model's answers are kept for good.")
    random_seed: Annotated[int, Field(ge=0)] = Field(0, description="Seed of all randomness.")
    models: dict[Name, Model] = Field(min_length=1, description="Every model that chats or judges, by a name of yours.")
    chatbots: list[Name] = Field([], description="Models that chat.")
    judges: list[Name] = Field([], description="Models that judge.")
    corpora: dict[Name, Corpus] = Field(min_length=1, description="Where dialogues come from, by a name of yours.")
    seeds: Seeds
    selfchat: Selfchat = Selfchat()
    protocols: Protocols = Protocols()
    elo: Elo = Elo()
    answering: Answering = Answering()
    prompts: Prompts = Prompts()
    tokens: Tokens = Tokens()

    @model_validator(mode="after")
    def _names_are_defined(self) -> Self:
        for field, names, known in (
            ("chatbots", self.chatbots, self.models),
            ("judges", self.judges, self.models),
            ("seeds.corpus", [self.seeds.corpus], self.corpora),
        ):
            kind = "corpus" if field == "seeds.corpus" else "model"
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
        for field, names, methods in (
            ("chatbots", self.chatbots, CHATBOT_METHODS),
            ("judges", self.judges, JUDGE_METHODS),
        ):
            for name in names:
                model = self.models[name]
                if isinstance(model, EmbeddedModel) and model.method not in methods:
                    raise ValueError(
                        f"{field}: '{name}' is an embedded model of method '{model.method}', which cannot serve there; "
                        f"methods that can: {', '.join(methods)}"
                    )
        for n in self.protocols.arena.n_utterances if self.protocols.arena else []:
            if n > self.selfchat.n_utterances:
                raise ValueError(
                    f"protocols.arena.n_utterances: {n} is longer than the dialogues, "
                    f"selfchat.n_utterances = {self.selfchat.n_utterances}"
                )
        return self

    def corpus_path(self, name: str) -> Path | None:
        """Returns where a corpus lies, or None for a bundled one."""
        path = self.corpora[name].path
        return None if path is None else self.data_dir.expanduser() / path.expanduser()

    def used_corpora(self) -> list[str]:
        """Returns the corpora that the seeds come from or that an embedded model in use learns from."""
        used = {self.seeds.corpus}
        for name in (*self.chatbots, *self.judges):
            model = self.models[name]
            if isinstance(model, EmbeddedModel):
                used.update(model.learn_from)
        return sorted(used)


def load_config(raw: Mapping[str, Any]) -> Config:
    """Checks a configuration and the files it names.

    Args:
        raw: the configuration as read from YAML.

    Raises:
        UserError: one message with every mistake: the field, the value, and what would be right.
    """
    try:
        config = Config.model_validate(dict(raw))
    except ValidationError as error:
        lines = [_in_words(dict(details)) for details in error.errors()]
        raise UserError("the configuration has " + _count(lines) + ":\n" + "\n".join(lines)) from None
    missing = []
    for name in config.used_corpora():
        path = config.corpus_path(name)
        if path is not None and not path.exists():
            missing.append(
                f"  corpora.{name}.path: {path} does not exist; correct the path or `data_dir` "
                f"(now '{config.data_dir}'), for example with --config data_dir=FOLDER"
            )
    for field, path in (
        ("prompts.directory", config.prompts.directory),
        ("tokens.cl100k_file", config.tokens.cl100k_file),
    ):
        if path is not None and not path.expanduser().exists():
            missing.append(f"  {field}: {path} does not exist; correct the path or leave the field out")
    if missing:
        raise UserError("the configuration names what is not there:\n" + "\n".join(missing))
    return config


def refuse_repeated_keys(path: Path) -> None:
    """Refuses a YAML file that says one name twice, of which YAML readers would silently keep the last.

    Raises:
        UserError: the file, the name and the line of its second occurrence.
    """

    def check(node: yaml.Node, place: str) -> None:
        if isinstance(node, yaml.SequenceNode):
            for item in node.value:
                check(item, place)
        if not isinstance(node, yaml.MappingNode):
            return
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise UserError(
                    f"{path}, line {key.start_mark.line + 1}: '{place}{name}' is there twice; "
                    "rename or remove one of them"
                )
            seen.add(name)
            check(value, f"{place}{name}.")

    try:
        with path.open(encoding="utf-8") as file:
            root = yaml.compose(file, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not readable YAML: {error}") from None
    if root is not None:
        check(root, "")


def _count(lines: list[str]) -> str:
    return "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"


def _in_words(details: dict[str, Any]) -> str:
    """Returns one mistake as the field's path, the value and the remedy."""
    place = [str(part) for part in details["loc"]]
    if place[:1] == ["models"] and len(place) > 2 and place[2] in ENGINES:
        del place[2]  # the name of the discriminated class is no field of the file
    field = ".".join(place) or "configuration"
    value = details["input"]
    match details["type"]:
        case "extra_forbidden":
            known = _known_fields(place[:-1], details)
            return f"  {field}: there is no such field; {nearest(place[-1], known)}"
        case "missing":
            return f"  {field}: this field is needed and missing"
        case "union_tag_invalid" | "union_tag_not_found":
            given = value.get("engine") if isinstance(value, Mapping) else value
            return f"  {field}.engine: {given!r} is not an engine; {nearest(str(given), ENGINES)}"
        case "value_error":
            message = str(details["ctx"]["error"])
            return f"  {message}" if field == "configuration" else f"  {field}: {message}"
        case "literal_error":
            allowed = [word.strip(" '") for word in str(details["ctx"]["expected"]).replace(" or ", ",").split(",")]
            return f"  {field}: {value!r} is not allowed; {nearest(str(value), allowed)}"
        case _:
            return f"  {field}: {value!r}: {details['msg'][0].lower()}{details['msg'][1:]}"


def _known_fields(place: list[str], details: dict[str, Any]) -> list[str]:
    """Returns the fields that the section at a place of the configuration has."""
    sections: dict[str, type[BaseModel]] = {
        "": Config, "corpora": Corpus, "seeds": Seeds, "selfchat": Selfchat, "protocols": Protocols, "elo": Elo,
        "answering": Answering, "prompts": Prompts, "tokens": Tokens, "protocols.unieval": UniEval,
        "protocols.arena": Arena, "protocols.gteval": GTEval,
    }  # fmt: skip
    if place[:1] == ["models"]:
        return list(ENGINES[str(details["loc"][2])].model_fields)
    path = place[0] if place[:1] == ["corpora"] else ".".join(place)
    return list(sections[path].model_fields)


if __name__ == "__main__":
    print(json.dumps(Config.model_json_schema(), indent=2, ensure_ascii=False))
