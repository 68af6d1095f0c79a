"""What Arena and GTEval share: two dialogues on one seed, shown in both orders, and the verdict's grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialeval.engines.request import Dialogue, Message, Request, Sampling
from dialeval.forms.judgement import judgement
from dialeval.forms.verdict_text import read_verdict, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned
from dialeval.schemas.judgements import Outcome

_NOUN = r"(?: (?:of )?(?:the |them|these )?(?:two )?(?:conversations?)?)?"
OPTIONS = {
    r"(?:only )?(?:conversation )?#?1": "Conversation 1",
    r"(?:only )?(?:conversation )?#?2": "Conversation 2",
    rf"both{_NOUN}": "Both",
    rf"neither{_NOUN}": "Neither",
}
OUTCOMES: Mapping[str, Outcome] = {"Conversation 1": "right", "Conversation 2": "left", "Both": "tie", "Neither": "tie"}
"""Who is taken for human: the side that is not called AI."""


def plan_pair(
    protocol: str,
    template: str,
    name: str,
    case_id: str,
    models: tuple[str, str],
    dialogues: tuple[Dialogue, Dialogue],
    templates: Templates,
    sampling: Sampling,
) -> Iterator[Planned]:
    """Yields the two requests of a pair, one per order.

    Args:
        protocol: `arena` or `gteval`.
        template: name of the prompt template.
        name: beginning of the request ids.
        case_id: the ChatSEED.
        models: the two models.
        dialogues: their dialogues, cut to one length.
        templates: the prompts.
        sampling: how the judge is sampled.
    """
    for first, second in ((0, 1), (1, 0)):
        left, right = models[first], models[second]
        prompt = templates.render(template, first=dialogues[first], second=dialogues[second])
        request = Request(
            request_id=f"{name}/{case_id}/{left}/{right}",
            protocol=protocol,
            kind="chat",
            messages=(Message("user", prompt),),
            sampling=sampling,
            subject=(dialogues[first], dialogues[second]),
        )
        yield Planned(request, case_id, left, right, len(dialogues[0]))


def parse(judge: str, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row of the table `judgements`.

    `choice` is the conversation called AI; `outcome` is left, right or tie: the side taken for human.

    Args:
        judge: name of the judge.
        planned: row of `requests`.
        answer: row of `responses` for the same request.
    """
    verdict = read_verdict(text_to_read(answer), OPTIONS, cut=was_cut(answer))
    return judgement(
        judge,
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=verdict.choice is not None),
        choice=verdict.choice,
        outcome=OUTCOMES.get(verdict.choice or ""),
        reason=verdict.reason,
    )
