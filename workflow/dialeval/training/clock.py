"""How long a training took, what it did before a restart included."""

from __future__ import annotations

import time
from typing import Any

_NAME = "RunningClock"


def running_clock() -> Any:
    """Returns a callback of transformers' Trainer that counts seconds of training; checkpoints keep its count.

    Looks at the development part do not count. After a restart the Trainer makes a new callback from what the
    checkpoint says (`restore_callback_states_from_checkpoint`): ask `seconds_of`.
    """
    from transformers import TrainerCallback
    from transformers.trainer_callback import ExportableState

    class RunningClock(TrainerCallback, ExportableState):  # type: ignore[misc]
        def __init__(self, seconds: float = 0.0) -> None:
            self.seconds = seconds
            self._since = time.monotonic()

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self._since = time.monotonic()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            self._count()

        def on_evaluate(self, *_: Any, **__: Any) -> None:
            self._since = time.monotonic()

        def state(self) -> dict[str, Any]:
            return {"args": {"seconds": self.seconds}, "attributes": {}}

        def _count(self) -> None:
            now = time.monotonic()
            self.seconds, self._since = self.seconds + now - self._since, now

    assert RunningClock.__name__ == _NAME
    return RunningClock()


def seconds_of(trainer: Any) -> float:
    """Returns the seconds that a Trainer's clock has counted."""
    clock = next(one for one in trainer.callback_handler.callbacks if type(one).__name__ == _NAME)
    return float(clock.seconds)
