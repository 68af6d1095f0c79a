"""BotChat: self-chat with itself or a simulated user, its protocols, ratings, and failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator

from dialeval.config.models import PublishedModel, VllmModel
from dialeval.config.protocol_settings import SELFCHAT, Adaptive
from dialeval.config.section import (
    Count,
    Integer,
    Length,
    Mistake,
    Name,
    NameOrNames,
    Number,
    Penalties,
    Repeats,
    Resamples,
    Section,
    Temperature,
    TokenCount,
)
from dialeval.criteria import FAILURES, FAILURES_BY_RULE, FAILURES_PROTOCOL, SHIPPED
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


class Scenarios(Section):
    """Scenarios for the simulated user: each chatbot has one dialogue on each scenario."""

    path: Path = Field(
        description="CSV file or JSON Lines, relative to data_dir or absolute: scenario_id, opening, persona, goal."
    )
    limit: Count | None = Field(None, description="Maximum number of scenarios, for a trial run.")


class Selfchat(Section):
    """Dialogues of a chatbot with itself (BotChat 3.1, 4.1), or with a simulated user."""

    n_utterances: Annotated[Integer, Field(ge=3, le=1_000)] = Field(
        16, description="Number N of utterances of a dialogue, including the seed."
    )
    temperature: Temperature = Field(0.0, description="Sampling temperature.")
    max_tokens: TokenCount = Field(1024, description="Maximum length of an utterance in the model's tokens.")
    partner: Name | None = Field(
        None, description="Model that plays the user (simulated user); null: each chatbot writes both sides."
    )
    scenarios: Scenarios | None = Field(
        None,
        description="Scenarios of the simulated user, which replace the seeds; null: dialogues start with "
        "seeds, and the user has no role.",
    )
    end: str = Field(
        "[END]", min_length=1, max_length=80, description="Text with which the simulated user ends the dialogue."
    )


class _JudgingProtocol(Penalties):
    temperature: Temperature = Field(0.0, description="Sampling temperature of the judge.")
    max_tokens: TokenCount = Field(512, description="Maximum length of a response in the judge's tokens.")
    retry_unparsed: bool = Field(False, description="Send one more request after an unparsed response.")


class UniEval(_JudgingProtocol):
    """UniEval: does the judge detect a chatbot in a dialogue? (BotChat 3.2)"""

    n_utterances: list[Length] = Field(
        [4, 8, 12, 16], min_length=1, description="Lengths N at which pass rates are given."
    )


class Arena(_JudgingProtocol):
    """Arena: which of two chatbots' dialogues is more human? (BotChat 3.3)"""

    n_utterances: list[Annotated[Integer, Field(ge=3, le=1_000)]] = Field(
        [8, 16], min_length=1, description="Lengths N that dialogues are cut to."
    )
    adaptive: Adaptive | None = Field(
        None,
        description="Sequential pairs: compare each pair until it is settled; null: compare all pairs on all cases.",
    )


class GTEval(_JudgingProtocol):
    """GTEval: is the chatbot's dialogue or the human dialogue more human? (BotChat 3.4)"""


class Elo(Section):
    """Bootstrap Elo (BotChat, appendix A)."""

    k: Annotated[Number, Field(gt=0)] = Field(32.0, description="Maximum change of a rating by one comparison.")
    scale: Annotated[Number, Field(gt=0)] = Field(
        400.0, description="Rating difference that corresponds to odds of 10 to 1."
    )
    initial: Number = Field(1000.0, description="Initial rating of every system.")
    shuffles: Resamples = Field(
        1000, description="Number of random orders of the comparisons. The rating is the median."
    )
    repeats: Repeats = Field(
        10,
        description="Number of times that all shuffles are repeated. The estimate is the mean over repeats; `elo_sd` "
        "needs at least five repeats.",
    )
    resamples: Resamples = Field(
        1000, description="Number of bootstrap resamples of the cases, also for measures other than Elo."
    )


class Battles(Section):
    """A table of pairwise comparisons, from which systems are rated without models and judges."""

    path: Path = Field(
        description="CSV, .xlsx, JSON or Parquet, relative to data_dir or absolute (see docs/battles.md)."
    )
    left: str | None = Field(
        None, min_length=1, description="Column with the system shown first; null: left, else model_a."
    )
    right: str | None = Field(
        None, min_length=1, description="Column with the system shown second; null: right, else model_b."
    )
    winner: str | None = Field(
        None, min_length=1, description="Column with left, right or tie; null: winner, else label."
    )
    outcomes: dict[str, Literal["left", "right", "tie", "skip"]] = Field(
        {}, description="Meanings of other values in this column, such as {A: left, B: right, C: tie, error: skip}."
    )
    cluster: str | None = Field(
        None,
        min_length=1,
        description="Column that identifies clusters for resampling, such as prompt; null: each row is a cluster.",
    )

    @field_validator("outcomes", mode="before")
    @classmethod
    def _words_as_written(cls, value: Any) -> Any:
        """Take numbers for the words that a table has in their place."""
        if not isinstance(value, dict):
            return value
        return {f"{word:g}" if type(word) in (int, float) else word: meant for word, meant in value.items()}

    def columns(self) -> dict[str, Any]:
        """Return the column names by content, and the meaning of each value of the winner's column."""
        return self.model_dump(exclude={"path"})


# Failures


