"""Paths of figures, and what is drawn in each part of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dialeval.criteria import FAILURES_PROTOCOL
from dialeval.figures import registry
from dialeval.figures.registry import Drawing, drawings
from dialeval.layout.dialogues import Below
from dialeval.layout.tables import Tables


@dataclass(frozen=True)
class Figures(Tables):
    """Figures of a run."""

    FIGURE = Below("figures/{part}/{name}.{suffix}")
    FIGURE_SVG = Below("figures/{protocol}/{measure}.svg")
    FIGURE_PDF = Below("figures/{protocol}/{measure}.pdf")
    BATTLE_SVG = Below("figures/battles/{battles}.svg")
    BATTLE_PDF = Below("figures/battles/{battles}.pdf")

    @cached_property
    def drawn(self) -> dict[str, list[Drawing]]:
        """Return what is drawn in each part; a figure without anything to show says why."""
        config = self.config
        by_dialogue = "clustered by dialogue"
        botchat = {
            "arena_min": config.seeds.arena_min_utterances,
            "n": config.protocols.arena.n_utterances if config.protocols.arena else [],
            "protocol": [name for name in self.protocols if name not in self.own_measures],
        }
        tables = [*self.botchat_names(), "botchat/utterance_tokens"]
        return {
            "botchat": drawings(registry.BOTCHAT, botchat, tables),
            "metaeval": drawings(registry.METAEVAL, _interval(config.metaeval, "dialogues resampled")),
            "robustness": drawings(registry.ROBUSTNESS, _interval(config.robustness, by_dialogue)),
            "dialogbench": drawings(registry.DIALOGBENCH, _interval(config.dialogbench, by_dialogue)),
            "training": drawings(registry.TRAINING, _interval(None, by_dialogue)),
            "labels": drawings(registry.LABELS, _interval(config.labels, "clustered by case")),
        }

    def drawn_measure(self, protocol: str, measure: str) -> list[Drawing]:
        """Return what is drawn of a measure of one of the user's own protocols."""
        figures = [figure for figure in registry.MEASURES if figure.name == measure]
        return drawings(figures, {"protocol": [protocol]})

    def drawn_battles(self, battles: str) -> list[Drawing]:
        """Return what is drawn of a table of battles."""
        words = f"95 % interval (resampled by {self.config.battles[battles].cluster or 'row'})"
        return drawings(registry.BATTLES, {"title": [battles], "interval": words})

    def figures(self, part: str, suffix: str) -> list[str]:
        """Return the figures of a part."""
        return [self.FIGURE.format(part=part, name=one.name, suffix=suffix) for one in self.drawn[part]]

    def both_figures(self, part: str) -> list[str]:
        """Return the figures of a part as SVG and as PDF."""
        return [*self.figures(part, "svg"), *self.figures(part, "pdf")]

    def tables_drawn(self, part: str) -> list[str]:
        """Return the tables that the figures of a part are drawn from."""
        names = dict.fromkeys(table for one in self.drawn[part] for table in one.tables)
        return [self.TABLE.format(name=table, suffix="parquet") for table in names]

    def measure_figures(self, suffix: str) -> list[str]:
        """Return the figures of the user's own protocols."""
        return [
            self.FIGURE.format(part=name, name=measure, suffix=suffix)
            for name, protocol in self.shown_protocols().items()
            if name in self.own_measures
            for measure in protocol.measured()
            if measure in self.measures_with_figures
        ]

    @cached_property
    def measures_with_figures(self) -> list[str]:
        """Return the measures that are drawn one by one."""
        return [figure.name for figure in registry.MEASURES]

    def failure_figures(self, suffix: str) -> list[str]:
        """Return the figures of failures."""
        folder = f"{self.results}/figures/{FAILURES_PROTOCOL}/"
        return [path for path in self.measure_figures(suffix) if path.startswith(folder)]

    def label_figures(self, suffix: str) -> list[str]:
        """Return the figures of people's labels, if there are any labels."""
        return self.figures("labels", suffix) if self.has_labels else []

    def labelled_order(self, sources: Sequence[str]) -> list[str]:
        """Return the estimates that order the systems in figures, if people labelled dialogues of these sources."""
        of_labels = [tuple(self.protocols[name].of.source) for name in self.labelled_protocols]
        return [self.SYSTEM_ESTIMATES] if self.has_labels and tuple(sources) in of_labels else []

    def selfchat_order(self) -> list[str]:
        """Return the estimates that order chatbots in figures, if people labelled their dialogues."""
        return self.labelled_order(["selfchat"])

    def systems_order(self, protocol: str) -> list[str]:
        """Return the tables that order the systems in all figures of the dialogues that a protocol is about."""
        source = self.protocols[protocol].of.source
        ordering = {figure.name for figure in registry.MEASURES if figure.order}
        deciding = [
            (measure != "ratings", measure == "rates", self.MEASURE.format(protocol=name, measure=measure))
            for name, one in self.shown_protocols().items()
            if one.of.source == source
            for measure in one.measured()
            if measure in ordering
        ]
        first = [path for *_, path in sorted(deciding, key=lambda one: one[:2])][:1]
        return self.labelled_order(source) + first

    def captions(self) -> dict[str, tuple[str, str]]:
        """Return title and caption of every figure of the report, by part and name."""
        of_parts = [(part, one) for part, drawn in self.drawn.items() for one in drawn]
        own = drawings(registry.MEASURES, {"protocol": self.own_measures})
        of_own = [(one.tables[0].partition("/")[0], one) for one in own]
        return {f"{part}/{one.name}": (one.title, one.caption) for part, one in of_parts + of_own}


def _interval(section: Any, how: str) -> dict[str, str]:
    """Return the words for the bars of a part's figures."""
    return {"interval": f"{100 * (section.confidence if section else 0.95):g} % interval ({how})"}
