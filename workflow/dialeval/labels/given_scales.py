"""The question and the scale that a label answers, as its page or sheet has them, beside those of now.

A label of 5 is another thing of 7 than of 10, and nothing else would tell: the number fits on both. An answer to
another question is a label of something else. Files without a question, as earlier pages saved them, are taken as they
are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from dialeval.criteria import SHIPPED, Criterion
from dialeval.labels.exports import RawLabel
from dialeval.labels.labelled_protocol import AskedProtocol, Found
from dialeval.labels.sheets import options_text, questions_of
from dialeval.labels.units import SheetQuestion

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e\+?\d+)?)"
_ENDS = re.compile(f"a number from {_NUMBER} to {_NUMBER}")
_POINTS = re.compile(f"{_NUMBER}(?=$|; | \\()")
_FURTHER = re.compile(r"; -?[0-9.]+(?=$|; | \()")
"""One more number to choose."""


def scales_fault(options: str, criterion: Criterion) -> str:
    """Returns what is wrong where the answers that there were are not those of a scale of numbers; empty if they are.

    Answers in other words than pages and sheets have them, as somebody may have rewritten them, tell no scale.

    Args:
        options: the answers as the page or sheet has them, `1 (very poor); 2; 3` or `a number from 1 to 100`.
        criterion: what was asked about.
    """
    scale = criterion.scale
    now = _between(scale.low, scale.high)
    ends = _ENDS.fullmatch(options)
    is_now = _between(*map(float, ends.groups())) == now if ends else _are(options, list(scale.points()))
    if is_now or not (ends or _POINTS.match(options)):
        return ""
    return (
        f"it was labelled on another scale of {criterion.name}, {options!r:.100}, than is set now, {now}; set the "
        "scale back under criteria, or take these labels away and label anew"
    )


def questions_fault(said: RawLabel, asked: AskedProtocol, criterion: Criterion | None, found: Found) -> str:
    """Return what is wrong where an annotator was asked in other words than are set now; empty if nothing is.

    Args:
        said: the label, with the question of its page or sheet if it has one.
        asked: the protocol.
        criterion: what was asked about.
        found: the unit.
    """
    now = _questions_now(asked, criterion, found)
    remedy = "take these labels away and label anew; where both ask the same, put the words of now in the file"
    if asked.instead or criterion is None:
        remedy = f"set the question back under labels.questions, or {remedy}"
    elif criterion.name not in SHIPPED:
        remedy = f"set the question back under criteria.{criterion.name}, or {remedy}"
    if said.question and _folded(said.question) not in {_folded(one.text) for one in now}:
        return f"its annotators were asked {said.question!r:.300}, and now {now[0].text!r:.300} is asked; {remedy}"
    for rubric in filter(None, (said.rubric, said.options)):
        meanings = [_meanings(rubric, [option.label for option in one.options]) for one in now]
        if any(meanings) and all(
            told is not None and told != [_folded(option.meaning) for option in one.options]
            for told, one in zip(meanings, now, strict=True)
        ):
            return f"its answers meant {rubric!r:.300}, and now {options_text(now[0])!r:.300}; {remedy}"
    return ""


def _questions_now(asked: AskedProtocol, criterion: Criterion | None, found: Found) -> list[SheetQuestion]:
    """Return what annotators are asked now, in every language that the criterion has words in."""
    languages: Collection[str] = dict.fromkeys(
        [found.unit.language, "en", *(criterion.translations if criterion else ())]
    )
    criteria = [criterion] if criterion else []
    return [
        question
        for language in languages
        for question in questions_of(asked.question, criteria, found.unit.level, language, asked.instead)
    ]


def _meanings(options: str, labels: Sequence[str]) -> list[str] | None:
    """Return what answers are said to mean; None where these are not the answers, or no meaning is said."""
    form = "; ".join(rf"{re.escape(label)}(?: \((.*?)\))?" for label in labels)
    match = re.fullmatch(form, options, re.DOTALL) if labels else None
    return [_folded(one or "") for one in match.groups()] if match and any(match.groups()) else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def _between(low: float, high: float) -> str:
    return f"a number from {low:g} to {high:g}"


def _are(options: str, points: Sequence[str]) -> bool:
    """Returns whether the answers are these, in order, whatever meanings stand after them."""
    place = 0
    for number, point in enumerate(points):
        mark = re.compile(f"{'; ' if number else '^'}{re.escape(point)}(?=$|; | \\()")
        found = mark.search(options, place)
        if found is None:
            return False
        place = found.end()
    return bool(points) and (place == len(options) or _FURTHER.search(options, place) is None)
