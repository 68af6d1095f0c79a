"""Comparison of two runs of the same systems: rate of false changes of single numbers and of whole comparisons.

Every pair of runs has four systems on sixty seeds: a rating of each from 720 comparisons, and a pass rate of each.
Seeds differ in how hard they are, alike in both runs; the judge's verdicts are drawn anew. Missed are
alarms that chance alone would give one time in a thousand. Takes 7 min.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter

import numpy as np
import pandas as pd
from scipy.stats import binom

from dialeval.config.botchat import Elo
from dialeval.measures.design import Design
from dialeval.report.comparison.numbers import ALPHA, MARK, independent, paired_ratings, paired_shares
from dialeval.report.comparison.runs import Number
from dialeval.stats.clustered import clustered_proportion
from dialeval.stats.elo import bootstrap_elo
from dialeval.stats.elo_interval import bootstrap_elo_interval
from dialeval.stats.significance import holm
from gates import Gates, arguments

SYSTEMS, SEEDS, SHUFFLES = 4, 60, 300
STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])
SCOPE = {"judge": "judge", "criterion": None, "n_utterances": None}
DESIGN = Design(protocol="arena", judges=["judge"], elo=Elo(shuffles=SHUFFLES, repeats=1, resamples=200))


def battles(rng: np.random.Generator, hard: np.ndarray) -> pd.DataFrame:
    """Every two systems in both orders on every seed, on which each may be better or worse than elsewhere."""
    pairs = np.array([(one, other) for one, other in itertools.permutations(range(SYSTEMS), 2)])
    seed = np.repeat(np.arange(SEEDS), len(pairs))
    left, right = np.tile(pairs, (SEEDS, 1)).T
    edge = (STRENGTH + hard)[seed, left] - (STRENGTH + hard)[seed, right]
    won = rng.random(len(seed)) < 1.0 / (1.0 + np.exp(-edge))
    return pd.DataFrame({"case_id": seed.astype(str), "item_id": "", "left": left, "right": right,
                         "outcome": np.where(won, "left", "right"), "status": "ok", "judge": "judge",
                         "criterion": None, "n_utterances": np.nan})  # fmt: skip


def elo(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Published ratings and their intervals."""
    games = frame["left"].to_numpy(), frame["right"].to_numpy(), (frame["outcome"] == "left").to_numpy(float)
    point = bootstrap_elo(*games, SYSTEMS, shuffles=SHUFFLES, repeats=1, random_seed=0)
    ends = bootstrap_elo_interval(*games, frame["case_id"].to_numpy(), SYSTEMS, resamples=200, random_seed=0)
    return point.rating, ends.ci_low, ends.ci_high


def compared(rng: np.random.Generator) -> dict[str, list[float]]:
    """The p-values of one comparison, by what was tested and how."""
    hard = rng.normal(0.0, 0.7, (SEEDS, SYSTEMS))
    runs = [battles(rng, hard) for _ in range(2)]
    rated = [elo(run) for run in runs]
    marked = [run.assign(**{side: f"{number}{MARK}" + run[side].astype(str) for side in ("left", "right")})
              for number, run in enumerate(runs)]  # fmt: skip
    moved = {tuple({**SCOPE, "system": str(k)}.items()): float(rated[1][0][k] - rated[0][0][k]) for k in range(SYSTEMS)}
    found = dict(paired_ratings(pd.concat(marked, ignore_index=True), DESIGN, moved))
    p = {"ratings, paired": [one.p for one in found.values()], "ratings, as two samples": []}
    p |= {"shares, paired": [], "shares, as two samples": []}
    seeds = np.arange(SEEDS)
    for k in range(SYSTEMS):
        ends = [tuple(float(part[k]) for part in one) for one in rated]
        p["ratings, as two samples"].append(independent(Number("arena/ratings", "measures/ratings", {}, *ends))["p"])
        chance = 1.0 / (1.0 + np.exp(-2.0 * (STRENGTH[k] + hard[:, k])))
        sides = [(rng.random(SEEDS) < chance).astype(float) for _ in range(2)]
        p["shares, paired"].append(paired_shares(sides[1], sides[0], seeds).p)
        shares = [clustered_proportion(side, seeds) for side in sides]
        ends = [(one.estimate, one.ci_low, one.ci_high) for one in shares]
        row = independent(Number("unieval/pass_rates", "measures/pass_rates", {}, *ends))
        p["shares, as two samples"].append(row["p"])
    return p


def main() -> int:
    """Tells the share of alarms of each test, and of comparisons with one that survives Holm's correction."""
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=300, help="pairs of runs")
    options = parser.parse_args()
    gates = Gates(__file__, options)
    n_runs = options.runs
    rng = np.random.default_rng(0)
    alarms: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    surviving = 0
    for _ in range(n_runs):
        found = compared(rng)
        for name, p in found.items():
            alarms[name] += sum(one < ALPHA for one in p)
            tests[name] += len(p)
        surviving += bool((holm(found["ratings, paired"] + found["shares, paired"]) < ALPHA).any())
    for name, n in tests.items():
        gates.told(f"{name}: tests below {ALPHA}", 100 * alarms[name] / n, unit="%", note=f"of {n}")
    most = 100 * float(binom.isf(1e-3, n_runs, ALPHA)) / n_runs
    what = "comparisons that say of any number that it moved (Holm)"
    gates.at_most(what, 100 * surviving / n_runs, most, unit="%", note=f"of {n_runs}")
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
