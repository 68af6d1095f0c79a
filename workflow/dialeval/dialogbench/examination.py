"""Putting items to a model, and reading its answers (DialogBench 4, evaluation method).

Three methods:

- `letter`: a chat model writes the letter of an option;
- `choice`: the probabilities of the letters as the first thing that a chat model says;
- `perplexity`: each option's text is scored as what follows the dialogue, for base models. Two answers are read from
  the scores: by log-probability per token, as in the paper (`perplexity`), and in total (`perplexity_total`), which
  favours short options.

A chat model is shown the dialogue as its own chat with the user, who is speaker 1, as in the paper (`history`), or
written out in one message (`text`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench.letters import read_letter
from dialeval.dialogbench.positions import rotations
from dialeval.dialogbench.questions import cue_of, extras_of, question_of, render_options, render_utterances
from dialeval.dialogbench.subjects import of_item
from dialeval.engines.request import Message, Request, Sampling
from dialeval.forms.verdict_text import status_of, text_to_read, was_cut
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planning import Planned
from dialeval.reasoning_marks import without_marks

Method = Literal["letter", "choice", "perplexity"]
Presentation = Literal["history", "text"]
METHODS: tuple[Method, ...] = ("letter", "choice", "perplexity")
PROTOCOL = "multiple_choice"
"""Under which embedded models answer, from the subject."""
SAMPLING = Sampling(temperature=0.0, max_tokens=256)
"""The paper's: 256 tokens at most."""
_QUESTION = {"en": "dialogbench_question_en.j2", "zh": "dialogbench_question_zh.j2"}
_PERPLEXITY = {"en": "dialogbench_perplexity_en.j2", "zh": "dialogbench_perplexity_zh.j2"}


