"""Parameters of the stages that turn judgements into measures of systems and draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialeval.config.consistency import asks_otherwise
from dialeval.figures.registry import Drawing
from dialeval.measures.design import design_of
from dialeval.rules.corpora import Parameters
from dialeval.rules.jobs import StageJob

PRINTED_IN = {"unieval", "arena", "gteval", "metaeval", "robustness", "dialogbench"}
"""The folders of tables whose figures have numbers that a paper prints."""


@dataclass(frozen=True)
class Measures(Parameters):
    """Parameters of the stages of measures and figures."""

    def measure(self, protocol: str, measure: str) -> StageJob:
        """Describe a job of `measure_<measure>`."""
        return StageJob(f"measure_{measure}", design_of(self.config, protocol).needed_by(measure))

    def measure_ratings(self, protocol: str) -> StageJob:
        """Describe a job of `measure_ratings`."""
        return self.measure(protocol, "ratings")

    def measure_differences(self, protocol: str) -> StageJob:
        """Describe a job of `measure_differences`."""
        return self.measure(protocol, "differences")

    def rank_systems(self, protocol: str) -> StageJob:
        """Describe a job of `rank_systems`."""
        confidence = design_of(self.config, protocol).confidence
        return StageJob("rank_systems", {"protocol": protocol, "confidence": confidence})

    def rate_battles(self, battles: str) -> StageJob:
        """Describe a job of `rate_battles`."""
        settings = {
            **self.config.battles[battles].columns(),
            "elo": self.config.elo,
            "random_seed": self.config.random_seed,
        }
        return StageJob("rate_battles", settings, reads=self.sources.battles(battles))

    def tabulate_trust(self, protocol: str) -> StageJob:
        """Describe a job of `tabulate_trust`; scores under the protocol itself come before those under others."""
        protocols = self.layout.protocols
        others = [name for name, other in protocols.items() if other.form == protocols[protocol].form]
        settings = {
            "judges": self.config.judging(protocol),
            "criteria": protocols[protocol].criteria,
            "methods": list(dict.fromkeys([protocol, *others])),
            "language": self.config.corpora[self.config.seeds.corpus].language,
        }
        return StageJob("tabulate_trust", settings)

    def draw(self, protocol: str, measure: str) -> StageJob:
        """Describe a job that draws a measure of a protocol."""
        return self.drawing(self.layout.drawn_measure(protocol, measure))

    def draw_battles(self, battles: str) -> StageJob:
        """Describe a job that draws the ratings of a table of battles."""
        return self.drawing(self.layout.drawn_battles(battles))

    def drawing(self, drawn: Sequence[Drawing]) -> StageJob:
        """Describe a job of `draw`."""
        folders = {table.partition("/")[0] for one in drawn for table in one.tables}
        is_marked = folders & PRINTED_IN and asks_otherwise(self.config)
        settings = {
            "drawings": [one.settings() for one in drawn],
            **({"other_prompts": True} if is_marked else {}),
        }
        return StageJob("draw", settings, modules=sorted({module for one in drawn for module in one.modules}))
