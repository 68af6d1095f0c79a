"""Tables of robustness: perturbed pairs, ratios, averages, severity levels, score drops."""

from __future__ import annotations

from dialeval.tables.schema import BEHIND, BOOL, FLOAT, INT, JUDGED, TEXT, Interval, Table, differences, maybe, schema

PAIRS_OF_CELL = "number of pairs of an original and a perturbed item"

# fmt: off
PAIRS = Table(
    "pairs", schema(
        corpus=TEXT, language=TEXT, level=TEXT, cluster=TEXT, perturbation=TEXT, generator=maybe(TEXT), draw=INT,
        severity=INT, severity_series=maybe(TEXT), original_id=TEXT, item_id=maybe(TEXT), changed=maybe(TEXT),
        unchanged=BOOL, status=TEXT, reason=maybe(TEXT)
    ),
    row="requested perturbed item (`perturbed/*.pairs`)",
    columns={
        "generator": "rule or model that made the perturbation",
        "draw": "number of the perturbed copy, from 0",
        "severity": "severity level",
        "severity_series": "series of severity levels to which the item belongs; empty for none",
        "changed": "what the perturbation changed, in words",
        "status": "ok, not_applicable, rejected or missing",
        "original_id": "identifier of the original item",
        "item_id": "identifier of the perturbed item; empty if there is none",
    },
)
ROBUSTNESS_DIFFERENCES = differences(
    "robustness/differences",
    row="pair of judges and cell (pair of perturbation and dimension). Further rows have the mean over the paper's "
    "cells of a level",
    title="Pairwise tests of judges",
    caption="Differences of the ratio of detected pairs, on shared items. The compared systems are judges.",
)
ROBUSTNESS_AVERAGES = Table(
    "robustness/averages", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, average=maybe(FLOAT), ci_low=maybe(FLOAT),
        ci_high=maybe(FLOAT), n_cells=INT, n_missing=INT, **BEHIND, note=maybe(TEXT), published_average=maybe(FLOAT)
    ),
    row="judge, method, corpus and level",
    title="Robustness, on average",
    caption="Ratio of detected pairs, averaged over the paper's perturbations and their dimensions.",
    columns={
        **JUDGED,
        "average": "unweighted mean of the ratio over the paper's cells (pairs of perturbation and dimension)",
        "n_missing": "number of this run's cells of the paper that have no pair with both scores",
        "n_cells": "number of averaged cells",
    },
    cells={"average": Interval("ci_low", "ci_high", published="published_average")},
    numbers="share",
)
ROBUSTNESS = Table(
    "robustness/robustness", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, perturbation=TEXT, title=TEXT, dimension=TEXT,
        threshold=FLOAT, ratio=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), increase_ratio=maybe(FLOAT),
        n=INT,
        n_missing=INT, **BEHIND, note=maybe(TEXT), published_ratio=maybe(FLOAT)
    ),
    row="judge, method, corpus, perturbation and dimension (comp-analysis' Table 12)",
    title="Robustness by perturbation",
    caption=(
        "Share of pairs in which the score falls by more than the threshold, on scores from 0 to 1. Intervals are "
        "clustered by dialogue, since a dialogue is perturbed several times."
    ),
    columns={
        **JUDGED,
        "n": PAIRS_OF_CELL,
        "threshold": "a pair counts as detected if its score, from 0 to 1, falls by more than this number",
        "increase_ratio": "share of pairs in which the score rises by more than the threshold",
        "n_missing": "number of pairs without both scores; they count as not detected",
    },
    cells={"ratio": Interval("ci_low", "ci_high", published="published_ratio")},
    numbers="share",
)
LADDERS = Table(
    "robustness/severity_levels", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, perturbation=TEXT, title=TEXT, dimension=TEXT, n=INT,
        n_missing=INT, strictly_decreasing=maybe(FLOAT), strictly_decreasing_ci_low=maybe(FLOAT),
        strictly_decreasing_ci_high=maybe(FLOAT),
        non_increasing=maybe(FLOAT), non_increasing_ci_low=maybe(FLOAT), non_increasing_ci_high=maybe(FLOAT),
        n_clusters=maybe(INT),
        strictly_decreasing_design_effect=maybe(FLOAT), strictly_decreasing_n_effective=maybe(FLOAT),
        non_increasing_design_effect=maybe(FLOAT),
        non_increasing_n_effective=maybe(FLOAT), note=maybe(TEXT)
    ),
    row="judge, method, corpus, perturbation and dimension",
    title="Severity levels",
    caption="Whether scores decrease with the severity level of the perturbation.",
    columns={
        **JUDGED,
        "n": "number of severity series; a series is a dialogue at all its severity levels",
        "n_missing": "number of series with a missing score at some level; they stay in the denominator of both shares",
        "strictly_decreasing": "share of severity series in which the score decreases at every level",
        "non_increasing": "share of severity series in which the score never increases",
    },
    cells={
        "strictly_decreasing": Interval("strictly_decreasing_ci_low", "strictly_decreasing_ci_high"),
        "non_increasing": Interval("non_increasing_ci_low", "non_increasing_ci_high"),
    },
    numbers="share",
)
PAIR_COUNTS = Table(
    "robustness/pairs", schema(
        corpus=TEXT, language=TEXT, level=TEXT, perturbation=TEXT, title=TEXT, n_requested=INT, n_pairs=INT,
        n_unchanged=INT,
        n_not_applicable=INT, n_rejected=INT, generators=TEXT, reasons=TEXT, published_n=maybe(INT)
    ),
    row="corpus and perturbation (comp-analysis' Table 11)",
    title="Perturbed items",
    caption="Pairs of an original and a perturbed item.",
    columns={
        "n_not_applicable": "number of items that the perturbation does not apply to",
        "n_rejected": "number of rejected or missing responses of the writing model",
        "n_unchanged": "number of pairs whose two texts are identical",
        "generators": "rules or models that made the perturbations",
        "reasons": "why items have no perturbed copy",
    },
    numbers="share",
)
SCORE_DROPS = Table(
    "robustness/score_drops", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, perturbation=TEXT, dimension=TEXT,
        mean=maybe(FLOAT), p05=maybe(FLOAT), p25=maybe(FLOAT), median=maybe(FLOAT), p75=maybe(FLOAT),
        p95=maybe(FLOAT), n=INT, n_missing=INT
    ),
    row="judge, method, corpus, perturbation and dimension",
    title="Score drops",
    caption="Score of the original minus score of the perturbed item.",
    columns={
        **JUDGED,
        "n": PAIRS_OF_CELL,
        "n_missing": "number of pairs without both scores",
    },
    numbers="share",
)
THRESHOLDS = Table(
    "robustness/thresholds", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, perturbation=TEXT, dimension=TEXT,
        threshold=FLOAT, ratio=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), n=INT,
        n_missing=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="judge, method, corpus, perturbation, dimension and threshold (`robustness.thresholds`)",
    title="Robustness at every threshold",
    shown=False,
    columns={
        **JUDGED,
        "n": PAIRS_OF_CELL,
        "n_missing": "number of pairs without both scores; they count as not detected",
    },
    numbers="share",
)
# fmt: on
