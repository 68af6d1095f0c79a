"""What embedded models can do, as the engine sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dialeval.criteria import Level
from dialeval.engines.embedded.kneser_ney import Floats
from dialeval.engines.request import Dialogue
from dialeval.text.folds import without


@runtime_checkable
class Chatbot(Protocol):
    """What answers in a dialogue."""

    def reply(self, utterances: Sequence[str]) -> str:
        """Returns the next utterance; the same for the same utterances so far."""
        ...


@runtime_checkable
class Chooser(Protocol):
    """What chooses how a dialogue goes on."""

    def prefer(self, utterances: Sequence[str], options: Sequence[str]) -> Floats:
        """Returns log-odds for each of two or more options; the same for the same utterances and options."""
        ...


@runtime_checkable
class LanguageScorer(Protocol):
    """What knows how likely a text is, token by token."""

    def log_probability(self, utterances: Sequence[str], continuation: str) -> tuple[float, int]:
        """Returns the log-probability of the next utterance, in nats, and its number of tokens."""
        ...


@runtime_checkable
class Rater(Protocol):
    """What scores on dimensions."""

    def rate(self, dialogues: Sequence[Dialogue], level: Level) -> Floats:
        """Scores the last utterance of each dialogue (`turn`), or each as a whole (`dialogue`), as if it were alone.

        Returns:
            Scores between 0 and 1, dialogues by `DIMENSIONS[level]`.
        """
        ...


@dataclass(frozen=True)
class Judgement:
    """What a judge thinks of one dialogue.

    Attributes:
        human: probability that people alone wrote it.
        machine_utterances: for each utterance the probability that it is a machine's, given what came before; 0 for the
            first, which nothing came before.
        values: utterances by features.
        nearest: for each utterance, how many back the most similar one is; 0 for none.
    """

    human: float
    machine_utterances: tuple[float, ...]
    values: Floats
    nearest: tuple[int, ...]


@runtime_checkable
class Judging(Protocol):
    """What tells people's dialogues from others.

    Attributes:
        threshold: probability below which a dialogue is thought to be a machine's.
        utterance_threshold: probability from which on an utterance is.
        usual: mean of each feature over people's utterances, and its standard deviation.
    """

    threshold: float
    utterance_threshold: float
    usual: tuple[Floats, Floats]

    def judge(self, dialogues: Sequence[Dialogue]) -> list[Judgement]:
        """Judges dialogues of at least one utterance, each as if it were alone."""
        ...

    def verdict(self, protocol: str, judgements: Sequence[Judgement], judged: Sequence[int]) -> str:
        """Returns its opinion in the format that a language model is asked for.

        Args:
            protocol: what is asked.
            judgements: of the dialogues that it is asked about.
            judged: utterances, from 0, of which one may be named; all where there is none.
        """
        ...


_KNOWN: dict[tuple[type, tuple[type, ...]], bool] = {}


def has_ability(model: object, *abilities: type) -> bool:
    """Says whether a model has one of some abilities; `isinstance` looks through a protocol's names at every call."""
    key = (type(model), abilities)
    if key not in _KNOWN:
        _KNOWN[key] = isinstance(model, abilities)
    return _KNOWN[key]


Model = Chatbot | Chooser | Rater | Judging
"""Anything that is learned."""
SERVED_BY: Mapping[str, tuple[type, ...]] = {
    "selfchat": (Chatbot,),
    "multiple_choice": (Chooser, Judging),
    "rating": (Rater,),
    "yes_no": (Rater,),
    **dict.fromkeys(("unieval", "arena", "gteval"), (Judging,)),
}
"""By protocol, the abilities of which one is needed to answer it."""


@dataclass(frozen=True)
class Learner:
    """How a method learns: what its module gives.

    Attributes:
        learn: from the dialogues by fold and a random seed, a model for each fold that learned nothing from it.
        classes: what its models are made of, for the file that keeps them.
        needs: how many dialogues it needs besides those of any one fold; 0 where it learns nothing.
        min_folds: how many folds it needs.
        report: from models and dialogues by kind of script, and the seed, how well what was held back is judged.
    """

    learn: Callable[[Sequence[Sequence[Dialogue]], int], Sequence[Model]]
    classes: tuple[type, ...]
    needs: int = 1
    min_folds: int = 2
    report: Callable[[Mapping[Any, Any], Mapping[Any, Sequence[Sequence[Dialogue]]], int], tuple[Any, ...]] | None = (
        None
    )


def each_without_its_fold(
    learned_from: Callable[[list[Dialogue], int], Model],
) -> Callable[[Sequence[Sequence[Dialogue]], int], list[Model]]:
    """Returns how to learn a model for each fold, where one is learned from dialogues and a random seed."""

    def learn(parts: Sequence[Sequence[Dialogue]], random_seed: int) -> list[Model]:
        return [learned_from(without(parts, fold), random_seed) for fold in range(len(parts))]

    return learn
