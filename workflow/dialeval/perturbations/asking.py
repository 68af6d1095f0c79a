"""Asks a model to rewrite items, each once more where its first answer fails the check."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dialeval.corpora.items import Item
from dialeval.engines.answering import Answering, run_together
from dialeval.engines.request import AnswerFailure, Response, Sampling
from dialeval.perturbations.item_damage import NotApplicable
from dialeval.perturbations.rewriting import ATTEMPTS, Rewriting, plan_rewriting, settle
from dialeval.perturbations.strategy import Strategy
from dialeval.prompts.rendering import Templates

Wanted = tuple[Item, Strategy, int]
"""An item, what is to be done to it, and the number of the draw."""


async def rewrite_all(
    answering: Answering,
    wanted: Sequence[Wanted],
    templates: Templates,
    sampling: Sampling,
    *,
    seen: Callable[[str, Response], None],
) -> list[Rewriting | NotApplicable]:
    """Returns what became of every rewriting, in the order of `wanted`.

    Args:
        answering: the rewriter.
        wanted: what is to be rewritten.
        templates: the prompts.
        sampling: how answers are drawn.
        seen: told of every answer, new or stored, with its key.
    """
    results: dict[int, Rewriting | NotApplicable] = {}
    waiting = iter(enumerate(wanted))

    async def worker() -> None:
        for place, (item, strategy, draw) in waiting:
            results[place] = await _rewrite(answering, item, strategy, draw, templates, sampling, seen)

    await run_together(worker() for _ in range(min(answering.engine.concurrency, len(wanted))))
    return [results[place] for place in range(len(wanted))]


async def _rewrite(
    answering: Answering,
    item: Item,
    strategy: Strategy,
    draw: int,
    templates: Templates,
    sampling: Sampling,
    seen: Callable[[str, Response], None],
) -> Rewriting | NotApplicable:
    answers: list[Response | None] = []
    result = Rewriting("missing", None, "", 0)
    for attempt in range(ATTEMPTS):
        request = plan_rewriting(item, strategy, templates, sampling, draw=draw, attempt=attempt, problem=result.reason)
        if isinstance(request, NotApplicable):
            return request
        try:
            response = await answering.ask(request)
        except AnswerFailure:
            answers.append(None)
        else:
            seen(answering.key(request), response)
            answers.append(response)
        result = settle(item, strategy, answers, draw=draw)
        if result.status == "ok":
            break
    return result
