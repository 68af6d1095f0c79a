"""A criterion as a prompt puts it: its words in the item's language, and how the judge is to answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import NamedTuple

from dialeval.criteria import NO, SHOWN_LEVELS, YES, Criterion, Level, Scale


class Option(NamedTuple):
    """A point of a scale that is offered.

    Attributes:
        label: what the judge answers: one token of every model.
        value: the value or label, as it is shown.
        description: what the rubric says of it.
    """

    label: str
    value: str
    description: str


@dataclass(frozen=True, slots=True)
class AskedCriterion:
    """What a template may say of a criterion; `str()` of it is its name.

    Attributes:
        name: its name.
        question: asks for Yes or No.
        meaning: what is meant.
        answer: what the judge gives, such as `a number from 1 to 7`.
        rubric: the values or labels that are described, with their descriptions.
        options: the points of the scale.
    """

    name: str
    question: str
    meaning: str
    answer: str
    rubric: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]

    def __str__(self) -> str:
        return self.name


def asked(criterion: Criterion, level: Level, language: str) -> AskedCriterion:
    """Returns a criterion as it is asked about an item of a level and a language."""
    words, shown = criterion.in_language(language), SHOWN_LEVELS[level]
    labels = words.labels or criterion.scale.labels
    names = dict(zip(criterion.scale.labels, labels, strict=True))
    question = words.question.get(level, f"Is the {criterion.name} of the {shown} good?")
    meaning = words.meaning.get(level) or ("" if level not in words.question else question)
    return AskedCriterion(
        name=criterion.name,
        question=question,
        meaning=meaning,
        answer=_answer(criterion.scale, labels, described=bool(words.rubric)),
        rubric=tuple((names.get(one, one), words.rubric[one]) for one in _in_order(criterion.scale, words.rubric)),
        options=tuple(
            Option(label, names.get(value, value), words.rubric.get(value, ""))
            for label, value in zip(option_labels(criterion), criterion.scale.points(), strict=False)
        ),
    )


def option_labels(criterion: Criterion) -> tuple[str, ...]:
    """Returns what a judge answers with where it chooses between the points of a scale.

    The first token must tell the answer, with every tokenizer: numbers of one digit stand for themselves, labels are
    counted as far as one digit goes, and anything else (10, -1) gets a letter.
    """
    points = list(criterion.scale.points())
    if not criterion.scale.labels and all(len(point) == 1 for point in points):
        return tuple(points)
    if criterion.scale.labels and len(points) < 10:
        return tuple(str(number) for number in range(1, len(points) + 1))
    return tuple(ascii_uppercase[: len(points)])


def choice_labels(criterion: Criterion) -> tuple[str, ...]:
    """Returns the labels whose probabilities are asked for."""
    return (YES, NO) if criterion.asks_yes_or_no else option_labels(criterion)


def frame(criteria: Sequence[AskedCriterion], scales: Sequence[Scale]) -> dict[str, str]:
    """Returns what a prompt says of several criteria at once: how all are answered, and how a line is written."""
    answers = {one.answer for one in criteria}
    numbers = {not scale.labels for scale in scales}
    return {
        "answer": answers.pop() if len(answers) == 1 else "what stands behind it",
        "answered_by": "answer" if len(numbers) > 1 else "number" if numbers == {True} else "word or words",
        "mark": ": " if any(not scale.labels and scale.low < 0 for scale in scales) else " - ",
    }


def _answer(scale: Scale, labels: Sequence[str], *, described: bool) -> str:
    if scale.asks_yes_or_no:
        return "Yes or No"
    if labels:
        return "one of these: " + ", ".join(labels)
    if described:
        return f"a number from {scale.low:g} to {scale.high:g}"
    return f"a number from {scale.low:g} (very poor) to {scale.high:g} (excellent)"


def _in_order(scale: Scale, rubric: Iterable[str]) -> list[str]:
    return sorted(rubric, key=scale.labels.index if scale.labels else float)
