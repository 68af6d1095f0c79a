"""How far a training is, as lines that read well on a terminal and in a log file."""

from __future__ import annotations

import time
from typing import Any


def tell_progress(trainer: Any, name: str) -> None:
    """Has a Trainer of transformers say how far it is, in place of the dictionaries that it prints.

    Args:
        trainer: the Trainer.
        name: the judge's.
    """
    from transformers import PrinterCallback, TrainerCallback

    class Progress(TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self._since = time.monotonic()
            self._first = 0

        def on_train_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
            self._since, self._first = time.monotonic(), state.global_step

        def on_log(self, _: Any, state: Any, __: Any, logs: dict[str, Any] | None = None, **___: Any) -> None:
            if state.is_world_process_zero and (words := _words(logs or {})):
                done = state.global_step - self._first
                rate = done / max(time.monotonic() - self._since, 1e-9)
                left = (state.max_steps - state.global_step) / rate if rate else 0.0
                soon = f", {left:.0f} s left" if left else ""
                print(f"{name}: step {state.global_step}/{state.max_steps}, {words}{soon}", flush=True)

    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(Progress())


def _words(logs: dict[str, Any]) -> str:
    if "eval_loss" in logs:
        auc = f", AUC {logs['eval_auc']:.3f}" if "eval_auc" in logs else ""
        return f"development: loss {logs['eval_loss']:.4f}{auc}"
    return f"loss {logs['loss']:.4f}" if "loss" in logs else ""
