"""Models by engine: vLLM, embedded methods, encoders, NLLB, published answers.

A new method is an entry here and that module. No stage names this dictionary: jobs depend on their own method alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import Field, field_validator, model_validator

from dialeval.config.endpoints import AnyModel, Concurrency, OpenAIModel
from dialeval.config.section import Count, Integer, JobResources, Name, Number, Repeats
from dialeval.config.training import EncoderTraining, LoraTraining


class VllmModel(AnyModel):
    """A model that vLLM runs inside the job, on GPUs."""

    opened_by = "dialeval.engines.vllm_engine.engine"
    runs_in = "vllm"
    how_jobs_run = AnyModel.how_jobs_run | {
        "data_parallel_size",
        "enforce_eager",
        "gpu_memory_utilization",
        "gpus",
        "kv_cache_memory_bytes",
        "tensor_parallel_size",
    }

    engine: Literal["vllm"]
    model: str = Field(min_length=1, description="Hugging Face name or local folder.")
    revision: str | None = Field(None, description="Commit or tag of the weights. Pin it for reproducible results.")
    concurrency: Annotated[Integer, Field(ge=0, le=10_000)] = Field(
        0, description="Maximum number of concurrent requests; 0: as many as the KV cache holds."
    )
    gpus: Annotated[Integer, Field(ge=0, le=1_000)] | None = Field(
        None,
        exclude=True,  # it changes no answer
        description="Number of GPUs of a job; null: tensor_parallel_size x data_parallel_size.",
    )
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        "auto", description="Number format of the computation; auto: the model's own."
    )
    quantization: str | None = Field(
        None, description="Quantisation method by vLLM's name, such as fp8; null: as in the model's files."
    )
    tensor_parallel_size: Repeats = Field(1, description="Number of GPUs that each layer is split over.")
    data_parallel_size: Repeats = Field(1, description="Number of copies of the model, each on its own GPUs.")
    max_model_len: Count | None = Field(
        None, description="Maximum number of tokens of prompt and response; null: the model's maximum."
    )
    gpu_memory_utilization: Annotated[Number, Field(gt=0, le=1)] = Field(
        0.9, description="Share of the GPU's memory for weights and KV cache."
    )
    kv_cache_memory_bytes: Annotated[Integer, Field(ge=1, le=10**15)] | None = Field(
        None, description="Size of the KV cache in bytes, instead of gpu_memory_utilization."
    )
    lora_path: Path | None = Field(None, description="Folder of a LoRA adapter for the model.")
    lora: LoraTraining | None = Field(
        None, description="LoRA adapter that the run trains for the model (see docs/training.md)."
    )
    trust_remote_code: bool = Field(False, description="Whether to run Python code from the model's folder.")
    chat_template: str | None = Field(
        None, description="File of a chat template; null: the model's own; none: a plain transcript, for base models."
    )
    chat_template_options: dict[str, Any] = Field(
        {}, description="Values for the chat template, such as enable_thinking: false."
    )
    reasoning_parser: str | None = Field(
        None,
        min_length=1,
        description=(
            "vLLM's parser of reasoning, such as openai_gptoss; null: detected from the chat template; none: "
            "`<think>` only."
        ),
    )
    generation_config: Literal["vllm", "auto"] = Field(
        "vllm",
        description=(
            "Source of top_k, min_p and penalties. vllm: none are set; auto: the model's "
            "generation_config.json, as in vllm serve, including top_p if the protocol's is 1."
        ),
    )
    enforce_eager: bool = Field(False, description="Whether to run without CUDA graphs and compilation.")
    engine_args: dict[str, Any] = Field({}, description="Further engine arguments, with vLLM's names.")

    @field_validator("engine_args")
    @classmethod
    def _leave_fields_and_secrets_alone(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = sorted(
            set(value) & {*cls.model_fields, "enable_lora", "logprobs_mode", "tokenizer", "tokenizer_revision"}
        )
        if taken:
            raise ValueError(f"{', '.join(taken)} is not allowed in engine_args; use the field of this name")
        if "hf_token" in value:
            raise ValueError("do not write a token into the configuration; set the environment variable HF_TOKEN")
        return value

    @model_validator(mode="after")
    def _has_one_adapter(self) -> Self:
        if self.lora and self.lora_path:
            raise ValueError("lora trains an adapter, and lora_path names a trained adapter; remove lora or lora_path")
        return self

    @property
    def is_tuned(self) -> bool:
        """Whether an adapter is put on the model."""
        return bool(self.lora or self.lora_path)

    @property
    def reads(self) -> tuple[Path, ...]:
        """Its folder where it is one, its adapter's, and the file of its chat template."""
        template = None if self.chat_template in (None, "none") else Path(self.chat_template)
        named = [path.expanduser() for path in (Path(self.model), self.lora_path, template) if path is not None]
        return tuple(path for path in named if path.exists())

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training sets that the run trains its adapter on."""
        return tuple(self.lora.train) if self.lora else ()

    @property
    def training(self) -> LoraTraining | None:
        """How the run trains it."""
        return self.lora

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return self.tensor_parallel_size * self.data_parallel_size if self.gpus is None else self.gpus


# Embedded models


class Method(NamedTuple):
    """A kind of embedded model.

    Attributes:
        serves: protocols whose requests it answers.
        says: its description.
        is_baseline: whether it is a baseline.
    """

    serves: frozenset[str]
    says: str
    is_baseline: bool = False


_CHATS = frozenset({"selfchat", "multiple_choice"})
_RATES = frozenset({"rating", "yes_no"})
_JUDGES = frozenset({"unieval", "arena", "gteval", "multiple_choice"}) | _RATES
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "retrieval": Method(_CHATS, "replies as a human did in the most similar context (TF-IDF)"),
        "ngram": Method(_CHATS, "writes word by word from Kneser-Ney trigrams, with the last utterance as topic"),
        "random": Method(_CHATS | _RATES, "replies with a random human utterance; scores at random", True),
        "generic": Method(_CHATS, "stock replies; the first of several options"),
        "forest": Method(_JUDGES, "separates human dialogues from perturbed ones by randomised trees"),
        "selection": Method(_JUDGES, "the forest with a model that separates true replies from random ones"),
        "length": Method(_RATES, "scores by the number of words", True),
        "overlap": Method(_RATES, "scores by the share of words that occur in the context", True),
        "perplexity": Method(_RATES, "scores by word probability (Kneser-Ney trigrams)", True),
    }
)


def serves(method: str, protocol: str) -> bool:
    """Return whether a method serves a protocol; True for an unknown method, which another check refuses."""
    return method not in METHODS or protocol in METHODS[method].serves


def able_to(protocol: str) -> list[str]:
    """Return the methods that answer a protocol."""
    return [name for name, method in METHODS.items() if protocol in method.serves]


__all__ = [
    "ENGINES",
    "EmbeddedModel",
    "EncoderModel",
    "Model",
    "NllbModel",
    "OpenAIModel",
    "PublishedModel",
    "VllmModel",
]


class EmbeddedModel(AnyModel):
    """A small classical model that needs no weights, no key and no network."""

    opened_by = "dialeval.engines.embedded.engine"

    engine: Literal["embedded"]
    method: str = Field(
        description=f"One of {', '.join(METHODS)} (see docs/embedded.md).",
        json_schema_extra={"enum": [*METHODS]},
    )
    learn_from: list[Name] = Field(
        ["bundled"],
        min_length=1,
        description=(
            "Training corpora, names under `corpora`. By cross-fitting, the model never learns from the "
            "dialogues that it judges or continues."
        ),
    )
    folds: Annotated[Integer, Field(ge=2, le=20)] = Field(5, description="Number of folds for cross-fitting.")
    concurrency: Concurrency = Field(512, description="Maximum number of concurrent requests.")

    @field_validator("resources")
    @classmethod
    def _go_with_others(cls, value: JobResources) -> JobResources:
        if value != JobResources():
            raise ValueError(
                "jobs of embedded models share a node and request the same resources; remove resources, and set "
                "default-resources of the profile"
            )
        return value

    @property
    def learned_by(self) -> str:
        """The constant that says how its method learns."""
        return f"dialeval.engines.embedded.methods:{self.method.upper()}"

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules whose code answers for it: the engine's, and its own method's."""
        return (*super().modules, self.learned_by)


