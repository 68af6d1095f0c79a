"""The model that an adapter is trained on: looked at before it is loaded, then loaded."""

from __future__ import annotations

import os
from typing import Any

from dialeval.config.training import LoraTraining
from dialeval.config.vllm_model import VllmModel
from dialeval.engines.vllm_engine.loading import name_or_folder
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.errors import UserError
from dialeval.training.arguments import micro_batch
from dialeval.training.lora.label_scores import keeps_few
from dialeval.training.memory import Memory, training_memory


class Base:
    """A causal language model of transformers, by its configuration.

    Args:
        prompts: how it is asked.
        learning: what is to be trained on it.

    Attributes:
        filling: token that rows are filled up with.

    Raises:
        UserError: it cannot be trained so.
    """

    def __init__(self, prompts: Prompts, learning: LoraTraining) -> None:
        from transformers import AutoConfig

        self._model = prompts.model
        self._learning = learning
        self._options: dict[str, Any] = {
            "revision": None if prompts.weights.startswith("sha256:") else prompts.model.revision,
            "trust_remote_code": prompts.model.trust_remote_code,
        }
        self._config = AutoConfig.from_pretrained(name_or_folder(prompts.model), **self._options)
        self._shape = self._config.get_text_config()
        self.filling = _filling(prompts.tokenizer, prompts.model)
        window = getattr(self._shape, "max_position_embeddings", None)
        if window and learning.cutoff > window:
            raise UserError(
                f"lora.cutoff: {learning.cutoff} tokens are beyond the window of {prompts.model.model}, {window}; set "
                f"cutoff: {window} or less"
            )

    def check(self) -> Memory:
        """Returns the memory that the training takes, from the model laid out without content.

        Raises:
            UserError: the model has no such projections.
        """
        import torch
        from transformers import AutoModelForCausalLM

        with torch.device("meta"):
            empty = AutoModelForCausalLM.from_config(self._config, trust_remote_code=self._options["trust_remote_code"])
        linear = {name: part for name, part in empty.named_modules() if isinstance(part, torch.nn.Linear)}
        wanted = set(self._learning.target_modules)
        chosen = {name: part for name, part in linear.items() if name.rpartition(".")[2] in wanted or name in wanted}
        missing = sorted(wanted - {name.rpartition(".")[2] for name in chosen} - set(chosen))
        if missing:
            there = sorted({name.rpartition(".")[2] for name in linear})
            raise UserError(
                f"lora.target_modules: {self._model.model} has no {', '.join(missing)}; its projections are "
                f"{', '.join(there)}"
            )
        at_once, _ = micro_batch(self._learning)
        tokens = at_once * self._learning.cutoff
        return training_memory(
            empty.num_parameters(),
            sum(self._learning.rank * (part.in_features + part.out_features) for part in chosen.values()),
            self._shape,
            precision=self._learning.precision,
            tokens=tokens,
            checkpointing=self._learning.gradient_checkpointing,
            words=2 * at_once if keeps_few(empty) else tokens,
        )

    def load(self) -> Any:
        """Returns the model where this process computes, in the number format of the training.

        Raises:
            UserError: it cannot be loaded.
        """
        import torch
        from transformers import AutoModelForCausalLM
        from transformers.utils import logging

        learning = self._learning
        logging.disable_progress_bar()
        try:
            model = AutoModelForCausalLM.from_pretrained(
                name_or_folder(self._model), dtype=getattr(torch, learning.precision), **self._options
            )
        except (OSError, ValueError, ImportError) as error:
            raise UserError(f"model '{self._model.model}' cannot be loaded for training: {error}") from error
        return model.to(device_of(learning))


def device_of(learning: LoraTraining) -> str:
    """Returns the device of this process, in torch's words."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if learning.gpus else "cpu"


def _filling(tokenizer: Any, model: VllmModel) -> int:
    """Returns a token to fill rows up with; nothing looks at it, so any will do."""
    if tokenizer.pad_token_id is not None:
        return int(tokenizer.pad_token_id)
    end = tokenizer.eos_token_id
    print(
        f"note: the tokenizer of {model.model} has no token for filling rows up; "
        + ("its end of sequence serves" if end is not None else "its first token serves"),
        flush=True,
    )
    return int(end if end is not None else 0)
