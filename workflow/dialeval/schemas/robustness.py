"""Tables of robustness: what was damaged and how, and whether judges notice."""

from __future__ import annotations

from dialeval.schemas.columns import BEHIND, BOOL, DIFFERENCES, FLOAT, INT, TEXT, maybe, schema
from dialeval.schemas.table import Table

# fmt: off
PAIRS = Table("pairs", schema(
    corpus=TEXT, language=TEXT, level=TEXT, cluster=TEXT, strategy=TEXT, way=maybe(TEXT), draw=INT, severity=INT,
    ladder=maybe(TEXT), original_id=TEXT, item_id=maybe(TEXT), changed=maybe(TEXT), unchanged=BOOL, status=TEXT,
    reason=maybe(TEXT)
))
PAIR_COUNTS = Table("robustness/pairs", schema(
    corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, title=TEXT, n_wanted=INT, n_pairs=INT, n_unchanged=INT,
    n_not_applicable=INT, n_rejected=INT, ways=TEXT, reasons=TEXT, published_n=maybe(INT)
))
ROBUSTNESS = Table("robustness/robustness", schema(
    judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, title=TEXT, dimension=TEXT,
    theta=FLOAT, ratio=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), rises=maybe(FLOAT), n=INT,
    n_missing=INT, **BEHIND, note=maybe(TEXT), published_ratio=maybe(FLOAT)
))
ROBUSTNESS_AVERAGES = Table("robustness/averages", schema(
    judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, average=maybe(FLOAT), low=maybe(FLOAT),
    high=maybe(FLOAT), n_cells=INT, n_missing=INT, **BEHIND, note=maybe(TEXT), published_average=maybe(FLOAT)
))
THETAS = Table("robustness/thetas", schema(
    judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, dimension=TEXT, theta=FLOAT,
    ratio=maybe(FLOAT), low=maybe(FLOAT), high=maybe(FLOAT), n=INT, n_missing=INT, **BEHIND, note=maybe(TEXT)
))
DROPS = Table("robustness/drops", schema(
    judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, level=TEXT, strategy=TEXT, dimension=TEXT,
    mean=maybe(FLOAT), p05=maybe(FLOAT), p25=maybe(FLOAT), median=maybe(FLOAT), p75=maybe(FLOAT),
    p95=maybe(FLOAT), n=INT, n_missing=INT
))
LADDERS = Table("robustness/ladders", schema(
    judge=TEXT, method=TEXT, corpus=TEXT, language=TEXT, strategy=TEXT, title=TEXT, dimension=TEXT, n=INT,
    n_missing=INT, falling=maybe(FLOAT), falling_low=maybe(FLOAT), falling_high=maybe(FLOAT),
    not_rising=maybe(FLOAT), not_rising_low=maybe(FLOAT), not_rising_high=maybe(FLOAT), n_clusters=maybe(INT),
    falling_design_effect=maybe(FLOAT), falling_effective_n=maybe(FLOAT), not_rising_design_effect=maybe(FLOAT),
    not_rising_effective_n=maybe(FLOAT), note=maybe(TEXT)
))
ROBUSTNESS_DIFFERENCES = Table("robustness/differences", DIFFERENCES)
# fmt: on
