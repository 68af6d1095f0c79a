"""Training of a low-rank adapter that learns to judge.

What is minimised is the negative logarithm of the probability of the answer, Yes or No, and of nothing behind it: that
is what a judge's answer is read from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from dialeval.config.models import VllmModel
from dialeval.config.training import LoraTraining
from dialeval.engines.label_probabilities import LabelTree
from dialeval.engines.vllm_engine.model_files import name_or_folder
from dialeval.engines.vllm_engine.prompts import Prompts
from dialeval.errors import UserError
from dialeval.stats.auc import pairwise_accuracy
from dialeval.training.lora_questions import LoraQuestion, ShuffledOrder, keeps_few, label_scores, padded
from dialeval.training.running import (
    Learned,
    Memory,
    device_of,
    micro_batch,
    processes,
    steps_of,
    training_arguments,
    training_memory,
)
from dialeval.training.weights import (
    rows_digest,
    training_fingerprint,
    versions_of,
)

_IGNORED = -100


def with_adapter(model: Any, learning: LoraTraining) -> Any:
    """Return a model with an adapter that changes nothing yet; its own weights are frozen."""
    from peft import LoraConfig, get_peft_model

    adapter = LoraConfig(
        r=learning.rank,
        lora_alpha=learning.alpha,
        lora_dropout=learning.dropout,
        target_modules=sorted(learning.target_modules),
        task_type="CAUSAL_LM",
    )
    if learning.gradient_checkpointing:
        model.enable_input_require_grads()
    output = model.get_output_embeddings()
    if output is not None:  # torch copies frozen weights once per row of an input that is a slice, as of last positions
        output.register_forward_pre_hook(lambda _, inputs: (inputs[0].contiguous(), *inputs[1:]))
    return get_peft_model(model, adapter)


def train_adapter(
    name: str,
    model: Any,
    learning: LoraTraining,
    train: Sequence[LoraQuestion],
    development: Sequence[LoraQuestion],
    tree: LabelTree,
    checkpoints: Path,
    *,
    random_seed: int,
    filling: int,
) -> Learned:
    """Train the adapter of a model in place, from its newest checkpoint where there is one.

    Args:
        name: the judge's.
        model: of `with_adapter`.
        learning: how.
        train: what is learned from.
        development: what is looked at meanwhile; it may be empty.
        tree: the spellings of the labels.
        checkpoints: folder of this training's checkpoints.
        random_seed: of the order and of dropout.
        filling: token to fill rows up with.
    """
    arguments = training_arguments(
        learning, checkpoints, steps_of(learning, len(train)), random_seed, evaluates=bool(development)
    )
    at_once, accumulated = micro_batch(learning)
    batch_size = at_once * accumulated * processes(learning.gpus)
    order = ShuffledOrder([one.length for one in train], batch_size, random_seed)
    development_metrics = partial(_evaluate, model, development, tree, filling, batch_tokens=at_once * learning.cutoff)
    trainer = _trainer(model, arguments, list(train), order, development_metrics, filling)
    learned: Learned = trainer.learn(
        name, checkpoints, gpus=learning.gpus, patience=learning.patience, evaluates=bool(development)
    )
    return learned


def _evaluate(
    model: Any, questions: Sequence[LoraQuestion], tree: LabelTree, filling: int, batch_tokens: int
) -> dict[str, float]:
    """Return the loss and the AUC of some questions."""
    found = label_scores(model, [one.prompt for one in questions], tree, filling=filling, batch_tokens=batch_tokens)
    loss = fmean(-one.spelled[question.answer] for question, one in zip(questions, found, strict=True))
    scores = [0.5 if one.score is None else one.score for one in found]
    auc = pairwise_accuracy(scores, [one.good for one in questions])
    return {"eval_loss": loss} | ({} if auc is None else {"eval_auc": auc})


def _trainer(
    model: Any,
    arguments: Any,
    train: list[LoraQuestion],
    order: ShuffledOrder,
    development_metrics: Callable[[], dict[str, float]],
    filling: int,
) -> Any:
    """Return a Trainer that learns only the answers, in our order, with our evaluation of the development part."""
    import torch
    from transformers import TrainerCallback

    from dialeval.training.trainer import OrderedTrainer

    few = keeps_few(model)

    class AnswerTrainer(OrderedTrainer):
        def compute_loss(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
            answers = inputs.pop("answers")
            last = answers.shape[1]
            logits = model(**inputs, use_cache=False, **({"logits_to_keep": last + 1} if few else {})).logits
            losses = torch.nn.functional.cross_entropy(
                logits[:, -last - 1 : -1].flatten(0, 1).float(),
                answers.flatten(),
                ignore_index=_IGNORED,
                reduction="sum",
            )
            return losses / len(answers)

    def collate(questions: list[LoraQuestion]) -> dict[str, Any]:
        longest = max(len(one.answer) for one in questions)
        answers = torch.full((len(questions), longest), _IGNORED)
        for place, one in enumerate(questions):
            answers[place, longest - len(one.answer) :] = torch.tensor(one.answer)
        return padded([[*one.prompt, *one.answer] for one in questions], filling) | {"answers": answers}

    class Epochs(TrainerCallback):  # type: ignore[misc]
        def on_epoch_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            order.set_epoch(int(round(state.epoch or 0.0, 6)))

    trainer = AnswerTrainer(
        order=order,
        development_metrics=development_metrics,
        model=model,
        args=arguments,
        train_dataset=train,
        data_collator=collate,
    )
    trainer.add_callback(Epochs())  # a loader that skips what was learned does not always reach the order
    return trainer


# The model that an adapter is trained on: looked at before it is loaded, then loaded.


class Base:
    """A causal language model of transformers, by its configuration.

    Args:
        prompts: its prompts.
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
        """Return the memory that the training takes, from the model laid out without content.

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
        """Return the model where this process computes, in the number format of the training.

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
            raise UserError(
                f"model '{self._model.model}' cannot be loaded for training: {error}; correct `model` or `revision`"
            ) from error
        return model.to(device_of(learning.gpus))


