"""Descriptions of tables: name, columns, and the words for columns that many tables share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pyarrow as pa

TEXT, INT, LARGE, FLOAT, BOOL = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_()
TEXTS, PLACES = pa.list_(TEXT), pa.list_(INT)


class Maybe(NamedTuple):
    """A column that may hold nulls."""

    kind: pa.DataType


def maybe(kind: pa.DataType) -> Maybe:
    """Return a kind of column that may hold nulls."""
    return Maybe(kind)


def schema(**columns: pa.DataType | Maybe) -> pa.Schema:
    """Return a schema of columns in the order given."""
    fields = []
    for name, kind in columns.items():
        nullable = isinstance(kind, Maybe)
        fields.append(pa.field(name, kind.kind if isinstance(kind, Maybe) else kind, nullable=nullable))
    return pa.schema(fields)


BEHIND: dict[str, Maybe] = {"n_clusters": maybe(INT), "design_effect": maybe(FLOAT), "n_effective": maybe(FLOAT)}
"""What stands beside every interval; empty where it is not defined."""


# Tables

Kind = Literal["share", "rating", "correlation", "tokens", "count", "number", "text"]
"""How numbers are written."""


@dataclass(frozen=True, eq=False)
class Table:
    """The description of a table: its columns, and its texts in documentation and report.

    Attributes:
        name: name in the files' metadata; `<part>/<table>` if a part of the report shows it.
        schema: its columns.
        row: unit of a row.
        title: heading in the report.
        caption: content, in a sentence or two.
        columns: descriptions of columns, except columns with an obvious or common meaning.
        cells: columns that the report shows with an interval or another column in the same cell.
        numbers: number format of the columns of fractional numbers, except those in `formats`.
        formats: number format of other columns, by name.
        shown: whether the report contains the rows; if not, the report names the file.
    """

    name: str
    schema: pa.Schema
    row: str
    title: str = ""
    caption: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, Interval] = field(default_factory=dict)
    numbers: Kind = "number"
    formats: Mapping[str, Kind] = field(default_factory=dict)
    shown: bool = True

    @property
    def file(self) -> str:
        """The name of its files, without the part."""
        return self.name.rpartition("/")[2]

    def kind_of(self, column: str) -> Kind:
        """Return how the numbers of a column are written."""
        type_ = self.schema.field(column).type
        if not (pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            return "text"
        if column.endswith(("design_effect", "n_effective")):
            return "rating"
        return self.formats.get(column, "count" if pa.types.is_integer(type_) else self.numbers)


@dataclass(frozen=True)
class Interval:
    """Columns that are written into the cell of another: interval limits, and the published value."""

    low: str = ""
    high: str = ""
    published: str = ""


# Descriptions of shared columns

COMMON: Mapping[str, str] = MappingProxyType(
    {
        "n_clusters": "number of clusters in the sample: seeds, cases or dialogues",
        "design_effect": "variance of the estimate, relative to a simple random sample of the same number of rows",
        "n_effective": "effective sample size: number of rows divided by the design effect",
        "note": "why the estimate or its interval is missing, or another remark",
        "n_unparsed": "number of unparsed responses; they stay in the denominator of shares",
        "n_missing": "number of rows without a response or a score",
        "status": "ok, or why the value is missing",
    }
)
"""By the column's name, in whatever table."""

JUDGED: Mapping[str, str] = MappingProxyType(
    {
        "method": (
            "scoring method: rating, yes_no, annotation (the scores came with the corpus) or file (the scores come "
            "from a score file)"
        ),
        "level": "scored unit: turn (a response in its context) or dialogue",
        "language": "language of the texts",
        "dimension": "criterion that the judges scored",
        "rated": (
            "criterion that humans rated; the same as `dimension` unless `criterion_map` names another criterion"
        ),
        "rater_kind": "source of the ratings: human, model, or construction (the rating follows from how the item "
        "was made)",
        "imputed_by": "judge of this run that imputed the ratings; empty if the corpus has ratings",
        "n": "number of items with a score and a rating",
        "reason": "why the estimate is missing",
        "benchmark": "name of the group of corpora that are averaged together (setting `benchmark`)",
    }
)
"""In tables of judges that score items."""

COMPARED: Mapping[str, str] = MappingProxyType(
    {
        "table": "table that has the compared estimates",
        "measure": "compared measure",
        "scope": "part of the results that is compared, such as N = 16 or a task. Rows with the same table, measure, "
        "judge and scope are one family of tests",
        "system_value": "estimate of `system`. It can differ slightly from the leaderboard if it is computed on "
        "shared cases only",
        "opponent_value": "estimate of `opponent`",
        "difference": "`system` minus `opponent`, with its 95% confidence interval. Labels, robustness and DialogBench "
        "have a setting `confidence`",
        "p": "two-sided p-value of no difference, unadjusted",
        "p_holm": "Holm-adjusted p-value over all pairs of the family; below 0.05 the difference is significant",
        "q_bh": "Benjamini-Hochberg q-value, for exploration. Among pairs with a q-value below 0.05, at most 5% are "
        "expected to be false discoveries",
        "family_size": "number of tests in the family",
        "n": "number of shared items; for two samples, number of items of both systems together; for ratings, number "
        "of comparisons",
        "n_clusters": "number of seeds or dialogues that the compared items belong to",
    }
)
"""In tables of pairs that are compared."""


# Differences

# fmt: off
COLUMNS = schema(
    table=TEXT, measure=TEXT, judge=maybe(TEXT), scope=TEXT, system=TEXT, opponent=TEXT, system_value=maybe(FLOAT),
    opponent_value=maybe(FLOAT), difference=maybe(FLOAT), ci_low=maybe(FLOAT), ci_high=maybe(FLOAT), p=maybe(FLOAT),
    p_holm=maybe(FLOAT), q_bh=maybe(FLOAT), family_size=INT, n=INT, n_clusters=INT, note=maybe(TEXT)
)
# fmt: on


def scope(about: Mapping[str, Any]) -> str:
    """Return the column `scope` of a group: criterion, length and answer of the comparison, as text."""
    words = [about["criterion"]] if about.get("criterion") else []
    words += [f"N = {about['n_utterances']}"] if about.get("n_utterances") is not None else []
    words = words or ["all"]
    return ", ".join([*words, about["answer"]] if about.get("answer") else words)


def differences(
    name: str, *, row: str, title: str, caption: str, columns: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return a table of differences.

    Args:
        name: its name.
        row: what is compared in one row.
        title: heading in the report.
        caption: which numbers are compared.
        columns: descriptions that differ from `COMPARED`.
    """
    return Table(
        name,
        COLUMNS,
        row=row,
        title=title,
        caption=f"{caption} Intervals and p-values are clustered.",
        columns={**COMPARED, **columns},
        cells={"difference": Interval("ci_low", "ci_high")},
    )
