"""What the correction of a protocol's numbers must know beside judgements and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from dialeval.aggregation.measures.design import Design, design_of
from dialeval.config.protocol import Protocol
from dialeval.schemas.judgements import Form

if TYPE_CHECKING:
    from dialeval.config.whole import Config

_NEEDED = ("protocol", "form", "judges", "members", "systems", "criteria", "lengths", "reference", "measures")


class LabelledDesign(Design):
    """A protocol under which people labelled.

    Attributes:
        form: of its questions.
        members: the judges whose scores make up the panel: all but means of several judges, who would count twice.
        labels_of_judge: whether a judge's answers stand for people's labels, so that an unparsed one is no pass.
    """

    form: Form
    members: list[str]
    labels_of_judge: bool = False


class Terms(BaseModel, defer_build=True):
    """How all protocols' numbers are corrected.

    Attributes:
        target: what intervals are about: `new` cases, or `these` dialogues.
        panel: how several judges become one proxy; None for not at all.
        confidence: nominal coverage of the intervals.
    """

    target: Literal["new", "these"] = "new"
    panel: Literal["mean", "dawid_skene"] | None = "mean"
    confidence: float = 0.95


def labelled_design(config: Config, name: str) -> dict[str, Any]:
    """Returns the design of a configured protocol, without what the correction does not depend on."""
    design, protocol = design_of(config, name), config.resolved_protocols()[name]
    about = design.model_dump(mode="json") | {"form": protocol.form, "members": _members(config, name, protocol)}
    families = {model: family for model, family in design.families.items() if family != model}
    return {column: about[column] for column in _NEEDED} | {"families": families}


def _members(config: Config, name: str, protocol: Protocol) -> list[str]:
    """Returns the judges of the panel: those that are asked everything."""
    return [judge for judge in config.judging(name) if judge in (protocol.judges or ())]
