"""Every configured protocol as one kind of thing: the papers' are data with the options of their sections."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dialeval.config.models import EmbeddedModel, EncoderModel, PublishedModel
from dialeval.config.protocol import DAMAGED, EACH_OTHER, RATED, SELFCHAT, Protocol
from dialeval.config.protocols import Protocols
from dialeval.schemas.judgements import Form

if TYPE_CHECKING:
    from dialeval.config.whole import Config

SHIPPED_FOLDER = Path(__file__).parents[1] / "protocols" / "shipped"
SHIPPED = tuple(Protocols.model_fields)
"""The protocols whose data are shipped, in the order in which everything lists them."""


TEMPLATES: dict[Form, str] = {"pair": "pair.j2", "detect": "detect.j2", "mark": "mark.j2"}
"""What one of the user's own is asked with that names no template; items have one for each of their levels."""


_UNASKED: dict[Form, tuple[type, ...]] = {
    "scale": (EncoderModel,),
    "mark": (EncoderModel, EmbeddedModel, PublishedModel),
}
"""Models that cannot answer a form, and are left out where a protocol names no judges."""


@cache
def shipped(name: str) -> Protocol:
    """Returns a shipped protocol as it is without options."""
    path = SHIPPED_FOLDER / f"{name}.yaml"
    return Protocol.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def resolved(config: Config) -> dict[str, Protocol]:
    """Returns every configured protocol by name, shipped ones first, with the judges that are asked."""
    found = {
        name: _with_options(shipped(name), dict(section), config)
        for name in SHIPPED
        if (section := getattr(config.protocols, name)) is not None
    }
    return {name: _filled_in(protocol, config) for name, protocol in {**found, **config.protocols.own}.items()}


def asks(config: Config, protocol: Protocol) -> bool:
    """Returns whether there is anything that a protocol is about."""
    chats = bool(config.chatbots)
    if protocol.form in ("detect", "mark"):
        chats = config.talks()
    elif protocol.form == "pair" and protocol.of.against == EACH_OTHER:
        chats = len(config.chatbots) > 1
    there = {SELFCHAT: chats, RATED: bool(config.metaeval), DAMAGED: bool(config.robustness)}
    return any(there.get(source, True) for source in protocol.of.source)


def _filled_in(protocol: Protocol, config: Config) -> Protocol:
    judges = protocol.judges
    if judges is None:  # a trained encoder writes no ratings; asked for verdicts, it is refused
        unasked = _UNASKED.get(protocol.form, ())
        judges = [name for name in config.judges if not isinstance(config.models.get(name), unasked)]
    if protocol.measures and not judges and "agreement" in protocol.measures:  # rules alone agree with nobody
        protocol = protocol.model_copy(update={"measures": [one for one in protocol.measures if one != "agreement"]})
    template = protocol.template or TEMPLATES.get(protocol.form)
    return protocol.model_copy(update={"judges": judges, "template": template})


def _with_options(protocol: Protocol, options: dict[str, Any], config: Config) -> Protocol:
    """Returns a shipped protocol with the options that its section of the configuration has."""
    if protocol.form == "mark":
        return _of_failures(protocol, options)
    lengths = options.pop("n_utterances", None)
    if protocol.form == "pair":
        needed = None if config.selfchat.scenarios else config.seeds.arena_min_utterances
        cut = {"cut": lengths} if lengths and protocol.of.against == EACH_OTHER else {}
        of = protocol.of.model_copy(update=cut | {"human_utterances": needed})
        options["of"] = of
    elif lengths:
        options["at"] = lengths
    if config.selfchat.scenarios and protocol.measures:  # behind scenarios there are no human dialogues
        options["measures"] = [name for name in protocol.measures if name != "pass_rates_at_gt_length"]
    return protocol.model_copy(update=options)


def _of_failures(protocol: Protocol, options: dict[str, Any]) -> Protocol:
    """Returns the protocol of failures with its options, but for those of the rules, which ask nobody."""
    for of_rules in ("length_share", "people"):
        del options[of_rules]
    kinds, source = options.pop("kinds"), options["of"].source
    of = protocol.of.model_copy(update={"source": source})
    return protocol.model_copy(update={**options, "of": of, "criteria": kinds})
