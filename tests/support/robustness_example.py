"""A small hand-made robustness: damaged turns and dialogues, under judges of which later ones are worse."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dialeval.tables.files import to_table
from dialeval.tables.robustness import LADDERS, ROBUSTNESS, SCORE_DROPS

JUDGES = (("gpt-x", "rating"), ("gpt-x", "yes_no"), ("random", "yes_no"))
TURN = (("random_response", "relevance", 0.3), ("dullness", "interestingness", 0.2), ("dullness", "specificity", 0.2))
DIALOGUE = (("order_shuffle", "coherence", 0.2), ("self_contradiction", "engagingness", 0.1))
TITLES = {
    "random_response": "Random Response",
    "dullness": "Dullness",
    "order_shuffle": "Order Shuffle",
    "self_contradiction": "Self-Contradiction",
}
N_PAIRS = 50


def ratio_of(place: int, n_judges: int) -> float:
    """The ratio of the judge at a place: from .8 down towards .2."""
    return 0.8 - 0.6 * place / n_judges


def robustness(
    judges: Sequence[tuple[str, str]] = JUDGES,
    corpora: Sequence[str] = ("small-talk",),
    languages: Sequence[str] = ("en",),
) -> pa.Table:
    """Ratios; scores rise on a tenth of the pairs, and the first judge has published numbers."""
    rows = []
    for corpus in corpora:
        for language in languages:
            for level, targets in (("turn", TURN), ("dialogue", DIALOGUE)):
                for strategy, dimension, theta in targets:
                    for place, (judge, method) in enumerate(judges):
                        ratio = ratio_of(place, len(judges))
                        rows.append(
                            {"judge": judge, "method": method, "corpus": corpus, "language": language, "level": level,
                             "perturbation": strategy, "title": TITLES[strategy], "dimension": dimension,
                             "threshold": theta,
                             "ratio": ratio, "ci_low": ratio - 0.1, "ci_high": ratio + 0.1, "increase_ratio": 0.1,
                             "n": N_PAIRS,
                             "n_missing": 0, "published_ratio": 0.62 if judge == "gpt-x" else None}
                        )  # fmt: skip
    return to_table(ROBUSTNESS, rows)


def drops(judges: Sequence[tuple[str, str]] = JUDGES) -> pa.Table:
    """Drops spread around a median that is half the ratio."""
    names = ("judge", "method", "corpus", "language", "level", "perturbation", "dimension", "n", "n_missing")
    rows = []
    for row in robustness(judges).to_pylist():
        median = row["ratio"] / 2
        quantiles = {
            "p05": median - 0.6,
            "p25": median - 0.2,
            "median": median,
            "p75": median + 0.2,
            "p95": median + 0.5,
        }
        rows.append({name: row[name] for name in names} | quantiles | {"mean": median})
    return to_table(SCORE_DROPS, rows)


def ladders(judges: Sequence[tuple[str, str]] = JUDGES) -> pa.Table:
    """Ladders of one strategy: scores never rise on a tenth more of them than those on which they fall each time."""
    rows = []
    for place, (judge, method) in enumerate(judges):
        share = ratio_of(place, len(judges))
        rows.append(
            {"judge": judge, "method": method, "corpus": "small-talk", "language": "en",
             "perturbation": "order_shuffle", "title": "Order Shuffle", "dimension": "coherence", "n": 10,
             "n_missing": 0, "strictly_decreasing": share, "strictly_decreasing_ci_low": share - 0.2,
             "strictly_decreasing_ci_high": share + 0.1,
             "non_increasing": share + 0.1, "non_increasing_ci_low": share - 0.1,
             "non_increasing_ci_high": min(share + 0.2, 1.0)}
        )  # fmt: skip
    return to_table(LADDERS, rows)


def tables(judges: Sequence[tuple[str, str]] = JUDGES) -> dict[str, pa.Table]:
    """All of them, by name."""
    return {
        "robustness/robustness": robustness(judges),
        "robustness/score_drops": drops(judges),
        "robustness/severity_levels": ladders(judges),
    }
