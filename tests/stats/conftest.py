"""Simulated arenas, the three cases in which the end of a shuffle is not enough, and real battles where they lie."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import evalica
import numpy as np
import pytest

BATTLES = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "battles" / "crowd-comparisons.csv"


class Arena(NamedTuple):
    """Comparisons as the rating functions take them, and the strengths they were drawn from."""

    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray
    seed: np.ndarray
    n_players: int
    strength: np.ndarray

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        return self.left, self.right, self.outcome, self.n_players

    def take(self, rows: np.ndarray) -> Arena:
        return self._replace(
            left=self.left[rows], right=self.right[rows], outcome=self.outcome[rows], seed=self.seed[rows]
        )


def draw_arena(n_players: int, n_seeds: int, *, random_seed: int = 0, spread: float = 80.0, tie: float = 0.2) -> Arena:
    """Every pair of players meets on every seed, in both orders; Bradley-Terry outcomes, ties at random."""
    rng = np.random.default_rng(random_seed)
    strength = rng.normal(0.0, spread, n_players)
    i, j = np.triu_indices(n_players, 1)
    left = np.tile(np.concatenate([i, j]), n_seeds)
    right = np.tile(np.concatenate([j, i]), n_seeds)
    seed = np.repeat(np.arange(n_seeds), 2 * len(i))
    expected = 1.0 / (1.0 + 10.0 ** ((strength[right] - strength[left]) / 400.0))
    outcome = (rng.random(len(left)) < expected).astype(np.float64)
    outcome[rng.random(len(left)) < tie] = 0.5
    return Arena(left, right, outcome, seed, n_players, strength)


def nearly_always_wins() -> Arena:
    """Player 0 wins 99.5% of its comparisons."""
    arena = draw_arena(14, 222, random_seed=1)
    rng = np.random.default_rng(2)
    outcome = arena.outcome.copy()
    wins = rng.random(len(outcome)) < 0.995
    for side, won in ((arena.left, 1.0), (arena.right, 0.0)):
        mine = side == 0
        outcome[mine] = np.where(wins[mine], won, 1.0 - won)
    return arena._replace(outcome=outcome)


def rarely_plays() -> Arena:
    """Player 0 takes part in 5% of the comparisons that the others have."""
    arena = draw_arena(14, 222, random_seed=3)
    has_it = (arena.left == 0) | (arena.right == 0)
    kept = ~has_it | (np.random.default_rng(4).random(len(has_it)) < 0.05)
    return arena.take(np.flatnonzero(kept))


@pytest.fixture
def arena() -> Callable[..., Arena]:
    return draw_arena


@pytest.fixture(scope="session")
def paper_scale() -> Arena:
    """14 models, 222 seeds, both orders: 40,404 comparisons."""
    return draw_arena(14, 222, random_seed=11)


@pytest.fixture(params=["nearly always wins", "rarely plays", "small K"], scope="session")
def bad_case(request: pytest.FixtureRequest) -> tuple[Arena, float]:
    """An arena and a K for which a short end of a shuffle gives wrong ratings."""
    if request.param == "nearly always wins":
        return nearly_always_wins(), 32.0
    if request.param == "rarely plays":
        return rarely_plays(), 32.0
    return draw_arena(14, 222, random_seed=5), 4.0


@pytest.fixture
def evalica_winners() -> Callable[[np.ndarray], list[evalica.Winner]]:
    names = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    return lambda outcome: [names[float(value)] for value in outcome]


@pytest.fixture(scope="session")
def battles() -> Arena:
    """Real human votes on 59 models; skipped where the file is not there."""
    if not BATTLES.exists():
        pytest.skip("the public battle table is not there (data/battles/crowd-comparisons.csv)")
    with BATTLES.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row[side] for row in rows for side in ("left", "right")})
    number = {name: index for index, name in enumerate(names)}
    points = {"left": 1.0, "tie": 0.5, "right": 0.0}
    return Arena(
        left=np.array([number[row["left"]] for row in rows]),
        right=np.array([number[row["right"]] for row in rows]),
        outcome=np.array([points[row["winner"]] for row in rows]),
        seed=np.array([int(row["prompt"]) for row in rows]),
        n_players=len(names),
        strength=np.full(len(names), np.nan),
    )
