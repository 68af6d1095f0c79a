"""Ratings at the size of public arenas: from a table of battles to ratings, intervals and differences; and single fits.

Three tables of 2,000,000 battles between 150 models, each rated by the stage `rate_battles` as the workflow runs it, in
a process of its own whose processor time and peak memory are taken, and fits of 1,000 players. In the third table
models met unequally, the rarest a tenth as often as the mean: Elo then forgets slowly.

Takes 4 min.

    python benchmarks/ratings_at_scale.py
    python benchmarks/ratings_at_scale.py --models 50 --battles 200000
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from dialeval.stats.bradley_terry import bradley_terry
from gates import Gates, arguments

CLUSTERS = 200
RESAMPLES = 100
PLAYERS, GAMES = 1_000, 200_000
SPREAD = 120.0
TIE = 0.3


Result = TypeVar("Result")


class Drawn(NamedTuple):
    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray


class Cost(NamedTuple):
    seconds: float
    gigabytes: float


def draw(n_players: int, n: int, *, uneven: bool = False) -> Drawn:
    """Battles of players of normal strength, every pair equally likely; or each player with a popularity of its own."""
    rng = np.random.default_rng(0)
    strength = rng.normal(0.0, SPREAD, n_players)
    share = rng.dirichlet(np.full(n_players, 2.0)) if uneven else None
    left, right = (rng.choice(n_players, n, p=share) for _ in range(2))
    while (same := left == right).any():
        right[same] = rng.choice(n_players, int(same.sum()), p=share)
    outcome = (rng.random(n) < 1.0 / (1.0 + 10.0 ** ((strength[right] - strength[left]) / 400.0))).astype(np.float64)
    outcome[rng.random(n) < TIE] = 0.5
    return Drawn(left, right, outcome)


def alone(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in a process of its own: what this one holds would count as memory of those that it starts."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def write_battles(path: Path, n_players: int, n: int, uneven: bool) -> None:
    battles = draw(n_players, n, uneven=uneven)
    names = np.array([f"model-{number:04}" for number in range(int(battles.left.max()) + 1)])
    columns = {
        "left": names[battles.left],
        "right": names[battles.right],
        "winner": np.array(["right", "tie", "left"])[(2 * battles.outcome).astype(int)],
        "prompt": np.random.default_rng(1).integers(0, CLUSTERS, len(battles.left)),
    }
    pd.DataFrame(columns).to_csv(path, index=False)


def rate_table(folder: Path, path: Path, cluster: str | None) -> Cost:
    """What the stage takes, of processor time and of memory at most, with its start."""
    elo = {"k": 32.0, "scale": 400.0, "initial": 1000.0, "shuffles": 1000, "repeats": 10, "resamples": RESAMPLES}
    settings = {"left": "left", "right": "right", "winner": None, "cluster": cluster, "elo": elo, "random_seed": 0}
    outputs = ("table", "csv", "differences", "differences_csv")
    names = [word for name in outputs for word in (f"--{name.replace('_', '-')}", str(folder / name))]
    command = [sys.executable, "-m", "dialeval.stages", "rate_battles", "--settings", json.dumps(settings)]
    process = subprocess.Popen([*command, "--battles", str(path), *names])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"rate_battles ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9)


def fit(name: str) -> Cost:
    """What one fit takes: its processor time, and the peak of a process that does nothing else."""
    battles = draw(PLAYERS, GAMES)
    begin = time.process_time()
    bradley_terry(*battles, PLAYERS, ties="davidson" if name == "Davidson" else "half")
    return Cost(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--models", type=int, default=150)
    parser.add_argument("--battles", type=int, default=2_000_000)
    options: argparse.Namespace = parser.parse_args()
    gates = Gates(__file__, options)
    size = f"{options.models} models x {options.battles:,} battles"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "battles.csv"
        for uneven, what, cluster in (
            (False, "models met alike, each its own cluster", None),
            (False, f"models met alike, {CLUSTERS} clusters", "prompt"),
            (True, "models met unequally, each its own cluster", None),
        ):
            alone(write_battles, path, options.models, options.battles, uneven)
            cost = rate_table(folder, path, cluster)
            note = f"{RESAMPLES} resamples, 10 x 1000 shuffles"
            gates.at_most(f"{size}, {what}", cost.seconds, 60.0, unit="CPU s", note=note)
            gates.at_most(f"the same, peak memory of its process, {what}", cost.gigabytes, 2.0, unit="GB")
    for name in ("Bradley-Terry", "Davidson"):
        cost = alone(fit, name)
        gates.at_most(f"{PLAYERS:,} players x {GAMES:,} games, {name}", cost.seconds, 2.0, unit="CPU s", note="a fit")
        gates.at_most(f"the same, peak memory of its process, {name}", cost.gigabytes, 0.5, unit="GB")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
