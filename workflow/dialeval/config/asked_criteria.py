"""Which of the user's criteria a protocol asks about, and what of that cannot be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dialeval.config.embedded_methods import serves
from dialeval.config.mistakes import Mistake
from dialeval.config.models import EmbeddedModel
from dialeval.config.protocol import DAMAGED, RATED, Protocol
from dialeval.criteria import SHIPPED, Criterion, with_own

if TYPE_CHECKING:
    from dialeval.config.whole import Config

SCORING = ("scale", "probability")
"""Forms whose answers are scores."""


def asked_criteria(config: Config, protocol: Protocol) -> list[Criterion]:
    """Returns the user's criteria that a protocol may ask about.

    Those that it names; without any, and where it scores, those that its rated corpora name and, of damaged items,
    those that the damage lowers.
    """
    if protocol.criteria or protocol.form not in SCORING:
        return config.own_criteria(protocol.criteria)
    corpora = config.metaeval.corpora if config.metaeval else {}
    of = protocol.of.source
    names = {
        name
        for corpus, rated in corpora.items()
        if RATED in of or corpus in of
        for name in rated.asked or ()
    }  # fmt: skip
    if DAMAGED in of and config.robustness:
        names |= set(config.hurt())
    return config.own_criteria(names)


def asked_dimensions(config: Config, protocol: Protocol) -> dict[str, list[str]]:
    """Returns the criteria that rated corpora name, as far as a protocol asks about others for it.

    One that names criteria itself asks about those; ratings ask about all of the papers' in any case.
    """
    corpora = config.metaeval.corpora if config.metaeval and not protocol.criteria else {}
    named = {
        corpus: [name for name in rated.asked or () if protocol.form == "probability" or name in config.criteria]
        for corpus, rated in corpora.items()
    }
    return {corpus: names for corpus, names in named.items() if names}


def asked_hurt(config: Config, protocol: Protocol) -> dict[str, list[str]]:
    """Returns the perturbations that lower those of the user's criteria that a protocol may ask about."""
    asked = {criterion.name for criterion in asked_criteria(config, protocol)}
    return {name: strategies for name, strategies in config.hurt().items() if name in asked}


def unfit_questions(config: Config) -> Iterator[Mistake]:
    """Yields what protocols ask about criteria that cannot be asked."""
    for name, protocol in config.resolved_protocols().items():
        if protocol.answers == "structured":
            yield from _embedded_structured(config, name)
        if protocol.form not in SCORING:
            continue
        asked = asked_criteria(config, protocol)
        yield from _embedded(config, name, asked)
        for criterion in asked:
            if protocol.form == "probability" and not criterion.has_a_probability:
                words = (
                    f"protocol {name} asks how likely an answer is, and there is neither a question to answer with Yes "
                    "nor a scale of labels or of 2 to 26 whole numbers; write a question, or take form scale"
                )
                yield Mistake(f"criteria.{criterion.name}.question", words, (f"protocols.{name}",))
        yield from _nothing_asked(config, name, protocol)


def _embedded(config: Config, name: str, asked: list[Criterion]) -> Iterator[Mistake]:
    """Yields embedded judges that are asked about what they were not built for."""
    if not asked:
        return
    field = f"protocols.{name}.judges" if name in config.protocols.own or _names_judges(config, name) else "judges"
    for judge in config.judges_of(name):
        model = config.models.get(judge)
        if isinstance(model, EmbeddedModel) and serves(model.method, "rating"):
            words = (
                f"'{judge}' is an embedded model, which scores the papers' criteria ({', '.join(SHIPPED)}) and no "
                f"others; protocol {name} asks about {', '.join(one.name for one in asked)}: name judges of engine "
                f"openai or vllm under protocols.{name}.judges, or give these criteria a protocol of their own"
            )
            yield Mistake(field, words, (f"models.{judge}", f"protocols.{name}", "criteria"))


def _embedded_structured(config: Config, name: str) -> Iterator[Mistake]:
    """Yields embedded judges that are asked for JSON, which they do not write."""
    for judge in config.judges_of(name):
        if isinstance(config.models.get(judge), EmbeddedModel):
            words = f"'{judge}' is an embedded model, which answers in text and not in JSON; take answers: free"
            yield Mistake(f"protocols.{name}.answers", words, (f"models.{judge}",))


def _names_judges(config: Config, name: str) -> bool:
    return bool(getattr(getattr(config.protocols, name, None), "judges", None))


def _nothing_asked(config: Config, name: str, protocol: Protocol) -> Iterator[Mistake]:
    """Yields criteria that a protocol names and that nothing in its sources can be asked about."""
    known = with_own(config.own_criteria(config.criteria))
    for criterion in (known[one] for one in protocol.criteria if one in known):
        field, about = f"protocols.{name}.criteria", (f"criteria.{criterion.name}",)
        if protocol.of.source == [DAMAGED] and criterion.name in config.criteria and not criterion.hurt_by:
            words = f"nothing that is damaged lowers '{criterion.name}'; name perturbations under"
            yield Mistake(field, f"{words} criteria.{criterion.name}.hurt_by", about)
