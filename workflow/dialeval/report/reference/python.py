"""The public interface, and its page `docs/python.md`, which is written by hand above the mark.

Tests keep the page in step with the interface, and hold its names and signatures.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dialeval.paths import PROJECT

DOCS = PROJECT / "docs" / "python.md"
MARK = "## Reference\n"
HEAD = """
`python -m dialeval.report.reference` generates this part from docstrings.
`workflow/dialeval/report/reference/python.py` lists the names.
"""


def docs_text() -> str:
    """Return the page: the handwritten part, and the reference."""
    by_hand = DOCS.read_text(encoding="utf-8").split(MARK)[0]
    return "\n".join([by_hand + MARK + HEAD, *map(_about, INTERFACE)])


def signatures() -> list[str]:
    """Return a line for every name of the interface: arguments and results of functions, fields of classes."""
    lines = []
    for public in INTERFACE:
        for name in public.names:
            value = getattr(import_module(public.module), name)
            lines += [f"{public.module}: {line}" for line in (_head(name, value), *_fields(name, value))]
    return lines


def _about(public: Public) -> str:
    module = import_module(public.module)
    parts = [f"### {public.words}: `{public.module}`\n"]
    for name in public.names:
        value = getattr(module, name)
        text = (
            inspect.cleandoc(value.__doc__ or "") if inspect.isroutine(value) or inspect.isclass(value) else ""
        ) or constants()[name]
        parts.append(f"```python\n{_head(name, value)}\n```\n")
        parts.append(f"```text\n{text}\n```\n" if "\n" in text else text + "\n")
    return "\n".join(parts)


def _head(name: str, value: Any) -> str:
    """Return the signature of a function, or the name of a class or constant."""
    if inspect.isroutine(value):
        return _signature(name, value)
    return f"class {name}" if inspect.isclass(value) else name


def _fields(name: str, value: Any) -> list[str]:
    """Return the fields of a class with their types."""
    types = value.__annotations__ if inspect.isclass(value) else {}
    return [f"{name}.{field}: {getattr(kind, '__forward_arg__', kind)}" for field, kind in types.items()]


def _signature(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    shown, keyword_only = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            shown.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        shown.append(f"{parameter.name}: {parameter.annotation}{default}")
    return f"{name}({', '.join(shown)}) -> {signature.return_annotation}"


# The public interface: what may be imported from outside, and stays as it is. All else may change without notice.


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
    Public("dialeval", "Runs", ("evaluate", "load", "Run")),
    Public(
        "dialeval.tables",
        "Reading tables",
        ("read_table", "read_tables", "iterate_rows", "count_rows", "read_name", "HUMAN"),
    ),
    Public("dialeval.tables.catalogue", "Catalogue of tables", ("TABLES", "table_named")),
    Public("dialeval.tables.schema", "Description of a table", ("Table",)),
    Public("dialeval.provenance", "Provenance", ("read_provenance",)),
    Public("dialeval.report.terminal_summary", "Summary of a run", ("words_of_results",)),
    Public("dialeval.report.comparison", "Comparison of two runs", ("compare",)),
    Public("dialeval.config.loading", "Reading a configuration", ("load_config",)),
    Public("dialeval.errors", "Errors", ("UserError",)),
    Public("dialeval.stats.estimates", "Estimates", ("Estimate", "Estimates")),
    Public(
        "dialeval.stats.clustered",
        "Means and proportions",
        ("clustered_mean", "clustered_proportion", "clustered_proportions"),
    ),
    Public(
        "dialeval.stats.differences",
        "Differences",
        (
            "paired_differences",
            "item_differences",
            "two_sample_difference",
            "differences_over_judges",
            "Sample",
            "Differences",
            "JudgeSample",
        ),
    ),
    Public(
        "dialeval.stats.significance", "Multiple comparisons", ("holm", "benjamini_hochberg", "benjamini_yekutieli")
    ),
    Public("dialeval.stats.significance", "Ranks", ("order_claims", "OrderClaims", "places", "Places")),
    Public(
        "dialeval.stats.bradley_terry",
        "Bradley-Terry and Davidson ratings",
        ("bradley_terry", "StrengthRating"),
    ),
    Public(
        "dialeval.stats.penalised_ratings",
        "Bradley-Terry ratings with Firth's penalty",
        ("penalised_bradley_terry", "PenalisedRatings"),
    ),
    Public("dialeval.stats.elo", "Bootstrap Elo", ("bootstrap_elo", "sequential_elo")),
    Public("dialeval.stats.elo_interval", "Intervals of Bootstrap Elo", ("bootstrap_elo_interval",)),
    Public(
        "dialeval.stats.correlation",
        "Correlations with human ratings",
        ("correlate", "average_over", "williams_test", "Correlations", "WilliamsTest"),
    ),
    Public("dialeval.stats.judge_panels", "Comparison of two judges", ("compare_judges", "JudgePairs")),
    Public(
        "dialeval.stats.reliability",
        "Reliability and ceilings",
        ("reliability", "corrected_correlation", "annotator_variance", "Reliability"),
    ),
    Public("dialeval.stats.agreement", "Agreement of judges", ("judge_agreement", "retest_inconsistency")),
    Public("dialeval.stats.agreement", "Agreement of annotators", ("krippendorffs_alpha", "mean_pairwise_pearson")),
    Public(
        "dialeval.stats.variance_components",
        "Variance components and generalizability",
        ("variance_components", "Components"),
    ),
    Public("dialeval.stats.power", "Designs and their costs", ("StudyDesign", "Cost", "cheapest_design", "Detectable")),
    Public("dialeval.stats.power", "Designs with human labels", ("HumanLabelDesign", "LabelStudy", "cheapest_labels")),
    Public("dialeval.stats.prediction_powered", "Human-corrected means and rates", ("correct_means", "Annotators")),
    Public("dialeval.stats.corrected_ratings", "Human-corrected ratings", ("correct_ratings",)),
    Public("dialeval.stats.label_corrected", "Human-corrected estimates", ("Corrected", "Difference")),
    Public(
        "dialeval.stats.alternative_annotator",
        "Alternative annotator test",
        ("alternative_annotator_test", "items_needed", "AnnotatorTest"),
    ),
    Public(
        "dialeval.stats.calibration",
        "Calibration and selective judging",
        ("calibration_error", "certain_agreement", "agreement_from", "Calibration", "Certain"),
    ),
    Public("dialeval.stats.auc", "AUC of trained judges", ("clustered_auc", "auc_gain", "ClusteredAuc")),
    Public("dialeval.stats.resampling", "Resampling clusters", ("cluster_counts", "percentile_interval")),
)


def constants() -> Mapping[str, str]:
    """Return the descriptions of the interface's constants."""
    return {
        "HUMAN": "Value that stands for the human dialogues in the columns of systems and models.",
        "TABLES": "Descriptions of all tables, by name; the table of a measure is named `measures/MEASURE`.",
    }
