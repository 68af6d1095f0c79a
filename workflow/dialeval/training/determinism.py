"""The same training gives the same weights: on a CPU bit by bit, on a GPU as far as its kernels go."""

from __future__ import annotations

import os
from typing import Any


def settle(random_seed: int, *, on_cpu: bool) -> None:
    """Seeds every source of randomness and has torch compute the same way every time.

    On the CPU one thread computes, since sums are split among threads. On a GPU kernels that have a deterministic
    variant take it; for the others torch warns.

    Args:
        random_seed: of torch, numpy and random.
        on_cpu: whether the training computes there.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch = _torch()
    from transformers import set_seed

    set_seed(random_seed)
    torch.use_deterministic_algorithms(True, warn_only=not on_cpu)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    if on_cpu:
        torch.set_num_threads(1)


def _torch() -> Any:
    import torch

    return torch
