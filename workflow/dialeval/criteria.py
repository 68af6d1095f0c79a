"""Criteria of dialogues: the papers' dimensions, BotChat's types of failure, and those of the user.

A criterion has a scale of numbers or of labels. A label's value is its place, 1 for the first and lowest; Yes is 1 and
No is 0.

`Yes` to one is that the failure is there. A dialogue with none of them is a good case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Level = Literal["turn", "dialogue"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue")
SHOWN_LEVELS: Mapping[Level, str] = MappingProxyType({"turn": "response", "dialogue": "dialogue"})
"""Level -> the name of its items in prompts."""
YES, NO = "Yes", "No"
MOST_POINTS = 26
"""Points of a scale between which a judge can choose by one token: a letter."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The values that a score can have.

    Attributes:
        low, high: the lowest and the highest value.
        labels: what stands for the values from `low` upwards in steps of 1; empty for a scale of numbers, on which
            every number between the ends is a value.
    """

    low: float = 1.0
    high: float = 5.0
    labels: tuple[str, ...] = ()

    @property
    def is_yes_no(self) -> bool:
        """Return whether it is a Yes or a No."""
        return self.labels == (NO, YES)

    def value_of(self, label: str) -> float:
        """Return the value of a label."""
        return self.low + self.labels.index(label)

    def points(self) -> dict[str, float]:
        """Return the labels, or the whole numbers as texts, with their values, from the lowest upwards."""
        if self.labels:
            return {label: self.value_of(label) for label in self.labels}
        if not (float(self.low).is_integer() and float(self.high).is_integer()):
            return {}
        return {str(number): float(number) for number in range(int(self.low), int(self.high) + 1)}


YES_NO = Scale(0.0, 1.0, (NO, YES))


def labelled(labels: Iterable[str]) -> Scale:
    """Return the scale of some labels, from the worst to the best."""
    names = tuple(labels)
    return Scale(1.0, float(len(names)), names)


@dataclass(frozen=True, slots=True)
class Words:
    """A criterion in one language.

    Attributes:
        question: by level, a Yes/No question, Yes being good.
        meaning: by level, the definition.
        labels: the scale's labels, in its order; empty where they are those of the criterion.
        rubric: what each value or label of the scale stands for.
    """

    question: Mapping[Level, str] = field(default_factory=dict)
    meaning: Mapping[Level, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    rubric: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a judge scores.

    Attributes:
        name: as in the configuration, tables and prompts.
        level: what it is about; None for both.
        words: in English, or in the language of all requests in languages without words of their own.
        scale: of the scores.
        aliases: how judges call it besides.
        sensitive_to: perturbations that lower it.
        translations: language code -> its words there.
    """

    name: str
    level: Level | None = None
    words: Words = Words()
    scale: Scale = Scale()
    aliases: tuple[str, ...] = ()
    sensitive_to: tuple[str, ...] = ()
    translations: Mapping[str, Words] = field(default_factory=dict)

    def is_at(self, level: Level) -> bool:
        """Return whether it applies to a response (`turn`), or to a dialogue."""
        return self.level in (None, level)

    @property
    def is_yes_no(self) -> bool:
        """Return whether its probability is that of Yes: if there is a question, and the scale has no options."""
        return self.scale.is_yes_no or bool(self.words.question and not self.scale.labels)

    @property
    def has_a_probability(self) -> bool:
        """Return whether it can be scored by the probabilities of labels."""
        return self.is_yes_no or 2 <= len(self.scale.points()) <= MOST_POINTS

    @property
    def names(self) -> tuple[str, ...]:
        """Return all of its names in judges' answers."""
        return (self.name, *self.aliases)

    def in_language(self, language: str) -> Words:
        """Return its texts in a language; untranslated ones stay as they are."""
        own = self.translations.get(language)
        if own is None:
            return self.words
        return Words(
            {**self.words.question, **own.question},
            {**self.words.meaning, **own.meaning},
            own.labels,
            {**self.words.rubric, **own.rubric},
        )

    def spellings(self) -> tuple[tuple[str, str], ...]:
        """Return every option in every language, with the option of the scale that it translates."""
        each = (self.scale.labels, *(words.labels for words in self.translations.values()))
        return tuple(pair for labels in each for pair in zip(labels, self.scale.labels, strict=False))


