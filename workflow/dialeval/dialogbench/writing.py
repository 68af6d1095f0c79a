"""Asking a model to write items (DialogBench 3.3 and 3.4), and asking again for those that are still wanting.

One request asks for one item. What it must be about is drawn beforehand (`briefs`); the model is asked for the
dialogue, the options, the reasoning and last the answer, as one JSON object. Sampling is at temperature 1, as in the
paper.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from dialeval.corpora.dialogbench_tasks import task_of
from dialeval.dialogbench.briefs import Brief, missing
from dialeval.dialogbench.domains import domain_of
from dialeval.dialogbench.subjects import of_brief
from dialeval.engines.request import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

PROTOCOL = "dialogbench_writing"
TEMPLATES = {"en": "dialogbench_write_en.j2", "zh": "dialogbench_write_zh.j2"}
SAMPLING = Sampling(temperature=1.0, max_tokens=4096)
MIN_TURNS = 10
"""How many turns a writer is asked for; what is accepted is a rule of `checking`."""


def plan(
    briefs: Sequence[Brief], templates: Templates, sampling: Sampling = SAMPLING, *, repeat: int = 0
) -> Iterator[Planned]:
    """Yields one request per brief; `case_id` is the id of the item to be written, `left` its task.

    Args:
        briefs: what is to be written.
        templates: the prompts.
        sampling: how the writer is sampled.
        repeat: number of the round; an item asked for again is another request.
    """
    for brief in briefs:
        request = Request(
            request_id=f"{PROTOCOL}/{brief.item_id}/{repeat}",
            protocol=PROTOCOL,
            kind="chat",
            messages=(Message("user", prompt(brief, templates)),),
            sampling=sampling,
            subject=of_brief(brief, repeat),
            repeat=repeat,
        )
        yield Planned(request, brief.item_id, brief.task)


def plan_top_up(
    briefs: Sequence[Brief],
    accepted: Collection[str],
    templates: Templates,
    sampling: Sampling = SAMPLING,
    *,
    round_number: int,
    max_rounds: int,
) -> Iterator[Planned]:
    """Yields requests for the items that no earlier round has given; none once the limit is reached.

    The briefs are the same as before, so that what was balanced stays balanced.

    Args:
        briefs: all that was planned.
        accepted: ids of the items that passed every check so far.
        templates: the prompts.
        sampling: how the writer is sampled.
        round_number: 0 for the first round; it is the requests' repeat number.
        max_rounds: how many rounds there are at most, the first one counted.

    Raises:
        UserError: a limit below one round.
    """
    if max_rounds < 1:
        raise UserError(f"{max_rounds} rounds of writing; allow 1 or more")
    if round_number < max_rounds:
        yield from plan(missing(briefs, accepted), templates, sampling, repeat=round_number)


def prompt(brief: Brief, templates: Templates) -> str:
    """Returns the text that asks for one item."""
    domain = domain_of(brief.domain)
    task = task_of(brief.task)
    return templates.render(
        TEMPLATES[brief.language],
        task=task,
        domain=domain.title(brief.language),
        domain_description=domain.about(brief.language),
        personalities=brief.personalities,
        emotions=brief.emotions,
        drawn=brief.drawn[1],
        asked_speaker=brief.asked_speaker,
        styles=brief.styles,
        min_turns=MIN_TURNS,
        values=[value.in_language(brief.language) for value in task.values],
    )
