"""Settled, torch draws and computes the same every time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dialeval.training.determinism import settle

pytestmark = pytest.mark.train


def test_every_source_of_randomness_begins_anew() -> None:
    import torch

    drawn = []
    for _ in range(2):
        settle(3, on_cpu=True)
        drawn.append((random.random(), float(np.random.rand()), float(torch.rand(1))))
    assert drawn[0] == drawn[1]
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == 1
