"""The user's criteria, and the protocols that use them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from dialeval.config.models import EmbeddedModel, serves
from dialeval.config.protocol_settings import PERTURBED, RATED, Protocol
from dialeval.config.section import Mistake, Name, Number, Section, unknown
from dialeval.config.trained_judges import LEVEL_OF_READER
from dialeval.criteria import (
    LEVELS,
    MOST_POINTS,
    SHIPPED,
    SHOWN_LEVELS,
    YES_NO,
    Criterion,
    Level,
    Scale,
    Words,
    labelled,
    with_own,
)
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.configuration import Config
    from dialeval.config.metaeval import RatedCorpus


Text = Annotated[str, Field(min_length=1, max_length=2_000)]
_BEYOND = 1_000_000


def _scale(value: Any) -> Any:
    """Refuse a scale that is neither two numbers, nor options, nor yes_no."""
    if value == "yes_no":
        return value
    if not isinstance(value, list):
        raise ValueError(
            f"{value!r:.60} is not a scale; write [lowest, highest], such as [1, 7], a list of options from the "
            "worst to the best, such as [poor, fair, good], or yes_no"
        )
    if any(isinstance(one, bool) for one in value):
        raise ValueError(
            "YAML reads yes, no, on, off as true and false; put options in quotes, or write `scale: yes_no`"
        )
    numbers = [isinstance(one, (int, float)) for one in value]
    if all(numbers):
        return _numbers(value)
    if any(numbers):
        raise ValueError("numbers and options are mixed; write [lowest, highest], or options only")
    return _options(value)


def _numbers(value: list[float]) -> list[float]:
    if len(value) != 2:
        raise ValueError(
            f"a scale of numbers has two ends, [lowest, highest], such as [1, 7]; it has {len(value)} here"
        )
    low, high = value
    if not all(-_BEYOND <= end <= _BEYOND for end in value):
        raise ValueError(f"an end of the scale is not a finite number from -{_BEYOND} to {_BEYOND}")
    if low == high:
        raise ValueError(f"both ends are {low:g}; set two different ends")
    if low > high:
        raise ValueError(f"the scale is written from {low:g} to {high:g}; write the lowest first: [{high:g}, {low:g}]")
    return value


def _options(value: list[Any]) -> list[str]:
    if not 2 <= len(value) <= MOST_POINTS:
        raise ValueError(f"a scale needs 2 to {MOST_POINTS} options; it has {len(value)} here")
    seen: dict[str, str] = {}
    for label in value:
        if not isinstance(label, str) or not folded(label):
            raise ValueError(
                f"{label!r:.60} cannot be an option, since it has no letters; write a word that a response can contain"
            )
        if re.fullmatch(r"[-+−]?[\d.,/ ]+", unicodedata.normalize("NFKC", label).strip()):
            raise ValueError(f"the option '{label}' is a number; a scale of numbers is written [lowest, highest]")
        if len(label) > 80:
            raise ValueError(f"the option '{label:.40}...' is longer than 80 characters; describe it under rubric")
        other = seen.setdefault(folded(label), label)
        if other != label:
            raise ValueError(
                f"'{other}' and '{label}' are the same option, since case and punctuation of responses are ignored; "
                f"choose other options"
            )
    return value


OwnScale = Annotated[
    Literal["yes_no"] | tuple[Number, Number] | list[str],
    BeforeValidator(_scale, json_schema_input_type=Literal["yes_no"] | list[float] | list[str]),
]
ByLevel = Text | dict[Level, Text]


def _texts_by_value(value: Any) -> Any:
    """Return a rubric whose numbers, as YAML reads them, are texts."""
    if not isinstance(value, Mapping):
        return value
    return {f"{key:g}" if type(key) in (int, float) else key: text for key, text in value.items()}


Rubric = Annotated[dict[str, Text], BeforeValidator(_texts_by_value)]


class OwnWords(Section):
    """A criterion in another language. Missing fields are those of the criterion."""

    question: ByLevel | None = Field(None, description="The question in this language.")
    meaning: ByLevel | None = Field(None, description="The meaning in this language.")
    scale: list[str] = Field([], description="The options of the scale in this language, in the same order.")
    rubric: Rubric = Field({}, description="Descriptions in this language of values or options of the scale.")


class OwnCriterion(Section):
    """A criterion that judges score."""

    level: Level | None = Field(
        None, description="turn (a response) or dialogue; null: both for rated corpora, otherwise dialogue."
    )
    question: ByLevel | None = Field(
        None,
        description="Question with the answers Yes (good) and No, for the form probability. A text, or {turn: ..., "
        "dialogue: ...}.",
    )
    meaning: ByLevel | None = Field(
        None,
        description="Definition, for the form scale. A text, or {turn: ..., dialogue: ...}; null: the question, else "
        "the name.",
    )
    scale: OwnScale = Field(
        (1.0, 5.0),
        description=(
            "[lowest, highest]; or options from worst to best, such as [poor, fair, good] with the values 1, 2, 3; "
            "or yes_no (Yes is 1, No is 0)."
        ),
    )
    rubric: Rubric = Field({}, description="Descriptions of values or options of the scale, such as {1: ..., 7: ...}.")
    aliases: list[Text] = Field([], description="Other names that judges may use in responses.")
    sensitive_to: list[Name] = Field(
        [],
        description="Perturbations that lower the criterion. Robustness then scores perturbed items on the criterion.",
    )
    translations: dict[Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")], OwnWords] = Field(
        {}, description="Language code -> translation for items in that language, such as {zh: {question: ...}}."
    )

    @model_validator(mode="after")
    def _fits_its_scale(self) -> Self:
        scale = self.as_scale()
        check_rubric("rubric", self.rubric, scale)
        for language, words in self.translations.items():
            check_rubric(f"translations.{language}.rubric", words.rubric, scale)
            if words.scale and len(words.scale) != len(scale.labels):
                raise ValueError(
                    f"translations.{language}.scale has {len(words.scale)} options, the criterion's scale "
                    f"{len(scale.labels)}; translate each option"
                )
            if words.scale:
                _options(words.scale)
        meant: dict[str, str] = {}
        for spelling, label in self.criterion("").spellings():
            if meant.setdefault(folded(spelling), label) != label:
                raise ValueError(
                    f"'{spelling}' means both '{meant[folded(spelling)]}' and '{label}'; choose other names"
                )
        if scale.is_yes_no and self.question is None:
            raise ValueError("scale yes_no needs a question; write a question to which Yes is the good answer")
        for field, text in (("question", self.question), ("meaning", self.meaning)):
            if self.level and isinstance(text, dict) and list(text) != [self.level]:
                raise ValueError(
                    f"{field} is given for {', '.join(text)}, but level is {self.level}; keep only that one"
                )
        return self

    def as_scale(self) -> Scale:
        """Return the scale."""
        if self.scale == "yes_no":
            return YES_NO
        first = self.scale[0]
        return labelled(map(str, self.scale)) if isinstance(first, str) else Scale(float(first), float(self.scale[1]))

    def criterion(self, name: str) -> Criterion:
        """Return the criterion of a name."""
        words = {
            language: Words(_by_level(own.question), _by_level(own.meaning), tuple(own.scale), own.rubric)
            for language, own in self.translations.items()
        }
        return Criterion(
            name=name,
            level=self.level,
            words=Words(_by_level(self.question), _by_level(self.meaning), rubric=self.rubric),
            scale=self.as_scale(),
            aliases=tuple(self.aliases),
            sensitive_to=tuple(self.sensitive_to),
            translations=words,
        )


def folded(text: str) -> str:
    """Return a name or option for comparison: without case, punctuation and repeated blanks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", re.sub(r"[^\w]+|_", " ", plain)).strip()


