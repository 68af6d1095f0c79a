"""Whether a template asks what its protocol is about: it is filled with dialogues that can be found again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from dialeval.config.protocols import folded
from dialeval.corpora.items import Item
from dialeval.criteria import LEVELS, Criterion, Level
from dialeval.engines.requests import Request, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.protocols import detect, mark, pair, probability, scale
from dialeval.protocols.item_prompts import RATING, YES_NO, ByLevel
from dialeval.protocols.pair import by_case
from dialeval.protocols.questions import AskedAbout, Question, asked

_LENGTH = 4


def unfit_template(question: Question, templates: Templates) -> Iterator[str]:
    """Yields what is wrong with a protocol's template, in words.

    Raises:
        UserError: it cannot be filled in at all.
    """
    for criterion in question.criteria or (None,):
        for item, request in _asked(question, criterion, templates):
            yield from _forgotten(question, criterion, item, request)


def asks_in_words_of(question: Question, criterion: Criterion, templates: Templates) -> bool:
    """Return whether a protocol's template passes on what a criterion asks or means, as annotators are told it.

    Raises:
        UserError: it cannot be filled in at all.
    """
    return all(
        any(
            folded(text) in folded(message.content)
            for text in _told(criterion, items[0].level)
            for message in request.messages
        )
        for items, request in _asked(question, criterion, templates)
    )


def _told(criterion: Criterion, level: Level) -> list[str]:
    shown = asked(criterion, level, "")
    return [text for text in (shown.question, shown.meaning) if text]


def _asked(
    question: Question, criterion: Criterion | None, templates: Templates
) -> Iterator[tuple[Sequence[Item], Request]]:
    """Yields a request about dialogues that can be found again, and these."""
    one = Question(question.name, question.protocol, question.shipped, (criterion,) if criterion else ())
    levels: tuple[Level, ...] = LEVELS if criterion is None or criterion.level is None else (criterion.level,)
    if question.protocol.form == "pair":
        items = [_item("first", "dialogue"), _item("second", "dialogue")]
        of = one.protocol.of.model_copy(update={"against": "each_other", "cut": [], "human_utterances": None})
        shown = Question(one.name, one.protocol.model_copy(update={"of": of}), one.shipped, one.criteria)
        yield items, next(pair.plan(shown, by_case(items), templates, Counter())).request
        return
    for level in levels if question.protocol.form in ("scale", "probability") else LEVELS[1:]:
        item = _item("", level)
        yield [item], next(_about(one, item, templates))


def _about(question: Question, item: Item, templates: Templates) -> Iterator[Request]:
    own = question.protocol
    about = AskedAbout(own=question.criteria, named=[one.name for one in question.criteria], together=own.together)
    if own.form == "detect":
        planned = detect.plan(question, [item], templates)
    elif own.form == "mark":
        planned = mark.plan(question, [item], templates)
    elif own.form == "probability":
        planned = probability.plan([item], templates, about.of_rated, names=_named(question, YES_NO))
    else:
        names, text = _named(question, RATING), question.structured
        planned = scale.plan([item], templates, Sampling(), 1, about.groups_of_rated, names=names, json_answers=text)
    return (one.request for one in planned)


def _named(question: Question, shipped: ByLevel) -> ByLevel:
    return dict.fromkeys(LEVELS, question.protocol.template) if question.protocol.template else shipped


def _item(whose: str, level: Level) -> Item:
    said = tuple(f"Quince {whose or 'only'} {turn} marrow." for turn in range(1, _LENGTH + 1))
    who = ("A", "B") * (_LENGTH // 2)
    return Item("sentinel", f"case/{whose}", "en", level, "case", who, said, system=whose, case_id="case")


def _forgotten(
    question: Question, criterion: Criterion | None, items: Sequence[Item], request: Request
) -> Iterator[str]:
    prompt = "\n".join(message.content for message in request.messages)
    variables = ["first", "second"] if len(items) == 2 else ["dialogue"]
    for item, variable in zip(items, variables, strict=True):
        missing = [number for number, said in enumerate(item.utterances, start=1) if said not in prompt]
        if len(missing) == len(item.utterances):
            what = f"the {variable} dialogue" if len(items) == 2 else f"the {item.level}"
            yield f"it forgets {what}; write {{{{ render_dialogue({variable}) }}}} where it is to stand"
        elif missing:
            yield f"it shows {variable} without utterance {', '.join(map(str, missing))} of {len(item.utterances)}"
    if criterion is not None and not _names(prompt, criterion):
        yield f"it forgets the criterion: asked about '{criterion.name}' it says neither its name nor its question"
    if question.protocol.form not in ("pair", "detect") or question.structured:
        return
    options = question.protocol.options or pair.OPTIONS
    labels = list(options) if question.protocol.form == "pair" else ["Yes", "No"]
    without = re.sub(r"\w+: Quince[^\n]*?marrow\.", "", prompt)  # speakers have letters, too
    words = f" {folded(without)} "
    if forgotten := [label for label in labels if f" {folded(label)} " not in words]:
        yield f"it forgets {', '.join(repr(label) for label in forgotten)} of the options that a judge can answer"
    if "choice:" not in prompt.lower():
        yield "it does not say that the answer has a line that begins with 'Choice:', by which it is read"


def _names(prompt: str, criterion: Criterion) -> bool:
    words = criterion.words
    spoken = [name.replace("_", " ") for name in criterion.names]
    said = [*criterion.names, *spoken, *words.question.values(), *words.meaning.values()]
    return any(folded(text) in folded(prompt) for text in said)
