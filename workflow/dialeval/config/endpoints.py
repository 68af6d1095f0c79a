"""The fields that all models share, the resources of their jobs, and models behind endpoints of OpenAI's protocol."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from dialeval.config.section import Count, Integer, JobResources, Name, Number, Repeats, Section

if TYPE_CHECKING:
    from dialeval.config.training import Learning


Concurrency = Annotated[Integer, Field(ge=1, le=10_000)]
Seconds = Annotated[Number, Field(gt=0, le=10_000_000)]


class AnyModel(Section):
    """What all models have.

    Attributes:
        opened_by: module whose `open_model` gives the engine; empty for a model without requests.
        runs_in: which of envs/*.yaml its jobs run in.
        how_jobs_run: the fields that say how its jobs run and change no answer: other values of theirs re-run nothing.
    """

    opened_by: ClassVar[str] = ""
    runs_in: ClassVar[Literal["core", "train", "vllm"]] = "core"
    how_jobs_run: ClassVar[frozenset[str]] = frozenset({"concurrency", "shards"})

    # these four change no answer, so they are left out of every dump: of settings, identities and provenance
    family: str | None = Field(
        None,
        min_length=1,
        exclude=True,
        description="Model family, for self-preference of judges; null: the model's name.",
    )
    kind: Literal["chat", "base"] | None = Field(
        None,
        exclude=True,
        description=(
            "chat (instruction-tuned) or base (pre-trained only), for averages by kind in tables; null: unknown."
        ),
    )
    tags: list[Name] = Field(
        [],
        exclude=True,
        description="Tags, such as open-source. Settings that take a group of models accept a tag.",
    )
    resources: JobResources = Field(
        JobResources(),
        exclude=True,
        description="Resources of the model's jobs on a cluster (see docs/cluster.md), not for engines embedded and "
        "published; for GPUs set `gpus`.",
    )
    shards: Annotated[Integer, Field(ge=1, le=1_000)] = Field(
        1, description="Number of jobs that this model's work is split into."
    )
    concurrency: Concurrency = Field(64, description="Maximum number of concurrent requests of a job.")

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return 0

    @property
    def training(self) -> Learning | None:
        """How the run trains it."""
        return None

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules whose code its responses depend on, besides the stage that sends requests."""
        return (self.opened_by,) if self.opened_by else ()

    @property
    def is_tuned(self) -> bool:
        """Whether it was trained further than the model that its name is known for."""
        return False

    @property
    def reads(self) -> tuple[Path, ...]:
        """Local files and folders that its responses depend on, if they exist."""
        return ()

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training sets that the run trains it on."""
        return ()


# Cluster resources

BY_ENGINE = {
    "vllm": JobResources(mem_mb=64_000, runtime=720, cpus_per_task=4),
    "encoder": JobResources(mem_mb=16_000, runtime=240, cpus_per_task=4),
    "nllb": JobResources(mem_mb=16_000, runtime=240, cpus_per_task=4),
    "openai": JobResources(runtime=240),
}
"""What jobs ask for where a model says nothing: weights are read into memory, and endpoints set their own pace.

A job that runs out of time has lost nothing, and one that asks for more than its partition allows never starts."""

TRAINING = {
    "encoder": JobResources(mem_mb=32_000, runtime=1440, cpus_per_task=4),
    "vllm": JobResources(mem_mb=64_000, runtime=2880, cpus_per_task=4),
}
"""The same of jobs that train an encoder, or an adapter; one that runs out of time begins at its last checkpoint."""


def resource_for(field: str, models: Iterable[AnyModel], trains: bool = False) -> int | str | None:
    """Return the resource of a job of several models: the largest number, or the first name.

    Args:
        field: of `JobResources`.
        models: whose job it is, such as a chatbot and its partner.
        trains: whether the job trains the model, as its `lora` or `train` says; else it answers.

    Returns:
        None where neither a model nor its engine says anything.
    """
    given = []
    for model in models:
        own = _own(model, trains)
        by_engine = (TRAINING if trains else BY_ENGINE).get(getattr(model, "engine", ""), JobResources())
        value = getattr(own, field)
        given.append(getattr(by_engine, field) if value is None else value)
    found = [value for value in given if value is not None]
    numbers = [value for value in found if isinstance(value, int)]
    return max(numbers) if numbers else next(iter(found), None)


def gpus_for(models: Iterable[AnyModel], trains: bool = False) -> int:
    """Return the number of GPUs that a job of several models requests; two vLLM models are one model in two roles."""
    if trains:
        return max((model.training.gpus for model in models if model.training), default=0)
    return max((model.scheduled_gpus for model in models), default=0)


def _own(model: AnyModel, trains: bool) -> JobResources:
    if not trains:
        return model.resources
    return model.training.resources if model.training else JobResources()


# Models behind endpoints of OpenAI's protocol

_SECRET_HEADER = re.compile(r"authoriz|apikey|(^|[-_])(auth|key|token|secret|cookie|password)([-_]|$)", re.IGNORECASE)


class OpenAIModel(AnyModel):
    """A model behind an OpenAI-compatible endpoint."""

    # a key may stand in a wrong field: errors must not show it
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    opened_by = "dialeval.engines.openai_api.engine"
    how_jobs_run = AnyModel.how_jobs_run | {
        "api_key_env",
        "batch",
        "batch_poll_seconds",
        "batch_requests",
        "headers_env",
        "max_tokens_field",
        "max_total_seconds",
        "max_tries",
        "organisation",
        "patience_seconds",
        "requests_per_minute",
        "timeout_seconds",
        "tokens_per_minute",
    }

    engine: Literal["openai"]
    model: str = Field(min_length=1, description="The model's name at the endpoint.")
    base_url: str = Field("https://api.openai.com/v1", description="Address of the endpoint, without user name or key.")
    api_key_env: str | None = Field(
        "OPENAI_API_KEY",
        description="NAME of the environment variable that holds the key; null for no key.",
    )
    organisation: str | None = Field(None, description="OpenAI organisation to bill.")
    headers: dict[str, str] = Field({}, description="Further HTTP headers without secrets.")
    headers_env: dict[str, str] = Field(
        {}, description="Further HTTP headers with secrets: header -> NAME of the environment variable."
    )
    context_window: Count | None = Field(
        None,
        description=(
            "Maximum number of tokens of prompt and response. Scored items and self-chat beyond it lose their "
            "oldest utterances. null: unknown."
        ),
    )
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = Field(
        None,
        description=(
            "Name of the token limit in requests; null: max_completion_tokens for o1, o3, ... and gpt-5, else "
            "max_tokens."
        ),
    )
    send_temperature: bool | None = Field(
        None,
        description="Whether temperature, top_p and penalties are sent; null: not to o1, o3, ... and gpt-5.",
    )
    send_seed: bool = Field(True, description="Whether the sampling seed is sent.")
    system_message: Literal["send", "merge"] = Field(
        "send",
        description=(
            "send: as a system message; merge: in the first user message, for templates without a system role."
        ),
    )
    reasoning_effort: str | None = Field(
        None, min_length=1, description="Reasoning effort to request: low, medium, ..."
    )
    reasoning_end: str | None = Field(
        None,
        min_length=1,
        description=(
            "Mark that ends the reasoning in a response, such as `</think>`. null: the endpoint returns the reasoning "
            "separately, or the reasoning begins with `<think>`."
        ),
    )
    extra_body: dict[str, Any] = Field({}, description="Further fields in the body of every request.")
    label_logprobs: Literal["top_logprobs", "vllm", "none"] = Field(
        "top_logprobs",
        description=(
            "Source of the probabilities of answer options. top_logprobs: the most probable tokens; vllm: exact, from "
            "a vLLM server; none: not available."
        ),
    )
    top_logprobs: Annotated[Integer, Field(ge=1, le=20)] = Field(
        20,
        description=(
            "Number of most probable tokens to request for label_logprobs: top_logprobs. Some endpoints allow 5."
        ),
    )
    prompt_logprobs: bool = Field(
        False, description="Whether the endpoint is a vLLM server, which can return the log-likelihood of a given text."
    )
    requests_per_minute: Annotated[Number, Field(gt=0)] | None = Field(
        None, description="Maximum number of requests of a job per minute."
    )
    tokens_per_minute: Annotated[Number, Field(gt=0)] | None = Field(
        None, description="Maximum number of tokens of a job per minute: prompt and max_tokens, as OpenAI counts."
    )
    timeout_seconds: Seconds = Field(300.0, description="Time limit of one attempt of a request.")
    max_tries: Repeats = Field(
        8, description="Maximum number of attempts of a request after errors, timeouts or lost connections."
    )
    max_total_seconds: Seconds = Field(
        1800.0,
        description=(
            "Maximum time in which a failed or refused (429) request is sent again. If the endpoint refuses every "
            "request for this time, the job stops."
        ),
    )
    patience_seconds: Annotated[Number, Field(ge=0, le=10_000_000)] = Field(
        30.0,
        description=(
            "Time after which the job stops if the endpoint returns only errors; a third of it if the job never "
            "reached the endpoint."
        ),
    )
    batch: bool = Field(
        False,
        description="Whether judges' requests use OpenAI's Batch API: cheaper, with responses within a day.",
    )
    batch_requests: Annotated[Integer, Field(ge=1, le=50_000)] = Field(
        50_000,
        description=(
            "Maximum number of requests in a batch. Lower it if the endpoint limits the tokens of open batches."
        ),
    )
    batch_poll_seconds: Seconds = Field(60.0, description="Maximum time between two status checks of a batch.")
    price_input: Annotated[Number, Field(ge=0)] | None = Field(None, description="Price of a million prompt tokens.")
    price_output: Annotated[Number, Field(ge=0)] | None = Field(None, description="Price of a million response tokens.")
    budget: Annotated[Number, Field(gt=0)] | None = Field(
        None,
        description=(
            "Maximum cost of the model over all protocols and all runs that share a store, in the currency of the "
            "prices. DialEval sends no request that could exceed it."
        ),
    )

    @model_validator(mode="after")
    def _budget_has_prices(self) -> Self:
        if self.budget is not None and (self.price_input is None or self.price_output is None):
            raise ValueError("a budget needs price_input and price_output of the model")
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

    @field_validator("headers", "headers_env")
    @classmethod
    def _have_names_of_headers(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
                raise ValueError(f"'{name}' is not a valid header name; use letters, digits and dashes")
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
                "it must not contain a user name, password or query (not shown here); use api_key_env or "
                "headers_env for secrets"
            )
        if not re.fullmatch(r"https?://[^\s/:]+(:\d{1,5})?(/\S*)?|https?://\[[0-9a-fA-F:.]+\](:\d{1,5})?(/\S*)?", text):
            raise ValueError("it must be an address that begins with http:// or https://")
        return value


def _variable_name(value: object) -> str:
    """Return the name of an environment variable; refuse other texts, and values that look like a key, unshown."""
    name = str(value)
    is_like_key = len(name) >= 20 and re.search(r"[a-z]", name) and re.search(r"[0-9]", name)
    if is_like_key or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(
            "it must be the NAME of an environment variable, such as OPENAI_API_KEY; the value looks like the key "
            "itself and is not shown; put the key into an environment variable"
        )
    return name


# Checks of `extra_body`

_FIELDS = {
    "messages": "they are rendered from the protocol's template",
    "prompt": "it is rendered from the protocol's template",
    "input": "it is rendered from the protocol's template",
    "model": "use the field `model`",
    "models": "it would replace the named model; add the other model under `models`",
    "stream": "DialEval reads complete responses, not streams",
    "stream_options": "DialEval reads complete responses, not streams",
    "n": "only one response is used, and each costs money; for repeated ratings use `protocols.rating.repeats`",
    "best_of": "only one response is used, and each costs money",
    "temperature": "set `temperature` of the protocol, selfchat or dialogbench; `send_temperature: false` sends none",
    "logprobs": "use the field `label_logprobs`",
    "top_logprobs": "use the field `top_logprobs`",
}
"""Fields of a request's body that have another place, and which."""
_BUDGETS = frozenset({
    "max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens_to_sample", "num_predict",
    "max_length",
})  # fmt: skip
"""Names of the most tokens that an answer may have, at any depth: a budget relies on ours."""
_OWN_MEANING = frozenset({"reasoning", "thinking"})
"""Fields below which `max_tokens` is a part of the answer's, not more."""
_SECRET_NAME = re.compile(
    r"authoriz|api[-_]?key|(^|[-_])(secret|password|passwd|cookie|credentials?|bearer)([-_]|$)"
    r"|(access|auth|bearer|hf|private|secret)[-_]?(key|token)|^(key|token|auth)$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"^\s*(bearer|basic)\s+\S{8,}|\b((sk|gsk|pk|rk|xai|nvapi)[-_]|hf_)[\w-]{8,}|\bAIza[\w-]{10,}", re.IGNORECASE
)


def checked_extra_body(value: dict[str, Any]) -> dict[str, Any]:
    """Return `extra_body` unchanged, if every field is allowed.

    Raises:
        ValueError: something in it has another place. Values are never shown, since they may be secret.
    """
    for path, name, content in _entries(value, ()):
        place = ".".join((*path, name))
        if not path and name.lower() in _FIELDS:
            raise ValueError(f"'{name}' is not allowed here: {_FIELDS[name.lower()]}")
        if name.lower() in _BUDGETS and not set(path) & _OWN_MEANING:
            raise ValueError(
                f"'{place}' is not allowed here, since budgets rely on the limit that DialEval sends: set max_tokens "
                "of the protocol (or of selfchat, dialogbench). If the endpoint has another name for this field, set "
                "`max_tokens_field`"
            )
        if _SECRET_NAME.search(name) or (isinstance(content, str) and is_secret_text(content)):
            raise ValueError(
                f"'{place}' looks like a secret (its value is not shown); use api_key_env or headers_env, which "
                f"name an environment variable"
            )
    return value


def is_secret_text(text: str) -> bool:
    """Return whether a text has the shape of a key."""
    return _SECRET_VALUE.search(text) is not None


def _entries(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Yield place, name and content of each entry, at any depth."""
    if isinstance(value, dict):
        for name, content in value.items():
            yield path, str(name), content
            yield from _entries(content, (*path, str(name)))
    elif isinstance(value, list):
        for content in value:
            if isinstance(content, str):
                yield path, "[]", content
            yield from _entries(content, path)
