"""Every form of a protocol by its name: parsing an answer, retrying an unparsed one, checking a template.

A retry shows the judge its answer and asks for the right form; refused and truncated answers have none. A template is
checked by rendering it with dialogues whose utterances can be found in the prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialeval.config.protocol_settings import folded_option
from dialeval.corpora.items import Item
from dialeval.criteria import LEVELS, Criterion, Level
from dialeval.engines.requests import Message, Request
from dialeval.prompts.rendering import Templates, without_marks
from dialeval.protocols import annotate, locate, pair, scores
from dialeval.protocols.pair import by_case
from dialeval.protocols.planned_requests import Planned, request_from_row
from dialeval.protocols.questions import ItemCriteria, Question, prompt_criterion

TEMPLATE = "retry_unparsed.j2"
SUFFIX = "/again"
_Row = Mapping[str, Any]


def plan(
    question: Question, items: Iterable[Item], templates: Templates, n_seed_utterances: int = 2
) -> Iterator[Planned]:
    """Yield the requests of any form but `pair` about items, which are scored on the question's criteria.

    Args:
        n_seed_utterances: utterances of a ChatSEED, which form `annotate` does not judge.
    """
    scored_on = ItemCriteria(
        own=question.criteria,
        named=[one.name for one in question.criteria],
        together=question.protocol.criteria_in_one_request,
    )
    match question.protocol.form:
        case "locate":
            return locate.plan(question, items, templates)
        case "annotate":
            return annotate.plan(question, items, templates, n_seed_utterances)
        case "probability":
            return scores.plan_probability(question, items, templates, scored_on.of_rated)
        case _:
            return scores.plan_scale(question, items, templates, scored_on.groups_of_rated)


def parse(question: Question, planned: _Row, answer: _Row) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `judgements` of an answer, by the form of the question, without the judge's name.

    Args:
        planned: row of `requests`.
        answer: row of `responses` for the same request.
    """
    match question.protocol.form:
        case "pair":
            return pair.parse(question, planned, answer)
        case "locate":
            return locate.parse(question, planned, answer)
        case "annotate":
            return annotate.parse(question, planned, answer)
        case "scale":
            return scores.parse_scale(question, planned, answer)
        case "probability":
            return scores.parse_probability(question, planned, answer)


def plan_retries(
    question: Question,
    pairs: Iterable[tuple[_Row, _Row]],
    templates: Templates,
) -> Iterator[Planned]:
    """Yield one more request for every unparsed answer.

    Args:
        pairs: complete rows of `requests` with their rows of `responses`.
    """
    reminder = Message("user", templates.render(TEMPLATE))
    for planned, answer in pairs:
        if not any(row["status"] == "unparsed" for row in parse(question, planned, answer)):
            continue
        request = request_from_row(planned)
        again = replace(
            request,
            request_id=request.request_id + SUFFIX,
            messages=(*request.messages, Message("assistant", without_marks(answer["text"])), reminder),
        )
        columns = ("case_id", "left", "right", "n_utterances", "corpus", "language", "item_id", "part")
        yield Planned(again, **{name: planned[name] for name in columns})


def unfit_template(question: Question, templates: Templates) -> Iterator[str]:
    """Yield the mistakes in a protocol's template.

    Raises:
        UserError: the template cannot be rendered.
    """
    for criterion in question.criteria or (None,):
        for item, request in _sample_requests(question, criterion, templates):
            yield from _missing(question, criterion, item, request)


def asks_in_words_of(question: Question, criterion: Criterion, templates: Templates) -> bool:
    """Return whether a protocol's template shows the question or the meaning of a criterion.

    Raises:
        UserError: the template cannot be rendered.
    """
    return all(
        any(
            folded_option(text) in folded_option(message.content)
            for text in _words_of(criterion, items[0].level)
            for message in request.messages
        )
        for items, request in _sample_requests(question, criterion, templates)
    )


def _words_of(criterion: Criterion, level: Level) -> list[str]:
    shown = prompt_criterion(criterion, level, "")
    return [text for text in (shown.question, shown.meaning) if text]


def _sample_requests(
    question: Question, criterion: Criterion | None, templates: Templates
) -> Iterator[tuple[Sequence[Item], Request]]:
    """Yield requests about dialogues whose utterances can be found in the prompt, with these dialogues."""
    one = Question(question.name, question.protocol, question.shipped, (criterion,) if criterion else ())
    levels: tuple[Level, ...] = LEVELS if criterion is None or criterion.level is None else (criterion.level,)
    if question.protocol.form == "pair":
        items = [_sentinel("first", "dialogue"), _sentinel("second", "dialogue")]
        data = one.protocol.data.model_copy(
            update={"opponent": "each_other", "n_utterances": [], "human_utterances": None}
        )
        shown = Question(one.name, one.protocol.model_copy(update={"data": data}), one.shipped, one.criteria)
        yield items, next(pair.plan(shown, by_case(items), templates, Counter())).request
        return
    for level in levels if question.protocol.form in ("scale", "probability") else LEVELS[1:]:
        item = _sentinel("", level)
        yield [item], next(plan(one, [item], templates)).request


def _sentinel(whose: str, level: Level) -> Item:
    utterances = tuple(f"Quince {whose or 'only'} {turn} marrow." for turn in range(1, 5))
    speakers = ("A", "B", "A", "B")
    return Item("sentinel", f"case/{whose}", "en", level, "case", speakers, utterances, system=whose, case_id="case")


def _missing(question: Question, criterion: Criterion | None, items: Sequence[Item], request: Request) -> Iterator[str]:
    prompt = "\n".join(message.content for message in request.messages)
    variables = ["first", "second"] if len(items) == 2 else ["dialogue"]
    for item, variable in zip(items, variables, strict=True):
        missing = [number for number, text in enumerate(item.utterances, start=1) if text not in prompt]
        if len(missing) == len(item.utterances):
            what = f"the {variable} dialogue" if len(items) == 2 else f"the {item.level}"
            yield f"the template lacks {what}; write {{{{ {variable} }}}} in its place"
        elif missing:
            places = ", ".join(map(str, missing))
            yield f"the template shows {variable} without utterance {places} of {len(item.utterances)}"
    if criterion is not None and not _names(prompt, criterion):
        yield f"the template lacks the criterion: it has neither the name nor the question of '{criterion.name}'"
    if question.protocol.form not in ("pair", "locate") or question.structured:
        return
    options = question.protocol.options or pair.OPTIONS
    labels = list(options) if question.protocol.form == "pair" else ["Yes", "No"]
    without = re.sub(r"\w+: Quince[^\n]*?marrow\.", "", prompt)  # speakers have letters, too
    words = f" {folded_option(without)} "
    if lacking := [label for label in labels if f" {folded_option(label)} " not in words]:
        yield f"the template lacks the options {', '.join(repr(label) for label in lacking)}"
    if "choice:" not in prompt.lower():
        yield "the template does not request a line that begins with 'Choice:', which DialEval parses"


def _names(prompt: str, criterion: Criterion) -> bool:
    words = criterion.words
    spoken = [name.replace("_", " ") for name in criterion.names]
    texts = [*criterion.names, *spoken, *words.question.values(), *words.meaning.values()]
    return any(folded_option(text) in folded_option(prompt) for text in texts)
