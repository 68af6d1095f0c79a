"""Models: what runs them, and how they are reached."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, field_validator, model_validator

from dialeval.config.embedded_methods import METHODS
from dialeval.config.extra_body import checked_extra_body
from dialeval.config.section import Count, Name, Number, Repeats, Section, Whole
from dialeval.config.training import EncoderTraining, LoraTraining

_SECRET_HEADER = re.compile(r"authoriz|apikey|(^|[-_])(auth|key|token|secret|cookie|password)([-_]|$)", re.IGNORECASE)

Concurrency = Annotated[Whole, Field(ge=1, le=10_000)]
Seconds = Annotated[Number, Field(gt=0, le=10_000_000)]


class _Model(Section):
    """What all models have.

    Attributes:
        opened_by: module whose `open_model` gives the engine; empty where nothing is asked.
        runs_in: which of envs/*.yaml its jobs run in.
    """

    opened_by: ClassVar[str] = ""
    runs_in: ClassVar[Literal["core", "train", "vllm"]] = "core"

    # these three change no answer, so they are left out of every dump: of settings, identities and provenance
    family: str | None = Field(
        None,
        min_length=1,
        exclude=True,
        description="Models of one family, for the judges' self-preference; null: the model's own name.",
    )
    kind: Literal["chat", "base"] | None = Field(
        None,
        exclude=True,
        description="Whether it was tuned to follow instructions (chat) or only trained on text (base), for tables "
        "with a row for each kind; null: neither is said.",
    )
    tags: list[Name] = Field(
        [],
        exclude=True,
        description="Groups that it belongs to, in words of yours, such as open-source; a tag stands for all its "
        "models wherever a group of models may be named.",
    )
    shards: Annotated[Whole, Field(ge=1, le=1_000)] = Field(
        1, description="Number of jobs that this model's work is split into."
    )
    concurrency: Concurrency = Field(64, description="Requests in flight at once.")

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return 0

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules whose code answers for it, besides that which asks."""
        return (self.opened_by,) if self.opened_by else ()

    @property
    def is_tuned(self) -> bool:
        """Whether it was trained further than the model that its name is known for."""
        return False

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training sets that the run trains it on."""
        return ()


class EmbeddedModel(_Model):
    """A small classical model that needs no weights, no key and no network."""

    opened_by = "dialeval.engines.embedded.opening"

    engine: Literal["embedded"]
    method: str = Field(
        description=f"One of {', '.join(METHODS)}: docs/embedded.md says what each can do.",
        json_schema_extra={"enum": [*METHODS]},
    )
    learn_from: list[Name] = Field(
        ["bundled"], min_length=1, description="Corpora to learn from, fold by fold: never from what it is asked about."
    )
    folds: Annotated[Whole, Field(ge=2, le=20)] = Field(5, description="Folds of dialogues that are left out in turn.")
    concurrency: Concurrency = Field(512, description="Requests in flight at once.")

    @property
    def learned_by(self) -> str:
        """The module that says how its method learns."""
        return f"dialeval.engines.embedded.methods.{self.method}"

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules whose code answers for it: the engine's, and its own method's."""
        return (*super().modules, self.learned_by)


class VllmModel(_Model):
    """A model that vLLM runs in processes of the job, on GPUs."""

    opened_by = "dialeval.engines.vllm_engine.opening"
    runs_in = "vllm"

    engine: Literal["vllm"]
    model: str = Field(min_length=1, description="Hugging Face name or local folder.")
    revision: str | None = Field(None, description="Commit or tag of the weights; pin it for results to be repeatable.")
    concurrency: Annotated[Whole, Field(ge=0, le=10_000)] = Field(
        0, description="Requests in flight at once; 0 means as many as the KV cache holds."
    )
    gpus: Annotated[Whole, Field(ge=0, le=1_000)] | None = Field(
        None, description="GPUs that the scheduler sets aside; null means tensor times data parallel size."
    )
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        "auto", description="Number format of the computation; auto is the model's own."
    )
    quantization: str | None = Field(
        None, description="Quantisation method in vLLM's name, such as fp8; null reads it from the model."
    )
    tensor_parallel_size: Repeats = Field(1, description="GPUs that every layer is split over.")
    data_parallel_size: Repeats = Field(
        1, description="Copies of the model, each on GPUs of its own, that share the requests."
    )
    max_model_len: Count | None = Field(
        None, description="Tokens of prompt and answer together; null is the longest that the model allows."
    )
    gpu_memory_utilization: Annotated[Number, Field(gt=0, le=1)] = Field(
        0.9, description="Share of the GPU's memory for weights and KV cache."
    )
    kv_cache_memory_bytes: Annotated[Whole, Field(ge=1, le=10**15)] | None = Field(
        None, description="Size of the KV cache in bytes, in place of a share of the memory."
    )
    lora_path: Path | None = Field(None, description="Folder of a LoRA adapter to put on the model.")
    lora: LoraTraining | None = Field(
        None, description="A LoRA adapter that the run trains for it, see docs/training.md."
    )
    trust_remote_code: bool = Field(False, description="Run Python code that comes with the model.")
    chat_template: str | None = Field(
        None, description="File of a chat template; null is the model's own, none a plain transcript for base models."
    )
    chat_template_options: dict[str, Any] = Field(
        {}, description="Values for the chat template, such as enable_thinking: false."
    )
    reasoning_parser: str | None = Field(
        None,
        min_length=1,
        description="How the model marks its reasoning, by vLLM's name, such as openai_gptoss; null finds it out from "
        "the chat template, none looks for <think> alone.",
    )
    generation_config: Literal["vllm", "auto"] = Field(
        "vllm",
        description="Where top_k, min_p and penalties come from: vllm sets none; auto takes those of the model's "
        "generation_config.json, as vllm serve does, and its top_p where a protocol sets none.",
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

    @model_validator(mode="after")
    def _has_one_adapter(self) -> Self:
        if self.lora and self.lora_path:
            raise ValueError("lora trains an adapter and lora_path names one; leave one of them out")
        return self

    @property
    def is_tuned(self) -> bool:
        """Whether an adapter is put on the model."""
        return bool(self.lora or self.lora_path)

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training sets that the run trains its adapter on."""
        return tuple(self.lora.train) if self.lora else ()

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return self.tensor_parallel_size * self.data_parallel_size if self.gpus is None else self.gpus


class OpenAIModel(_Model):
    """A model behind an OpenAI-compatible endpoint."""

    # a key may stand in a wrong field: errors must not show it
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    opened_by = "dialeval.engines.openai_api.opening"

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
    reasoning_end: str | None = Field(
        None,
        min_length=1,
        description="Mark, such as </think>, that ends the reasoning which an endpoint leaves in its answers; null for "
        "one that keeps it apart or begins it with <think>.",
    )
    extra_body: dict[str, Any] = Field({}, description="Further fields of every generating request's body.")
    label_logprobs: Literal["top_logprobs", "vllm", "none"] = Field(
        "top_logprobs",
        description="How label probabilities are read: among the likeliest tokens; vllm: exactly, of a vLLM server.",
    )
    top_logprobs: Annotated[Whole, Field(ge=1, le=20)] = Field(
        20, description="Likeliest tokens that are asked for, for label_logprobs: top_logprobs; some endpoints give 5."
    )
    prompt_logprobs: bool = Field(
        False, description="Whether the endpoint is a vLLM server that can score a given text (loglikelihood)."
    )
    requests_per_minute: Annotated[Number, Field(gt=0)] | None = Field(None, description="Most requests in a minute.")
    tokens_per_minute: Annotated[Number, Field(gt=0)] | None = Field(
        None, description="Most tokens in a minute: prompt and max_tokens, as OpenAI counts."
    )
    timeout_seconds: Seconds = Field(300.0, description="Longest wait for one try of a request.")
    max_tries: Repeats = Field(8, description="Tries of a request that meets errors, timeouts or cut connections.")
    max_total_seconds: Seconds = Field(
        1800.0, description="After so long a request that was refused (429) or failed is not tried again in this run."
    )
    patience_seconds: Annotated[Number, Field(ge=0, le=10_000_000)] = Field(
        30.0, description="How long an endpoint may answer nothing but errors before the job stops."
    )
    batch: bool = Field(
        False,
        description="Whether tables of requests go through OpenAI's Batch API: cheaper, answered within a day.",
    )
    batch_requests: Annotated[Whole, Field(ge=1, le=50_000)] = Field(
        50_000, description="Most requests in one batch; fewer where the endpoint limits the tokens under way."
    )
    batch_poll_seconds: Seconds = Field(
        60.0, description="Longest time between two looks at a batch that is under way."
    )
    price_input: Annotated[Number, Field(ge=0)] | None = Field(None, description="Price of a million prompt tokens.")
    price_output: Annotated[Number, Field(ge=0)] | None = Field(None, description="Price of a million answer tokens.")
    budget: Annotated[Number, Field(gt=0)] | None = Field(
        None,
        description="Most that the model may cost, in the prices' currency, over all protocols, shards and runs that "
        "share a store; no request is sent that could exceed it.",
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

    @field_validator("extra_body")
    @classmethod
    def _leaves_other_fields_alone(cls, value: dict[str, Any]) -> dict[str, Any]:
        return checked_extra_body(value)

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


class EncoderModel(_Model):
    """A trained metric: an encoder with small heads that score dialogues (xDial-Eval's PoE and FineD-Eval)."""

    opened_by = "dialeval.engines.encoder.opening"
    runs_in = "train"

    engine: Literal["encoder"]
    model: str | None = Field(
        None, min_length=1, description="Hugging Face name or local folder of the encoder that is trained."
    )
    revision: str | None = Field(None, description="Commit or tag of its weights; pin it for results to be repeatable.")
    train: EncoderTraining | None = Field(None, description="How the run trains it; or give `weights`.")
    weights: Path | None = Field(
        None, description="Folder of a metric that an earlier run has trained, which holds all it needs; or `train`."
    )
    score: Literal["mean", "own"] = Field(
        "mean",
        description="mean: every criterion that it knows gets the mean of all heads, as in the paper; own: that of its "
        "own heads.",
    )
    max_tokens: Annotated[Whole, Field(ge=8, le=8192)] = Field(
        256, description="Longest dialogue in the encoder's tokens; cut at its front."
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field("float32", description="Number format of scoring.")
    batch_tokens: Count = Field(16_384, description="Tokens, padding included, that are scored at once.")
    gpus: Annotated[Whole, Field(ge=0, le=1)] = Field(1, description="GPUs for scoring; 0: the CPU.")
    concurrency: Concurrency = Field(8192, description="Requests in flight at once, which are sorted by length.")

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return self.gpus

    @model_validator(mode="after")
    def _is_trained_once(self) -> Self:
        if (self.train is None) == (self.weights is None):
            raise ValueError("say how it is trained (train), or where its weights lie (weights), one of the two")
        if self.train and self.model is None:
            raise ValueError("say which encoder is trained: model: xlm-roberta-base, say")
        fields = EncoderModel.model_fields  # a job is told of all, those that nobody named too
        said = [one for one in ("max_tokens", "model", "revision") if getattr(self, one) != fields[one].default]
        if self.weights and said:
            raise ValueError(f"a metric that is trained has its {' and '.join(said)} in its folder; leave that out")
        return self

    @property
    def is_tuned(self) -> bool:
        """Always: an encoder tells nothing before it was trained."""
        return True

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training set that the run trains it on."""
        return (self.train.data,) if self.train else ()


class NllbModel(_Model):
    """A translation model of the NLLB family, through transformers."""

    opened_by = "dialeval.engines.nllb.opening"
    runs_in = "train"

    engine: Literal["nllb"]
    model: str = Field("facebook/nllb-200-3.3B", min_length=1, description="Hugging Face name or local folder.")
    revision: str | None = Field(None, description="Commit or tag of the weights; pin it for results to be repeatable.")
    precision: Literal["float32", "bfloat16", "float16"] = Field("float32", description="Number format.")
    beams: Repeats = Field(4, description="Beams of the search.")
    batch_tokens: Count = Field(4096, description="Tokens, padding included, that are translated at once.")
    gpus: Annotated[Whole, Field(ge=0, le=1)] = Field(1, description="GPUs; 0: the CPU.")
    concurrency: Concurrency = Field(1024, description="Requests in flight at once, which are sorted by length.")

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return self.gpus


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
    shards: Annotated[Whole, Field(ge=1, le=1)] = Field(1, description="Always 1: reading a file is one job.")
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


Model = Annotated[
    EmbeddedModel | VllmModel | OpenAIModel | EncoderModel | NllbModel | PublishedModel, Field(discriminator="engine")
]
ENGINES: dict[str, type[_Model]] = {
    get_args(model.model_fields["engine"].annotation)[0]: model for model in get_args(get_args(Model)[0])
}


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