class EncoderModel(AnyModel):
    """A trained metric: an encoder with small heads that score dialogues (xDial-Eval's PoE and FineD-Eval)."""

    opened_by = "dialeval.engines.encoder.engine"
    runs_in = "train"
    how_jobs_run = AnyModel.how_jobs_run | {"batch_tokens", "gpus"}

    engine: Literal["encoder"]
    model: str | None = Field(
        None, min_length=1, description="Hugging Face name or local folder of the encoder that is trained."
    )
    revision: str | None = Field(None, description="Commit or tag of its weights. Pin it for reproducible results.")
    train: EncoderTraining | None = Field(None, description="Training in this run. Set either `train` or `weights`.")
    weights: Path | None = Field(
        None, description="Folder of a metric that an earlier run trained. Set either `train` or `weights`."
    )
    score: Literal["mean", "own"] = Field(
        "mean",
        description=(
            "mean: the score of every criterion is the mean of all heads, as in the paper; own: the score of "
            "the criterion's own heads."
        ),
    )
    max_tokens: Annotated[Integer, Field(ge=8, le=8192)] = Field(
        256, description="Maximum length of a dialogue, in the encoder's tokens. Longer dialogues lose their beginning."
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field("float32", description="Number format for scoring.")
    batch_tokens: Count = Field(16_384, description="Tokens per batch, padding included.")
    gpus: Annotated[Integer, Field(ge=0, le=1)] = Field(1, description="GPUs for scoring; 0: the CPU.")
    concurrency: Concurrency = Field(
        8192, description="Number of requests that are sorted by length and processed together."
    )

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return self.gpus

    @model_validator(mode="after")
    def _is_trained_once(self) -> Self:
        if (self.train is None) == (self.weights is None):
            raise ValueError("set either train (to train it) or weights (a folder of trained weights)")
        if self.train and self.model is None:
            raise ValueError("set model to the encoder to train, such as xlm-roberta-base")
        fields = EncoderModel.model_fields  # a job gets all fields, those left out of the file too
        given = [one for one in ("max_tokens", "model", "revision") if getattr(self, one) != fields[one].default]
        if self.weights and given:
            names = " and ".join(given)
            raise ValueError(f"weights names a trained metric, which fixes {names}; remove {names}")
        return self

    @property
    def training(self) -> EncoderTraining | None:
        """How the run trains it."""
        return self.train

    @property
    def is_tuned(self) -> bool:
        """True: an encoder is always trained."""
        return True

    @property
    def reads(self) -> tuple[Path, ...]:
        """The folder of the trained metric, or that of the encoder that is trained."""
        path = Path(self.weights or self.model or "").expanduser()
        return (path,) if path.is_dir() else ()

    @property
    def learns_from(self) -> tuple[str, ...]:
        """The training set that the run trains it on."""
        return (self.train.data,) if self.train else ()


class NllbModel(AnyModel):
    """A translation model of the NLLB family, through transformers."""

    opened_by = "dialeval.engines.nllb"
    runs_in = "train"
    how_jobs_run = AnyModel.how_jobs_run | {"batch_tokens", "gpus"}

    engine: Literal["nllb"]
    model: str = Field("facebook/nllb-200-3.3B", min_length=1, description="Hugging Face name or local folder.")
    revision: str | None = Field(None, description="Commit or tag of the weights. Pin it for reproducible results.")
    precision: Literal["float32", "bfloat16", "float16"] = Field("float32", description="Number format.")
    beams: Repeats = Field(4, description="Number of beams of the beam search.")
    batch_tokens: Count = Field(4096, description="Tokens per batch, padding included.")
    gpus: Annotated[Integer, Field(ge=0, le=1)] = Field(1, description="GPUs; 0: the CPU.")
    concurrency: Concurrency = Field(
        1024, description="Number of requests that are sorted by length and processed together."
    )

    @property
    def scheduled_gpus(self) -> int:
        """The number of GPUs that a job with this model asks the scheduler for."""
        return self.gpus

    @property
    def reads(self) -> tuple[Path, ...]:
        """Its folder, where it is one."""
        path = Path(self.model).expanduser()
        return (path,) if path.is_dir() else ()


class PublishedModel(AnyModel):
    """A model whose dialogues or verdicts are published. DialEval makes no calls to it."""

    engine: Literal["published"]
    dialogues: Path | None = Field(
        None,
        description=(
            "For a chatbot: .xlsx or tab-separated file in data_dir with a column of dialogues for each model."
        ),
    )
    column: str | None = Field(
        None, min_length=1, description="Column of this model in the file of dialogues; null: the model's name."
    )
    unieval: Path | None = Field(None, description="For a judge: file of responses on single dialogues (UniEval.tsv).")
    gteval: Path | None = Field(
        None, description="For a judge: file of responses on pairs with the human dialogue (GTEval.tsv)."
    )
    arena: dict[Count, Path] | None = Field(
        None, description="For a judge: for each N a file of responses on pairs, in the format of GTEval.tsv."
    )
    judge_column: str = Field(
        "gpt4",
        min_length=1,
        description="Column with the judge's responses in the files of `unieval`, `gteval` and `arena`.",
    )
    names: dict[str, Name] = Field(
        {},
        description="Names in the published files -> models of this configuration, if they differ. GT is the human "
        "dialogue.",
    )
    shards: Annotated[Integer, Field(ge=1, le=1)] = Field(1, description="Always 1.")
    concurrency: Count = Field(1, description="Do not set it: DialEval makes no calls to the model.")

    @field_validator("names")
    @classmethod
    def _name_each_model_once(cls, value: dict[str, str]) -> dict[str, str]:
        if "GT" in value:
            raise ValueError("GT always means the human dialogues; remove it")
        models = list(value.values())
        twice = sorted({model for model in models if models.count(model) > 1})
        if twice:
            raise ValueError(f"two names in the files stand for {', '.join(twice)}; keep one of them")
        return value


Model = Annotated[
    EmbeddedModel | VllmModel | OpenAIModel | EncoderModel | NllbModel | PublishedModel, Field(discriminator="engine")
]
ENGINES: dict[str, type[AnyModel]] = {
    get_args(model.model_fields["engine"].annotation)[0]: model for model in get_args(get_args(Model)[0])
}
