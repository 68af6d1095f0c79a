"""Training of judges: training sets, learning, and checks of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.section import (
    Count,
    Integer,
    JobResources,
    Mistake,
    Name,
    Number,
    Repeats,
    Section,
    Share,
    TokenCount,
    unknown,
)
from dialeval.criteria import SHIPPED, Level

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


DEFAULT_CRITERIA: Mapping[Level, tuple[str, ...]] = MappingProxyType(
    {"turn": ("relevance",), "dialogue": ("coherence", "engagingness", "informativeness")}
)
"""What is learned where a set names no criteria: what the papers' metrics learn."""
LearningRate = Annotated[Number, Field(gt=0, le=1)]


class TrainingSet(Section):
    """Pairs of a human dialogue and a perturbed copy, made without human ratings."""

    level: Literal["turn", "dialogue"] = Field(
        description=(
            "turn: the judge learns whether the last utterance is relevant (as in PoE). dialogue: the judge learns "
            "which of two dialogues is better (as in FineD-Eval)."
        )
    )
    domains: dict[Name, list[Name]] = Field(
        min_length=1,
        description=(
            "Domains, by name, each with its corpora (names under `corpora`). Turn-level encoders have a head for "
            "each domain."
        ),
    )
    criteria: list[Name] | None = Field(
        None,
        min_length=1,
        description=(
            "Criteria that the perturbations lower; null: relevance for turns; coherence, engagingness and "
            "informativeness for dialogues."
        ),
    )
    perturbations: list[Name] | None = Field(
        None,
        min_length=1,
        description="Perturbations that make the worse dialogue or response of a pair (see docs/training.md); null: "
        "all of the level.",
    )
    languages: list[str] | None = Field(
        None,
        min_length=1,
        description="Languages of the dialogues; null: all languages of the corpora and their translations.",
    )
    pairs_per_language: Count | None = Field(
        None,
        description="Number of pairs per language, including the development and held-out parts; null: all. The "
        "paper uses 10,000 for LoRA.",
    )
    max_context: Count = Field(10, description="For turn: maximum number of utterances of context.")
    development: Annotated[Share, Field(gt=0)] = Field(0.1, description="Share of dialogues for early stopping.")
    held_out: Annotated[Share, Field(gt=0)] = Field(0.1, description="Share of dialogues for evaluation only.")
    overlap: Literal["refuse", "leave_out"] = Field(
        "refuse",
        description=(
            "If judges also score dialogues of the training set: refuse (the run stops) or leave_out (training "
            "leaves these dialogues out)."
        ),
    )

    @model_validator(mode="after")
    def _leaves_something_to_learn(self) -> Self:
        if self.development + self.held_out > 0.8:
            raise ValueError(
                "development and held_out leave less than a fifth of the dialogues for training; lower one of them"
            )
        return self

    @property
    def learned(self) -> tuple[str, ...]:
        """The criteria that the pairs differ in."""
        return tuple(self.criteria or DEFAULT_CRITERIA[self.level])

    def corpora(self) -> list[str]:
        """Return the corpora of all domains."""
        return [corpus for corpora in self.domains.values() for corpus in corpora]


class Learning(Section):
    """The settings of every kind of training."""

    epochs: Repeats = Field(3, description="Maximum number of epochs.")
    max_steps: Count | None = Field(None, description="Maximum number of steps; null: no limit.")
    warmup_share: Share = Field(0.0, description="Share of the steps for the warm-up of the learning rate.")
    weight_decay: Annotated[Number, Field(ge=0, le=1)] = Field(0.0, description="Weight decay.")
    evaluations: Repeats = Field(
        10, description="Number of evaluations on the development part, each with a checkpoint."
    )
    patience: Repeats | None = Field(
        None,
        description="Number of evaluations without improvement after which training stops; null: no early stopping.",
    )
    precision: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="Number format of the computation. Trained weights stay in float32."
    )
    gradient_checkpointing: bool = Field(False, description="Whether to save memory at the cost of a third more time.")
    gpus: Annotated[Integer, Field(ge=0, le=64)] = Field(1, description="Number of GPUs; 0: the CPU.")
    resources: JobResources = Field(
        JobResources(),
        exclude=True,
        description="Resources of the training job on a cluster (see docs/cluster.md).",
    )


