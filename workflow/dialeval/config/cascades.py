"""Cascades: an expensive judge is asked a share of what a cheap one answers, most where that is least sure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dialeval.config.mistakes import Mistake
from dialeval.config.section import Name, Number, Section

if TYPE_CHECKING:
    from dialeval.config.protocol import Protocol
    from dialeval.config.whole import Config


class Cascade(Section):
    """Two judges as one: `first` answers everything, `then` a random share, drawn most where `first` is least sure."""

    first: Name = Field(description="The cheap judge.")
    then: Name = Field(description="The expensive judge.")
    share: Annotated[Number, Field(gt=0, lt=1)] = Field(0.3, description="Share of the requests that `then` is asked.")

    @property
    def name(self) -> str:
        """What tables call the two as one judge."""
        return f"{self.first}-then-{self.then}"


def unfit_cascades(config: Config) -> Iterator[Mistake]:
    """Yields what is wrong with cascades."""
    for name, protocol in config.resolved_protocols().items():
        cascade = protocol.cascade
        if cascade is None:
            continue
        field = f"protocols.{name}.cascade"
        judges = f"protocols.{name}.judges" if name in config.protocols.own else "judges"
        for part, judge in (("first", cascade.first), ("then", cascade.then)):
            if judge not in (protocol.judges or ()):
                words = f"'{judge}' does not judge under {name}; name it under {judges}"
                yield Mistake(f"{field}.{part}", words, (judges, "judges", f"models.{judge}"))
        if cascade.first == cascade.then:
            words = f"first and then are both '{cascade.first}'; name two judges, the cheap one first"
            yield Mistake(field, words)
        then = config.models.get(cascade.then)
        if then is not None and then.engine == "published":
            words = (
                f"'{cascade.then}' has answered already, so that asking it for a share saves nothing; take the cascade "
                "out, or name a judge that is asked"
            )
            yield Mistake(f"{field}.then", words, (f"models.{cascade.then}",))
        taken = {other.lower(): other for other in (*config.models, *config.ensembles)}
        if other := taken.get(cascade.name.lower()):
            words = f"tables would call the two {cascade.name}, and '{other}' has that name already; rename it"
            yield Mistake(field, words, (f"models.{other}",))
        if words := _says_not_how_sure(protocol):
            yield Mistake(field, words, (f"protocols.{name}.form",))
        for ensemble, methods in config.ensemble_methods().items():
            if cascade.then in methods.get(name, {}):
                words = (
                    f"'{cascade.then}' answers a share alone, and is a member of the ensemble {ensemble} under {name}; "
                    "give the cascade a protocol of its own, or the ensemble other members"
                )
                yield Mistake(field, words, (f"ensembles.{ensemble}",))


def _says_not_how_sure(protocol: Protocol) -> str:
    """Returns why nothing tells how sure a judge is under a protocol; empty where something does."""
    if protocol.form in ("detect", "mark"):
        return (
            f"an answer of form {protocol.form} does not say how sure the judge is; take the cascade out, or ask by "
            "form probability"
        )
    if protocol.form == "scale" and protocol.repeats < 2:
        return (
            "of form scale, how sure a judge is shows in the spread of its answers to the same question, and it is "
            "asked once; set repeats: 3 and a temperature, such as 0.7, or ask by form probability"
        )
    return ""