def plan(
    items: Iterable[TestItem],
    method: Method,
    templates: Templates,
    sampling: Sampling = SAMPLING,
    *,
    circular: bool = False,
    presentation: Presentation = "history",
) -> Iterator[Planned]:
    """Yields the requests that put items to a model.

    `case_id` is the item's id and `left` its task. The request id ends in the rotation and, under `perplexity`, the
    option: `dialogbench/letter/en/KRG-7/2`, `dialogbench/perplexity/en/KRG-7/0/3`.

    Args:
        items: the items, options in the order in which they are to be shown.
        method: how the model answers.
        templates: the prompts.
        sampling: how the model is sampled.
        circular: whether every rotation of the options is asked; `perplexity`, which sees one option at a time, has
            none.
        presentation: how a chat model is shown the dialogue.
    """
    for item in items:
        if method == "perplexity":
            yield from _plan_perplexity(item, templates, sampling)
            continue
        for rotation, rotated in enumerate(rotations(item) if circular else (item,)):
            request = Request(
                request_id=f"dialogbench/{method}/{item.language}/{item.item_id}/{rotation}",
                protocol=PROTOCOL,
                kind="chat" if method == "letter" else "choice",
                messages=_messages(rotated, templates, presentation),
                sampling=sampling,
                labels=rotated.letters if method == "choice" else (),
                subject=of_item(rotated),
            )
            yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def parse(
    model: str, method: Method, item: TestItem, rotation: int, answers: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yields the rows of answers to one item in one rotation: one, or two under `perplexity`.

    Args:
        model: name of the model.
        method: how it was asked.
        item: the item as it was planned, not rotated.
        rotation: number of the rotation.
        answers: its row of `responses`; under `perplexity` one for each option, in their order.
    """
    shown = rotations(item)[rotation]
    if method == "perplexity":
        for name, choice in _likeliest(shown, answers):
            yield _row(model, name, shown, rotation, choice, _joint_status(answers, readable=choice is not None))
        return
    answer = answers[0]
    choice = mass = None
    if answer["status"] == "ok":
        if method == "letter":
            choice = read_letter(text_to_read(answer), shown.options, cut=was_cut(answer))
        else:
            choice, mass = _most_probable(dict(answer["label_logprobs"] or {}), shown.letters), answer["label_mass"]
    status = status_of(answer["status"], answer["finish_reason"], readable=choice is not None, mass=mass)
    yield _row(model, method, shown, rotation, choice if status == "ok" else None, status)


def place_of(request_id: str, method: Method) -> tuple[int, int | None]:
    """Returns the rotation that a request id names, and the option under `perplexity`."""
    parts = request_id.rsplit("/", 2)
    return (int(parts[1]), int(parts[2])) if method == "perplexity" else (int(parts[2]), None)


def parse_all(
    model: str,
    method: Method,
    items: Mapping[str, TestItem],
    answered: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Yields the rows of all answers of one model.

    Args:
        model: name of the model.
        method: how it was asked.
        items: the items of one language by item id.
        answered: each row of `requests` with its row of `responses`, in the order of the plan.
    """
    waiting: list[Mapping[str, Any]] = []
    for request, answer in answered:
        rotation, option = place_of(request["request_id"], method)
        item = items[request["case_id"]]
        waiting.append(answer)
        if option is None or option == len(item.options) - 1:
            yield from parse(model, method, item, rotation, waiting)
            waiting = []


def _plan_perplexity(item: TestItem, templates: Templates, sampling: Sampling) -> Iterator[Planned]:
    prompt = templates.render(
        _PERPLEXITY[item.language],
        dialogue=render_utterances(item.utterances, item.language),
        extras=extras_of(item),
        question=question_of(item),
        answer=cue_of(item),
    )
    for option, text in enumerate(item.options):
        request = Request(
            request_id=f"dialogbench/perplexity/{item.language}/{item.item_id}/0/{option}",
            protocol=PROTOCOL,
            kind="loglikelihood",
            messages=(Message("user", prompt),),
            sampling=sampling,
            continuation=text if item.language == "zh" else f" {text}",
            subject=of_item(item),
        )
        yield Planned(request, item.item_id, item.task, n_utterances=len(item.utterances))


def _messages(item: TestItem, templates: Templates, presentation: Presentation) -> tuple[Message, ...]:
    """Returns the dialogue and the question as messages; two of the user's in a row become one."""
    as_text = presentation == "text"
    question = templates.render(
        _QUESTION[item.language],
        dialogue=render_utterances(item.utterances, item.language) if as_text else "",
        extras=extras_of(item),
        question=question_of(item),
        options=render_options(item.options),
    )
    if as_text:
        return (Message("user", question),)
    said = [Message(("user", "assistant")[turn % 2], without_marks(text)) for turn, text in enumerate(item.utterances)]
    if said and said[-1].role == "user":
        question = f"{said.pop().content}\n\n{question}"
    return (*said, Message("user", question))


def _likeliest(item: TestItem, answers: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """Yields the option of highest log-probability per token and in total; None if an option has none, or for a tie."""
    scored = len(answers) == len(item.options) and all(
        answer["status"] == "ok" and answer["logprob"] is not None and answer["n_tokens"] for answer in answers
    )
    for name, per_token in (("perplexity", True), ("perplexity_total", False)):
        scores = (
            {
                letter: answer["logprob"] / (answer["n_tokens"] if per_token else 1)
                for letter, answer in zip(item.letters, answers, strict=True)
            }
            if scored
            else {}
        )
        yield name, _most_probable(scores, item.letters)


def _most_probable(scores: Mapping[str, float], letters: Sequence[str]) -> str | None:
    """Returns the letter with the highest score; None if there is none or more than one."""
    seen = {letter: scores[letter] for letter in letters if scores.get(letter) is not None}
    if not seen:
        return None
    best = max(seen.values())
    first = [letter for letter, score in seen.items() if score == best]
    return first[0] if len(first) == 1 else None


def _joint_status(answers: Sequence[Mapping[str, Any]], *, readable: bool) -> str:
    failed = [answer["status"] for answer in answers if answer["status"] != "ok"]
    too_long = any(answer["finish_reason"] == "length" for answer in answers)
    return status_of(failed[0] if failed else "ok", "length" if too_long else "stop", readable=readable)


def _row(model: str, method: str, item: TestItem, rotation: int, choice: str | None, status: str) -> dict[str, Any]:
    return {
        "model": model,
        "method": method,
        "item_id": item.item_id,
        "task": item.task,
        "domain": item.domain,
        "language": item.language,
        "rotation": rotation,
        "n_options": len(item.options),
        "label": item.label,
        "choice": choice,
        "correct": choice == item.label,
        "status": status,
    }