class EncoderTraining(Learning):
    """Training of an encoder: PoE's experts for turns, FineD-Eval's ranking heads for dialogues."""

    data: Name = Field(description="Training set, a name under `training`.")
    learning_rate: LearningRate = Field(1e-5, description="Learning rate (AdamW).")
    head_learning_rate: LearningRate | None = Field(
        None, description="Learning rate of heads and adapters; null: learning_rate."
    )
    batch_size: Count = Field(32, description="Examples or pairs per step, over all GPUs.")
    micro_batch_size: Count | None = Field(
        None, description="Examples per GPU and forward pass; null: batch_size divided by the number of GPUs."
    )
    dropout: Share = Field(0.2, description="Dropout before the heads.")
    adapter_size: Annotated[Integer, Field(ge=0, le=4096)] = Field(
        0, description="Width of each expert's adapters in every layer (Houlsby et al.); 0: no adapters."
    )
    freeze_body: bool = Field(False, description="Whether only heads and adapters are trained.")
    pooling: Literal["mean", "parts"] = Field(
        "mean",
        description="Input of the heads. mean: the mean hidden state, as in PoE. parts: the mean states of context "
        "and response of a turn, with their product and absolute difference.",
    )
    margin: Share = Field(0.1, description="Margin of the ranking loss, for dialogues.")

    @model_validator(mode="after")
    def _batches_divide(self) -> Self:
        at_once = self.micro_batch_size
        if self.batch_size % ((at_once or 1) * max(1, self.gpus)):
            needs = f"micro_batch_size {at_once} x gpus {self.gpus}" if at_once else f"gpus {self.gpus}"
            raise ValueError(f"batch_size {self.batch_size} is no multiple of {needs}; choose a multiple")
        if self.freeze_body and self.gradient_checkpointing and not self.adapter_size:
            raise ValueError("with a frozen body and no adapters, gradient_checkpointing has no use; remove it")
        if self.precision == "float16" and not self.gpus:
            raise ValueError("float16 needs a GPU; on the CPU (gpus: 0) set precision: float32")
        return self


class LoraTraining(Learning):
    """Training of a language model as a judge, with a low-rank adapter (xDial-Eval, appendix F)."""

    train: list[Name] = Field(min_length=1, description="Training sets, names under `training`.")
    rank: Annotated[Integer, Field(ge=1, le=512)] = Field(8, description="Rank of the adapter.")
    alpha: Annotated[Number, Field(gt=0, le=4096)] = Field(16.0, description="Alpha of the adapter.")
    dropout: Share = Field(0.05, description="Dropout in the adapter.")
    target_modules: list[str] = Field(
        ["q_proj", "k_proj"], min_length=1, description="Projections with an adapter, by the model's names."
    )
    learning_rate: LearningRate = Field(3e-4, description="Learning rate (AdamW).")
    batch_size: Count = Field(128, description="Examples per step, over all GPUs.")
    micro_batch_size: Count = Field(32, description="Examples per GPU and forward pass.")
    cutoff: TokenCount = Field(
        1024,
        description="Maximum number of tokens of prompt and response. Longer prompts lose their oldest utterances.",
    )


# Checks of training sets

OWN_LANGUAGES = ("jsonl",)
"""Readers whose dialogues may name languages of their own."""


def unfit_training(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in training sets, by themselves and if one model learns from several."""
    for name, section in config.training.items():
        yield from _domains(config, name, section)
        yield from _criteria(config, name, section)
        yield from _languages(config, name, section)
    yield from _mixed_parts(config)


def _domains(config: Config, name: str, section: TrainingSet) -> Iterator[Mistake]:
    field = f"training.{name}.domains"
    for domain, corpora in section.domains.items():
        if not corpora:
            yield Mistake(f"{field}.{domain}", "it has no corpus; name at least one of `corpora`, or remove it")
        yield from unknown(f"{field}.{domain}", corpora, config.corpora, "corpus", "corpora")
    for corpus, n in Counter(section.corpora()).items():
        if n > 1:
            words = f"'{corpus}' is named {n} times; a corpus belongs to one domain; name it once"
            yield Mistake(field, words)


def _criteria(config: Config, name: str, section: TrainingSet) -> Iterator[Mistake]:
    field, level = f"training.{name}.criteria", section.level
    for criterion in section.criteria or ():
        yield from unknown(field, [criterion], config.known_criteria(), "criterion", "criteria")
        known = config.criteria.get(criterion) or SHIPPED.get(criterion)
        other = known.level if known else None
        if other not in (None, level):
            words = f"'{criterion}' is about a {other}, and the pairs are of level {level}; name criteria of a {level}"
            yield Mistake(field, words, (f"criteria.{criterion}",))


def _languages(config: Config, name: str, section: TrainingSet) -> Iterator[Mistake]:
    corpora = [config.corpora[corpus] for corpus in section.corpora() if corpus in config.corpora]
    if any(corpus.reader in OWN_LANGUAGES for corpus in corpora) or not corpora:
        return
    known = {corpus.language for corpus in corpora}
    for corpus in section.corpora():
        known.update(config.translate[corpus].into if corpus in config.translate else ())
    for language in section.languages or ():
        if language not in known:
            words = (
                f"no dialogue is in '{language}': the corpora are in {', '.join(sorted(known))}; translate a corpus "
                f"into it (translate), or set other languages"
            )
            yield Mistake(
                f"training.{name}.languages", words, ("translate", *(f"corpora.{one}" for one in section.corpora()))
            )


def _mixed_parts(config: Config) -> Iterator[Mistake]:
    """Yield sets that one model learns from and that hold out different shares of the dialogues."""
    for name, model in config.models.items():
        sets = {one: config.training[one] for one in model.learns_from if one in config.training}
        shares = {one: (section.development, section.held_out) for one, section in sets.items()}
        if len(set(shares.values())) > 1:
            words = (
                f"{', '.join(shares)} hold out different shares of the dialogues, so one would train on dialogues "
                f"that another holds out; give them the same development and held_out"
            )
            yield Mistake(f"models.{name}.lora.train", words, tuple(f"training.{one}" for one in shares))
