"""Perturbation by a model: requests to rewrite items, and checks of the responses.

A rewriting that fails its check is requested once more, with the reason in the prompt; one that fails again is
`rejected`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from dialeval.corpora.items import Item
from dialeval.engines.answering import Answering, run_concurrently
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.perturbations.registry import perturbed_item, turns_in_scope
from dialeval.perturbations.strategy import Edit, NotApplicable, Perturbed, Strategy, is_last_speaker, span
from dialeval.perturbations.words import pieces
from dialeval.prompts.rendering import Templates, without_marks, without_thinking
from dialeval.text import normalised, tokens

PROTOCOL = "perturb"
TEMPLATES = {
    "content_reduction": "perturb_content_reduction.j2",
    "contradiction": "perturb_contradiction.j2",
    "generic_utterance": "perturb_generic_utterance.j2",
    "repeating_others": "perturb_repeating_others.j2",
    "replace_named_entity": "perturb_replace_named_entity.j2",
    "self_contradiction": "perturb_self_contradiction.j2",
    "unnatural_paraphrase": "perturb_unnatural_paraphrase.j2",
    "utterance_duplication": "perturb_utterance_duplication.j2",
}
"""Prompt template by strategy; here, so that perturbing by rules does not depend on them."""
WAY = "model"
ATTEMPTS = 2
"""Most requests for a rewriting."""

_UNUSABLE = {"length": "the response was truncated by its token limit", "refusal": "the model refused"}
"""Finish reason -> why such a response cannot be used."""
_RESPONSE = re.compile(r"^\W{0,3}response\W{0,3}:\**\s*(?P<text>.+)", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_NUMBERED = re.compile(
    r"^\W{0,3}(?:utterance\s*)?#?(?P<number>\d{1,3})\s*(?:\*+\s*)?[:.)]\**\s*(?P<text>.*)$", re.IGNORECASE
)
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"))


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a rewriting cannot be used."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The result of rewriting an item, after all attempts.

    Attributes:
        status: `ok`; `rejected` where every answer failed its check; `missing` where none came.
        perturbed: the perturbed item where the status is `ok`.
        reason: why there is none.
        attempts: how many responses were checked.
    """

    status: Literal["ok", "rejected", "missing"]
    perturbed: Perturbed | None
    reason: str
    attempts: int


RewritingTask = tuple[Item, Strategy, int]
"""An item, the strategy to apply, and the number of the draw."""


async def rewrite_all(
    answering: Answering,
    tasks: Sequence[RewritingTask],
    templates: Templates,
    sampling: Sampling,
    *,
    record: Callable[[str, Response], None],
) -> list[Rewriting | NotApplicable]:
    """Request rewritings, each once more where its first response fails the check; returns them in order of `tasks`.

    Args:
        record: called with the key and every response, new or stored.
    """
    results: dict[int, Rewriting | NotApplicable] = {}
    waiting = iter(enumerate(tasks))

    async def worker() -> None:
        for place, (item, strategy, draw) in waiting:
            results[place] = await _rewrite(answering, item, strategy, draw, templates, sampling, record)

    await run_concurrently(worker() for _ in range(min(answering.engine.concurrency, len(tasks))))
    return [results[place] for place in range(len(tasks))]


