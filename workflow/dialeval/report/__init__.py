"""The report of a run: leaderboards, figures, tables and single cases, in one HTML file that works offline."""

from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.page import build_report
from dialeval.report.protocols import AskedProtocol
from dialeval.report.rated_sample import sample_rated

__all__ = ["AskedProtocol", "Figure", "ReportInputs", "build_report", "sample_rated"]
