"""Tables of robustness: damaged pairs, ratios, averages, ladders, drops."""

from __future__ import annotations

from dialeval.tables.schema import BEHIND, BOOL, FLOAT, INT, JUDGED, TEXT, Interval, Table, differences, maybe, schema

# fmt: off
PAIRS = Table(
    "pairs", schema(
        corpus=TEXT, language=TEXT, level=TEXT, cluster=TEXT, strategy=TEXT, way=maybe(TEXT), draw=INT, severity=INT,
        ladder=maybe(TEXT), original_id=TEXT, item_id=maybe(TEXT), changed=maybe(TEXT), unchanged=BOOL, status=TEXT,
        reason=maybe(TEXT)
    ),
    row="damaged item that was wanted (`perturbed/*.pairs`)",
    columns={
        "way": "which rule, or model",
        "draw": "counts the draws of one strategy on one item from 0",
        "severity": "step on a ladder of severities",
        "changed": "description of the change",
        "status": "ok, not_applicable, rejected or missing",
        "original_id": "id of the original item",
        "item_id": "id of the perturbed item; empty if there is none",
    },
)
ROBUSTNESS_DIFFERENCES = differences(
    "robustness/differences",
    row="pair of judges and a cell, or the average of a level",
    title="Which judges can be told apart",
    caption="Differences of the shares of detected perturbations, by strategy and on average.",
)
ROBUSTNESS_AVERAGES = Table(
    "robustness/averages", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, average=maybe(FLOAT), low=maybe(FLOAT),
        high=maybe(FLOAT), n_cells=INT, n_missing=INT, **BEHIND, note=maybe(TEXT), published_average=maybe(FLOAT)
    ),
    row="judge, method, corpus and level",
    title="Robustness, on average",
    caption="Mean share of detected perturbations over strategies and dimensions.",
    columns={
        **JUDGED,
        "average": "unweighted mean of the paper's cells",
        "n_cells": "cells that the mean is of",
    },
    cells={"average": Interval("low", "high", published="published_average")},
    numbers="share",
)
ROBUSTNESS = Table(
    "robustness/robustness", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, title=TEXT, dimension=TEXT,
        theta=FLOAT, ratio=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), rises=maybe(FLOAT), n=INT,
        n_missing=INT, **BEHIND, note=maybe(TEXT), published_ratio=maybe(FLOAT)
    ),
    row="judge, method, corpus, strategy and dimension (comp-analysis' Table 12)",
    title="Robustness by strategy",
    caption=(
        "Share of pairs in which the score falls by more than theta, on a scale from 0 to 1. Intervals are clustered "
        "by dialogue, which is perturbed several times."
    ),
    columns={
        **JUDGED,
        "theta": "how far the score must fall",
        "rises": "share of pairs in which it rises as far",
        "ratio": "share of all pairs whose score falls by more than theta, on a scale from 0 to 1",
        "n_missing": "pairs without both scores; they count as not noticed",
    },
    cells={"ratio": Interval("low", "high", published="published_ratio")},
    numbers="share",
)
LADDERS = Table(
    "robustness/ladders", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, strategy=TEXT, title=TEXT, dimension=TEXT, n=INT,
        n_missing=INT, falling=maybe(FLOAT), falling_low=maybe(FLOAT), falling_high=maybe(FLOAT),
        not_rising=maybe(FLOAT), not_rising_low=maybe(FLOAT), not_rising_high=maybe(FLOAT), n_clusters=maybe(INT),
        falling_design_effect=maybe(FLOAT), falling_effective_n=maybe(FLOAT), not_rising_design_effect=maybe(FLOAT),
        not_rising_effective_n=maybe(FLOAT), note=maybe(TEXT)
    ),
    row="judge, method, corpus, strategy and dimension",
    title="Ladders of damage",
    caption="Share of ladders whose score falls at every severity level.",
    columns={
        **JUDGED,
        "falling": "share of ladders on which the score falls with every step",
        "not_rising": "share of ladders on which it never rises",
    },
    cells={
        "falling": Interval("falling_low", "falling_high"),
        "not_rising": Interval("not_rising_low", "not_rising_high"),
    },
    numbers="share",
)
PAIR_COUNTS = Table(
    "robustness/pairs", schema(
        corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, title=TEXT, n_wanted=INT, n_pairs=INT, n_unchanged=INT,
        n_not_applicable=INT, n_rejected=INT, ways=TEXT, reasons=TEXT, published_n=maybe(INT)
    ),
    row="corpus and strategy (comp-analysis' Table 11)",
    title="What was damaged",
    caption="Pairs of an item and its perturbed copy.",
    columns={
        "n_not_applicable": "times the strategy could not be applied",
        "n_unchanged": "pairs that read the same before and after",
        "ways": "the rules, or models, that were used",
        "reasons": "why it could not be applied",
    },
    numbers="share",
)
DROPS = Table(
    "robustness/drops", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, dimension=TEXT,
        mean=maybe(FLOAT), p05=maybe(FLOAT), p25=maybe(FLOAT), median=maybe(FLOAT), p75=maybe(FLOAT),
        p95=maybe(FLOAT), n=INT, n_missing=INT
    ),
    row="judge, method, corpus, strategy and dimension",
    title="How far scores fall",
    caption="Original score minus perturbed score.",
    columns={
        **JUDGED,
        "mean": "original score minus perturbed score",
    },
    numbers="share",
)
THETAS = Table(
    "robustness/thetas", schema(
        judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, dimension=TEXT, theta=FLOAT,
        ratio=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n=INT, n_missing=INT, **BEHIND, note=maybe(TEXT)
    ),
    row="judge, method, corpus, strategy, dimension and threshold of the sweep",
    title="Robustness at every threshold",
    shown=False,
    columns={
        **JUDGED,
    },
    numbers="share",
)
# fmt: on
