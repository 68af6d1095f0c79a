"""transformers' Trainer, which keeps checkpoints and spreads the work, with our order, loss and looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from transformers import Trainer, TrainerCallback

from dialeval.criteria import Level
from dialeval.errors import UserError
from dialeval.training.encoder.losses import loss_of
from dialeval.training.encoder.order import ExpertOrder

Look = Callable[[], Mapping[str, float]]


class ExpertTrainer(Trainer):  # type: ignore[misc]
    """Trains an `ExpertNetwork`.

    Args:
        order: of the examples, of which batches are cut.
        level: of the set.
        margin: of the ranking loss.
        head_learning_rate: of heads and adapters.
        look: returns `eval_loss` and `eval_auc` of the development part.
        more: as the Trainer's own.
    """

    control: Any
    optimizer: Any

    def __init__(
        self,
        *,
        order: ExpertOrder,
        level: Level,
        margin: float,
        head_learning_rate: float,
        look: Look,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.model_accepts_loss_kwargs = False  # the loss is a mean over the batch
        self._order, self._level, self._margin, self._look = order, level, margin, look
        self._head_learning_rate = head_learning_rate

    def _get_train_sampler(self, *_: Any) -> Any:
        return self._order

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> Any:
        """Returns the loss of a batch."""
        good = inputs.pop("good")
        return loss_of(self._level, model(**inputs), good, self._margin)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Looks at the development part."""
        metrics = dict(self._look())
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def create_optimizer(self, model: Any = None) -> Any:
        """Makes AdamW, with a learning rate of their own for heads and adapters; biases and norms do not decay."""
        if self.optimizer is None:
            network = self.model if model is None else model
            decaying = set(self.get_decay_parameter_names(network))
            groups: dict[tuple[bool, bool], list[Any]] = {}
            for name, weight in network.named_parameters():
                if weight.requires_grad:
                    groups.setdefault((name.startswith("body."), name in decaying), []).append(weight)
            rates = {True: self.args.learning_rate, False: self._head_learning_rate}
            self.optimizer = torch.optim.AdamW(
                [
                    {"params": weights, "lr": rates[of_body], "weight_decay": self.args.weight_decay * decays}
                    for (of_body, decays), weights in sorted(groups.items())
                ],
                lr=self.args.learning_rate,
            )
        return self.optimizer


class Progress(TrainerCallback):  # type: ignore[misc]
    """Says now and then how far a training is, in place of the Trainer's own dictionaries.

    Args:
        name: the judge's.
        passes: over the examples, all steps together.
    """

    def __init__(self, name: str, passes: float) -> None:
        self._name, self._passes = name, passes

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, float] | None = None, **_: Any) -> None:
        """Says what is logged."""
        passes = (state.epoch or 0) * self._passes
        at = f"{self._name}: step {state.global_step} of {state.max_steps}, pass {passes:.2f}"
        if not state.is_world_process_zero or logs is None:
            return
        if "eval_loss" in logs:
            print(f"{at}: development loss {logs['eval_loss']:.4f}, AUC {logs['eval_auc']:.3f}", flush=True)
        elif "loss" in logs:
            print(f"{at}: loss {logs['loss']:.4f}", flush=True)


class StopAtNoNumber(TrainerCallback):  # type: ignore[misc]
    """Ends a training whose loss is no number, before a checkpoint is made of it.

    Args:
        name: the judge's.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, float] | None = None, **_: Any) -> None:
        """Looks at what is logged."""
        for loss in ("loss", "eval_loss"):
            if logs and not torch.isfinite(torch.tensor(float(logs.get(loss, 0.0)))):
                raise UserError(
                    f"{self._name}: from step {state.global_step} on the loss is not a number: lower learning_rate and "
                    "head_learning_rate, raise warmup_share, or take precision: bfloat16 or float32"
                )
