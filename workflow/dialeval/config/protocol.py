"""A protocol: what is asked about what, and what is measured of the answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from dialeval.config.adaptive import Adaptive
from dialeval.config.cascades import Cascade
from dialeval.config.penalties import Penalties
from dialeval.config.section import Length, Name, Number, Repeats, Section, Temperature, TokenCount
from dialeval.schemas.judgements import Form, Outcome

Measure = Literal[
    "pass_rates", "pass_rates_at_gt_length", "ratings", "win_rates", "means", "rates", "checklist", "differences",
    "ranks", "bias", "agreement", "examples",
]  # fmt: skip
MEASURES: dict[Form, tuple[Measure, ...]] = {
    "scale": ("means", "rates", "checklist", "differences", "ranks"),
    "probability": ("means", "rates", "checklist", "differences", "ranks"),
    "pair": ("ratings", "win_rates", "bias", "differences", "ranks"),
    "detect": ("pass_rates", "pass_rates_at_gt_length", "rates", "differences", "ranks"),
    "mark": ("rates", "differences", "agreement", "examples"),
}
"""What can be measured of the answers to each form of question."""
RANKS: Measure = "ranks"
"""Not measured of judgements, but what follows from the differences of two systems each."""
SELFCHAT, RATED, DAMAGED = "selfchat", "rated", "damaged"
SOURCES = (SELFCHAT, RATED, DAMAGED)
"""Sources that need no name of the user's: chatbots' dialogues, all rated corpora, all damaged items."""
EACH_OTHER = "each_other"
PARTS = (
    "botchat", "metaeval", "robustness", "dialogbench", "battles", "selfchat", "embedded", "usage", "estimate",
    "training", "translation", "labels",
)  # fmt: skip
"""What stands beside protocols in the folder of tables."""


class Of(Section):
    """What a protocol is about."""

    source: list[Name] = Field(
        min_length=1,
        description="Where it comes from, one or a list: selfchat, a name under transcripts or metaeval.corpora, rated "
        "(all of metaeval.corpora), damaged (what robustness damages).",
    )
    cut: list[Length] = Field([], description="Lengths N that dialogues are cut to, each asked about; []: whole.")
    against: Name = Field(
        EACH_OTHER, description="Of a pair: each_other, human, or the system that all others are shown beside."
    )
    turns: Literal["last", "all"] = Field(
        "last",
        description="Of scale and probability: which utterances of a dialogue's judged side are scored on criteria "
        "about a response, the last or all; a ChatSEED's are none.",
    )
    human_utterances: Annotated[int, Field(ge=1, le=1_000)] | None = Field(
        None, description="Of a pair in self-chat: utterances that the human dialogue of a case needs; null: any."
    )

    @field_validator("source", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class Protocol(Penalties):
    """A protocol of your own, by a name of yours: what is asked about what, and what is measured of the answers."""

    form: Form = Field(
        description="scale (a number for each criterion), probability (of Yes), pair (which of two), detect (whether "
        "an AI took part and where; with criteria, whether something is there and where), mark (which criteria show, "
        "all in one question, and in which utterances)."
    )
    of: Of
    template: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*\.j2$",
        description="Template in prompts.directory, such as helpful.j2; null: the one that is shipped for the form.",
    )
    options: dict[str, Outcome] = Field(
        {}, description="Of a pair: what a judge can answer, and who has then won: left (shown first), right, or tie."
    )
    criteria: list[Name] = Field([], description="Criteria that are asked about, those under criteria or the papers'.")
    repeats: Repeats = Field(1, description="How often the same is asked.")
    temperature: Temperature = Field(0.0, description="Sampling temperature of the judge.")
    top_p: Annotated[Number, Field(gt=0, le=1)] = Field(1.0, description="Nucleus sampling of the judge.")
    max_tokens: TokenCount = Field(512, description="Longest answer of the judge in its tokens.")
    both_orders: bool = Field(
        True, description="Of a pair: show it in both orders; false: in one, drawn for each case."
    )
    together: bool = Field(True, description="Of a scale: ask for all criteria at once; false: one at a time.")
    judges: list[Name] | None = Field(None, description="Judges that are asked; null: all of `judges`.")
    ask_again: bool = Field(False, description="Ask once more, in other words, where an answer could not be read.")
    answers: Literal["free", "structured"] = Field(
        "free", description="free: text that is read as it is; structured: JSON that the engine holds the judge to."
    )
    adaptive: Adaptive | None = Field(
        None, description="Of a pair: ask about each two systems until it is settled; null: ask everything."
    )
    cascade: Cascade | None = Field(
        None,
        description=(
            "Ask an expensive judge a random share, most where a cheap one is least sure; null: ask all judges all."
        ),
    )
    at: list[Length] = Field([], description="Of detect: lengths N at which pass rates are given; []: the whole.")
    measures: list[Measure] | None = Field(
        None,
        description="Tables that are made of it: "
        + "; ".join(f"{form}: {', '.join(names)}" for form, names in MEASURES.items())
        + ". null: what fits.",
    )

    @model_validator(mode="after")
    def _repeats_need_chance(self) -> Self:
        if self.repeats > 1 and self.temperature == 0:
            raise ValueError("repeats at temperature 0 give the same answer again; set temperature, such as 0.7")
        return self

    def measured(self) -> tuple[Measure, ...]:
        """Returns what is measured of the answers."""
        if self.measures is not None:
            return tuple(self.measures)
        if self.form == "detect":
            return ("rates" if self.criteria else "pass_rates", "differences", RANKS)
        if self.form == "pair" and self.of.against != EACH_OTHER:
            return ("win_rates", "bias", "differences", RANKS)
        if self.form == "mark" and len(self.judges or ()) < 2:
            return ("rates", "differences", "examples")
        return ("means", "differences", RANKS) if self.form in ("scale", "probability") else MEASURES[self.form]