def _papers(name: str, level: Level, meaning: str, question: str, *aliases: str) -> Criterion:
    return Criterion(name, level, Words({level: question}, {level: meaning}), aliases=aliases)


SHIPPED: Mapping[str, Criterion] = MappingProxyType(
    {
        criterion.name: criterion
        for criterion in (
            _papers(
                "relevance", "turn", "it fits the context", "Is the response relevant to the context?",
                "context relevance", "relevant",
            ),
            _papers(
                "specificity", "turn", "it is particular to this context and would not serve in any other",
                "Is the response particular to this context?", "specific",
            ),
            _papers(
                "interestingness", "turn", "it makes one want to go on talking", "Is the response interesting?",
                "interesting",
            ),
            _papers(
                "understandability", "turn", "it is clear what is meant", "Is it clear what the response means?",
                "understandable", "understanding",
            ),
            _papers(
                "coherence", "dialogue", "every utterance follows sensibly from what was said before",
                "Does every utterance follow sensibly from what was said before?", "coherent",
            ),
            _papers(
                "engagingness", "dialogue", "it would hold a reader's or partner's attention",
                "Are the responses engaging?", "engagement", "engaging",
            ),
            _papers(
                "diversity", "dialogue", "the utterances vary in words, ideas and subjects",
                "Are the responses varied in words and ideas?", "diverse",
            ),
            _papers(
                "informativeness", "dialogue", "what is said carries content", "Are the responses informative?",
                "informative",
            ),
            Criterion(
                "overall",
                words=Words(
                    {
                        "turn": "Is this a good response as a whole?",
                        "dialogue": "Is this a good dialogue as a whole?",
                    },
                    {"turn": "the response as a whole", "dialogue": "the dialogue as a whole"},
                ),
                aliases=("overall quality",),
            ),
        )
    }
)  # fmt: skip
"""The dimensions of comp-analysis by name, in the paper's order."""
DIMENSIONS: Mapping[Level, tuple[str, ...]] = MappingProxyType(
    {level: tuple(name for name, one in SHIPPED.items() if one.is_at(level)) for level in LEVELS}
)
"""Their names at each level."""


def with_own(own: Iterable[Criterion]) -> dict[str, Criterion]:
    """Return the shipped criteria and the user's by name."""
    return {**SHIPPED, **{criterion.name: criterion for criterion in own}}


# BotChat's types of failure (appendix C, Figures 8 and 9)

SELF_IDENTIFICATION, CONFUSION = "self_identification", "contextual_confusion"
LENGTH, FORMAL, REPETITION = "excessive_length", "formal_tone", "repetitive_phrasing"
NO_FAILURE = "good_case"
"""What a judgement is of that says whether a dialogue shows no kind at all."""
FAILURES_PROTOCOL = "failures"
"""The shipped protocol that is about them."""
FAILURES_BY_RULE = "rules"
"""The judge under it whose judgements follow from rules, and not from a model."""


def _kind(name: str, meaning: str) -> Criterion:
    question = f"Does the dialogue show {name.replace('_', ' ')}?"
    return Criterion(name, "dialogue", Words({"dialogue": question}, {"dialogue": meaning}), YES_NO)


FAILURES: Mapping[str, Criterion] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _kind(
                SELF_IDENTIFICATION,
                "the speaker gives itself away as an AI, a language model, an assistant or a programme, although it is "
                "to talk as a person",
            ),
            _kind(
                CONFUSION,
                "the utterance misses what the talk is about, or who the two speakers are to each other: it is "
                "irrelevant, makes no sense there, or mixes up who is who",
            ),
            _kind(LENGTH, "the utterance is far longer than what people say in such a chat"),
            _kind(FORMAL, "the utterance is worded more formally than people talk, such as in a letter or a manual"),
            _kind(
                REPETITION,
                "the speaker says again what it said before, in the same or nearly the same words, or keeps the talk "
                "going with set phrases alone",
            ),
        )
    }
)
"""The types of failure by name, in the order of the tables."""
RULED_FAILURES = (SELF_IDENTIFICATION, LENGTH, REPETITION)
"""The types of failure that rules can find."""