def check_rubric(place: str, rubric: Mapping[str, str], scale: Scale) -> None:
    """Refuse descriptions of values that are not on the scale."""
    for name in rubric:
        if scale.labels:
            if name not in scale.labels:
                raise ValueError(f"{place}: '{name:.60}' is not an option of the scale; {nearest(name, scale.labels)}")
            continue
        try:
            value = float(name)
        except ValueError:
            raise ValueError(
                f"{place}: '{name:.60}' is not a number; describe numbers from {scale.low:g} to {scale.high:g}"
            ) from None
        if not scale.low <= value <= scale.high:
            raise ValueError(f"{place}: {name} is off the scale, {scale.low:g} to {scale.high:g}; correct or remove it")


def unfit_criteria(config: Config) -> Iterator[Mistake]:
    """Yield contradictions between criteria."""
    called: dict[str, str] = {folded(alias): name for name, one in SHIPPED.items() for alias in one.names}
    for name, one in config.criteria.items():
        for alias in (name, *one.aliases):
            other = called.setdefault(folded(alias), name)
            field = f"criteria.{name}" + ("" if alias == name else ".aliases")
            if not folded(alias):
                yield Mistake(field, f"'{alias}' has no letters or digits, so a response could not name it")
            elif other in SHIPPED:
                words = f"'{alias}' names the shipped criterion '{other}'; choose another name, such as 'my_{alias}'"
                yield Mistake(field, words)
            elif other != name:
                words = f"'{alias}' is also a name of criteria.{other}, so responses would be ambiguous; choose another"
                yield Mistake(field, words, (f"criteria.{other}",))


