"""The encoder that a training begins with: looked at before it is loaded, then loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dialeval.config.models import EncoderModel
from dialeval.criteria import Level
from dialeval.engines.encoder.encoding import Encoding
from dialeval.engines.encoder.folder import folder_digest
from dialeval.errors import UserError
from dialeval.training.arguments import micro_batch
from dialeval.training.memory import Memory, training_memory

_UNBOUNDED = 10**6
"""Length from which on a tokenizer means that it knows of none."""
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
        if getattr(self.config, "is_encoder_decoder", False):
            raise UserError(
                f"models.{name}.model: {model.model} is no encoder (it is of type {self.config.model_type})"
            )

    def encoding(self, level: Level) -> Encoding:
        """Returns how examples become tokens.

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
        """Returns an estimate of the memory that the training takes, from the encoder laid out without content."""
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
        """Returns the network with the encoder's weights, its heads and adapters drawn.

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
                f"{self.config.model_type}, such as {missing[0]}; name an encoder whose weights are whole"
            )
        network = ExpertNetwork(body, n_experts, adapter_size=train.adapter_size, dropout=train.dropout)
        if train.freeze_body:
            network.body.requires_grad_(False)
        return network

    def _laid_out(self, n_experts: int) -> Any:
        import torch
        import transformers

        from dialeval.engines.encoder.network import ExpertNetwork

        train = self._model.train
        assert train
        with torch.device("meta"):
            body = transformers.AutoModel.from_config(self.config)
            return ExpertNetwork(body, n_experts, adapter_size=train.adapter_size)

    def _longest(self) -> int:
        """Returns the longest input that the encoder and its tokenizer know of."""
        body = self._laid_out(1).body
        places = getattr(getattr(body, "embeddings", None), "position_embeddings", None)
        limits = [int(self.tokenizer.model_max_length)] if self.tokenizer.model_max_length < _UNBOUNDED else []
        if places is not None and hasattr(places, "num_embeddings"):
            first = 0 if places.padding_idx is None else int(places.padding_idx) + 1  # RoBERTa counts from there
            limits.append(int(places.num_embeddings) - first)
        return min(limits, default=_UNBOUNDED)

    def _cannot_be_loaded(self, error: Exception) -> UserError:
        said = " ".join(str(error).split())[:400] or repr(error)
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
        remedy = (
            "HF_HUB_OFFLINE is set, so that nothing is fetched: unset it, or name a folder that holds the encoder"
            if offline
            else "name an encoder at Hugging Face (and HF_TOKEN where it asks for consent) or a folder that holds one; "
            "without a network, fetch it where there is one: hf download NAME"
        )
        return UserError(f"models.{self._name}.model: '{self._model.model}' cannot be loaded: {said}; {remedy}")
