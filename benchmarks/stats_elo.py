"""Bootstrap Elo and its seed intervals at paper scale, against a floor in C, a plain loop and evalica.

Takes 3 min.
"""

from __future__ import annotations

import sys

from stats_timing import cpu_medians, paper_arena, peak_megabytes  # isort: skip

import evalica
import numpy as np

from dialeval.stats.comparisons import compare
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.elo_shuffles import compact_codes
from gates import Gates, arguments
from stats_floor import build_floor

SHUFFLES = 1000
LOOP_SHUFFLES = 10
WINNERS = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}


def list_loop(rows: list[tuple[int, int, float]], n_players: int, shuffles: int) -> list[list[float]]:
    """The fastest plain Python we know: one list of tuples, ratings in a list. Shuffling is left out, in its favour."""
    out = []
    for _ in range(shuffles):
        rating = [1000.0] * n_players
        for i, j, score in rows:
            here, there = rating[i], rating[j]
            change = 32.0 * (score - 1.0 / (1.0 + 10.0 ** ((there - here) / 400.0)))
            rating[i] = here + change
            rating[j] = there - change
        out.append(rating)
    return out


def main() -> int:
    gates = Gates(__file__, arguments(__doc__).parse_args())
    arena = paper_arena()
    comparisons = compare(*arena.arguments)
    codes = compact_codes(comparisons.type_of_row, comparisons.n_types)
    rows = list(zip(arena.left.tolist(), arena.right.tolist(), arena.outcome.tolist(), strict=True))
    winners = [WINNERS[value] for value in arena.outcome.tolist()]
    xs, ys = arena.left.tolist(), arena.right.tolist()
    floors = {lanes: build_floor(lanes) for lanes in (8, 16)}

    def floor(lanes: int, reshuffle: bool) -> object:
        play = floors[lanes]
        assert play is not None
        return play(codes, comparisons.first, comparisons.second, arena.n_players, SHUFFLES, reshuffle=reshuffle)

    calls = {
        "certified ends": lambda: bootstrap_elo(*arena.arguments, shuffles=SHUFFLES, random_seed=1),
        "ten repeats": lambda: bootstrap_elo(*arena.arguments, shuffles=SHUFFLES, repeats=10, random_seed=1),
        "whole shuffles (K = 4)": lambda: bootstrap_elo(*arena.arguments, shuffles=SHUFFLES, k=4.0, random_seed=1),
        "list loop": lambda: list_loop(rows, arena.n_players, LOOP_SHUFFLES),
        "evalica": lambda: [evalica.elo(xs, ys, winners, k=32.0) for _ in range(LOOP_SHUFFLES)],
    }
    if floors[8] is None:
        print("no C compiler here: the comparison with the floor is left out")
    else:
        calls["C floor"] = lambda: floor(8, reshuffle=False)
        calls["C with shuffling"] = lambda: floor(8, reshuffle=True)
        calls["C, 16 lanes"] = lambda: floor(16, reshuffle=False)
    seconds = cpu_medians(calls, rounds=5)
    for name in ("list loop", "evalica"):
        seconds[name] *= SHUFFLES / LOOP_SHUFFLES

    run = bootstrap_elo(*arena.arguments, shuffles=SHUFFLES, random_seed=1)
    print(f"tail length {run.tail_length} of {len(codes)}, certificate gap {run.certificate_gap:.1e} points")
    for name, value in seconds.items():
        print(f"{name}: {value:.3f} CPU s")
    ends = seconds["certified ends"]
    if "C floor" in seconds:
        base = seconds["C floor"]
        reference = np.median(np.asarray(floor(8, reshuffle=True)), axis=1)
        gap = np.abs(comparisons.to_all_players(reference) - run.rating).max()
        gates.at_most("difference from the floor's medians, in standard errors", gap / (1.2533 * 44 / 1000**0.5), 6)
        gates.at_most("certified ends / C floor", ends / base, 1.0)
        gates.at_most("ten repeats / ten C floors", seconds["ten repeats"] / (10 * base), 0.8)
        gates.at_most("whole shuffles / C floor", seconds["whole shuffles (K = 4)"] / base, 9.0)
        print(f"     certified ends / C that also shuffles: {ends / seconds['C with shuffling']:.2f}")
        print(f"     certified ends / C with 16 lanes: {ends / seconds['C, 16 lanes']:.2f}")
    gates.at_least("list loop without shuffling / certified ends", seconds["list loop"] / ends, 40.0)
    print(f"     evalica.elo / certified ends: {seconds['evalica'] / ends:.0f}")
    gates.at_most("peak MB, certified ends", peak_megabytes(calls["certified ends"]), 100.0)
    gates.at_most("peak MB, ten repeats", peak_megabytes(calls["ten repeats"]), 100.0)
    gates.at_most("peak MB, whole shuffles", peak_megabytes(calls["whole shuffles (K = 4)"]), 250.0)

    small = paper_arena(4, 250)
    intervals = cpu_medians(
        {
            "14 players": lambda: bootstrap_elo_interval(
                *arena.arguments[:3], arena.seed, arena.n_players, random_seed=1
            ),
            "4 players": lambda: bootstrap_elo_interval(*small.arguments[:3], small.seed, 4, random_seed=1),
        },
        rounds=2,
    )
    gates.at_most("CPU s, seed intervals, 14 players x 222 seeds", intervals["14 players"], 10.0)
    gates.at_most("CPU s, seed intervals, 4 players x 250 seeds", intervals["4 players"], 2.0)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
