"""The registry of figures: name, tables and drawing function of each, and the title and caption in a drawn file.

Rules, stages and the report follow from these entries. They name functions instead of importing them: Snakemake reads
the entries at its every start, and Matplotlib takes longer to import than all the rest. No stage imports this module: a
figure that is added re-draws no other.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        name: of its files.
        tables: the tables it is drawn from, as `<folder>/<table>` below `tables` in the results.
        draw: `<module>.<function>` in this package; the function gets the tables in order, and returns a `Plot`.
        options: what else the function gets by name, such as `interval`, the words for it in a caption.
        per: option, such as `n`, with a figure for each of its values; the value replaces `{n}` in name and tables.
            Empty for a single figure.
    """

    name: str
    tables: tuple[str, ...]
    draw: str
    options: tuple[str, ...] = ()
    per: str = ""

    def drawings(self, options: Mapping[str, Any]) -> list[Drawing]:
        """Return the pictures of the figure: one, or one for every value of `per`."""
        given = {name: options[name] for name in self.options}
        values = [{self.per: value} for value in options[self.per]] if self.per else [{}]
        return [
            Drawing(
                self.name.format(**value),
                tuple(table.format(**value) for table in self.tables),
                self.draw,
                given | value,
            )
            for value in values
        ]


@dataclass(frozen=True)
class Drawing:
    """One picture of a figure, with the options that its function gets; see `Figure`."""

    name: str
    tables: tuple[str, ...]
    draw: str
    options: Mapping[str, Any]

    @property
    def module(self) -> str:
        """The module whose code draws it."""
        return f"dialeval.figures.{self.draw.partition('.')[0]}"

    def settings(self) -> dict[str, Any]:
        """Return the settings of the stage that draws it."""
        return {"name": self.name, "tables": self.tables, "draw": self.draw, "options": dict(self.options)}


def drawings(
    figures: Iterable[Figure], options: Mapping[str, Any], tables: Iterable[str] | None = None
) -> list[Drawing]:
    """Return the pictures of figures, as far as a run has the tables that they are drawn from; None: it has all."""
    found = [one for figure in figures for one in figure.drawings(options)]
    present = None if tables is None else set(tables)
    return [one for one in found if present is None or present.issuperset(one.tables)]


class Text(NamedTuple):
    """Title and caption of a figure that is drawn; of one that is missing, the caption is the reason."""

    title: str
    caption: str
    is_missing: bool


def text_of(svg: str, name: str) -> Text:
    """Return title and caption from the metadata of an SVG file; a figure without a title has that of its name."""
    title, caption = (re.search(f"<{tag}>(.*?)</{tag}>", svg, re.DOTALL) for tag in ("title", "dc:description"))
    return Text(
        html.unescape(title[1]) if title else name.replace("_", " "),
        html.unescape(caption[1]) if caption else "",
        re.search(f"<rdf:li>\\s*{MISSING}\\s*</rdf:li>", svg) is not None,
    )


