"""The typed configuration: every field described here, every error worded for the person who wrote the file.

`load_config` is called before any rule is defined, so a mistake is found before any job runs. The JSON schema in
`workflow/schemas/config.schema.json` and `docs/configuration.md` are generated from these classes
(`python -m dialeval.config_reference`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dialeval.errors import UserError, nearest

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=80)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
_SECRET_HEADER = re.compile(r"authoriz|apikey|(^|[-_])(auth|key|token|secret|cookie|password)([-_]|$)", re.IGNORECASE)


class _Section(BaseModel):
    """A part of the configuration: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def canonical(self) -> str:
        """Returns the part as canonical JSON: the same settings always give the same string."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)


class _Model(_Section):
    # changes no answer, so it is left out of every dump: out of settings, identities and provenance
    family: str | None = Field(
        None,
        min_length=1,
        exclude=True,
        description="Models of one family, for the judges' self-preference; null: the model's own name.",
    )
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
    concurrency: Annotated[int, Field(ge=0)] = Field(
        0, description="Requests in flight at once; 0 means as many as the KV cache holds."
    )
    gpus: Annotated[int, Field(ge=0)] | None = Field(
        None, description="GPUs that the scheduler sets aside; null means tensor times data parallel size."
    )
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        "auto", description="Number format of the computation; auto is the model's own."
    )
    quantization: str | None = Field(
        None, description="Quantisation method in vLLM's name, such as fp8; null reads it from the model."
    )
    tensor_parallel_size: Count = Field(1, description="GPUs that every layer is split over.")
    data_parallel_size: Count = Field(1, description="Copies of the model that share the requests.")
    max_model_len: Count | None = Field(
        None, description="Tokens of prompt and answer together; null is the longest that the model allows."
    )
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = Field(
        0.9, description="Share of the GPU's memory for weights and KV cache."
    )
    kv_cache_memory_bytes: Count | None = Field(
        None, description="Size of the KV cache in bytes, in place of a share of the memory."
    )
    lora_path: Path | None = Field(None, description="Folder of a LoRA adapter to put on the model.")
    trust_remote_code: bool = Field(False, description="Run Python code that comes with the model.")
    chat_template: str | None = Field(
        None, description="File of a chat template; null is the model's own, none a plain transcript for base models."
    )
    chat_template_options: dict[str, Any] = Field(
        {}, description="Values for the chat template, such as enable_thinking: false."
    )
    enforce_eager: bool = Field(False, description="Do without CUDA graphs and compilation.")
    engine_args: dict[str, Any] = Field(
        {}, description="Further arguments of vLLM's engine under vLLM's own names, checked by vLLM."
    )

    @field_validator("engine_args")
    @classmethod
    def _leave_fields_and_secrets_alone(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = sorted(
            set(value) & {*cls.model_fields, "enable_lora", "logprobs_mode", "tokenizer", "tokenizer_revision"}
        )
        if taken:
            raise ValueError(f"{', '.join(taken)} cannot stand in engine_args; use the fields beside it")
        if "hf_token" in value:
            raise ValueError("a token does not belong in the configuration; set the environment variable HF_TOKEN")
        return value

    @property
    def scheduled_gpus(self) -> int:
        """Returns the number of GPUs that a job with this model asks the scheduler for."""
        return self.tensor_parallel_size * self.data_parallel_size if self.gpus is None else self.gpus


class OpenAIModel(_Model):
    """A model behind an OpenAI-compatible endpoint."""

    # a key may stand in a wrong field: errors must not show it
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    engine: Literal["openai"]
    model: str = Field(min_length=1, description="The model's name at the endpoint.")
    base_url: str = Field("https://api.openai.com/v1", description="Address of the endpoint, without name or key.")
    api_key_env: str | None = Field(
        "OPENAI_API_KEY",
        description="NAME of the environment variable with the key, which itself stands nowhere; null for no key.",
    )
    organisation: str | None = Field(None, description="OpenAI organisation that is billed.")
    headers: dict[str, str] = Field({}, description="Further HTTP headers; none that is secret.")
    headers_env: dict[str, str] = Field(
        {}, description="Further HTTP headers with a secret value: header -> NAME of the environment variable."
    )
    context_window: Count | None = Field(
        None,
        description="Tokens of prompt and answer together; null if not known: the endpoint then says what is long.",
    )
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = Field(
        None,
        description="How the budget is sent; null: max_completion_tokens for o1, o3, ... and gpt-5, else max_tokens.",
    )
    send_temperature: bool | None = Field(
        None,
        description="Whether temperature and top_p are sent; null: not to o1, o3, ... and gpt-5, which refuse them.",
    )
    send_seed: bool = Field(True, description="Whether the sampling seed of a request, if it has one, is sent.")
    system_message: Literal["send", "merge"] = Field(
        "send",
        description="merge puts the system text into the first user message, for templates that refuse a system role.",
    )
    reasoning_effort: str | None = Field(None, min_length=1, description="Sent to reasoning models: low, medium, ...")
    extra_body: dict[str, Any] = Field({}, description="Further fields of every generating request's body.")
    label_logprobs: Literal["top_logprobs", "vllm", "none"] = Field(
        "top_logprobs",
        description="How label probabilities are read: among the 20 likeliest tokens; vllm: exactly, of a vLLM server.",
    )
    prompt_logprobs: bool = Field(
        False, description="Whether the endpoint is a vLLM server that can score a given text (loglikelihood)."
    )
    requests_per_minute: Annotated[float, Field(gt=0)] | None = Field(None, description="Most requests in a minute.")
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Most tokens in a minute: prompt and max_tokens, as OpenAI counts."
    )
    timeout_seconds: Annotated[float, Field(gt=0)] = Field(300.0, description="Longest wait for one try of a request.")
    max_tries: Count = Field(8, description="Tries of a request that meets errors, timeouts or cut connections.")
    max_total_seconds: Annotated[float, Field(gt=0)] = Field(
        1800.0, description="After so long a request that was refused (429) or failed is not tried again in this run."
    )
    patience_seconds: Annotated[float, Field(ge=0)] = Field(
        30.0, description="How long an endpoint may answer nothing but errors before the job stops."
    )
    price_input: Annotated[float, Field(ge=0)] | None = Field(None, description="Price of a million prompt tokens.")
    price_output: Annotated[float, Field(ge=0)] | None = Field(None, description="Price of a million answer tokens.")
    budget: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="Most that one job may spend, in the prices' currency; the job stops before it would be exceeded.",
    )

    @model_validator(mode="after")
    def _budget_has_prices(self) -> Self:
        if self.budget is not None and (self.price_input is None or self.price_output is None):
            raise ValueError("a budget needs price_input and price_output beside it")
        return self

    @field_validator("api_key_env", mode="before")
    @classmethod
    def _is_the_name_of_a_variable(cls, value: Any) -> Any:
        return value if value is None else _variable_name(value)

    @field_validator("headers_env", mode="before")
    @classmethod
    def _are_names_of_variables(cls, value: Any) -> Any:
        return {name: _variable_name(item) for name, item in value.items()} if isinstance(value, dict) else value

    @field_validator("headers", mode="before")
    @classmethod
    def _hold_no_secret(cls, value: Any) -> Any:
        for name in value if isinstance(value, dict) else ():
            if _SECRET_HEADER.search(str(name)):
                raise ValueError(f"header '{name}' holds a secret; write it under headers_env with a variable's name")
        return value

    @field_validator("base_url", mode="before")
    @classmethod
    def _is_a_plain_address(cls, value: Any) -> Any:
        text = value if isinstance(value, str) else ""
        if any(mark in text for mark in "@?#"):
            raise ValueError(
                "it must hold neither name, password nor query (not shown here); give secrets by api_key_env or "
                "headers_env"
            )
        if not re.fullmatch(r"https?://[^\s/:]+(:\d{1,5})?(/\S*)?|https?://\[[0-9a-fA-F:.]+\](:\d{1,5})?(/\S*)?", text):
            raise ValueError("it must be an address that begins with http:// or https://")
        return value


class PublishedModel(_Model):
    """A model whose dialogues or verdicts others have published; nothing is asked of it."""

    engine: Literal["published"]
    dialogues: Path | None = Field(
        None,
        description="As a chatbot: xlsx or TAB-separated file with a column of dialogues for each model, in data_dir.",
    )
    column: str | None = Field(
        None, min_length=1, description="Column of this model in that file; null: the model's name."
    )
    unieval: Path | None = Field(None, description="As a judge: file of answers on single dialogues (UniEval.tsv).")
    gteval: Path | None = Field(None, description="As a judge: file of answers on pairs with GT (GTEval.tsv).")
    arena: dict[Count, Path] | None = Field(
        None, description="As a judge: for each N a file of answers on pairs, in GTEval.tsv's format."
    )
    judge_column: str = Field("gpt4", min_length=1, description="Column with the judge's texts in those files.")
    names: dict[str, Name] = Field(
        {}, description="Names in those files -> models of this configuration, where they differ; GT is always human."
    )
    shards: Annotated[int, Field(ge=1, le=1)] = Field(1, description="Always 1: reading a file is one job.")
    concurrency: Count = Field(1, description="Without effect: nothing is asked.")

    @field_validator("names")
    @classmethod
    def _name_each_model_once(cls, value: dict[str, str]) -> dict[str, str]:
        if "GT" in value:
            raise ValueError("GT always stands for the human dialogues; leave it out")
        models = list(value.values())
        twice = sorted({model for model in models if models.count(model) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} stands for two names in the files; keep one")
        return value


Model = Annotated[EmbeddedModel | VllmModel | OpenAIModel | PublishedModel, Field(discriminator="engine")]
ENGINES: dict[str, type[_Model]] = {
    "embedded": EmbeddedModel, "vllm": VllmModel, "openai": OpenAIModel, "published": PublishedModel
}  # fmt: skip
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


class Battles(_Section):
    """A table of battles to rate on its own: a CSV file with who met whom, and who won."""

    path: Path = Field(description="CSV file with a header, relative to data_dir or absolute.")
    left: str = Field("left", min_length=1, description="Column with the name of the one shown first.")
    right: str = Field("right", min_length=1, description="Column with the name of the one shown second.")
    winner: str | None = Field(
        None, min_length=1, description="Column that says left, right or tie; null: winner, or else label."
    )
    cluster: str | None = Field(
        None,
        min_length=1,
        description="Column whose equal values are resampled together, such as prompt; null: each row by itself.",
    )

    def columns(self) -> dict[str, str | None]:
        """Returns the names of the columns by what they hold."""
        return {"left": self.left, "right": self.right, "winner": self.winner, "cluster": self.cluster}


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


_DIALOGUE_FIELDS = ("models", "corpora", "seeds")
_NO_DIALOGUES: dict[str, Any] = {
    "models": {}, "corpora": {"bundled": {"reader": "bundled"}}, "seeds": {"corpus": "bundled"}
}  # fmt: skip


class Config(_Section):
    """The whole configuration of a run."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [],
            "anyOf": [{"required": list(_DIALOGUE_FIELDS)}, {"required": ["battles"]}],
        }
    )

    data_dir: Path = Field(Path("data"), description="Folder of public data, laid out as their origins do.")
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
    battles: dict[Name, Battles] = Field({}, description="Tables of battles to rate on their own, by a name of yours.")
    elo: Elo = Elo()
    answering: Answering = Answering()
    prompts: Prompts = Prompts()
    tokens: Tokens = Tokens()

    @model_validator(mode="before")
    @classmethod
    def _battles_stand_alone(cls, raw: Any) -> Any:
        """Fills in what a configuration of nothing but battles need not say."""
        if isinstance(raw, Mapping) and raw.get("battles") and not any(field in raw for field in _DIALOGUE_FIELDS):
            return {**raw, **_NO_DIALOGUES}
        return raw

    @model_validator(mode="after")
    def _names_are_defined(self) -> Self:
        if not self.models and not self.battles:
            raise ValueError("models: at least 1 item is needed; name the models that chat and judge")
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
    sources = {f"corpora.{name}.path": config.corpus_path(name) for name in config.used_corpora()}
    sources |= {f"battles.{name}.path": config.battles_path(name) for name in config.battles}
    sources |= config.published_sources()
    missing = [
        f"  {field}: {path} does not exist; correct the path or `data_dir` "
        f"(now '{config.data_dir}'), for example with --config data_dir=FOLDER"
        for field, path in sources.items()
        if path is not None and not path.exists()
    ]
    for field, path in (
        ("prompts.directory", config.prompts.directory),
        ("tokens.cl100k_file", config.tokens.cl100k_file),
    ):
        if path is not None and not path.expanduser().exists():
            missing.append(f"  {field}: {path} does not exist; correct the path or leave the field out")
    if missing:
        raise UserError("the configuration names what is not there:\n" + "\n".join(missing))
    return config


def _variable_name(value: object) -> str:
    """Returns the name of an environment variable; what is none, or looks like a key, is refused without showing it."""
    name = str(value)
    looks_like_key = len(name) >= 20 and re.search(r"[a-z]", name) and re.search(r"[0-9]", name)
    if looks_like_key or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            "it must be the NAME of an environment variable, such as OPENAI_API_KEY; what stands there looks like "
            "something else, perhaps the key itself, and is not shown: put the key into a variable of your shell"
        )
    return name


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
        "protocols.arena": Arena, "protocols.gteval": GTEval, "battles": Battles,
    }  # fmt: skip
    if place[:1] == ["models"]:
        return list(ENGINES[str(details["loc"][2])].model_fields)
    path = place[0] if place[:1] in (["corpora"], ["battles"]) else ".".join(place)
    return list(sections[path].model_fields)
