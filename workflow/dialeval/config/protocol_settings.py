"""A protocol: its question and data, rounds or a cascade, and its measures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.section import (
    Count,
    Length,
    Mistake,
    Name,
    NameOrNames,
    Number,
    Penalties,
    Repeats,
    Section,
    Temperature,
    TokenCount,
)
from dialeval.tables.dialogues import Form, Outcome

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


class Adaptive(Section):
    """Sequential pairs: rounds of cases for the pairs that are not settled (see docs/protocols.md)."""

    block: Count = Field(20, description="Number of cases per round.")
    error: Annotated[Number, Field(gt=0, lt=0.5)] = Field(
        0.05, description="Probability that two equal systems are found to be different."
    )
    error_control: Literal["per_comparison", "familywise"] = Field(
        "per_comparison",
        description="per_comparison: `error` is the error rate of each comparison. familywise: `error` is the "
        "familywise error rate of all pairs.",
    )
    boundary: Literal["obrien_fleming", "confidence_sequence"] = Field(
        "obrien_fleming",
        description=(
            "obrien_fleming: tests after each planned block. confidence_sequence: tests that are valid at any time, "
            "but settle fewer pairs."
        ),
    )
    requests: Count | None = Field(None, description="Maximum number of requests to each judge; null: no limit.")


def unfit_rounds(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the settings of sequential pairs."""
    for name, protocol in config.resolved_protocols().items():
        if protocol.adaptive is None:
            continue
        field = f"protocols.{name}.adaptive"
        if protocol.cascade is not None:
            words = "cascade and adaptive exclude each other; remove one of them"
            yield Mistake(field, words, (f"protocols.{name}.cascade",))
        for judge in protocol.judges or ():
            model = config.models.get(judge)
            if model is not None and model.shards > 1:
                words = (
                    f"sequential pairs need all of a judge's verdicts in one job, and models.{judge}.shards is "
                    f"{model.shards}; set it to 1, or give the protocol other judges"
                )
                yield Mistake(field, words, (f"models.{judge}",))


# Cascades


class Cascade(Section):
    """Two judges as one: `first` answers all requests, `then` a random share. Half of a share below 0.5 is
    where `first` is least certain.
    """

    first: Name = Field(description="The cheap judge.")
    then: Name = Field(description="The expensive judge.")
    share: Annotated[Number, Field(gt=0, lt=1)] = Field(0.3, description="Share of the requests that `then` answers.")

    @property
    def name(self) -> str:
        """What tables call the two as one judge."""
        return f"{self.first}-then-{self.then}"