class FailureData(Section):
    """Dialogues in which failures are detected."""

    source: NameOrNames = Field(
        ["selfchat"], min_length=1, description="selfchat, a name under transcripts, or a list of these."
    )


class Failures(Section):
    """Failures in dialogues, detected by rules and judges (BotChat, appendix C)."""

    data: FailureData = FailureData()
    judges: list[Name] | None = Field(
        None,
        description=(
            "Judges that look for failures; null: all of `judges` except embedded judges, trained encoders and "
            "published verdicts; []: only rules look for failures."
        ),
    )
    criteria: list[Name] = Field(
        list(FAILURES),
        min_length=1,
        description="Failures that judges look for: the default kinds, or your own criteria.",
    )
    length_share: Annotated[Number, Field(gt=0, lt=1)] = Field(
        0.99,
        description="For rules: an utterance is too long if it has more words than this share of the human utterances.",
    )
    human_corpora: list[Name] | None = Field(
        None, description="For rules: corpora of human utterances; null: the corpus of the seeds."
    )
    temperature: Temperature = Field(0.0, description="Sampling temperature of the judge.")
    max_tokens: TokenCount = Field(512, description="Maximum length of a response in the judge's tokens.")
    retry_unparsed: bool = Field(False, description="Send one more request after an unparsed response.")
    answers: Literal["free", "structured"] = Field(
        "free", description="Format of the response. free: text. structured: JSON, enforced by the engine."
    )


def unfit_failures(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the settings of `protocols.failures`."""
    failures, field = config.protocols.failures, f"protocols.{FAILURES_PROTOCOL}"
    if failures is None:
        return
    known = [*FAILURES, *config.criteria]
    for kind in failures.criteria:
        if kind in SHIPPED:
            words = f"'{kind}' is a criterion of quality, not a kind of failure; {nearest(kind, known)}"
            yield Mistake(f"{field}.criteria", words)
        elif kind not in known:
            words = f"'{kind}' is not a kind of failure; {nearest(kind, known)}"
            yield Mistake(f"{field}.criteria", words, (f"criteria.{kind}",))
        elif kind in config.criteria and config.criteria[kind].level == "turn":
            words = f"'{kind}' is about responses, and this protocol judges dialogues; give it level: dialogue"
            yield Mistake(f"{field}.criteria", words, (f"criteria.{kind}",))
    for source in failures.data.source:
        sources = ["selfchat", *config.transcripts]
        if source not in sources:
            words = f"'{source}' is not a source of systems' dialogues; {nearest(source, sources)}"
            yield Mistake(f"{field}.data.source", words, (f"transcripts.{source}",))
        elif source == "selfchat" and not config.talks():
            words = "no chatbots are named; name them under chatbots, or give a name under transcripts"
            yield Mistake(f"{field}.data.source", words, ("chatbots",))
    for corpus in failures.human_corpora or ():
        if corpus not in config.corpora:
            words = f"'{corpus}' is not a corpus; {nearest(corpus, config.corpora)}"
            yield Mistake(f"{field}.human_corpora", words, (f"corpora.{corpus}",))
    if FAILURES_BY_RULE in {*config.models, *config.ensembles}:
        words = f"'{FAILURES_BY_RULE}' names the rules in the tables of {FAILURES_PROTOCOL}; rename the model"
        yield Mistake(f"models.{FAILURES_BY_RULE}", words, (field,))


# Checks of simulated users


def unfit_partner(config: Config) -> Iterator[Mistake]:
    """Yield mistakes in the settings of the simulated user."""
    chat, name = config.selfchat, config.selfchat.partner
    if name is None:
        if chat.scenarios:
            words = "scenarios need a simulated user; set selfchat.partner to its model"
            yield Mistake("selfchat.scenarios", words, ("selfchat.partner",))
        return
    partner = config.models.get(name)
    if not config.chatbots:
        yield Mistake("selfchat.partner", f"no chatbot talks with '{name}'; add chatbots", ("chatbots",))
    if isinstance(partner, PublishedModel):
        words = f"'{name}' is a published model, which cannot respond to new requests; name another model"
        yield Mistake("selfchat.partner", words, (f"models.{name}",))
    for chatbot in config.chatbots:
        model = config.models.get(chatbot)
        related = (f"models.{chatbot}", f"models.{name}", "selfchat.partner")
        if isinstance(model, PublishedModel):
            words = (
                f"'{chatbot}' is a published model, whose dialogues already exist: it cannot talk with "
                f"selfchat.partner; remove the partner or the chatbot"
            )
            yield Mistake("chatbots", words, related)
        engines = [one for one in (model, partner) if isinstance(one, VllmModel) and one.scheduled_gpus]
        if len(engines) == 2 and model != partner:
            words = (
                f"'{name}' and the chatbot '{chatbot}' would be two vLLM engines on the same GPU memory in one job; "
                f"serve the partner with `vllm serve` and reach it by engine: openai (docs/api.md)"
            )
            yield Mistake("selfchat.partner", words, related)
    for protocol, settings in config.resolved_protocols().items() if chat.scenarios else ():
        of_people = settings.data.opponent == "human" or "pass_rates_at_gt_length" in settings.measured()
        if of_people and SELFCHAT in settings.data.source:
            words = f"it compares systems with human dialogues, which scenarios do not have; remove {protocol}"
            yield Mistake(f"protocols.{protocol}", words, ("selfchat.scenarios",))
