"""The form `annotate`: the failures or other criteria that a dialogue shows, each with its utterances.

BotChat's failures have this form (appendix C). An answer becomes a judgement on each criterion and, for failures, one
on a good case, which shows none.

A line counts that begins with the name of a criterion; its rest must be `none` or numbers of utterances. Decoration,
ranges, `utterance 3` and words in brackets behind the numbers are allowed. A criterion without a line, with other
content or with two different lines is unparsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialeval.corpora.items import Item, judged_places
from dialeval.criteria import NO_FAILURE
from dialeval.engines.requests import Message, Request
from dialeval.prompts.rendering import ShownDialogue, Templates, letters_of
from dialeval.protocols import verdicts
from dialeval.protocols.planned_requests import Planned, judgement, planned_about
from dialeval.protocols.questions import Question, shown
from dialeval.protocols.verdicts import EDGES, is_complete, plain_text, status_of, text_to_read, was_cut

REASON = "reason"


def plan(
    question: Question, items: Iterable[Item], templates: Templates, n_seed_utterances: int = 2
) -> Iterator[Planned]:
    """Yield the request about every dialogue with an utterance of the judged system.

    Args:
        n_seed_utterances: utterances of a ChatSEED, which are not judged.
    """
    for item in items:
        places = judged_places(item, n_seed_utterances)
        if not places:
            continue
        request = around(question, item, places, templates)
        for repeat, sampling in question.samplings():
            name = "/".join([question.name, item.corpus, item.item_id, *([str(repeat)] if repeat else [])])
            yield planned_about(item, replace(request, request_id=name, sampling=sampling, repeat=repeat))


def around(question: Question, item: Item, places: tuple[int, ...], templates: Templates) -> Request:
    """Return the request about a dialogue, without its name."""
    dialogue, letters = ShownDialogue(item.utterances, item.speakers), letters_of(item.speakers)
    prompt = templates.render(
        question.template,
        dialogue=dialogue,
        judged=letters[places[0] - 1] if item.judged and places else None,
        places=[str(place) for place in places],
        criteria=[shown(one, item.level, item.language) for one in question.criteria],
    )
    request = Request(
        "",
        question.known_as,
        "chat",
        (Message("user", prompt),),
        labels=tuple(map(str, places)),
        subject=(item.utterances,),
    )
    if not question.structured:
        return request
    fields = [verdicts.text(REASON, "one or two sentences")]
    fields += [verdicts.places(one.name, "all utterances that show it") for one in question.criteria]
    return verdicts.structured(request, templates, fields)


def parse(question: Question, planned: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield rows of the table `judgements`: one for each criterion and, for failures, one on a good case.

    A criterion is shown (Yes) where utterances are named, all of the judged speaker; `place` is the first. In a good
    case all criteria could be parsed and none is shown.
    """
    names = [one.name for one in question.criteria]
    text = text_to_read(answer)
    if question.structured:
        marks, reason = _in_object(text, names)
    else:
        marks, reason = read_marks(text, names, cut=was_cut(answer)), reason_in(text)
    judged = {int(place) for place in planned["labels"]}
    outside = {name: sorted(set(places) - judged) for name, places in marks.items() if set(places) - judged}
    marks = {name: places for name, places in marks.items() if name not in outside}
    for name in names:
        places = marks.get(name)
        problem = f"utterance {outside[name][0]} is not evaluated" if name in outside else "no readable line"
        yield judgement(
            planned,
            status_of(answer["status"], answer["finish_reason"], readable=places is not None),
            protocol=question.name,
            criterion=name,
            choice=None if places is None else "Yes" if places else "No",
            place=places[0] if places else None,
            places=None if places is None else list(places),
            reason=problem if places is None else reason if places else "",
        )
    if not question.shipped:  # a user's criteria need not be failures
        return
    there = any(marks.values())
    readable = there or len(marks) == len(names)
    yield judgement(
        planned,
        status_of(answer["status"], answer["finish_reason"], readable=readable),
        protocol=question.name,
        criterion=NO_FAILURE,
        choice=None if not readable else "No" if there else "Yes",
        reason=reason if readable and not there else "",
    )


