"""What ends a training from outside is told in words, and what is a mistake of ours is not."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.errors import UserError
from dialeval.training.failures import check_numbers, in_words


class OutOfMemoryError(RuntimeError):
    """Called as torch's is."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
            "judge: the memory is too small .*lower micro",
        ),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "gradient_checkpointing: true"),
        (
            RuntimeError("[enforce fail] PytorchStreamWriter failed writing file data/3"),
            "the disk of results_dir is full",
        ),
        (RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 344896 vs 344788"), "make room and"),
        (
            OSError(28, "No space left on device"),
            "run the same command again: the training goes on from its last whole",
        ),
    ],
)
def test_what_ran_out_is_told(error: Exception, words: str) -> None:
    with pytest.raises(UserError, match=words), in_words("judge"):
        raise error


def test_a_mistake_of_ours_stays_what_it_is() -> None:
    with pytest.raises(KeyError), in_words("judge"):
        raise KeyError("input_ids")


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    def curve(*losses: float | None) -> list[dict[str, Any]]:
        return [{"step": 5 * place, "loss": loss} for place, loss in enumerate(losses)]

    check_numbers("judge", curve(0.7, None, 0.5))
    with pytest.raises(UserError, match=r"judge: from step 5 on the loss is not a number: lower the learning_rate"):
        check_numbers("judge", curve(0.7, float("nan"), float("inf")))
