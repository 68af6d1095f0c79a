"""What the judge says: its opinion in the answer format that language models are asked for, with a reason in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialeval.engines.embedded.abilities import Judgement, Judging
from dialeval.engines.embedded.features import NAMES

INDISTINGUISHABLE = {"arena": 0.03, "gteval": 0.0}
"""Difference of probabilities up to which two conversations are alike, by protocol."""
STRIKING = 1.0
"""From how many standard deviations on a feature is worth naming."""
EXACT = 0.95
"""Cosine from which on an utterance repeats another, rather than resembling it."""

_REASONS: dict[str, tuple[float, str]] = {
    "repetition": (1, "utterance {n} says nearly the same as utterance {nearest}"),
    "length": (1, "utterance {n} is unusually long"),
    "length_change": (1, "utterance {n} is much longer than the ones before it"),
    "fluency": (-1, "the words of utterance {n} hardly form a sentence"),
    "worst_word": (-1, "utterance {n} has words where nobody would put them"),
    "opener_fit": (-1, "utterance {n} does not begin like a reply to utterance {last}"),
    "late_opening": (1, "utterance {n} sounds like the beginning of a dialogue"),
    "after_closing": (1, "utterance {n} goes on after the dialogue had come to its end"),
    "specificity": (-1, "utterance {n} is an empty phrase"),
    "own_diversity": (-1, "utterance {n} says its own words over and over"),
}
"""For each feature worth naming, the direction in which it speaks for a machine, and the words."""

_FIRST = "utterance 1 already reads as if a machine had written it"


def unieval_answer(judge: Judging, judgement: Judgement, judged: Sequence[int] = ()) -> str:
    """Returns the answer to: is the dialogue a machine's, and from which utterance on?

    Args:
        judge: the judge.
        judgement: what it thinks.
        judged: numbers (0-based) of the utterances of the one who is judged; none for all.
    """
    if judgement.human >= judge.threshold:
        return _lines(Choice="No", Index="None", Reason=_in_favour(judgement))
    place = first_machine_utterance(judge, judgement, judged)
    return _lines(Choice="Yes", Index=str(place + 1), Reason=_against(judge, judgement, place))


def comparison_answer(judge: Judging, first: Judgement, second: Judgement, protocol: str) -> str:
    """Returns the answer to: which of two conversations is a machine's? Exchanged, the answer is exchanged, too."""
    if abs(first.human - second.human) <= INDISTINGUISHABLE[protocol]:
        if first.human + second.human < 2 * judge.threshold:
            return _lines(Choice="Both", Reason="both read alike, and neither as people's" + _odds(first, second))
        return _lines(Choice="Neither", Reason="both read alike, and as people's" + _odds(first, second))
    number, worse = (1, first) if first.human < second.human else (2, second)
    reason = _against(judge, worse, first_machine_utterance(judge, worse))
    return _lines(Choice=f"Conversation {number}", Reason=f"in conversation {number}, {reason}")


def first_machine_utterance(judge: Judging, judgement: Judgement, judged: Sequence[int] = ()) -> int:
    """Returns the 0-based number of the first utterance thought to be a machine's, else of the likeliest."""
    machine = np.array(judgement.machine_utterances)
    if judged:
        machine[[place for place in range(len(machine)) if place not in judged]] = -1.0
    suspected = np.flatnonzero(machine >= judge.utterance_threshold)
    return int(suspected[0]) if len(suspected) else int(np.argmax(machine))


def _lines(**parts: str) -> str:
    return "\n".join(f"{name}: {text}" for name, text in parts.items())


def _odds(*judgements: Judgement) -> str:
    return " (chance of a person: " + " and ".join(f"{judgement.human:.2f}" for judgement in judgements) + ")"


def _in_favour(judgement: Judgement) -> str:
    return "the utterances follow from one another, and none stands out as a machine's" + _odds(judgement)


def _against(judge: Judging, judgement: Judgement, place: int) -> str:
    return strongest_reason(judge, judgement, place) + _odds(judgement)


def strongest_reason(judge: Judging, judgement: Judgement, place: int) -> str:
    """Returns in words what is most unlike people about an utterance."""
    mean, deviation = judge.usual
    distance = (judgement.values[place] - mean) / deviation
    striking = [(direction * float(distance[NAMES.index(name)]), name) for name, (direction, _) in _REASONS.items()]
    strength, name = max(striking)
    if strength < STRIKING:
        return f"utterance {place + 1} has little to do with what was said before it" if place else _FIRST
    back = judgement.nearest[place]
    if name == "repetition" and judgement.values[place][NAMES.index(name)] > EXACT:
        return f"utterance {place + 1} repeats utterance {place + 1 - back}"
    return _REASONS[name][1].format(n=place + 1, nearest=place + 1 - back, last=place)
