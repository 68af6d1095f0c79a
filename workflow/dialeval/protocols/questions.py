"""The question of a protocol: its criteria as text, and the criteria on which an item is scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from string import ascii_uppercase
from typing import NamedTuple

from dialeval.config.protocol_settings import Protocol
from dialeval.corpora.items import Item
from dialeval.criteria import DIMENSIONS, NO, SHOWN_LEVELS, YES, Criterion, Level, Scale, with_own
from dialeval.engines.requests import Sampling

AS_SHIPPED: Mapping[str, str] = {"scale": "rating", "probability": "yes_no", "locate": "unieval"}
"""The shipped protocol of a form, which embedded judges answer."""
STORED_FORMS: Mapping[str, str] = {"locate": "detect", "annotate": "mark"}
"""Names of forms in request keys: stored answers have the earlier names."""


@dataclass(frozen=True, slots=True)
class ShownCriterion:
    """A criterion as a template may see it, in one language: texts alone."""

    name: str
    question: str
    meaning: str
    rubric: Mapping[str, str]


def shown(criterion: Criterion | None, level: Level, language: str) -> ShownCriterion | None:
    """Return a criterion with its words about one level in one language."""
    if criterion is None:
        return None
    words = criterion.in_language(language)
    return ShownCriterion(criterion.name, words.question.get(level, ""), words.meaning.get(level, ""), words.rubric)


def sampling_of(protocol: Protocol, seed: int | None = None) -> Sampling:
    """Return how a judge is sampled under a protocol, with the seed of its sampler."""
    return Sampling(
        protocol.temperature,
        protocol.top_p,
        protocol.max_tokens,
        seed,
        presence_penalty=protocol.presence_penalty,
        frequency_penalty=protocol.frequency_penalty,
    )


@dataclass(frozen=True)
class Question:
    """A protocol with the criteria that it names.

    Attributes:
        name: the protocol's.
        protocol: what it asks, of what, and how.
        shipped: whether it is one of the papers', whose request ids are short.
        criteria: the criteria that it names; none where the template alone has the question.
        own: the user's criteria that it may use beside the papers'.
    """

    name: str
    protocol: Protocol
    shipped: bool = False
    criteria: tuple[Criterion, ...] = ()
    own: tuple[Criterion, ...] = ()

    @property
    def known_as(self) -> str:
        """Return the name in request keys and for engines: of the shipped protocol that asks the same, or of the form.

        A protocol's own name is free.
        """
        if self.shipped:
            return self.name
        form = self.protocol.form
        if form in AS_SHIPPED and not (form == "locate" and self.criteria):
            return AS_SHIPPED[form]
        return STORED_FORMS.get(form, form)

    @property
    def template(self) -> str:
        """The protocol's template."""
        assert self.protocol.template
        return self.protocol.template

    @property
    def structured(self) -> bool:
        """Whether answers are JSON."""
        return self.protocol.answers == "structured"

    def cut_to(self, n: int | None) -> Question:
        """Return the same question about dialogues that are cut to one length; None for whole ones."""
        data = self.protocol.data.model_copy(update={"n_utterances": [n] if n else []})
        return replace(self, protocol=self.protocol.model_copy(update={"data": data}))

    def each_criterion(self) -> tuple[Criterion | None, ...]:
        """Return the criteria of separate requests; None for the question without a criterion."""
        return self.criteria or (None,)

    def samplings(self) -> Iterator[tuple[int, Sampling]]:
        """Yield the number of each repeat and how it is sampled; of several each has its own sampler seed."""
        own, repeats = self.protocol, self.protocol.repeats
        for repeat in range(repeats):
            yield repeat, sampling_of(own, seed=repeat if repeats > 1 else None)

    def request_id(self, criterion: Criterion | None, n: int | None, about: str, repeat: int) -> str:
        """Return a readable id, `helpful/empathy/8/case-12/a/b/0`; the papers' are short, `arena/8/MT-12/a/b`."""
        if self.shipped:
            return "/".join([self.name, *([str(n)] if n else []), about])
        return "/".join([self.name, criterion.name if criterion else "-", str(n or "-"), about, str(repeat)])


# A criterion in a prompt


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
class PromptCriterion:
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


