"""Coverage of the intervals in the tables.

Each section simulates data with a known truth, with and without correlation within a cluster, at several numbers of
clusters, and counts how often the 95% interval that the tables publish holds it. To reach: 93% from 20 clusters on, 90%
at 10; 5 clusters are for information. The error is the standard error of the count over independent repetitions.
Takes 1 h.
"""

from __future__ import annotations

import sys

from coverage_auc import aucs
from coverage_cases import Measured
from coverage_ceilings import ceilings
from coverage_correlations import correlations, rare_kinds
from coverage_differences import differences, false_claims, judge_pairs, length_slope, style_control
from coverage_ranks import ranks
from coverage_ratings import ratings
from coverage_shares import means, shares
from gates import Gates, arguments

SECTIONS = {
    "shares": shares,
    "means": means,
    "ratings": ratings,
    "correlations": correlations,
    "rare_kinds": rare_kinds,
    "differences": differences,
    "style_control": style_control,
    "length_slope": length_slope,
    "judge_pairs": judge_pairs,
    "false_claims": false_claims,
    "ranks": ranks,
    "aucs": aucs,
    "ceilings": ceilings,
}
"""By name: a function of the number of repetitions that yields what it measured."""

TARGETS = ((20, 93.0), (10, 90.0))
"""From so many clusters on, so many percent."""


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--only", nargs="*", choices=sorted(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    gates = Gates(__file__, options)
    for section in options.only:
        print(f"\n{section}\n{Measured.heading()}")
        of: dict[int, list[Measured]] = {}
        for measured in SECTIONS[section](options.repetitions):
            print(measured.line(), flush=True)
            of.setdefault(measured.clusters, []).append(measured)
        for clusters, found in of.items():
            target = next((least for fewest, least in TARGETS if clusters >= fewest), 0.0)
            # Two standard errors below the target is what chance alone gives one time in forty.
            found = [one for one in found if one.coverage == one.coverage]  # where any run has an interval
            if not found:
                continue
            lowest = min(found, key=lambda one: one.coverage + 2.0 * one.error)
            what = f"{section}, {clusters} clusters: lowest coverage of {len(found)} cases, and two standard errors"
            note = f"{lowest.name()}: {lowest.coverage:.1f}"
            gates.at_least(what, lowest.coverage + 2.0 * lowest.error, target, unit="%", note=note)
    return gates.finish()


if __name__ == "__main__":
    sys.exit(main())
