"""Having items written round by round, and filtered; every answer's fate is kept as a row.

A writer is asked for what is still wanting until every item passes the rules, or the limit of rounds is reached. The
filter comes afterwards and decides nothing about writing, so that another filter asks for no writing again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench import classification, filtering
from dialeval.dialogbench.briefs import BASIC, FULL, Brief
from dialeval.dialogbench.checking import Rules, checked
from dialeval.dialogbench.writing import as_told, plan_top_up
from dialeval.dialogbench.written import Outcome, read_written
from dialeval.engines.request import Request, Sampling
from dialeval.prompts.rendering import Templates

Ask = Callable[[Sequence[Request]], Awaitable[list[dict[str, Any]]]]
"""Asks a model, and returns a row of `responses` for each request, in their order."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of a writer and what became of it.

    Attributes:
        procedure: by which it was written: `full`, `-styles` or `-domains`.
        round: when it was asked for, 0 first.
        outcome: the item, or the reasons against it.
    """

    procedure: str
    round: int
    outcome: Outcome

    def to_row(self) -> dict[str, Any]:
        """Returns the attempt as a row of the table `written_items`; the item's columns are empty without an item."""
        item = self.outcome.item.to_row() if self.outcome.item else {}
        return {**item, "procedure": self.procedure, "round": self.round, **self.outcome.to_row()}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Attempt:
        """Returns the attempt that `to_row` wrote."""
        outcome = Outcome(
            item_id=row["item_id"],
            task=row["task"],
            domain=row["domain"],
            language=row["language"],
            status=row["status"],
            item=None if row["label"] is None else TestItem.from_row(row),
            reasons=tuple(row["reasons"]),
            details=tuple(row["details"]),
        )
        return cls(row["procedure"], row["round"], outcome)

    @property
    def variant(self) -> str | None:
        """Returns the procedure whose item this is, or `-filter` for one that only the filter refuses.

        None for an attempt that gave no item.
        """
        if self.outcome.accepted:
            return self.procedure
        refused_by_filter = self.outcome.item is not None and self.outcome.reasons[0].startswith("filter")
        return "-filter" if refused_by_filter and self.procedure == FULL else None

    @property
    def is_filtered(self) -> bool:
        """Returns whether the filter is to judge it: an item that was accepted so far, and that may be examined."""
        return self.outcome.accepted and self.procedure != BASIC


async def write_in_rounds(
    ask: Ask,
    briefs: Sequence[Brief],
    templates: Templates,
    sampling: Sampling,
    *,
    origin: str,
    rules: Rules,
    duplicate_similarity: float | None,
    max_rounds: int,
) -> list[Attempt]:
    """Returns every attempt at the items of some briefs, round by round.

    Args:
        ask: the writer.
        briefs: what is to be written, all by one procedure.
        templates: the prompts.
        sampling: how the writer is sampled.
        origin: what is noted as the items' origin.
        rules: what an item must obey.
        duplicate_similarity: from which on an item counts as a repetition of an earlier one; None: repetitions count.
        max_rounds: how many rounds there are at most.
    """
    brief_of = {brief.item_id: brief for brief in briefs}
    accepted: dict[str, Outcome] = {}
    attempts: list[Attempt] = []
    for number in range(max_rounds):
        planned = list(plan_top_up(briefs, accepted, templates, sampling, round_number=number, max_rounds=max_rounds))
        if not planned:
            break
        asked_for = [as_told(brief_of[one.case_id or ""], one.request.messages[0].content) for one in planned]
        answers = await ask([one.request for one in planned])
        read = [read_written(brief, answer, origin) for brief, answer in zip(asked_for, answers, strict=True)]
        settled = checked([*accepted.values(), *read], rules, threshold=duplicate_similarity)[len(accepted) :]
        accepted |= {one.item_id: one for one in settled if one.accepted}
        attempts += [Attempt(brief.procedure, number, one) for brief, one in zip(asked_for, settled, strict=True)]
    return attempts


async def filter_attempts(
    ask: Ask, attempts: Sequence[Attempt], templates: Templates, sampling: Sampling = filtering.SAMPLING, *, judge: str
) -> list[Attempt]:
    """Returns the attempts with the filter's reason against those that the judge does not call correct.

    Args:
        ask: the judge.
        attempts: what was written; only accepted items are judged, and none of the basic prompt.
        templates: the prompts.
        sampling: how the judge is sampled.
        judge: its name.
    """
    items = items_of(one for one in attempts if one.is_filtered)
    answers = await ask([one.request for one in filtering.plan(items, templates, sampling)])
    verdicts = {item.item_id: filtering.parse(judge, item, answer) for item, answer in zip(items, answers, strict=True)}
    return [
        Attempt(one.procedure, one.round, filtering.filtered(one.outcome, verdicts[one.outcome.item_id]))
        if one.is_filtered
        else one
        for one in attempts
    ]


async def classify_attempts(
    ask: Ask,
    attempts: Sequence[Attempt],
    templates: Templates,
    sampling: Sampling = classification.SAMPLING,
    *,
    judge: str,
) -> list[dict[str, Any]]:
    """Returns style and domain of every accepted item as the judge sees them, with its variant: one row each."""
    variant_of = {one.outcome.item_id: one.variant for one in attempts if one.outcome.accepted}
    items = items_of(attempts)
    answers = await ask([one.request for one in classification.plan(items, templates, sampling)])
    return [
        {"variant": variant_of[item.item_id], **classification.parse(judge, item, answer)}
        for item, answer in zip(items, answers, strict=True)
    ]


def items_of(attempts: Iterable[Attempt]) -> list[TestItem]:
    """Returns the accepted items."""
    return [one.outcome.item for one in attempts if one.outcome.accepted and one.outcome.item]


def written_of(attempts: Iterable[Attempt], variants: Sequence[str]) -> Iterator[tuple[str, TestItem]]:
    """Yields the items of some variants, each with its variant."""
    for one in attempts:
        variant, item = one.variant, one.outcome.item
        if variant in variants and variant and item:
            yield variant, item
