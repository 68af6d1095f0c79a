"""Models that vLLM runs in the job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from dialeval.config.any_model import AnyModel
from dialeval.config.section import Count, Number, Repeats, Whole
from dialeval.config.training import LoraTraining


class VllmModel(AnyModel):
    """A model that vLLM runs in processes of the job, on GPUs."""

    opened_by = "dialeval.engines.vllm_engine.opening"
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
    revision: str | None = Field(None, description="Commit or tag of the weights; pin it for results to be repeatable.")
    concurrency: Annotated[Whole, Field(ge=0, le=10_000)] = Field(
        0, description="Requests in flight at once; 0 means as many as the KV cache holds."
    )
    gpus: Annotated[Whole, Field(ge=0, le=1_000)] | None = Field(
        None,
        exclude=True,  # it changes no answer
        description="GPUs that the scheduler sets aside; null means tensor times data parallel size.",
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
