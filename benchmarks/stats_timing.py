"""What the benchmarks of the statistics share: CPU time in interleaved rounds, peak memory, a simulated arena.

Figures are ratios to a yardstick of the same run, as clocks of different machines and hours do not compare. Import
this before NumPy: it holds the linear algebra library to one thread, so that CPU time is the time of one core.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np


class Arena(NamedTuple):
    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray
    seed: np.ndarray
    n_players: int

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        return self.left, self.right, self.outcome, self.n_players


def paper_arena(n_players: int = 14, n_seeds: int = 222, spread: float = 80.0, tie: float = 0.2) -> Arena:
    """As many comparisons as the paper has: every pair on every seed in both orders, 40,404 by default."""
    rng = np.random.default_rng(11)
    strength = rng.normal(0.0, spread, n_players)
    i, j = np.triu_indices(n_players, 1)
    left, right = (np.tile(np.concatenate(sides), n_seeds) for sides in ((i, j), (j, i)))
    expected = 1.0 / (1.0 + 10.0 ** ((strength[right] - strength[left]) / 400.0))
    outcome = (rng.random(len(left)) < expected).astype(np.float64)
    outcome[rng.random(len(left)) < tie] = 0.5
    return Arena(left, right, outcome, np.repeat(np.arange(n_seeds), 2 * len(i)), n_players)


def cpu_medians(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median CPU seconds of each call; all of them once per round, after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            begin = time.process_time()
            call()
            if number:
                seconds[name].append(time.process_time() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak_megabytes(call: Callable[[], object]) -> float:
    """Most memory that a call held at once, as NumPy and Python report their allocations."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6