def _by_level(text: str | dict[Level, str] | None) -> dict[Level, str]:
    if text is None:
        return {}
    return dict(text) if isinstance(text, dict) else dict.fromkeys(LEVELS, text)


# Criteria of a protocol

SCORING = ("scale", "probability")
"""Forms whose answers are scores."""


def protocol_criteria(config: Config, protocol: Protocol) -> list[Criterion]:
    """Return the user's criteria that a protocol may ask about.

    Those that it names; without any, and where it scores, those that its rated corpora name and, of perturbed items,
    those that the perturbation lowers.
    """
    if protocol.criteria or protocol.form not in SCORING:
        return config.own_criteria(protocol.criteria)
    sources = protocol.data.source
    names = {
        name
        for corpus, rated in config.rated_corpora.items()
        if RATED in sources or corpus in sources
        for name in rated.judged_criteria or ()
    }  # fmt: skip
    if PERTURBED in sources and config.robustness:
        names |= set(config.sensitivities())
    return config.own_criteria(names)


def protocol_dimensions(config: Config, protocol: Protocol) -> dict[str, list[str]]:
    """Return the criteria that rated corpora name, as far as a protocol asks about others for it.

    One that names criteria itself asks about those; ratings ask about all of the papers' in any case.
    """
    named = {
        corpus: [
            name for name in rated.judged_criteria or () if protocol.form == "probability" or name in config.criteria
        ]
        for corpus, rated in config.rated_corpora.items()
        if not protocol.criteria
    }
    return {corpus: names for corpus, names in named.items() if names}


def protocol_sensitivities(config: Config, protocol: Protocol) -> dict[str, list[str]]:
    """Return the perturbations that lower those of the user's criteria that a protocol may ask about."""
    named = {criterion.name for criterion in protocol_criteria(config, protocol)}
    return {name: strategies for name, strategies in config.sensitivities().items() if name in named}


def unfit_questions(config: Config) -> Iterator[Mistake]:
    """Yield protocols with criteria that their form cannot ask about."""
    for name, protocol in config.resolved_protocols().items():
        if protocol.answers == "structured":
            yield from _embedded_structured(config, name)
        if protocol.form not in SCORING:
            continue
        chosen = protocol_criteria(config, protocol)
        yield from _embedded(config, name, chosen)
        for criterion in chosen:
            if protocol.form == "probability" and not criterion.has_a_probability:
                words = (
                    f"protocol {name} reads the probability of an answer. It needs a yes/no question, or a scale of "
                    f"labels or of 2 to 26 whole numbers; write a question, or use form scale"
                )
                yield Mistake(f"criteria.{criterion.name}.question", words, (f"protocols.{name}",))
        yield from _criteria_without_items(config, name, protocol)


