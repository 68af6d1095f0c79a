"""The Trainer of transformers for trained judges: our order and evaluation, its callbacks, and encoders' losses."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback
from transformers.trainer_callback import ExportableState

from dialeval.criteria import Level
from dialeval.engines.encoder.metric import Encoding, Precision, padded
from dialeval.engines.installation import by_length
from dialeval.errors import UserError
from dialeval.stats.auc import pairwise_accuracy
from dialeval.training.encoder_examples import ExampleSet, Ints, Pairs
from dialeval.training.running import Learned, is_first, processes
from dialeval.training.weights import newest_checkpoint, remove_incomplete


class OrderedTrainer(Trainer):  # type: ignore[misc]
    """Trains in a given order, and evaluates the development part by a given function.

    Args:
        order: numbers of the examples, of which batches are cut.
        development_metrics: returns `eval_loss`, and `eval_auc` where it is defined, of the development part.
        more: as the Trainer's own.
    """

    control: Any

    def __init__(
        self, *, order: Iterable[int], development_metrics: Callable[[], Mapping[str, float]], **more: Any
    ) -> None:
        super().__init__(eval_dataset=[None], **more)
        self.model_accepts_loss_kwargs = False  # the loss is a mean over the batch
        self._order, self._metrics = order, development_metrics

    def learn(
        self,
        name: str,
        checkpoints: Path,
        *,
        gpus: int,
        patience: int | None,
        evaluates: bool = True,
        passes: float = 1.0,
        begin: Callable[[], object] = lambda: None,
    ) -> Learned:
        """Train the model in place, from its newest checkpoint if there is one, and return the course.

        Args:
            name: the judge's, for messages.
            checkpoints: folder of this training's checkpoints.
            gpus: of the configuration.
            patience: evaluations without a better loss that end the training; None to train to the end.
            evaluates: whether there is a development part.
            passes: over the examples, of all epochs of the order together.
            begin: called where there is no checkpoint, before the first step.

        Raises:
            UserError: the loss is not a number.
        """
        clock = RunningClock()
        self.remove_callback(PrinterCallback)
        for callback in (clock, Progress(name, passes), StopAtNoNumber(name)):
            self.add_callback(callback)
        stops_early = evaluates and patience is not None
        if stops_early:
            self.add_callback(EarlyStoppingCallback(early_stopping_patience=patience))
        n_processes = processes(gpus)
        if is_first():  # other processes resume from none of these
            remove_incomplete(checkpoints, n_processes)
        newest = newest_checkpoint(checkpoints, n_processes)
        if newest is None:
            begin()
        elif is_first():
            print(f"{name}: resuming from {newest}", flush=True)
        self.train(resume_from_checkpoint=str(newest) if newest else None)
        state = self.state
        history = list(state.log_history)
        is_evaluated = any("eval_loss" in entry and entry["step"] == state.global_step for entry in history)
        if evaluates and not stops_early and not is_evaluated:
            history.append({**self._metrics(), "step": state.global_step, "epoch": state.epoch})
        # a checkpoint's clock takes the place of the one above
        clock = next(one for one in self.callback_handler.callbacks if isinstance(one, RunningClock))
        return Learned(
            curve=_curve(history, passes),
            steps=state.global_step,
            best_step=(state.best_global_step if stops_early else None) or state.global_step,
            epochs=float(state.epoch or 0.0) * passes,
            seconds=clock.seconds,
            n_tokens=int(state.num_input_tokens_seen),
        )

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Evaluate the development part."""
        metrics = dict(self._metrics())
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _get_train_sampler(self, *_: Any) -> Any:
        return self._order


def _curve(history: Sequence[Mapping[str, Any]], passes: float) -> list[dict[str, Any]]:
    """Return the logged losses as rows of the table `training/curve` without the judge."""
    rows: list[dict[str, Any]] = []
    for entry in history:
        place = {"step": int(entry["step"]), "epoch": float(entry["epoch"] or 0.0) * passes}
        if "eval_loss" in entry:
            rows.append(place | {"measured": "development", "loss": entry["eval_loss"], "auc": entry.get("eval_auc")})
        elif "loss" in entry:
            rows.append(place | {"measured": "training", "loss": float(entry["loss"]), "auc": None})
    return rows


