"""A protocol as its form asks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dialeval.config.protocol import Protocol
from dialeval.criteria import Criterion, Level
from dialeval.engines.request import Sampling

AS_SHIPPED: Mapping[str, str] = {"scale": "rating", "probability": "yes_no", "detect": "unieval"}
"""The shipped protocol of a form, whose questions embedded judges know, with the papers' criteria or none."""


@dataclass(frozen=True, slots=True)
class ShownCriterion:
    """A criterion as a template may see it, in one language: texts alone."""

    name: str
    question: str
    meaning: str
    levels: Mapping[str, str]


def shown(criterion: Criterion | None, level: Level, language: str) -> ShownCriterion | None:
    """Returns a criterion with its words about one level in one language."""
    if criterion is None:
        return None
    words = criterion.in_language(language)
    return ShownCriterion(criterion.name, words.question.get(level, ""), words.meaning.get(level, ""), words.rubric)


def sampling_of(protocol: Protocol, seed: int | None = None) -> Sampling:
    """Returns how a judge is sampled under a protocol, with the seed of its sampler."""
    return Sampling(
        protocol.temperature,
        protocol.top_p,
        protocol.max_tokens,
        seed,
        presence_penalty=protocol.presence_penalty,
        frequency_penalty=protocol.frequency_penalty,
    )


@dataclass(frozen=True)
class Question:
    """A protocol with the criteria that it names.

    Attributes:
        name: the protocol's.
        protocol: what it asks, of what, and how.
        shipped: whether it is one of the papers', whose request ids are short.
        criteria: what it asks about; none where the template alone says what is asked.
    """

    name: str
    protocol: Protocol
    shipped: bool = False
    criteria: tuple[Criterion, ...] = ()

    @property
    def known_as(self) -> str:
        """Returns what engines know it as: the shipped protocol that asks the same, or its form; its name is free."""
        if self.shipped:
            return self.name
        alike = self.protocol.form != "detect" or not self.criteria
        return AS_SHIPPED.get(self.protocol.form, self.protocol.form) if alike else self.protocol.form

    @property
    def template(self) -> str:
        """Returns the template that it is asked with."""
        assert self.protocol.template
        return self.protocol.template

    @property
    def structured(self) -> bool:
        """Returns whether answers are JSON."""
        return self.protocol.answers == "structured"

    def cut_to(self, n: int | None) -> Question:
        """Returns the same question about dialogues that are cut to one length; None for whole ones."""
        of = self.protocol.of.model_copy(update={"cut": [n] if n else []})
        return replace(self, protocol=self.protocol.model_copy(update={"of": of}))

    def asked(self) -> tuple[Criterion | None, ...]:
        """Returns what is asked about one after the other; None is the question that needs no criterion."""
        return self.criteria or (None,)

    def samplings(self) -> Iterator[tuple[int, Sampling]]:
        """Yields the number of each repeat and how it is sampled; of several each has its own sampler seed."""
        own, repeats = self.protocol, self.protocol.repeats
        for repeat in range(repeats):
            yield repeat, sampling_of(own, seed=repeat if repeats > 1 else None)

    def request_id(self, criterion: Criterion | None, n: int | None, about: str, repeat: int) -> str:
        """Returns a readable id, `helpful/empathy/8/case-12/a/b/0`; the papers' are short, `arena/8/MT-12/a/b`."""
        if self.shipped:
            return "/".join([self.name, *([str(n)] if n else []), about])
        return "/".join([self.name, criterion.name if criterion else "-", str(n or "-"), about, str(repeat)])
