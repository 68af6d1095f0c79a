"""Outputs and parameters of the rules that draw figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from snakemake.io import report

from dialeval.figures.registry import Drawing
from dialeval.rules.jobs import Describe, Directives, uncompared
from dialeval.rules.measures import Measures

CAPTION = "captions/figures.rst"


@dataclass(frozen=True)
class FigureRules:
    """The figures of a run, which Snakemake's own report shows with title and caption."""

    measures: Measures
    directives: Directives

    def files(self, part: str, category: str) -> list[Any]:
        """Return the figures of a part as SVG, for the report, and as PDF."""
        layout = self.measures.layout
        titles = [one.title for one in layout.drawn[part]]
        svg = zip(layout.figures(part, "svg"), titles, strict=True)
        return [self.shown(path, category, title) for path, title in svg] + layout.figures(part, "pdf")

    def shown(self, path: str, category: str, title: str) -> Any:
        """Return a figure that the report shows under a title."""
        return report(path, caption=CAPTION, category=category, labels={"figure": title})

    def part(self, part: str) -> dict[str, Any]:
        """Return the parameters of the job that draws the figures of a part."""
        drawn = self.measures.layout.drawn[part]
        return self.job(partial(self.measures.drawing, drawn), lambda: drawn)

    def job(self, describe: Describe, drawn: Callable[..., Sequence[Drawing]]) -> dict[str, Any]:
        """Return the parameters of jobs that draw figures. No figure depends on its caption."""
        drawings = self.directives.by(drawn)
        captions = uncompared(lambda wildcards: [[one.title, one.caption] for one in drawings(wildcards)])
        return self.directives.job(describe, in_folder=True) | {"captions": captions}
