"""The report of a run: leaderboards, figures, tables and every dialogue, in one HTML file that works offline."""

from dialeval.report.inputs import Figure, ReportInputs
from dialeval.report.page import build_report

__all__ = ["Figure", "ReportInputs", "build_report"]