class RunningClock(TrainerCallback, ExportableState):  # type: ignore[misc]
    """Counts seconds of training without evaluations; checkpoints keep the count.

    Args:
        seconds: of training before a restart.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self._since = time.monotonic()

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Start to count."""
        self._since = time.monotonic()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Count the step."""
        now = time.monotonic()
        self.seconds, self._since = self.seconds + now - self._since, now

    def on_evaluate(self, *_: Any, **__: Any) -> None:
        """Exclude the evaluation from the clock."""
        self._since = time.monotonic()

    def state(self) -> dict[str, Any]:
        """Return the contents of a checkpoint."""
        return {"args": {"seconds": self.seconds}, "attributes": {}}


class Progress(TrainerCallback):  # type: ignore[misc]
    """Prints the progress of a training in place of the Trainer's own dictionaries.

    Args:
        name: the judge's.
        passes: over the examples, of all epochs of the order together.
    """

    def __init__(self, name: str, passes: float) -> None:
        self._name, self._passes = name, passes
        self._since, self._first = time.monotonic(), 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start to measure the speed."""
        self._since, self._first = time.monotonic(), state.global_step

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, float] | None = None, **_: Any) -> None:
        """Print the logged values."""
        logs = logs or {}
        if not state.is_world_process_zero or not {"loss", "eval_loss"} & logs.keys():
            return
        loss = f"development loss {logs['eval_loss']:.4f}" if "eval_loss" in logs else f"loss {logs['loss']:.4f}"
        auc = f", AUC {logs['eval_auc']:.3f}" if "eval_auc" in logs else ""
        rate = (state.global_step - self._first) / max(time.monotonic() - self._since, 1e-9)
        left = (state.max_steps - state.global_step) / rate if rate else 0.0
        progress = f"step {state.global_step} of {state.max_steps}, epoch {(state.epoch or 0) * self._passes:.2f}"
        print(f"{self._name}: {progress}: {loss}{auc}" + (f", {left:.0f} s left" if left else ""), flush=True)


class StopAtNoNumber(TrainerCallback):  # type: ignore[misc]
    """Ends a training whose loss is not a number, before its next checkpoint.

    Args:
        name: the judge's.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, float] | None = None, **_: Any) -> None:
        """Check the logged loss."""
        for loss in ("loss", "eval_loss"):
            if logs and not math.isfinite(logs.get(loss, 0.0)):
                raise UserError(
                    f"{self._name}: from step {state.global_step} on the loss is not a number: lower learning_rate "
                    "(for an encoder also head_learning_rate), raise warmup_share, or set precision: bfloat16 or "
                    "float32"
                )


# What encoders add: heads and adapters learn at a rate of their own, and examples of turns and dialogues have a loss.


class ExpertTrainer(OrderedTrainer):
    """Trains an `ExpertNetwork`.

    Args:
        level: of the set.
        margin: of the ranking loss.
        head_learning_rate: of heads and adapters.
        more: as in `OrderedTrainer`.
    """

    optimizer: Any

    def __init__(self, *, level: Level, margin: float, head_learning_rate: float, **more: Any) -> None:
        super().__init__(**more)
        self._level, self._margin, self._head_learning_rate = level, margin, head_learning_rate

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> Any:
        """Return the loss of a batch."""
        good = inputs.pop("good")
        return loss_of(self._level, model(**inputs), good, self._margin)

    def create_optimizer(self, model: Any = None) -> Any:
        """Make AdamW, with a learning rate of their own for heads and adapters; biases and norms do not decay."""
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


# Where heads start: at a logistic regression on what they see of the untrained body (Kumar et al. 2022), so that the
# first steps do not follow a random direction.

FITTED = 2_000
"""Most pairs that a head is fitted to."""
PENALTY = 0.5
"""Weight of half the squared length of a head's weights, for features whose mean square is 1."""


def fit_heads(network: Any, examples: ExampleSet, device: Any, batch_tokens: int, precision: Precision) -> None:
    """Set each head to the logistic regression that separates its positive from its negative examples.

    Args:
        network: an `ExpertNetwork`, as it begins.
        examples: the set; its part `train` is fitted.
        device: where the network is to be.
        batch_tokens: tokens that are computed at once.
        precision: number format of the computation.
    """
    pairs, experts = examples.parts["train"], examples.numbers("train")
    network.to(device)
    for expert, head in enumerate(network.heads):
        mine = np.flatnonzero(experts == expert)
        mine = mine[np.linspace(0, len(mine) - 1, min(len(mine), FITTED)).astype(int)]
        inputs = [pairs.input(int(place)) for place in np.stack([2 * mine, 2 * mine + 1], axis=1).ravel()]
        features = torch.zeros((len(inputs), head.in_features), dtype=torch.float64)
        with _computing(network, device, precision):
            for batch in by_length([len(one.ids) for one in inputs], batch_tokens):
                segments = examples.encoding.segments(network)
                tensors = padded([inputs[place] for place in batch], examples.encoding.pad, device, segments=segments)
                features[batch] = network.pooled(**tensors, expert=expert).double().cpu()
        weights, bias = _logistic_regression(features, torch.tensor([1.0, 0.0]).double().repeat(len(mine)))
        with torch.no_grad():
            head.weight.copy_(weights.unsqueeze(0))
            head.bias.copy_(bias)


