"""How long answers are taken to be where none of a model is stored, and where these lengths come from.

Each is a low, an expected and a high mean over all answers of a job. As soon as some answers are stored, their mean
takes the place of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dialeval.estimation.ranges import Range

Kind = Literal["model", "embedded", "specialist"]
"""A large model, one of ours, or a trained encoder or translation model, which bills nothing."""


@dataclass(frozen=True)
class Assumption:
    """Lengths of answers under a protocol.

    Attributes:
        tokens: the mean length of an answer; of utterances so many times people's mean in the corpus.
        source: where it comes from, for the note.
    """

    tokens: Range
    source: str


UTTERANCES: dict[Kind, Assumption] = {
    "model": Assumption(
        Range(0.5, 2.4, 12.0),
        "utterances of 0.5 to 12 times people's mean length, most likely 2.4 times: BotChat's fourteen models had 20 "
        "to 199 tokens and a median of 41, people in its dialogues 17",
    ),
    "embedded": Assumption(Range(0.2, 1.0, 3.0), "utterances of 0.2 to 3 times people's mean length"),
}
_REASONED = "a choice and a reason of one or two sentences: the verdicts in our prompts and BotChat's examples"
VERDICTS: dict[str, Assumption] = {
    "unieval": Assumption(Range(20, 45, 100), f"20 to 100 tokens, most likely 45 ({_REASONED})"),
    "arena": Assumption(Range(20, 45, 100), f"20 to 100 tokens, most likely 45 ({_REASONED})"),
    "gteval": Assumption(Range(20, 45, 100), f"20 to 100 tokens, most likely 45 ({_REASONED})"),
    "rating": Assumption(Range(15, 30, 60), "15 to 60 tokens, most likely 30 (a line for each of five dimensions)"),
    "translate": Assumption(Range(10, 25, 60), "10 to 60 tokens, most likely 25 (an utterance of 8 to 22 words)"),
    "detect": Assumption(Range(20, 45, 100), f"20 to 100 tokens, most likely 45 ({_REASONED})"),
    **dict.fromkeys(
        ("failures", "mark"),
        Assumption(
            Range(30, 70, 160), "30 to 160 tokens, most likely 70 (a line for each of five kinds, and a reason)"
        ),
    ),
    "pair": Assumption(Range(20, 45, 100), f"20 to 100 tokens, most likely 45 ({_REASONED})"),
    "scale": Assumption(Range(6, 30, 60), "6 to 60 tokens, most likely 30 (a line for each criterion)"),
    "dialogbench_letter": Assumption(Range(1, 3, 40), "1 to 40 tokens, most likely 3 (a letter, or one with a reason)"),
}
EMBEDDED = Assumption(Range(1, 25, 80), "1 to 80 tokens, most likely 25 (the embedded models' short answers)")
ONE_TOKEN = Assumption(Range(1, 1, 1), "one token: probabilities are read, nothing is written")
REASONING = Assumption(
    Range(50, 300, 1000), "50 to 1000 tokens of reasoning besides, most likely 300, which endpoints bill as output"
)
"""What reasoning models add to every answer; rough, since it differs by model and effort."""


def utterance(kind: Kind, people: float) -> Assumption:
    """Returns how long a chatbot's utterances are taken to be.

    Args:
        kind: what speaks.
        people: mean tokens of people's utterances in the corpus.
    """
    assumed = UTTERANCES[kind]
    return Assumption(assumed.tokens.times(people), f"{assumed.source}, here {people:.0f}")


def verdict(protocol: str, kind: Kind, *, reasons: bool) -> Assumption:
    """Returns how long a judge's answers under a protocol are taken to be.

    Args:
        protocol: its name.
        kind: what judges.
        reasons: whether the judge is a reasoning model.
    """
    assumed = VERDICTS.get(protocol, ONE_TOKEN)
    if kind == "embedded" and protocol in VERDICTS:
        return EMBEDDED
    return reasoned(assumed) if reasons else assumed


def reasoned(assumed: Assumption) -> Assumption:
    """Returns how long answers of a reasoning model are taken to be."""
    return Assumption(assumed.tokens.plus(REASONING.tokens), f"{assumed.source}; {REASONING.source}")
