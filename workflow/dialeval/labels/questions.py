"""What people are asked: the questions and scales that judges are asked on, in words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dialeval.criteria import NO, YES, Criterion, Level
from dialeval.forms.asked import AskedCriterion, asked
from dialeval.forms.pair import OPTIONS
from dialeval.forms.question import Question
from dialeval.labels.sheet import Option, SheetQuestion
from dialeval.schemas.judgements import Outcome

_ENDS = (".", "?", "!", "。", "?", "!", "؟")  # of a sentence, which needs no full stop then
MOST_OPTIONS = 11
"""Points of a scale of numbers that are offered one by one; on a longer one any number is an answer."""
_WINS: dict[Outcome, str] = {
    "left": "the first dialogue is better", "right": "the second dialogue is better",
    "tie": "neither is better than the other",
}  # fmt: skip
_TURING = {
    "unieval": "Did an AI write any of these utterances? If so, say in which it first shows.",
    "arena": "An AI may have taken part in either of these dialogues, in both, or in neither. In which did it?",
    "gteval": "In one of these dialogues an AI took part; the other was written by people alone. In which did it?",
}
_AI = {
    "Conversation 1": "an AI took part in the first alone", "Conversation 2": "an AI took part in the second alone",
    "Both": "in both, or one cannot tell in which", "Neither": "in neither that one can tell",
}  # fmt: skip


def questions_of(
    question: Question,
    criteria: Sequence[Criterion],
    level: Level,
    language: str,
    instead: str | Mapping[str, str] = "",
) -> tuple[SheetQuestion, ...]:
    """Returns what is asked about every unit of a level.

    Args:
        question: the protocol.
        criteria: what it asks about at this level; none where the question needs none.
        level: of the units.
        language: of most dialogues, in which criteria that are translated are put.
        instead: what is asked in place of our words, of several criteria by name.
    """
    form = question.protocol.form
    if not criteria:
        text = (instead if isinstance(instead, str) else "") or _TURING.get(
            question.name if question.shipped else "", ""
        )
        if form == "pair":
            options = tuple(Option(label, meaning) for label, meaning in _pair_options(question).items())
            return (SheetQuestion("", text or "Which of the two dialogues is better?", options),)
        return (SheetQuestion("", text or _TURING["unieval"], _yes_no("an AI took part", "people wrote all of it")),)
    about = [_about(question, one, asked(one, level, language)) for one in criteria]
    own = [instead if isinstance(instead, str) else instead.get(one.name, "") for one in criteria]
    return tuple(replace(one, text=text) if text else one for one, text in zip(about, own, strict=True))


def _about(question: Question, criterion: Criterion, shown: AskedCriterion) -> SheetQuestion:
    form, meaning = question.protocol.form, f" {_sentence(shown.meaning)}" if shown.meaning else ""
    if form == "pair":
        options = tuple(Option(label, says) for label, says in _pair_options(question).items())
        text = f"Which of the two is better in one respect, {criterion.name}, and in no other?{meaning}"
        return SheetQuestion(criterion.name, text, options)
    if form == "detect":
        own = criterion.in_language("").question.get("dialogue", "")
        text = own or f"Does this show {criterion.name}?{meaning}"
        return SheetQuestion(criterion.name, f"{text} If so, say where it first does.", _yes_no())
    if (form == "probability" and criterion.asks_yes_or_no) or criterion.scale.asks_yes_or_no:
        return SheetQuestion(criterion.name, shown.question, _yes_no(*_rubric(shown, YES, NO)))
    scale = criterion.scale
    text = f"{_sentence(criterion.name)}{meaning}"
    if scale.labels or 0 < len(scale.points()) <= MOST_OPTIONS:
        described = dict(shown.rubric)
        points = [one.value for one in shown.options] if shown.options else list(scale.points())
        options = tuple(Option(point, described.get(point, _end(point, points, criterion))) for point in points)
        return SheetQuestion(criterion.name, text, options, scale.low, scale.high)
    return SheetQuestion(criterion.name, text, (), scale.low, scale.high)


def pair_options(question: Question) -> dict[str, Outcome]:
    """Returns what can be answered about a pair, and who has then won: left is the one that is shown first."""
    return dict(question.protocol.options or OPTIONS)  # type: ignore[arg-type]


def _pair_options(question: Question) -> dict[str, str]:
    outcomes = pair_options(question)
    if question.shipped:
        return {label: _AI.get(label, "") for label in outcomes}
    return {label: _WINS[outcome] for label, outcome in outcomes.items()}


def _yes_no(yes: str = "", no: str = "") -> tuple[Option, ...]:
    return Option(YES, yes), Option(NO, no)


def _rubric(shown: AskedCriterion, *labels: str) -> list[str]:
    described = dict(shown.rubric)
    return [described.get(label, "") for label in labels]


def _end(point: str, points: Sequence[str], criterion: Criterion) -> str:
    """Returns what the ends of a scale of numbers mean that has no rubric, as judges are told."""
    if criterion.scale.labels or criterion.words.rubric:
        return ""
    return {points[0]: "very poor", points[-1]: "excellent"}.get(point, "")


def _sentence(text: str) -> str:
    words = f"{text[:1].upper()}{text[1:]}".rstrip(". ")
    return words if words.endswith(_ENDS) else f"{words}."
