"""Learning to judge by a low-rank adapter: questions in, adapter out (xDial-Eval, section 5 and appendix F).

What is minimised is the negative logarithm of the probability of the answer, Yes or No, and of nothing behind it: that
is what a judge's answer is read from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from dialeval.config.training import LoraTraining
from dialeval.engines.labels import LabelTree
from dialeval.training.arguments import micro_batch, training_arguments
from dialeval.training.batches import ShuffledOrder, padded
from dialeval.training.checkpoints import newest_checkpoint, remove_incomplete
from dialeval.training.clock import running_clock, seconds_of
from dialeval.training.launching import is_first, processes
from dialeval.training.lora.label_scores import keeps_few, label_scores
from dialeval.training.lora.questions import LoraQuestion
from dialeval.training.telling import tell_progress
from dialeval.training.told_apart import told_apart

_UNREAD = -100


@dataclass(frozen=True)
class LoraResult:
    """How a training went.

    Attributes:
        curve: rows of the table `training/curve` without the judge.
        steps, best_step: how many, and whose weights were kept.
        epochs: passes over the data.
        seconds: of training, those before a restart included.
        trained_parameters: of the adapter.
    """

    curve: list[dict[str, Any]]
    steps: int
    best_step: int
    epochs: float
    seconds: float
    trained_parameters: int


def with_adapter(model: Any, learning: LoraTraining) -> Any:
    """Returns a model with an adapter that changes nothing yet; its own weights are frozen."""
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
) -> LoraResult:
    """Trains the adapter of a model in place, from its newest checkpoint where there is one.

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
    sharing = processes(learning.gpus)
    if is_first():  # others take none of these anyway
        remove_incomplete(checkpoints, sharing)
    newest = newest_checkpoint(checkpoints, sharing)
    if newest:
        print(f"going on from {newest}", flush=True)
    arguments = training_arguments(learning, checkpoints, len(train), random_seed, looks=bool(development))
    stops_early = learning.patience is not None and bool(development)
    at_once, accumulated = micro_batch(learning)
    order = ShuffledOrder([one.length for one in train], at_once * accumulated * sharing, random_seed)

    def look() -> dict[str, float]:
        return _look(model, development, tree, filling, batch_tokens=at_once * learning.cutoff)

    trainer = _trainer(model, arguments, list(train), order, look, filling)
    tell_progress(trainer, name)
    trainer.add_callback(running_clock())
    if stops_early:
        from transformers import EarlyStoppingCallback

        trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=learning.patience))
    trainer.train(resume_from_checkpoint=str(newest) if newest else None)
    state, curve = trainer.state, _curve(trainer.state.log_history)
    if development and not stops_early and not any(row["step"] == state.global_step for row in curve if _is_look(row)):
        curve += _curve([look() | {"step": state.global_step, "epoch": state.epoch}])
    return LoraResult(
        curve=curve,
        steps=state.global_step,
        best_step=(state.best_global_step if stops_early else None) or state.global_step,
        epochs=float(state.epoch or 0.0),
        seconds=seconds_of(trainer),
        trained_parameters=sum(part.numel() for part in model.parameters() if part.requires_grad),
    )


def _look(
    model: Any, questions: Sequence[LoraQuestion], tree: LabelTree, filling: int, batch_tokens: int
) -> dict[str, float]:
    """Returns the loss and the AUC of some questions."""
    found = label_scores(model, [one.prompt for one in questions], tree, filling=filling, batch_tokens=batch_tokens)
    loss = fmean(-one.spelled[question.answer] for question, one in zip(questions, found, strict=True))
    scores = [0.5 if one.score is None else one.score for one in found]
    auc = told_apart(scores, [one.good for one in questions])
    return {"eval_loss": loss} | ({} if auc is None else {"eval_auc": auc})


def _is_look(row: dict[str, Any]) -> bool:
    return bool(row["measured"] == "development")


def _curve(history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns what the Trainer has logged as rows of the curve."""
    rows = []
    for entry in history:
        at = {"step": int(entry["step"]), "epoch": float(entry["epoch"])}
        if "eval_loss" in entry:
            rows.append(at | {"measured": "development", "loss": entry["eval_loss"], "auc": entry.get("eval_auc")})
        elif "loss" in entry:
            rows.append(at | {"measured": "training", "loss": float(entry["loss"]), "auc": None})
    return rows


def _trainer(
    model: Any,
    arguments: Any,
    train: list[LoraQuestion],
    order: ShuffledOrder,
    look: Callable[[], dict[str, float]],
    filling: int,
) -> Any:
    """Returns a Trainer that learns the answers alone, in our order, and looks at the development part our way."""
    import torch
    from transformers import Trainer, TrainerCallback

    few = keeps_few(model)

    class AnswerTrainer(Trainer):  # type: ignore[misc]
        control: Any
        model_accepts_loss_kwargs = False

        def _get_train_sampler(self, *_: Any) -> Any:
            return order

        def compute_loss(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
            answers = inputs.pop("answers")
            last = answers.shape[1]
            logits = model(**inputs, use_cache=False, **({"logits_to_keep": last + 1} if few else {})).logits
            losses = torch.nn.functional.cross_entropy(
                logits[:, -last - 1 : -1].flatten(0, 1).float(),
                answers.flatten(),
                ignore_index=_UNREAD,
                reduction="sum",
            )
            return losses / len(answers)

        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            metrics = look()
            self.log(dict(metrics))
            self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
            return metrics

    def collate(questions: list[LoraQuestion]) -> dict[str, Any]:
        longest = max(len(one.answer) for one in questions)
        answers = torch.full((len(questions), longest), _UNREAD)
        for place, one in enumerate(questions):
            answers[place, longest - len(one.answer) :] = torch.tensor(one.answer)
        return padded([[*one.prompt, *one.answer] for one in questions], filling) | {"answers": answers}

    class Epochs(TrainerCallback):  # type: ignore[misc]
        def on_epoch_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            order.set_epoch(int(round(state.epoch or 0.0, 6)))

    trainer = AnswerTrainer(
        model=model, args=arguments, train_dataset=train, eval_dataset=[None], data_collator=collate
    )
    trainer.model_accepts_loss_kwargs = False
    trainer.add_callback(Epochs())  # a loader that skips what was learned does not always reach the order
    return trainer
