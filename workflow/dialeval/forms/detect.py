"""UniEval (BotChat 3.2): is one dialogue human, and if not, which utterance is the first of a machine?

A dialogue passes at N if the judge says it is human, or puts the first AI utterance after N.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialeval.engines.request import Message, Request, Sampling
from dialeval.forms.judgement import judgement
from dialeval.forms.verdict_text import VerdictText, read_verdict, status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import DialoguesByModel, Planned
from dialeval.tables import HUMAN

TEMPLATE = "unieval.j2"
OPTIONS = {r"yes": "Yes", r"no": "No"}
_MOST_DIGITS = 9
_NONE = re.compile(r"\b(?:none|n/a)\b", re.IGNORECASE)


def plan(
    dialogues: DialoguesByModel,
    templates: Templates,
    sampling: Sampling,
    speakers: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Planned]:
    """Yields one request per dialogue of every model (and of people), whole as it is.

    Args:
        dialogues: the models' dialogues, and under HUMAN the human ones.
        templates: the prompts.
        sampling: how the judge is sampled.
        speakers: who says each utterance of the human dialogues, by seed_id; the models' are two speakers in turn.
    """
    for model, by_seed in dialogues.items():
        for seed_id, utterances in by_seed.items():
            known = (speakers or {}).get(seed_id) if model == HUMAN else None
            prompt = templates.render(TEMPLATE, utterances=utterances, speakers=known)
            request = Request(
                request_id=f"unieval/{seed_id}/{model}",
                protocol="unieval",
                kind="chat",
                messages=(Message("user", prompt),),
                sampling=sampling,
                subject=(utterances,),
            )
            yield Planned(request, seed_id, model, n_utterances=len(utterances))


def parse(judge: str, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row of the table `judgements`.

    `choice` is Yes (AI) or No; `place` is the first AI utterance, 1-based as in the paper, and set only for Yes.

    Args:
        judge: name of the judge.
        planned: row of `requests`.
        answer: row of `responses` for the same request.
    """
    verdict = read_verdict(text_to_read(answer), OPTIONS, cut=was_cut(answer))
    choice, place, problem = _choice_and_index(verdict, planned["n_utterances"])
    return judgement(
        judge,
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=choice is not None),
        choice=choice,
        place=place,
        reason=problem or verdict.reason,
    )


def passes(choice: str | None, place: int | None, n: int) -> bool:
    """Returns whether a dialogue passes at N: human, or the first AI utterance comes after N."""
    return choice == "No" or (choice == "Yes" and place is not None and place > n)


def _choice_and_index(verdict: VerdictText, n_utterances: int) -> tuple[str | None, int | None, str]:
    """Returns the choice, the index, and what is wrong if there is none."""
    if verdict.choice is None:
        return None, None, verdict.reason
    named = " / ".join(verdict.indices)
    if verdict.choice == "No":
        if any(re.search(r"\d", index) and not _NONE.search(index) for index in verdict.indices):
            return None, None, f"contradiction: Choice: No, but Index: {named:.60}"
        return "No", None, ""
    numbers = {_number(index) for index in verdict.indices}
    if len(numbers) > 1:
        return None, None, f"contradiction: Index: {named:.60}"
    number = numbers.pop() if numbers else None
    if number is None:
        return None, None, f"Choice: Yes without a readable index ({named!r:.60})"
    if not 1 <= number <= n_utterances:
        return None, None, f"index {number} is out of range 1 to {n_utterances}"
    return "Yes", number, ""


def _number(text: str) -> int | None:
    """Returns the number that an index field holds; more than one number is none, and so is one beside `None`."""
    numbers = re.findall(r"-?\d+", text)
    if len(numbers) != 1 or len(numbers[0]) > _MOST_DIGITS or _NONE.search(text):
        return None
    return int(numbers[0])