def _filling(tokenizer: Any, model: VllmModel) -> int:
    """Return the padding token; any token serves, since none attends to it."""
    if tokenizer.pad_token_id is not None:
        return int(tokenizer.pad_token_id)
    end = tokenizer.eos_token_id
    print(
        f"note: the tokenizer of {model.model} has no padding token;  "
        + ("its end-of-sequence token is used" if end is not None else "its first token is used"),
        flush=True,
    )
    return int(end if end is not None else 0)


# What the training of an adapter, and all that it gives, is known by.

DECIDES = ("model", "chat_template", "chat_template_options", "reasoning_parser", "trust_remote_code", "lora")
"""Fields of a model that decide what its adapter learns, beside the content of its weights."""


def lora_fingerprint(
    name: str, prompts: Prompts, parts: Mapping[str, Sequence[LoraQuestion]], random_seed: int, code: str
) -> str:
    """Return the fingerprint of a training: its checkpoints are of no other.

    Args:
        name: the judge's.
        prompts: those of its model.
        parts: the questions by part; what is held out counts too, since its scores are among what a training gives.
        random_seed: of the run.
        code: fingerprint of the stage's code.
    """
    rows = (
        {"part": part, "id": one.example_id, "good": one.good, "prompt": one.prompt, "answer": one.answer}
        for part, questions in parts.items()
        for one in questions
    )
    model = json.loads(prompts.model.canonical())
    return training_fingerprint(
        name=name,
        rows=rows_digest(rows),
        base=prompts.weights or prompts.model.revision,
        model={field: model[field] for field in DECIDES},
        template=prompts.template.text,
        random_seed=random_seed,
        versions=versions_of("torch", "transformers", "peft", "accelerate"),
        code=code,
    )
