"""Training of an expert network: from its newest checkpoint where there is one, to the weights that are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dialeval.config.training import EncoderTraining
from dialeval.training.arguments import LOGS, micro_batch, training_arguments
from dialeval.training.checkpoints import newest_checkpoint, remove_incomplete
from dialeval.training.clock import running_clock, seconds_of
from dialeval.training.encoder.collation import Collation
from dialeval.training.encoder.examples import ExampleSet
from dialeval.training.encoder.order import ExpertOrder
from dialeval.training.launching import is_first, processes


@dataclass(frozen=True)
class Learned:
    """How a training went.

    Attributes:
        curve: rows of the table `training/curve` without the judge.
        steps, best_step: how many, and whose weights were kept.
        epochs: passes over the examples.
        seconds: of training, those before a restart included.
        n_inputs: how many inputs were learned from, repetitions counted.
        n_tokens: their tokens.
    """

    curve: list[dict[str, Any]]
    steps: int
    best_step: int
    epochs: float
    seconds: float
    n_inputs: int
    n_tokens: int


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
    """Trains a network in place.

    Args:
        name: the judge's, for messages.
        network: an `ExpertNetwork`, as it begins.
        examples: what it learns from and is stopped by.
        learning: how.
        checkpoints: folder of this training's checkpoints.
        batch_tokens: tokens that are computed at once where nothing is learned.
        random_seed: of the order and of dropout.

    Raises:
        UserError: the loss is no number.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback

    from dialeval.training.encoder.development import Development
    from dialeval.training.encoder.trainer import ExpertTrainer, Progress, StopAtNoNumber

    at_once, accumulated = micro_batch(learning)
    together = accumulated * (n_processes := processes(learning.gpus))
    segments = examples.encoding.has_segments and network.takes_segments
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
    every = max(1, math.ceil(order.steps / learning.evaluations))
    arguments = training_arguments(
        learning,
        checkpoints,
        len(collation),
        random_seed,
        num_train_epochs=1,  # the order is that of all passes
        max_steps=order.steps,
        warmup_steps=round(learning.warmup_share * order.steps),
        eval_steps=every,
        save_steps=every,
        logging_steps=max(1, min(every, order.steps // LOGS)),
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
    look = partial(
        development.look, network, arguments.device, share=arguments.process_index, shares=arguments.world_size
    )
    trainer = ExpertTrainer(
        order=order,
        level=examples.level,
        margin=learning.margin,
        head_learning_rate=learning.head_learning_rate or learning.learning_rate,
        look=look,
        model=network,
        args=arguments,
        train_dataset=range(len(collation)),
        eval_dataset=[None],
        data_collator=collation.batch,
    )
    trainer.add_callback(running_clock())
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Progress(name, len(order) / len(collation)))
    trainer.add_callback(StopAtNoNumber(name))
    if learning.patience is not None:
        trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=learning.patience))
    if is_first():
        remove_incomplete(checkpoints, n_processes)
    newest = newest_checkpoint(checkpoints, n_processes)
    if newest and is_first():
        print(f"{name}: going on from {newest}", flush=True)
    trainer.train(resume_from_checkpoint=str(newest) if newest else None)

    state = trainer.state
    history = list(state.log_history)
    if not any("eval_loss" in entry and entry["step"] == state.global_step for entry in history):
        history.append({**look(), "step": state.global_step, "epoch": state.epoch})
    passes = len(order) / len(collation)
    n_done = state.global_step * at_once * together
    return Learned(
        curve=_curve(history, passes),
        steps=state.global_step,
        best_step=(state.best_global_step if learning.patience is not None else None) or state.global_step,
        epochs=n_done / len(collation),
        seconds=seconds_of(trainer),
        n_inputs=n_done * (1 if examples.level == "turn" else 2),
        n_tokens=int(state.num_input_tokens_seen),
    )


def _curve(history: Sequence[dict[str, Any]], passes: float) -> list[dict[str, Any]]:
    """Returns what was logged as rows of the curve; the one pass that the trainer knows of is all passes."""
    rows: list[dict[str, Any]] = []
    for entry in history:
        at = {"step": int(entry["step"]), "epoch": float(entry["epoch"] or 0.0) * passes}
        if "eval_loss" in entry:
            rows.append(at | {"measured": "development", "loss": entry["eval_loss"], "auc": entry["eval_auc"]})
        elif "loss" in entry:
            rows.append(at | {"measured": "training", "loss": float(entry["loss"]), "auc": None})
    return rows
