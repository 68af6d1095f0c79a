"""The public interface: what may be imported from outside, and stays as it is. All else may change without notice.

`docs/python.md` is generated from it, and a test holds names and signatures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Public:
    """What one module offers.

    Attributes:
        module: its name.
        words: what it is for, as a heading.
        names: functions, classes and constants.
    """

    module: str
    words: str
    names: tuple[str, ...]


INTERFACE: tuple[Public, ...] = (
    Public(
        "dialeval.tables",
        "Reading tables",
        ("read_table", "read_tables", "iterate_rows", "count_rows", "read_name", "HUMAN"),
    ),
    Public("dialeval.schemas.every", "Which tables there are", ("TABLES", "table_named")),
    Public("dialeval.schemas.table", "What a table is", ("Table",)),
    Public("dialeval.provenance", "Where a file comes from", ("read_provenance",)),
    Public("dialeval.run_summary", "What came out of a run, in words", ("words_of_results",)),
    Public("dialeval.comparison", "Two runs", ("compare",)),
    Public("dialeval.config.loading", "Reading a configuration", ("load_config",)),
    Public("dialeval.errors", "What is raised for the reader of a message", ("UserError",)),
    Public("dialeval.stats.shares", "Shares", ("share_intervals", "ShareIntervals")),
    Public(
        "dialeval.stats.means",
        "Means",
        ("mean_interval", "paired_mean_difference", "unpaired_mean_difference", "MeanDifference"),
    ),
    Public("dialeval.stats.differences", "Differences of shares", ("paired_differences", "MeanDifferences")),
    Public("dialeval.stats.multiplicity", "Many tests at once", ("holm", "benjamini_hochberg")),
    Public("dialeval.stats.ranks", "Places", ("order_claims", "OrderClaims", "places", "Places")),
    Public("dialeval.stats.bradley_terry", "Strengths", ("bradley_terry", "davidson", "StrengthRating")),
    Public("dialeval.stats.elo", "Bootstrap Elo", ("bootstrap_elo", "sequential_elo")),
    Public("dialeval.stats.elo_interval", "Intervals of Bootstrap Elo", ("bootstrap_elo_interval",)),
    Public(
        "dialeval.stats.correlation",
        "Correlations with people",
        ("correlate", "average_over", "williams_test", "Correlations", "WilliamsTest"),
    ),
    Public("dialeval.stats.judge_pairs", "Two judges", ("compare_judges", "JudgePairs")),
    Public(
        "dialeval.stats.ceilings",
        "How high a judge could come",
        ("reliability", "corrected_correlation", "Reliability"),
    ),
    Public("dialeval.stats.agreement", "Agreement of judges", ("judge_agreement", "retest_flips")),
    Public("dialeval.stats.annotators", "Agreement of people", ("krippendorffs_alpha", "mean_pairwise_pearson")),
    Public(
        "dialeval.stats.corrected",
        "What people would say",
        ("correct_means", "correct_ratings", "annotator_variance", "Annotators", "Corrected", "Difference"),
    ),
    Public("dialeval.stats.auc", "True from spoiled", ("clustered_auc", "auc_gain", "ClusteredAuc")),
    Public("dialeval.stats.resampling", "Resampling clusters", ("Interval", "cluster_counts", "percentile_interval")),
)


def constants() -> Mapping[str, str]:
    """Returns what the constants of the interface are, in words."""
    return {
        "HUMAN": "Stands for the human dialogues wherever a table names a model.",
        "TABLES": "Every table's constant by its name; those of measures are called `measures/...`.",
    }
