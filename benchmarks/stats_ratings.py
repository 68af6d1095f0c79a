"""Bradley-Terry and Davidson with seed intervals, against evalica.

Takes 10 s.
"""

from __future__ import annotations

import sys

from stats_timing import cpu_medians, paper_arena, peak_megabytes  # isort: skip

import evalica
import numpy as np

from dialeval.stats.bradley_terry import bradley_terry
from gates import Gates, arguments

RESAMPLES = 1000
EVALICA_RESAMPLES = 20
WINNERS = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}


def main() -> int:
    gates = Gates(__file__, arguments(__doc__).parse_args())
    arena = paper_arena()
    rows_of_seed = np.arange(len(arena.left)).reshape(-1, len(arena.left) // (int(arena.seed.max()) + 1))
    rng = np.random.default_rng(3)
    samples = []
    for _ in range(EVALICA_RESAMPLES):
        rows = rows_of_seed[rng.integers(0, len(rows_of_seed), len(rows_of_seed))].ravel()
        winners = [WINNERS[value] for value in arena.outcome[rows].tolist()]
        samples.append((arena.left[rows].tolist(), arena.right[rows].tolist(), winners))

    settings = {"cluster": arena.seed, "resamples": RESAMPLES, "random_seed": 1}
    calls = {
        "Bradley-Terry": lambda: bradley_terry(*arena.arguments, **settings),
        "Davidson": lambda: bradley_terry(*arena.arguments, ties="davidson", **settings),
        "evalica": lambda: [evalica.bradley_terry(*sample, tolerance=1e-9) for sample in samples],
    }
    seconds = cpu_medians(calls, rounds=5)
    seconds["evalica"] *= RESAMPLES / EVALICA_RESAMPLES
    for name, value in seconds.items():
        print(f"{name}: {value:.3f} CPU s for {RESAMPLES} resamples of the seeds")

    winners = [WINNERS[value] for value in arena.outcome.tolist()]
    theirs = evalica.bradley_terry(
        arena.left.tolist(), arena.right.tolist(), winners, tolerance=1e-14, limit=10_000
    ).scores
    strength = np.log(theirs.loc[range(arena.n_players)].to_numpy())
    points = 1000.0 + 400.0 / np.log(10.0) * (strength - strength.mean())
    ours = bradley_terry(*arena.arguments, **settings)
    print(f"Newton steps: {ours.iterations}; unconverged resamples: {ours.unconverged_replicates}")
    gates.at_most("difference from evalica in points", float(np.abs(ours.rating - points).max()), 1e-6)
    gates.at_most("CPU s, Bradley-Terry", seconds["Bradley-Terry"], 0.3)
    gates.at_most("CPU s, Davidson", seconds["Davidson"], 0.3)
    gates.at_least("evalica / Bradley-Terry, per resample", seconds["evalica"] / seconds["Bradley-Terry"], 5.0)
    for name in ("Bradley-Terry", "Davidson"):
        print(f"     peak MB, {name}: {peak_megabytes(calls[name]):.0f}")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
