"""Training of an encoder that scores."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dialeval.config.models import EncoderModel
from dialeval.config.training import EncoderTraining
from dialeval.criteria import Level
from dialeval.engines.encoder.engine import folder_digest
from dialeval.engines.encoder.metric import Encoding, Floats, Score, score_batches
from dialeval.engines.vllm_engine.model_files import no_folder, not_a_model, other_vocabulary
from dialeval.errors import UserError
from dialeval.training.encoder_examples import Collation, ExampleSet, ExpertOrder
from dialeval.training.running import (
    Learned,
    Memory,
    device_of,
    micro_batch,
    processes,
    training_arguments,
    training_memory,
)
from dialeval.training.weights import training_fingerprint, versions_of


def train_network(
    name: str,
    network: Any,
    examples: ExampleSet,
    learning: EncoderTraining,
    checkpoints: Path,
    *,
    batch_tokens: int,
    random_seed: int,
) -> Learned:
    """Train a network in place.

    Args:
        name: the judge's, for messages.
        network: an `ExpertNetwork`, as it begins.
        examples: what it learns from and is stopped by.
        learning: how.
        checkpoints: folder of this training's checkpoints.
        batch_tokens: tokens that are computed at once where nothing is learned.
        random_seed: of the order and of dropout.

    Raises:
        UserError: the loss is not a number.
    """
    from dialeval.training.trainer import Development, ExpertTrainer, fit_heads

    at_once, accumulated = micro_batch(learning)
    together = accumulated * processes(learning.gpus)
    segments = examples.encoding.segments(network)
    collation = Collation(
        examples.parts["train"], examples.numbers("train"), examples.level, examples.encoding, segments=segments
    )
    order = ExpertOrder(
        collation.lengths,
        collation.experts,
        at_once=at_once,
        together=together,
        passes=learning.epochs,
        max_steps=learning.max_steps,
        random_seed=random_seed,
    )
    arguments = training_arguments(
        learning,
        checkpoints,
        order.steps,
        random_seed,
        num_train_epochs=1,  # the order is that of all passes
        max_steps=order.steps,
        include_num_input_tokens_seen="non_padding",
        ddp_find_unused_parameters=len(examples.experts) > 1,
    )
    development = Development(
        examples.parts["development"],
        examples.numbers("development"),
        examples.level,
        examples.encoding,
        learning.margin,
        batch_tokens,
        learning.precision,
    )
    development_metrics = partial(
        development.evaluate, network, arguments.device, share=arguments.process_index, shares=arguments.world_size
    )
    trainer = ExpertTrainer(
        order=order,
        level=examples.level,
        margin=learning.margin,
        head_learning_rate=learning.head_learning_rate or learning.learning_rate,
        development_metrics=development_metrics,
        model=network,
        args=arguments,
        train_dataset=range(len(collation)),
        data_collator=collation.batch,
    )
    return trainer.learn(
        name,
        checkpoints,
        gpus=learning.gpus,
        patience=learning.patience,
        passes=len(order) / len(collation),
        begin=partial(fit_heads, network, examples, arguments.device, batch_tokens, learning.precision),
    )


# The encoder that a training begins with: looked at before it is loaded, then loaded.

_UNBOUNDED = 10**6
"""Length from which on a tokenizer means that it knows of none."""
_DECODERS = ("ForCausalLM", "LMHeadModel")
_BYTES = 4  # of a weight, which is kept in float32


class Base:
    """An encoder of transformers, by its configuration and its tokenizer.

    Args:
        name: of the judge, for messages.
        model: its configuration, which names the encoder.

    Attributes:
        tokenizer: the encoder's.
        weights: the commit at Hugging Face, or the digest of a folder.

    Raises:
        UserError: there is no such encoder here, or it cannot be used.
    """

    def __init__(self, name: str, model: EncoderModel) -> None:
        import transformers

        assert model.model
        self._name, self._model = name, model
        folder = Path(model.model).expanduser()
        self._source = str(folder) if folder.is_dir() else model.model
        if reason := not_a_model(model.model):
            raise UserError(f"models.{name}.{reason}")
        try:
            self.config = transformers.AutoConfig.from_pretrained(self._source, revision=model.revision)
            self.weights = (
                folder_digest(folder) if folder.is_dir() else str(getattr(self.config, "_commit_hash", None) or "")
            )
            # the tokenizer and the weights are of the same commit, even where that of the name changes meanwhile
            self._revision = model.revision if folder.is_dir() else self.weights or model.revision
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(self._source, revision=self._revision)
        except Exception as error:  # libraries below raise errors of many kinds
            raise self._cannot_be_loaded(error) from error
        if folder.is_dir() and (reason := other_vocabulary(folder, self.tokenizer.vocab_size)):
            raise UserError(f"models.{name}.{reason}")
        if getattr(self.config, "is_encoder_decoder", False):
            raise UserError(
                f"models.{name}.model: {model.model} is no encoder (its type is {self.config.model_type}); "
                f"name one, such as xlm-roberta-base"
            )
        if decoder := next((kind for kind in self.config.architectures or () if kind.endswith(_DECODERS)), ""):
            print(
                f"note: {model.model} is a decoder ({decoder}), whose tokens do not attend to later tokens; an "
                f"encoder is usual. To get answers in words, set engine: vllm"
            )

    def encoding(self, level: Level) -> Encoding:
        """Return how examples become tokens.

        Raises:
            UserError: max_tokens is beyond what the encoder can take.
        """
        longest = self._longest()
        if self._model.max_tokens > longest:
            raise UserError(
                f"models.{self._name}.max_tokens: {self._model.max_tokens} tokens are beyond the positions of "
                f"{self._model.model}, {longest}; set max_tokens: {longest} or less"
            )
        return Encoding(self.tokenizer, level, self._model.max_tokens)

    def memory(self, level: Level, n_experts: int) -> Memory:
        """Return an estimate of the memory that the training takes, from the encoder laid out without content."""
        train = self._model.train
        assert train
        network = self._laid_out(n_experts)
        sizes = {
            of_body: sum(
                part.numel() for name, part in network.named_parameters() if name.startswith("body.") is of_body
            )
            for of_body in (True, False)
        }
        trained = sizes[False] + (0 if train.freeze_body else sizes[True])
        kept_for = network if not train.freeze_body or train.adapter_size else None
        tokens = micro_batch(train)[0] * (2 if level == "dialogue" else 1) * self._model.max_tokens
        found = training_memory(
            0,
            trained,
            self.config,
            precision=train.precision,
            tokens=tokens if kept_for is not None else 0,
            checkpointing=train.gradient_checkpointing,
        )
        return Memory(_BYTES * (sum(sizes.values()) - trained), found.learned, found.kept)

    def network(self, n_experts: int) -> Any:
        """Return the network with the encoder's weights, its heads and adapters drawn.

        Raises:
            UserError: it cannot be loaded, or has no place for adapters.
        """
        import torch
        import transformers

        from dialeval.engines.encoder.network import ExpertNetwork

        train = self._model.train
        assert train
        try:
            body, found = transformers.AutoModel.from_pretrained(
                self._source, revision=self._revision, dtype=torch.float32, output_loading_info=True
            )
        except Exception as error:
            raise self._cannot_be_loaded(error) from error
        missing = sorted(name for name in found["missing_keys"] if not name.startswith("pooler."))
        if missing:
            raise UserError(
                f"models.{self._name}.model: {self._model.model} has no weights for {len(missing)} parts of a "
                f"{self.config.model_type}, such as {missing[0]}; name an encoder with complete weights"
            )
        network = ExpertNetwork(
            body, n_experts, adapter_size=train.adapter_size, dropout=train.dropout, pooling=train.pooling
        )
        if train.freeze_body:
            network.body.requires_grad_(False)
        return network

    def _longest(self) -> int:
        """Return the longest input that the encoder and its tokenizer support."""
        body = self._laid_out(1).body
        places = getattr(getattr(body, "embeddings", None), "position_embeddings", None)
        limits = [int(self.tokenizer.model_max_length)] if self.tokenizer.model_max_length < _UNBOUNDED else []
        if places is not None and hasattr(places, "num_embeddings"):
            first = 0 if places.padding_idx is None else int(places.padding_idx) + 1  # RoBERTa counts from there
            limits.append(int(places.num_embeddings) - first)
        return min(limits, default=_UNBOUNDED)

    def _laid_out(self, n_experts: int) -> Any:
        import torch
        import transformers

        from dialeval.engines.encoder.network import ExpertNetwork

        train = self._model.train
        assert train
        with torch.device("meta"):
            body = transformers.AutoModel.from_config(self.config)
            return ExpertNetwork(body, n_experts, adapter_size=train.adapter_size, pooling=train.pooling)

    def _cannot_be_loaded(self, error: Exception) -> UserError:
        message = " ".join(str(error).split())[:400] or repr(error)
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
        remedy = (
            "HF_HUB_OFFLINE is set, so nothing is downloaded: unset it, or name a folder with the encoder"
            if offline
            else (
                "name an encoder at Hugging Face (with HF_TOKEN for a gated model) or a folder with one; without a "
                "network, download it on another machine: hf download NAME"
            )
        )
        name = self._model.model or ""
        return UserError(f"models.{self._name}.model: '{name}' cannot be loaded: {no_folder(name)}{message}; {remedy}")


# What the training of an encoder, and all that it gives, is known by.

DECIDES = ("model", "revision", "max_tokens", "score", "train")
"""Fields of a model that decide what its training gives."""
LIBRARIES = ("torch", "transformers", "accelerate", "tokenizers")


def encoder_fingerprint(
    name: str, model: EncoderModel, weights: str, examples: ExampleSet, random_seed: int, code: str
) -> str:
    """Return the fingerprint of a training: its checkpoints are of no other.

    Args:
        name: the judge's.
        model: its configuration.
        weights: commit or digest of the encoder that it begins with.
        examples: the set; what is held out counts too, since its scores are among what a training gives.
        random_seed: of the run.
        code: fingerprint of the stage's code.
    """
    fields = model.model_dump(mode="json")
    return training_fingerprint(
        name=name,
        examples=examples.digest(),
        base=weights or model.revision,
        model={field: fields[field] for field in DECIDES},
        random_seed=random_seed,
        versions=versions_of(*LIBRARIES),
        code=code,
    )


# Scores of the examples that are never learned from, as the judge would give them.


def held_out_scores(
    network: Any, examples: ExampleSet, learning: EncoderTraining, *, score: Score, batch_tokens: int
) -> Floats:
    """Return the score of every held-out example: the mean of all experts, or that of its criterion's own.

    Where several processes share a training, each computes a part, and all have all scores.

    Args:
        network: an `ExpertNetwork`.
        examples: the set.
        learning: how it is trained, which says where.
        score: which of the two.
        batch_tokens: tokens that are computed at once.
    """
    sequences = examples.parts["held_out"].inputs()
    share, shares = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    device = device_of(learning.gpus)
    network.to(device)
    mine = list(range(share, len(sequences), shares))
    found = np.zeros((len(sequences), network.n_experts))
    inputs = [sequences[place] for place in mine]
    for places, scores in score_batches(network, examples.encoding, inputs, batch_tokens=batch_tokens, device=device):
        found[[mine[place] for place in places]] = scores
    if shares > 1:
        found = np.sum(_of_all_processes(found, on_cpu=not learning.gpus), axis=0)
    if score == "mean":
        return np.asarray(found.mean(axis=1), dtype=np.float64)
    own = np.repeat(examples.numbers("held_out"), 2)
    return np.asarray(found[np.arange(len(found)), own], dtype=np.float64)


def _of_all_processes(found: Floats, *, on_cpu: bool) -> list[Floats]:
    from accelerate import PartialState
    from accelerate.utils import gather_object

    PartialState(cpu=on_cpu)  # the processes may not be joined yet
    gathered: list[Floats] = gather_object([found])
    return gathered
