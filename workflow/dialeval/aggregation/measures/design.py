"""What a measure must know beside the judgements: who judged whom, at what lengths, and how intervals are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from dialeval.config.botchat import Elo
from dialeval.config.cascades import Cascade
from dialeval.config.protocol import EACH_OTHER, RANKS, SELFCHAT, Protocol
from dialeval.schemas.judgements import Form
from dialeval.tables import HUMAN

if TYPE_CHECKING:
    from dialeval.config.whole import Config

_EVERY = ("protocol", "judges", "systems", "criteria", "lengths", "confidence")
_ALSO: dict[str, tuple[str, ...]] = {
    "ratings": ("elo", "random_seed", "equal_pairs"),
    "win_rates": ("reference",),
    "bias": ("reference", "families", "both_orders", "resamples", "random_seed"),
    "differences": ("reference", "measures", "without_answers", "equal_pairs"),
    "rates": ("without_answers",),
    "checklist": ("without_answers",),
    "agreement": ("resamples", "random_seed"),
}


class Design(BaseModel, defer_build=True):
    """How the judgements under a protocol came about, and how they are measured.

    Attributes:
        protocol: its name.
        judges: the judges, in the order of the table.
        systems: who is judged, in the order of the table; systems that are judged and not named come after them.
        without_answers: the judges that give numbers alone: means of several judges' own.
        criteria: what is judged, in the order of the table; those that are judged and not named come after them.
        lengths: the N; none where dialogues are taken as long as they are.
        reference: the system, or `human`, that all others are shown beside; None where they are shown with each other.
        both_orders: whether pairs are shown in both orders.
        families: family of judges and systems; one without is a family of its own.
        measures: what is measured of judgements under the protocol, which says what differences are of.
        elo: settings of Bootstrap Elo, whose scale and resamples serve the other ratings too.
        confidence: nominal coverage of the intervals.
        resamples: resamples of the cases, where an interval is made by resampling.
        random_seed: seed of shuffles and resamples.
        equal_pairs: whether pairs were asked about until they were settled, so that ratings must weigh them equally.
        cascade: the two judges of which one was asked a share; None where all judges were asked everything.
        form: of the questions of a protocol with a cascade.
    """

    protocol: str
    judges: list[str]
    without_answers: list[str] = []
    systems: list[str] = []
    criteria: list[str] = []
    lengths: list[int] = []
    reference: str | None = None
    both_orders: bool = True
    families: dict[str, str] = {}
    measures: list[str] = []
    elo: Elo = Elo()
    confidence: float = 0.95
    resamples: int = 1000
    random_seed: int = 0
    equal_pairs: bool = False
    cascade: Cascade | None = None
    form: Form | None = None

    def needed_by(self, measure: str) -> dict[str, Any]:
        """Returns what a measure depends on, by name: a change of anything else does not concern it."""
        wanted = {*_EVERY, *_ALSO.get(measure, ())} - (set() if self.equal_pairs else {"equal_pairs"})
        wanted |= {"cascade", "form", "reference"} if self.cascade else set()
        return {name: value for name, value in self.model_dump(mode="json").items() if name in wanted}

    def of_answers(self) -> Design:
        """Returns the design without the judges that give no answers that could be counted."""
        return self.model_copy(update={"judges": [one for one in self.judges if one not in self.without_answers]})


def design_of(config: Config, name: str) -> Design:
    """Returns the design of a configured protocol."""
    protocol = config.resolved_protocols()[name]
    against = protocol.of.against
    return Design(
        protocol=name,
        judges=config.judging(name),
        without_answers=config.ensembles_of(name) if protocol.form == "scale" else [],
        systems=_systems(config, protocol),
        criteria=protocol.criteria,
        lengths=protocol.at if protocol.form == "detect" else protocol.of.cut,
        reference=None if protocol.form != "pair" or against == EACH_OTHER else against,
        both_orders=protocol.both_orders,
        families=config.families(),
        measures=[measure for measure in protocol.measured() if measure != RANKS],
        elo=config.elo,
        resamples=config.elo.resamples,
        random_seed=config.random_seed,
        equal_pairs=protocol.adaptive is not None,
        cascade=protocol.cascade,
        form=protocol.form if protocol.cascade else None,
    )


def _systems(config: Config, protocol: Protocol) -> list[str]:
    """Returns who is judged by self-chat; other sources say so in their items."""
    if SELFCHAT not in protocol.of.source:
        return []
    people = [HUMAN] if protocol.form in ("detect", "mark") and not config.selfchat.scenarios else []
    return [*people, *config.chatbots]
