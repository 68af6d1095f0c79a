"""Models: what runs them, and how they are reached."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from dialeval.config.any_model import AnyModel, Concurrency
from dialeval.config.embedded_methods import METHODS
from dialeval.config.job_resources import JobResources
from dialeval.config.openai_model import OpenAIModel
from dialeval.config.section import Count, Name, Repeats, Whole
from dialeval.config.training import EncoderTraining
from dialeval.config.vllm_model import VllmModel

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

    @field_validator("resources")
    @classmethod
    def _go_with_others(cls, value: JobResources) -> JobResources:
        if value != JobResources():
            raise ValueError(
                "jobs of an embedded model go to a node with others and ask for the same; leave resources out, and "
                "set default-resources of the profile"
            )
        return value

    @property
    def learned_by(self) -> str:
        """The module that says how its method learns."""
        return f"dialeval.engines.embedded.methods.{self.method}"

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules whose code answers for it: the engine's, and its own method's."""
        return (*super().modules, self.learned_by)


class EncoderModel(AnyModel):
    """A trained metric: an encoder with small heads that score dialogues (xDial-Eval's PoE and FineD-Eval)."""

    opened_by = "dialeval.engines.encoder.opening"
    runs_in = "train"
    how_jobs_run = AnyModel.how_jobs_run | {"batch_tokens", "gpus"}

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
    def training(self) -> EncoderTraining | None:
        """How the run trains it."""
        return self.train

    @property
    def is_tuned(self) -> bool:
        """Always: an encoder tells nothing before it was trained."""
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

    opened_by = "dialeval.engines.nllb.opening"
    runs_in = "train"
    how_jobs_run = AnyModel.how_jobs_run | {"batch_tokens", "gpus"}

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

    @property
    def reads(self) -> tuple[Path, ...]:
        """Its folder, where it is one."""
        path = Path(self.model).expanduser()
        return (path,) if path.is_dir() else ()


class PublishedModel(AnyModel):
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
ENGINES: dict[str, type[AnyModel]] = {
    get_args(model.model_fields["engine"].annotation)[0]: model for model in get_args(get_args(Model)[0])
}