def _embedded(config: Config, name: str, chosen: list[Criterion]) -> Iterator[Mistake]:
    """Yield embedded judges under criteria that they cannot score."""
    if not chosen:
        return
    field = f"protocols.{name}.judges" if name in config.protocols.own or _names_judges(config, name) else "judges"
    for judge in config.judges_of(name):
        model = config.models.get(judge)
        if isinstance(model, EmbeddedModel) and serves(model.method, "rating"):
            words = (
                f"'{judge}' is an embedded model, which scores the papers' criteria ({', '.join(SHIPPED)}) only; "
                f"protocol {name} asks about {', '.join(one.name for one in chosen)}: name judges of engine "
                f"openai or vllm under protocols.{name}.judges, or give these criteria their own protocol"
            )
            yield Mistake(field, words, (f"models.{judge}", f"protocols.{name}", "criteria"))


def _embedded_structured(config: Config, name: str) -> Iterator[Mistake]:
    """Yield embedded judges with requests for JSON, which they do not write."""
    for judge in config.judges_of(name):
        if isinstance(config.models.get(judge), EmbeddedModel):
            words = f"'{judge}' is an embedded model, which cannot answer in JSON; set answers: free"
            yield Mistake(f"protocols.{name}.answers", words, (f"models.{judge}",))


def _names_judges(config: Config, name: str) -> bool:
    return bool(getattr(getattr(config.protocols, name, None), "judges", None))


def _criteria_without_items(config: Config, name: str, protocol: Protocol) -> Iterator[Mistake]:
    """Yield criteria that a protocol names and that fit no item of its sources."""
    known = with_own(config.own_criteria(config.criteria))
    for criterion in (known[one] for one in protocol.criteria if one in known):
        field, related = f"protocols.{name}.criteria", (f"criteria.{criterion.name}",)
        if protocol.data.source == [PERTURBED] and criterion.name in config.criteria and not criterion.sensitive_to:
            words = f"no perturbation lowers '{criterion.name}'; name perturbations under"
            yield Mistake(field, f"{words} criteria.{criterion.name}.sensitive_to", related)


# Criteria judged in place of rated dimensions


def unfit_asks(config: Config) -> Iterator[Mistake]:
    """Yield mistakes where a criterion cannot be judged on a corpus."""
    known = with_own(config.own_criteria(config.criteria))
    for name, corpus in config.rated_corpora.items():
        field = f"metaeval.corpora.{name}.criterion_map"
        if corpus.criterion_map and corpus.reader == "severity_levels":
            words = "reader severity_levels has no human ratings to map; remove criterion_map"
            yield Mistake(field, words, (f"metaeval.corpora.{name}.reader",))
            continue
        level = LEVEL_OF_READER.get(corpus.reader)
        for judged in corpus.criterion_map:
            yield from unknown(field, [judged], known, "criterion", "criteria")
            if level and judged in known and not known[judged].is_at(level):
                fitting = ", ".join(one for one in known if known[one].is_at(level))
                words = (
                    f"reader {corpus.reader} reads ratings of a {SHOWN_LEVELS[level]}, and '{judged}' is not a "
                    f"criterion of that level; choose from {fitting}"
                )
                yield Mistake(field, words, (f"metaeval.corpora.{name}.reader", f"criteria.{judged}"))


def imputable(corpus: RatedCorpus) -> list[str]:
    """Return the criteria of a corpus on which ratings may be imputed.

    What is compared with ratings on another criterion has its reference already.
    """
    return [name for name in corpus.judged_criteria or () if name not in corpus.joined]


def joined_criteria(config: Config) -> dict[str, dict[str, str]]:
    """Return, by rated corpus, the judged criteria that are compared with ratings on another criterion."""
    return {name: corpus.joined for name, corpus in config.rated_corpora.items() if corpus.joined}
