"""Bradley-Terry ratings with Firth's penalty: bias and coverage where players win or lose nearly everything

`--only arena`: five players meet in both orders on every seed; seeds favour players by a normal effect; 20% are ties.
`--only separated`: no ties, and a first player far ahead of four equal ones, for whom maximum likelihood often has no
rating. To reach: 93% coverage. Takes 5 min.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from coverage_ratings import N_PLAYERS, PAIRS, PLACES, POINTS, SEED_EFFECTS, draw_arena, true_strengths
from dialeval.stats.comparisons import compare
from dialeval.stats.penalised_ratings import penalised_bradley_terry
from gates import Gates, arguments

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


def arena() -> Iterator[tuple[str, np.ndarray, Draw]]:
    """Neighbours 60 to 500 points apart; the truth is what the ratings would be with infinitely many seeds."""
    for seeds in (5, 20, 60):
        for effect in SEED_EFFECTS.values():
            for step in (60.0, 300.0, 500.0):

                def draw(rng: np.random.Generator, seeds: int = seeds, step: float = step, effect: float = effect):
                    return draw_arena(rng, seeds, step * PLACES, effect)

                place = f"{seeds} seeds, {step:g} points, seed effect {effect:g}"
                yield place, true_strengths(step * PLACES, effect, ties=False), draw


def separated() -> Iterator[tuple[str, np.ndarray, Draw]]:
    """Every pair meets once on every seed."""
    for seeds, lead, alike in product((5, 10, 20), (500.0, 700.0), (False, True)):
        strength = np.array([lead, 0.0, 0.0, 0.0, 0.0]) - lead / N_PLAYERS

        def draw(rng: np.random.Generator, seeds: int = seeds, strength: np.ndarray = strength, alike: bool = alike):
            left, right = np.tile(PAIRS, seeds)
            seed = np.repeat(np.arange(seeds), PAIRS.shape[1])
            chance = 1.0 / (1.0 + np.exp((strength[right] - strength[left]) / POINTS))
            whole = rng.random((seeds, N_PLAYERS))  # about half of a player's verdicts on a seed are drawn together
            together = alike & (rng.random(len(left)) < 0.5)
            outcome = (np.where(together, whole[seed, left], rng.random(len(left))) < chance).astype(float)
            return left, right, outcome, seed

        yield (
            f"{seeds} seeds, the first {lead:g} points ahead, {'alike' if alike else 'apart'}",
            1000.0 + strength,
            draw,
        )


SECTIONS = {"arena": arena, "separated": separated}


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--only", nargs="*", choices=sorted(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for section in options.only:
        for place, truth, draw in SECTIONS[section]():
            rows, missing, wins = [], 0, []
            for number in range(options.repetitions):
                left, right, outcome, seed = draw(np.random.default_rng([number, len(place), int(truth[0])]))
                found = penalised_bradley_terry(left, right, outcome, N_PLAYERS, cluster=seed)
                rows.append((found.rating, found.ci_low, found.ci_high))
                unrated = bool(compare(left, right, outcome, N_PLAYERS).reasons()[0])
                missing += unrated
                wins.append(unrated)
            rating, low, high = np.array(rows).transpose(1, 0, 2)
            there = ~np.isnan(low) & ~np.isnan(high)
            held = ~(low > truth) & ~(truth > high)
            of_first = held[:, 0].mean()
            undefeated = held[wins, 0].mean() if any(wins) else np.nan
            bias = (rating - truth).mean(axis=0)[0]
            note = (
                f"the first {100 * of_first:.0f}%, {100 * undefeated:.0f}% where maximum likelihood has no rating of it"
                f" ({missing / options.repetitions:.0%} of the tables); its bias {bias:.0f}, "
                f"width {(high - low)[:, 0][there[:, 0]].mean():.0f}, a limit lacks in {1 - there[:, 0].mean():.0%}"
            )
            gates.at_least(f"coverage, {place}", 100.0 * held.mean(), 93.0 - 1.5, unit="%", note=note)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
