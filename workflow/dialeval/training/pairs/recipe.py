"""What a training set is made of, as the configuration has it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from dialeval.criteria import Level
from dialeval.training.pairs.examples import Wanted
from dialeval.training.pairs.kinds import chosen_kinds


class Recipe(BaseModel, defer_build=True):
    """A training set.

    Attributes:
        name: in the configuration.
        level: of the pairs.
        domains: domain -> corpora.
        criteria: None for those that the paper's metrics learn.
        kinds: ways of spoiling; None for all.
        languages: None for all that there are.
        pairs_per_language: the most of each language; None for all.
        max_context: utterances before a response that are kept.
        development, held_back: shares of the dialogues.
        overlap: what happens to dialogues that are judged.
        random_seed: of all draws.
        hurt: the user's criteria with the perturbations that lower them.
    """

    name: str
    level: Level
    domains: dict[str, list[str]]
    criteria: list[str] | None = None
    kinds: list[str] | None = None
    languages: list[str] | None = None
    pairs_per_language: int | None = None
    max_context: int = 10
    development: float = 0.1
    held_back: float = 0.1
    overlap: Literal["refuse", "leave_out"] = "refuse"
    random_seed: int = 0
    hurt: dict[str, list[str]] = {}

    def domain_of(self) -> dict[str, str]:
        """Returns the domain of each corpus."""
        return {corpus: domain for domain, corpora in self.domains.items() for corpus in corpora}

    def wanted(self) -> Wanted:
        """Returns what pairs are made.

        Raises:
            UserError: a kind or criterion is not known.
        """
        kinds = chosen_kinds(self.criteria, self.kinds, self.level, self.hurt)
        return Wanted(self.level, kinds, self.pairs_per_language, self.max_context, self.random_seed)
