"""Bradley-Terry ratings with Firth's penalty: bias and coverage where players win or lose nearly everything

Five players meet in both orders on every seed; seeds favour players by a normal effect. Neighbours are 60 to 500 points
apart, so that in small designs maximum likelihood has no rating for some. The truth is what the ratings would be with
infinitely many seeds. To reach: 93% coverage, a bias of at most an eighth of the interval's width. Takes 3 min.
"""

from __future__ import annotations

import sys

import numpy as np

from coverage_ratings import N_PLAYERS, PLACES, SEED_EFFECTS, draw_arena, true_strengths
from dialeval.stats.comparisons import compare
from dialeval.stats.penalised_ratings import penalised_bradley_terry
from gates import Gates, arguments


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for seeds in (5, 20, 60):
        for effect in SEED_EFFECTS.values():
            for step in (60.0, 300.0, 500.0):
                truth, rows, missing = true_strengths(step * PLACES, effect, ties=False), [], 0
                for number in range(options.repetitions):
                    rng = np.random.default_rng([number, seeds, int(effect), int(step)])
                    left, right, outcome, seed = draw_arena(rng, seeds, step * PLACES, effect)
                    found = penalised_bradley_terry(left, right, outcome, N_PLAYERS, cluster=seed)
                    rows.append((found.rating, found.ci_low, found.ci_high))
                    missing += any(compare(left, right, outcome, N_PLAYERS).reasons())
                rating, low, high = np.array(rows).transpose(1, 0, 2)
                there = ~np.isnan(low)
                held = 100.0 * ((low <= truth) & (truth <= high))[there].mean()
                width = float((high - low)[there].mean())
                bias = float(np.abs((rating - truth).mean(axis=0)).max())
                place = f"{seeds} seeds, {step:g} points, seed effect {effect:g}"
                share = missing / options.repetitions
                note = f"{width:.0f} points wide; maximum likelihood lacks a rating in {share:.0%} of the tables"
                gates.at_least(f"coverage, {place}", held, 93.0 - 1.5, unit="%", note=note)
                gates.at_most(f"largest bias, {place}", bias, width / 8.0, unit="points")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
