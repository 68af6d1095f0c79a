"""The report of a run: leaderboards, figures, tables and single cases, in one HTML file that works offline."""

from dialeval.report.inputs import AskedProtocol, Figure, ReportInputs
from dialeval.report.item_cases import sample_rated
from dialeval.report.page import build_report

__all__ = ["AskedProtocol", "Figure", "ReportInputs", "build_report", "sample_rated"]