def unfit_cascades(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the settings of cascades."""
    for name, protocol in config.resolved_protocols().items():
        cascade = protocol.cascade
        if cascade is None:
            continue
        field = f"protocols.{name}.cascade"
        judges = f"protocols.{name}.judges" if name in config.protocols.own else "judges"
        for part, judge in (("first", cascade.first), ("then", cascade.then)):
            if judge not in (protocol.judges or ()):
                words = f"'{judge}' is not a judge of {name}; name it under {judges}"
                yield Mistake(f"{field}.{part}", words, (judges, "judges", f"models.{judge}"))
        if cascade.first == cascade.then:
            words = f"first and then are both '{cascade.first}'; name two judges, the cheaper one first"
            yield Mistake(field, words)
        then = config.models.get(cascade.then)
        if then is not None and then.engine == "published":
            words = (
                f"'{cascade.then}' has published responses, so a cascade saves nothing; remove the "
                "cascade, or name another judge"
            )
            yield Mistake(f"{field}.then", words, (f"models.{cascade.then}",))
        taken = {other.lower(): other for other in (*config.models, *config.ensembles)}
        if other := taken.get(cascade.name.lower()):
            words = f"tables name the cascade {cascade.name}, and '{other}' already has that name; rename it"
            yield Mistake(field, words, (f"models.{other}",))
        if words := _without_certainty(protocol):
            yield Mistake(field, words, (f"protocols.{name}.form",))
        for ensemble, methods in config.ensemble_methods().items():
            if cascade.then in methods.get(name, {}):
                words = (
                    f"'{cascade.then}' answers only a share of the requests, and is a member of the ensemble "
                    f"{ensemble} under {name}; give the cascade its own protocol, or the ensemble other members"
                )
                yield Mistake(field, words, (f"ensembles.{ensemble}",))


def _without_certainty(protocol: Protocol) -> str:
    """Return why the certainty of a judge is unknown under a protocol; empty if it is known."""
    if protocol.form in ("locate", "annotate"):
        return (
            f"a response of form {protocol.form} does not show how certain the judge is; remove the cascade, or use "
            f"form probability"
        )
    if protocol.form == "scale" and protocol.repeats < 2:
        return (
            "under form scale, the certainty of a judge is the spread of its repeats, and repeats is 1; set repeats: 3 "
            "and a temperature, such as 0.7, or use form probability"
        )
    return ""


# Protocols

Measure = Literal[
    "pass_rates", "pass_rates_at_gt_length", "ratings", "win_rates", "means", "rates", "checklist", "differences",
    "ranks", "bias", "agreement", "examples", "judge_differences", "variance_components",
]  # fmt: skip
OF_SAMPLES: tuple[Measure, ...] = ("judge_differences", "variance_components")
"""Measures of cases and judges as random samples."""
MEASURES: dict[Form, tuple[Measure, ...]] = {
    "scale": ("means", "rates", "checklist", "differences", "ranks", *OF_SAMPLES),
    "probability": ("means", "rates", "checklist", "differences", "ranks", *OF_SAMPLES),
    "pair": ("ratings", "win_rates", "bias", "differences", "ranks", *OF_SAMPLES),
    "locate": ("pass_rates", "pass_rates_at_gt_length", "rates", "differences", "ranks", *OF_SAMPLES),
    "annotate": ("rates", "differences", "agreement", "examples", *OF_SAMPLES),
}
"""What can be measured of the answers to each form of question."""
_ALL_FORMS = [name for name in MEASURES["scale"] if all(name in names for names in MEASURES.values())]
RANKS: Measure = "ranks"
"""Not measured of judgements, but what follows from the differences of two systems each."""
SELFCHAT, RATED, PERTURBED = "selfchat", "rated", "perturbed"
SOURCES = (SELFCHAT, RATED, PERTURBED)
"""Sources that need no name of the user's: chatbots' dialogues, all rated corpora, all perturbed items."""
EACH_OTHER = "each_other"
PARTS = (
    "botchat", "metaeval", "robustness", "dialogbench", "battles", "selfchat", "embedded", "usage", "estimate",
    "training", "translation", "labels",
)  # fmt: skip
"""What stands beside protocols in the folder of tables."""


class JudgedData(Section):
    """The items of a protocol."""

    source: NameOrNames = Field(
        min_length=1,
        description=(
            "Source, or list of sources: selfchat, or a name under transcripts or metaeval.corpora. rated: all of "
            "metaeval.corpora. perturbed: the perturbed items of robustness."
        ),
    )
    n_utterances: list[Length] = Field(
        [], description="For pair: lengths N that dialogues are cut to; []: the complete dialogues."
    )
    opponent: Name = Field(
        EACH_OTHER,
        description="For pair: opponents of a system. each_other: all other systems. human: the human dialogues. Or "
        "the name of one system that all others are compared with.",
    )
    turns: Literal["last", "all"] = Field(
        "last",
        description=(
            "For scale and probability, with criteria about a response: the scored utterances of the evaluated "
            "speaker, last or all."
        ),
    )
    human_utterances: Annotated[int, Field(ge=1, le=1_000)] | None = Field(
        None, description="For pair in self-chat: minimum number of utterances of the human dialogue; null: any."
    )


class Protocol(Penalties):
    """Your own protocol: a question, its items, and the measures."""

    form: Form = Field(
        description="What the judge returns. scale: a number for each criterion. probability: a score from the "
        "probabilities of answers, such as Yes. pair: which of two dialogues is better. locate: whether an AI took "
        "part, and its first utterance; with criteria, whether the dialogue shows each criterion, and the first "
        "utterance that shows it. annotate: in one request, all criteria that the dialogue shows, and all utterances "
        "that show them."
    )
    data: JudgedData
    template: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*\.j2$",
        description="Template in prompts.directory, such as helpful.j2; null: the shipped template of the form.",
    )
    options: dict[str, Outcome] = Field(
        {},
        description="For pair: the judge's options, each with its meaning: left (the dialogue shown first wins), "
        "right or tie.",
    )
    criteria: list[Name] = Field(
        [], description="Criteria that are scored: the papers' or your own; []: the papers', for scale and probability."
    )
    repeats: Repeats = Field(1, description="Number of responses to each question.")
    temperature: Temperature = Field(0.0, description="Sampling temperature of the judge.")
    top_p: Annotated[Number, Field(gt=0, le=1)] = Field(1.0, description="Nucleus sampling of the judge.")
    max_tokens: TokenCount = Field(512, description="Maximum length of a response in the judge's tokens.")
    both_orders: bool = Field(
        True,
        description="For pair: whether the judge sees each pair in both orders; false: in one order, at random "
        "for each pair.",
    )
    criteria_in_one_request: bool = Field(
        True, description="For scale: whether one request asks for all criteria; false: a request for each criterion."
    )
    judges: list[Name] | None = Field(
        None,
        description="The judges of this protocol; null: all of `judges` (scale: without trained encoders; annotate: as "
        "under failures).",
    )
    retry_unparsed: bool = Field(False, description="Send one more request after an unparsed response.")
    answers: Literal["free", "structured"] = Field(
        "free", description="Format of the response. free: text. structured: JSON, enforced by the engine."
    )
    adaptive: Adaptive | None = Field(
        None, description="For pair: sequential pairs (see docs/protocols.md); null: compare all pairs on all cases."
    )
    cascade: Cascade | None = Field(
        None,
        description=(
            "Send a random share of the requests to an expensive judge (see docs/protocols.md); null: send "
            "all requests to all judges."
        ),
    )
    n_utterances: list[Length] = Field([], description="For locate: lengths N for pass rates; []: the full length.")
    measures: list[Measure] | None = Field(
        None,
        description=f"Tables of results; null: the default of the form. All forms: {', '.join(_ALL_FORMS)}. Others "
        "by form: "
        + "; ".join(
            f"{form}: {', '.join(name for name in names if name not in _ALL_FORMS)}" for form, names in MEASURES.items()
        )
        + ".",
    )

    @model_validator(mode="after")
    def _repeats_need_chance(self) -> Self:
        if self.repeats > 1 and self.temperature == 0:
            raise ValueError("repeats at temperature 0 give the same response; set temperature, such as 0.7")
        return self

    def measured(self) -> tuple[Measure, ...]:
        """Return the measures of the protocol."""
        if self.measures is not None:
            return tuple(self.measures)
        if self.form == "locate":
            return ("rates" if self.criteria else "pass_rates", "differences", RANKS, *OF_SAMPLES)
        if self.form == "pair" and self.data.opponent != EACH_OTHER:
            return ("win_rates", "bias", "differences", RANKS, *OF_SAMPLES)
        if self.form == "pair":
            return tuple(one for one in MEASURES["pair"] if one != "variance_components")
        if self.form == "annotate" and len(self.judges or ()) < 2:
            return ("rates", "differences", "examples", *OF_SAMPLES)
        if self.form in ("scale", "probability"):
            return ("means", "differences", RANKS, *OF_SAMPLES)
        return MEASURES[self.form]


def folded_option(label: str) -> str:
    """Return an option for comparison: without case, surrounding punctuation and repeated blanks."""
    return re.sub(r"\s+", " ", re.sub(r"[^\w+#]+", " ", label)).strip().casefold()
