"""Asking a model to write items (DialogBench 3.3 and 3.4), and asking again for those that are still wanting.

One request asks for one item. What it must be about is drawn beforehand (`briefs`); the model is asked for the
dialogue, the options, the reasoning and last the answer, as one JSON object. Sampling is at temperature 1, as in the
paper.

Where several items are asked for in the same words, as by the basic prompt, each is another request: they differ in
their repeat number, so that each has an answer of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from dialeval.corpora.dialogbench_tasks import task_of
from dialeval.dialogbench.briefs import Brief, missing
from dialeval.dialogbench.checking import ASKED_TURNS
from dialeval.dialogbench.domains import domain_of
from dialeval.dialogbench.subjects import of_brief
from dialeval.engines.request import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned

PROTOCOL = "dialogbench_writing"
TEMPLATES = {"en": "dialogbench_write_en.j2", "zh": "dialogbench_write_zh.j2"}
SAMPLING = Sampling(temperature=1.0, max_tokens=4096)


_ROUNDS = 1_000
"""More rounds than can be asked for; repeat numbers of items in the same words lie so far apart."""


def plan(
    briefs: Sequence[Brief],
    templates: Templates,
    sampling: Sampling = SAMPLING,
    *,
    round_number: int = 0,
    wanted: Collection[str] | None = None,
) -> Iterator[Planned]:
    """Yields one request per brief; `case_id` is the id of the item to be written, `left` its task.

    Args:
        briefs: all that was planned.
        templates: the prompts.
        sampling: how the writer is sampled.
        round_number: number of the round; an item asked for again is another request.
        wanted: ids of the items that are asked for; all if None.
    """
    asked: Counter[str] = Counter()
    for brief in briefs:
        text = prompt(brief, templates)
        asked[text] += 1
        if wanted is not None and brief.item_id not in wanted:
            continue
        request = Request(
            request_id=f"{PROTOCOL}/{brief.item_id}/{round_number}",
            protocol=PROTOCOL,
            kind="chat",
            messages=(Message("user", text),),
            sampling=sampling,
            subject=of_brief(brief, round_number),
            repeat=round_number + _ROUNDS * (asked[text] - 1),
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
        round_number: 0 for the first round.
        max_rounds: how many rounds there are at most, the first one counted.

    Raises:
        UserError: a limit below one round.
    """
    if max_rounds < 1:
        raise UserError(f"{max_rounds} rounds of writing; allow 1 or more")
    if round_number < max_rounds:
        wanted = {brief.item_id for brief in missing(briefs, accepted)}
        yield from plan(briefs, templates, sampling, round_number=round_number, wanted=wanted)


def as_told(brief: Brief, text: str) -> Brief:
    """Returns a brief as a prompt tells it: personalities that do not stand in it are the writer's own to choose."""
    told = all(personality in text for personality in brief.personalities)
    return brief if told else replace(brief, personalities=("", ""))


def prompt(brief: Brief, templates: Templates) -> str:
    """Returns the text that asks for one item."""
    domain = domain_of(brief.domain) if brief.domain else None
    task = task_of(brief.task)
    return templates.render(
        TEMPLATES[brief.language],
        task=task,
        domain=domain.title(brief.language) if domain else "",
        domain_description=domain.about(brief.language) if domain else "",
        personalities=brief.personalities,
        emotions=brief.emotions,
        drawn=brief.drawn[1],
        asked_speaker=brief.asked_speaker,
        styles=brief.styles,
        min_turns=ASKED_TURNS,
        values=[value.in_language(brief.language) for value in task.values],
    )