def _logistic_regression(features: Any, good: Any) -> tuple[Any, Any]:
    """Return weights, shape [features], and bias, shape [1], of a penalised logistic regression."""
    scale = features.square().mean().sqrt().clamp(min=1e-12)
    scaled = features / scale
    weights = torch.zeros(features.shape[1], dtype=features.dtype, requires_grad=True)
    bias = torch.zeros(1, dtype=features.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimizer.zero_grad()
        found = functional.binary_cross_entropy_with_logits(scaled @ weights + bias, good)
        found = found + PENALTY / 2 * weights.square().sum()
        found.backward()
        return found

    optimizer.step(loss)
    return weights.detach() / scale, bias.detach()


@contextmanager
def _computing(network: Any, device: Any, precision: Precision) -> Iterator[None]:
    """Compute without dropout and gradients in a number format, and put the network back into its mode."""
    was_training, dtype = network.training, getattr(torch, precision)
    network.eval()
    half = torch.autocast(torch.device(device).type, dtype=dtype, enabled=precision != "float32")
    try:
        with torch.inference_mode(), half:
            yield
    finally:
        network.train(was_training)


# What is minimised: cross-entropy of turns (PoE), the margin between a true and a spoiled dialogue (FineD-Eval).


def loss_of(level: Level, logits: Any, good: Any, margin: float) -> Any:
    """Return the mean loss of a batch.

    Turns: binary cross-entropy of each example. Dialogues: max(0, margin - (sigmoid(true) - sigmoid(spoiled))) of each
    pair, whose true examples stand in the first half of the batch and the spoiled ones in the second.

    Args:
        level: which of the two.
        logits: of the examples; shape (examples,).
        good: 1 for true examples, 0 for spoiled ones, likewise.
        margin: of dialogues.
    """
    if level == "turn":
        return functional.binary_cross_entropy_with_logits(logits, good)
    true, negative = torch.sigmoid(logits).chunk(2)
    return functional.margin_ranking_loss(true, negative, torch.ones_like(true), margin=margin)


# How well a network does on the development part: its loss, and how often it tells true examples from spoiled ones.


@dataclass(frozen=True)
class Development:
    """The development part that a training is evaluated on.

    Attributes:
        pairs: of the development part.
        experts: number of the expert of each pair.
        level: of the set.
        encoding: how they became tokens.
        margin: of the ranking loss.
        batch_tokens: tokens that are computed at once.
        precision: number format of the computation.
    """

    pairs: Pairs
    experts: Ints
    level: Level
    encoding: Encoding
    margin: float
    batch_tokens: int
    precision: Precision

    def evaluate(self, network: Any, device: Any, *, share: int = 0, shares: int = 1) -> dict[str, float]:
        """Return `eval_loss` and `eval_auc`: each example is scored by the head that learns from its like.

        Args:
            network: an `ExpertNetwork`.
            device: where it is.
            share, shares: which part of the work is this process's; all must ask.
        """
        logits = self._logits(network, device, share, shares)
        if shares > 1:
            from accelerate.utils import gather_object

            parts: list[Any] = gather_object([logits])
            logits = np.nansum(np.stack(parts), axis=0)
        good = np.tile([1.0, 0.0], len(self.pairs))
        found = torch.from_numpy(logits)
        ordered = torch.cat([found[0::2], found[1::2]])  # the true ones first, as in a batch
        labels = torch.cat([torch.ones(len(self.pairs)), torch.zeros(len(self.pairs))]).double()
        loss = loss_of(self.level, ordered, labels, self.margin)
        auc = pairwise_accuracy(logits, good, np.repeat(self.experts, 2))
        return {"eval_loss": float(loss), "eval_auc": 0.5 if auc is None else auc}

    def _logits(self, network: Any, device: Any, share: int, shares: int) -> Any:
        """Return the logit of every input by its own expert; NaN for inputs of other processes."""
        segments = self.encoding.segments(network)
        lengths, experts = self.pairs.lengths(), np.repeat(self.experts, 2)
        found = np.full(2 * len(self.pairs), np.nan)
        number = 0
        with _computing(network, device, self.precision):
            for expert in np.unique(experts):
                mine = np.flatnonzero(experts == expert)
                for batch in by_length(lengths[mine].tolist(), self.batch_tokens):
                    number += 1
                    if number % shares != share:
                        continue
                    places = mine[batch]
                    inputs = [self.pairs.input(int(place)) for place in places]
                    tensors = padded(inputs, self.encoding.pad, device, segments=segments)
                    found[places] = network(**tensors, expert=int(expert)).double().cpu().numpy()
        return found
