"""How far a judge can be trusted on a criterion, in words: what the table `trust` of a protocol says of it."""

from __future__ import annotations

from dataclasses import replace

from dialeval.report.board import Measure
from dialeval.report.inputs import ReportInputs
from dialeval.report.numbers import write_interval, write_number
from dialeval.report.protocols import AskedProtocol, title_of

_RATERS = {"human": "people", "construction": "what is known by construction", "model": "a model's ratings"}


def trusted(inputs: ReportInputs, protocol: AskedProtocol, judge: str | None, measure: Measure) -> Measure:
    """Returns a column with the words on how far its judge can be trusted, where it is about a criterion."""
    table = inputs.tables.get(f"{protocol.name}/trust")
    rows = [] if table is None or not measure.criterion else table.to_pylist()
    for row in rows:
        if (row["judge"], row["criterion"]) != (judge, measure.criterion):
            continue
        if row["pearson"] is None:
            words = f"How far {judge} can be trusted on {measure.criterion} is not known: {row['reason']}"
        else:
            interval = write_interval(row["low"], row["high"], "correlation")
            words = (
                f"How far {judge} can be trusted on {measure.criterion}: its scores ({title_of(row['method'])}, "
                f"{row['level']} level) of {row['n']:,} rated items of {row['corpora']} correlate with "
                f"{_RATERS[row['rater_kind']]} by {write_number(row['pearson'], 'correlation')}"
                + (f" ({interval})" if interval else "")
            )
        return replace(measure, words=words)
    return measure