def prompt_criterion(criterion: Criterion, level: Level, language: str) -> PromptCriterion:
    """Return a criterion as prompts show it for an item of a level and a language."""
    words, shown = criterion.in_language(language), SHOWN_LEVELS[level]
    labels = words.labels or criterion.scale.labels
    names = dict(zip(criterion.scale.labels, labels, strict=True))
    question = words.question.get(level, f"Is the {criterion.name} of the {shown} good?")
    meaning = words.meaning.get(level) or ("" if level not in words.question else question)
    return PromptCriterion(
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
    """Return the answers from which a judge chooses a point of a scale.

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
    """Return the labels whose probabilities are requested."""
    return (YES, NO) if criterion.is_yes_no else option_labels(criterion)


def frame(criteria: Sequence[PromptCriterion], scales: Sequence[Scale]) -> dict[str, str]:
    """Return the variables of a prompt on several criteria: the answers, and the format of a line."""
    answers = {one.answer for one in criteria}
    numbers = {not scale.labels for scale in scales}
    return {
        "answer": answers.pop() if len(answers) == 1 else "what stands behind it",
        "answered_by": "answer" if len(numbers) > 1 else "number" if numbers == {True} else "word or words",
        "mark": ": " if any(not scale.labels and scale.low < 0 for scale in scales) else " - ",
    }


def _answer(scale: Scale, labels: Sequence[str], *, described: bool) -> str:
    if scale.is_yes_no:
        return "Yes or No"
    if labels:
        return "one of these: " + ", ".join(labels)
    if described:
        return f"a number from {scale.low:g} to {scale.high:g}"
    return f"a number from {scale.low:g} (very poor) to {scale.high:g} (excellent)"


def _in_order(scale: Scale, rubric: Iterable[str]) -> list[str]:
    return sorted(rubric, key=scale.labels.index if scale.labels else float)


# The criteria that an item is scored on

_WORDS_IN = "en"
"""The language of the papers' criteria, and of the text around any."""
Key = tuple[str, str, str]
"""Corpus, language and id of an item."""


@dataclass(frozen=True)
class ItemCriteria:
    """The criteria on which a protocol scores items.

    Attributes:
        own: the user's criteria that it may use.
        named: the criteria that it names; none for the papers' at the item's level, and those that the corpus names.
        dimensions: by corpus, the criteria that it names.
        targets: by item, the criteria that its perturbation lowers.
        together: whether a judge scores several criteria in one answer.
    """

    own: Sequence[Criterion] = ()
    named: Sequence[str] = ()
    dimensions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Mapping[Key, Set[str]] = field(default_factory=dict)
    together: bool = True

    def of_rated(self, item: Item) -> list[Criterion]:
        """Return the criteria of an item: the named ones, and those that its perturbation lowers."""
        given = self.named or self.dimensions.get(item.corpus) or DIMENSIONS[item.level]
        return self._at_level(item, [*given, *self._aimed_at(item)])

    def of_perturbed(self, item: Item) -> list[Criterion]:
        """Return the criteria of a perturbed item: those that the perturbation lowers."""
        return self._at_level(item, self._aimed_at(item))

    def groups_of_rated(self, item: Item) -> list[list[Criterion]]:
        """Return the criteria on which an item is rated, grouped by request.

        Without named criteria the papers' are one group, and the user's one each: a further one changes no request.
        """
        if self.named:
            return self._grouped(self._at_level(item, self.named))
        papers = self._at_level(item, DIMENSIONS[item.level])
        wanted = {*self.dimensions.get(item.corpus, ()), *self._aimed_at(item)}
        own = [one for one in self.own if one.name in wanted and one.is_at(item.level)]
        return [*self._grouped(papers), *([one] for one in own)]

    def groups_of_perturbed(self, item: Item) -> list[list[Criterion]]:
        """Return the same of a perturbed item; empty where criteria are named and its perturbation lowers none."""
        if not self.named:
            return self.groups_of_rated(item)
        aimed_at = self._aimed_at(item)
        if self.together:
            return self.groups_of_rated(item) if aimed_at else []
        return self._grouped(self._at_level(item, aimed_at))

    def _grouped(self, criteria: list[Criterion]) -> list[list[Criterion]]:
        return [criteria] * bool(criteria) if self.together else [[one] for one in criteria]

    def _aimed_at(self, item: Item) -> list[str]:
        aimed_at = self.targets.get((item.corpus, item.language, item.item_id), frozenset())
        return [name for name in self.named or with_own(self.own) if name in aimed_at]

    def _at_level(self, item: Item, names: Iterable[str]) -> list[Criterion]:
        known = with_own(self.own)
        return [known[name] for name in dict.fromkeys(names) if _fits(known[name], item)]


def _fits(criterion: Criterion, item: Item) -> bool:
    """Return whether a criterion fits an item; a system's response is there for criteria about responses alone."""
    return criterion.level == "turn" if item.system and item.level == "turn" else criterion.is_at(item.level)


class Untranslated:
    """Criteria without words in the language of their items, printed once."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = {}

    def note(self, item: Item, criteria: Iterable[Criterion]) -> None:
        """Record the criteria of an item that have no words in its language."""
        if item.language != _WORDS_IN:
            for criterion in criteria:
                if item.language not in criterion.translations:
                    self._found.setdefault(item.language, {})[criterion.name] = None

    def print_missing(self) -> None:
        """Print, for every language, the criteria that have no words in it."""
        for language, names in self._found.items():
            print(f"items in {language} are judged with the untranslated questions of {', '.join(names)}")