def _in_object(text: str, names: list[str]) -> tuple[dict[str, tuple[int, ...]], str]:
    found = verdicts.read_object(text)
    if found is None:
        return {}, "the answer is no JSON object"
    marks = {name: places for name in names if (places := verdicts.places_in(found, name)) is not None}
    return marks, verdicts.text_in(found, REASON)


# Lines such as `formal tone: 3, 5` and `excessive length: none`

_BEFORE = r"^[ \t>*_#`\"'“”‘’\-–—•(\[{]*(?:\d{1,2}[.)][ \t]*)?[*_`\"'“”]*"
_COLON = r"[ \t*_`\"'“”]*[:=][ \t]*"
_NONE = re.compile(r"none|no|n/a|null|nothing|no utterances?|none of them", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()\d]*\)")
_SINGLE = re.compile(
    r"(?:utterances?|numbers?|nos?\.?|#)?\s*#?(?P<first>\d{1,4})(?:\s*(?:-|–|—|to)\s*(?P<last>\d{1,4}))?", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:,\s*and\s|,|;|&|、|，|\band\b)\s*|\s+", re.IGNORECASE)
_RANGE = re.compile(r"(\d)\s*(?:-|–|—|\bto\b)\s*(\d)", re.IGNORECASE)
_WORD = re.compile(r"\b(utterances?|numbers?|nos?\.?|#)\s*(?=#?\d)", re.IGNORECASE)
_REASON = re.compile(_BEFORE + r"reason" + _COLON + r"(?P<value>.*)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_MOST = 1_000


def read_marks(text: str, names: Sequence[str], *, cut: bool = False) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the utterances that an answer names, ascending, by criterion; none for `none`.

    Args:
        text: the answer; a reasoning part at its beginning is ignored.
        names: the criteria.
        cut: whether the token budget cut it off, so that its last line may be incomplete.
    """
    plain = plain_text(text)
    reason = _REASON.search(plain)
    judged_text = plain[: reason.start()] if reason else plain
    found = _lines(judged_text, names, cut=cut and reason is None)
    return found or _lines(plain, names, cut=cut)


def reason_in(text: str) -> str:
    """Return the text behind `Reason:`; empty without one."""
    found = _REASON.search(plain_text(text))
    return found["value"].strip(" \t\n*_`") if found else ""


def _lines(plain: str, names: Sequence[str], *, cut: bool) -> dict[str, tuple[int, ...]]:
    values_of: dict[str, set[tuple[int, ...] | None]] = {}
    for name in names:
        line = re.compile(_BEFORE + _spelled(name) + _COLON + r"(?P<value>[^\n]*)", re.IGNORECASE | re.MULTILINE)
        for match in line.finditer(plain):
            complete = is_complete(plain, match.end(), cut=cut)
            values_of.setdefault(name, set()).add(_numbers(match["value"]) if complete else None)
    return {
        name: value for name, each in values_of.items() if len(each) == 1 and (value := next(iter(each))) is not None
    }


def _numbers(value: str) -> tuple[int, ...] | None:
    """Return the numbers of a line; none for `none`, None for any other content."""
    bare = _BRACKETS.sub(" ", value).strip(EDGES)
    if _NONE.fullmatch(bare) or re.fullmatch(r"\s*\[\s*\]\s*", value):
        return ()
    found: set[int] = set()
    for part in _BETWEEN.split(_RANGE.sub(r"\1-\2", _WORD.sub("", bare))):
        one = _SINGLE.fullmatch(part.strip(EDGES))
        if one is None:
            return None
        first, last = int(one["first"]), int(one["last"] or one["first"])
        if last < first or last - first > _MOST:
            return None
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _spelled(name: str) -> str:
    """Return the pattern of a name, whose blanks may be hyphens or underscores and the other way round."""
    return r"[\s_\-]+".join(map(re.escape, re.split(r"[\s_\-]+", name.strip())))
