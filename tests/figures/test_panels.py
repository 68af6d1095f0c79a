"""Printed numbers in a figure say that they were asked in other prompts."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dialeval.figures.panels import mark_printed, published_marker


def test_only_the_entries_of_published_numbers_are_marked() -> None:
    figure = Figure()
    panel = figure.subplots()
    panel.legend(handles=[Line2D([], [], marker="D", label="published pass rate"), published_marker("published")])
    figure.legend(handles=[published_marker("the paper's Elo")])
    mark_printed(figure)
    (legend,) = figure.legends
    texts = [text.get_text() for one in (panel.get_legend(), legend) for text in one.get_texts()]
    assert texts == ["published pass rate", "published, other prompts", "the paper's Elo, other prompts"]