def values_of(svg: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the view box of an SVG file, and text and path of each value in it, as `save_figure` wrote them."""
    view = re.search(r'<svg[^>]*\bviewBox="([\d. ]+)"', svg)
    found = re.findall(r'<g class="value"><title>(.*?)</title><path d="([MLz\d.\s-]*)"', svg)
    places = [re.sub(r"(\.\d)\d+", r"\1", " ".join(path.split())) for _, path in found]
    return view[1] if view else "", tuple(
        (html.unescape(text), place) for (text, _), place in zip(found, places, strict=True)
    )


MISSING = "missing"
"""Keyword of an SVG that gives the reason for a missing figure."""

_ROSTER, _INTERVAL = ("roster",), ("interval",)

BOTCHAT = (
    Figure("figure2_seed_lengths", ("botchat/seeds",), "botchat.seed_lengths", ("arena_min",)),
    Figure("figure3_utterance_lengths", ("botchat/utterance_tokens",), "botchat.utterance_lengths", _ROSTER),
    Figure("figure4_unieval", ("unieval/pass_rates",), "botchat.unieval", _ROSTER),
    Figure("figure5_arena_n{n}", ("arena/win_rates",), "botchat.arena_wins", per="n"),
    Figure("figure6_gteval", ("gteval/win_rates",), "botchat.gteval"),
    Figure(
        "figure7_unieval_at_gt_length",
        ("unieval/pass_rates_at_gt_length",),
        "botchat.unieval_at_human_length",
        _ROSTER,
    ),
    Figure("bias_{protocol}", ("{protocol}/bias",), "systems.bias", per="protocol"),
    Figure("table2_arena_ratings", ("arena/ratings",), "botchat.arena_ratings"),
)

METAEVAL = (
    Figure("judges", ("metaeval/averages", "metaeval/correlations"), "metaeval.correlations", _INTERVAL),
    Figure("judges_by_corpus", ("metaeval/correlations",), "metaeval.by_corpus"),
    Figure("judges_by_language", ("metaeval/averages",), "metaeval.by_language"),
    Figure("dimensions", ("metaeval/matrices",), "metaeval.dimensions"),
    Figure("languages", ("metaeval/matrices",), "metaeval.languages"),
    Figure("judges_among_themselves", ("metaeval/matrices",), "metaeval.between_judges"),
    Figure("ensembles", ("metaeval/model_ensemble",), "metaeval.ensembles", _INTERVAL),
    Figure("dimension_ensembles", ("metaeval/dimension_ensemble",), "metaeval.dimension_ensembles", _INTERVAL),
    Figure("rankings", ("metaeval/ranking_agreement",), "metaeval.rankings"),
    Figure("annotators", ("metaeval/annotator_agreement",), "metaeval.annotators", _INTERVAL),
    Figure("ceilings", ("metaeval/ceilings",), "metaeval.ceilings", _INTERVAL),
)

ROBUSTNESS = (
    Figure("ratios", ("robustness/robustness",), "robustness.ratios", _INTERVAL),
    Figure("score_drops", ("robustness/score_drops", "robustness/robustness"), "robustness.drops"),
    Figure("severity_levels", ("robustness/severity_levels", "robustness/robustness"), "robustness.ladders", _INTERVAL),
)

DIALOGBENCH = (
    Figure("overall", ("dialogbench/accuracy",), "dialogbench.overall", _INTERVAL),
    Figure("tasks", ("dialogbench/accuracy",), "dialogbench.tasks"),
    Figure("domains", ("dialogbench/domains",), "dialogbench.domains"),
    Figure("averages", ("dialogbench/averages",), "dialogbench.averages", _INTERVAL),
    Figure("positions", ("dialogbench/positions",), "dialogbench.positions"),
    Figure("styles", ("dialogbench/styles",), "dialogbench.styles"),
    Figure("domain_counts", ("dialogbench/domain_counts",), "dialogbench.domain_counts"),
)

TRAINING = (
    Figure("record", ("training/record",), "training.record", _INTERVAL),
    Figure("curve", ("training/curve", "training/runs"), "training.curve"),
)

LABELS = (Figure("estimates", ("labels/estimates",), "systems.corrected", _INTERVAL),)

BATTLES = (Figure("{title}", ("battles/{title}",), "systems.battles", _INTERVAL, per="title"),)

MEASURES = (
    Figure("means", ("{protocol}/means",), "systems.means", _ROSTER, "protocol"),
    Figure("rates", ("{protocol}/rates",), "systems.shares", _ROSTER, "protocol"),
    Figure("checklist", ("{protocol}/checklist",), "systems.shares", _ROSTER, "protocol"),
    Figure("pass_rates", ("{protocol}/pass_rates",), "systems.pass_rates", _ROSTER, "protocol"),
    Figure("win_rates", ("{protocol}/win_rates",), "systems.win_rates", _ROSTER, "protocol"),
    Figure("ratings", ("{protocol}/ratings",), "systems.ratings", per="protocol"),
    Figure("bias", ("{protocol}/bias",), "systems.bias", per="protocol"),
)
"""Of any protocol's measures: each has the name of its measure."""
