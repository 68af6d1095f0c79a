"""What a figure's legend says of the numbers that a paper prints, where the run asked in other prompts."""

from __future__ import annotations

from itertools import chain

from matplotlib.figure import Figure

from dialeval.figures.panels import is_published

OTHER_PROMPTS = "other prompts"


def mark_printed(figure: Figure) -> None:
    """Says of every legend's entry of published numbers that they were got with other prompts."""
    for legend in chain(figure.legends, (panel.get_legend() for panel in figure.axes)):
        for entry, text in zip(legend.legend_handles, legend.get_texts(), strict=True) if legend else ():
            if entry is not None and is_published(entry):
                text.set_text(f"{text.get_text()}, {OTHER_PROMPTS}")