async def _rewrite(
    answering: Answering,
    item: Item,
    strategy: Strategy,
    draw: int,
    templates: Templates,
    sampling: Sampling,
    record: Callable[[str, Response], None],
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
            record(answering.key(request), response)
            answers.append(response)
        result = settled_rewriting(item, strategy, answers, draw=draw)
        if result.status == "ok":
            break
    return result


def plan_rewriting(
    item: Item,
    strategy: Strategy,
    templates: Templates,
    sampling: Sampling,
    *,
    draw: int = 0,
    attempt: int = 0,
    problem: str = "",
) -> Request | NotApplicable:
    """Return the request to rewrite an item.

    Args:
        item: the item to perturb, of the strategy's level.
        strategy: one that has a prompt template.
        sampling: how the answer is drawn; draws differ only at a temperature above 0 or by the model's own noise.
        draw: 0-based number of the repetition.
        attempt: 0, or 1 when asking again.
        problem: why the first answer was rejected.

    Raises:
        ValueError: no model makes the strategy, or it is of the other level.
    """
    if strategy.name not in TEMPLATES or strategy.level != item.level:
        raise ValueError(f"a model cannot perform '{strategy.name}' for '{item.item_id}' ({item.level})")
    places = _rewritten_places(item, strategy)
    if not places or not any(item.utterances[place].strip() for place in places):
        return NotApplicable("no utterance to rewrite")
    added_speakers = _added_speakers(item, places[-1])
    prompt = templates.render(
        TEMPLATES[strategy.name],
        context=_lines(item, range(len(item.utterances) - 1)) or "(none: the response stands alone)",
        response=_shown(item.response),
        dialogue=_lines(item, range(len(item.utterances)), numbered=True),
        numbers=", ".join(str(place + 1) for place in places),
        n_utterances=len(item.utterances),
        speaker=added_speakers[-1],
        other=added_speakers[0],
        n_added=len(added_speakers),
        same_category=draw % 2 == 0,
        problem=problem,
    )
    return Request(
        request_id=f"{PROTOCOL}/{strategy.name}/{item.item_id}/{draw}" + (f"/again-{attempt}" if attempt else ""),
        protocol=PROTOCOL,
        kind="chat",
        messages=(Message("user", prompt),),
        sampling=sampling,
        subject=(item.utterances,),
        repeat=ATTEMPTS * draw + attempt,
    )


def read_rewriting(item: Item, strategy: Strategy, answer: str, *, draw: int = 0) -> Perturbed | Rejected:
    """Return the perturbed item that a response gives, or why the response cannot be used."""
    places = _rewritten_places(item, strategy)
    answer = without_thinking(answer)
    if strategy.level == "turn":
        match = _RESPONSE.search(answer)
        if not match:
            return Rejected("there is no line 'Response:'")
        if _RESPONSE.search(match.group("text")):
            return Rejected("there is more than one line 'Response:'")
        utterances: tuple[str, ...] | Rejected = (*item.context, _plain(match.group("text")))
    elif strategy.name == "self_contradiction":
        utterances = _added(item, answer, len(_added_speakers(item, places[-1])))
    else:
        utterances = _rewritten_utterances(item, answer, places)
    if isinstance(utterances, Rejected):
        return utterances
    problem = problem_of(strategy.name, item, utterances, places)
    if problem:
        return Rejected(problem)
    new_speakers = _added_speakers(item, places[-1]) if len(utterances) > len(item.utterances) else ()
    n_before = len(item.utterances)
    spans = [span(item.utterances[n] if n < n_before else "", text) for n, text in enumerate(utterances)]
    kept = [text for n, text in enumerate(spans) if n >= n_before or utterances[n] != item.utterances[n]]
    edit = Edit(WAY, utterances, tuple(kept), new_speakers)
    new, touched = perturbed_item(item, edit, f"{strategy.name}/{draw}")
    return Perturbed(strategy.name, WAY, draw, 1, item.item_id, new, touched, "; ".join(edit.spans))


def settled_rewriting(
    item: Item,
    strategy: Strategy,
    answers: Sequence[Response | None],
    *,
    draw: int = 0,
) -> Rewriting:
    """Return the first rewriting that passes its check, or why none does.

    Args:
        answers: the model's responses, in the order of the attempts; None where there was none.
    """
    given = [answer for answer in answers if answer is not None]
    reason = "the model gave no answer"
    for attempt, answer in enumerate(given, start=1):
        if answer.finish_reason in _UNUSABLE:
            reason = _UNUSABLE[answer.finish_reason]
            continue
        result = read_rewriting(item, strategy, answer.text, draw=draw)
        if isinstance(result, Perturbed):
            return Rewriting("ok", result, "", attempt)
        reason = result.reason
    return Rewriting("rejected" if given else "missing", None, reason, len(given))


def _rewritten_places(item: Item, strategy: Strategy) -> tuple[int, ...]:
    """Return the utterances in scope that the model rewrites; the first one has nothing before it to repeat."""
    places = turns_in_scope(item, strategy.scope)
    return tuple(place for place in places if place > 0) if strategy.name == "repeating_others" else places


def _added_speakers(item: Item, place: int) -> tuple[str, ...]:
    """Return the speakers of the utterances that are added where a speaker contradicts an earlier utterance.

    Where that speaker also spoke last, the other one asks first.
    """
    speaker = item.speakers[place]
    other = next((name for name in item.speakers if name != speaker), speaker)
    return (other, speaker) if is_last_speaker(item, place) else (speaker,)


def _lines(item: Item, places: range, *, numbered: bool = False) -> str:
    return "\n".join(
        (f"{place + 1}. " if numbered else "") + f"{item.speakers[place]}: {_shown(item.utterances[place])}"
        for place in places
    )


def _shown(text: str) -> str:
    """Return an utterance as it stands in the prompt."""
    return without_marks(_one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    """Return a text on one line, without quotation marks around all of it."""
    plain = _one_line(text)
    for opening, closing in _QUOTES:
        if len(plain) > 1 and plain.startswith(opening) and plain.endswith(closing) and opening not in plain[1:-1]:
            return plain[1:-1].strip()
    return plain


def _added(item: Item, answer: str, n_wanted: int) -> tuple[str, ...] | Rejected:
    numbered = _numbered(answer, item)
    if isinstance(numbered, Rejected):
        return numbered
    n_before = len(item.utterances)
    if any(place < n_before and _shown(text) != _shown(item.utterances[place]) for place, text in numbered.items()):
        return Rejected("an utterance was changed that had to stay")
    added = [numbered[place] for place in sorted(numbered) if place >= n_before]
    if len(added) != n_wanted or not all(added):
        return Rejected(f"{len(added)} utterances were added, not {n_wanted}")
    return (*item.utterances, *added)


def _numbered(answer: str, item: Item) -> dict[int, str] | Rejected:
    """Return the numbered utterances of an answer by 0-based number; other lines go on with the one before.

    A number that occurs twice with different words is refused.
    """
    found: list[tuple[int, list[str]]] = []
    for line in answer.split("\n"):
        match = _NUMBERED.match(line.strip())
        if match:
            found.append((int(match.group("number")) - 1, [match.group("text")]))
        elif found and line.strip():
            found[-1][1].append(line.strip())
    numbered: dict[int, str] = {}
    for place, lines in found:
        text = _without_tag(_plain(" ".join(lines)), item)
        if place >= 0 and numbered.setdefault(place, text) != text:
            return Rejected(f"utterance {place + 1} occurs more than once, with different words")
    return numbered


def _without_tag(text: str, item: Item) -> str:
    tag, colon, rest = text.partition(":")
    return rest.strip() if colon and tag.strip() in item.speakers else text


def _rewritten_utterances(item: Item, answer: str, places: tuple[int, ...]) -> tuple[str, ...] | Rejected:
    numbered = _numbered(answer, item)
    if isinstance(numbered, Rejected):
        return numbered
    utterances = list(item.utterances)
    for place, text in numbered.items():
        if place >= len(utterances):
            return Rejected("there are more utterances than before")
        if place not in places and _shown(text) != _shown(utterances[place]):
            return Rejected("an utterance was changed that had to stay")
    missing = [place for place in places if place not in numbered]
    if missing:
        return Rejected("utterances are missing: " + ", ".join(str(place + 1) for place in missing))
    for place in places:
        utterances[place] = numbered[place]
    return tuple(utterances)


# Checks of a rewritten item, by strategy.

Check = Callable[[Item, tuple[str, ...], tuple[int, ...]], str]
"""Gets the original, all utterances after the rewriting and the numbers of those in scope; returns what is wrong."""

FEWEST_KEPT = 0.5
"""Share of a response's words that stay when only its entities are replaced."""

LONGEST_RATIO = 2.0
"""Greatest length of a rewritten response, as a multiple of the original's."""

FEWEST_REPEATED = 2
"""How many words in a row must be repeated from the other speaker, or from the utterance itself."""


def problem_of(strategy: str, item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    """Return the problem of a rewritten item, in words for the model and the reader; empty if there is none.

    Args:
        utterances: all utterances after the rewriting.
        places: 0-based numbers of the utterances that were to be rewritten.
    """
    if any(not normalised(utterances[place]) for place in places):
        return "an utterance is empty"
    check = CHECKS.get(strategy)
    return _unchanged(item, utterances, places) or (check(item, utterances, places) if check else "")


def _unchanged(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    added = len(utterances) - len(item.utterances)
    if added:
        return ""
    changed = [place for place in places if normalised(utterances[place]) != normalised(item.utterances[place])]
    if not changed:
        return "nothing was changed"
    return "" if 2 * len(changed) >= len(places) else "fewer than half of the utterances were changed"


def _mostly_kept(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    before, after = tokens(item.response), set(tokens(utterances[-1]))
    kept = sum(token in after for token in before)
    return "" if kept >= FEWEST_KEPT * len(before) else "more than the named entities was changed"


def _of_like_length(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    before, after = len(pieces(item.response)[0]), len(pieces(utterances[-1])[0])
    return (
        ""
        if before <= LONGEST_RATIO * after and after <= LONGEST_RATIO * max(before, 3)
        else "the length changed too much"
    )


def _repeats_the_other(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    replies = [place for place in places if place > 0 and normalised(item.utterances[place - 1])]
    repeating = [place for place in replies if _shares_a_stretch(item.utterances[place - 1], utterances[place])]
    enough = 2 * len(repeating) >= len(replies)
    return "" if enough else "fewer than half of the utterances repeat words of the other speaker"


def _shares_a_stretch(source_text: str, reply: str) -> bool:
    source, target = tokens(source_text), tokens(reply)
    n = min(FEWEST_REPEATED, len(source))
    stretches = {source[start : start + n] for start in range(len(source) - n + 1)}
    return any(target[start : start + n] in stretches for start in range(len(target) - n + 1))


def _shorter(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    def length(texts: tuple[str, ...]) -> int:
        return sum(len(pieces(texts[place])[0]) for place in places)

    return "" if length(utterances) < length(item.utterances) else "the utterances did not become shorter"


def _repeats_itself(item: Item, utterances: tuple[str, ...], places: tuple[int, ...]) -> str:
    def repeats(place: int) -> bool:
        before, after = tokens(item.utterances[place]), tokens(utterances[place])
        n = min(FEWEST_REPEATED, len(before))
        added = Counter(after[start : start + n] for start in range(len(after) - n + 1))
        own = Counter(before[start : start + n] for start in range(len(before) - n + 1))
        return n > 0 and any(added[stretch] > count for stretch, count in own.items())

    repeating = [place for place in places if repeats(place)]
    enough = 2 * len(repeating) >= len(places)
    return "" if enough else "fewer than half of the utterances repeat a part of themselves"


CHECKS: MappingProxyType[str, Check] = MappingProxyType(
    {
        "replace_named_entity": _mostly_kept,
        "contradiction": _of_like_length,
        "unnatural_paraphrase": _of_like_length,
        "repeating_others": _repeats_the_other,
        "content_reduction": _shorter,
        "utterance_duplication": _repeats_itself,
    }
)
"""Strategy -> its check beyond that something changed."""
