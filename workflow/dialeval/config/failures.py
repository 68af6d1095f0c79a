"""BotChat's failures: what judges are asked about them, by which rules they are found, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator

from dialeval.config.mistakes import Mistake
from dialeval.config.section import Name, Number, Section, Temperature, TokenCount
from dialeval.criteria import SHIPPED
from dialeval.errors import nearest
from dialeval.failure_kinds import BY_RULE, FAILURES, PROTOCOL

if TYPE_CHECKING:
    from dialeval.config.whole import Config


class OfDialogues(Section):
    """Whose dialogues failures are looked for in."""

    source: list[Name] = Field(
        ["selfchat"], min_length=1, description="selfchat, a name under transcripts, or a list of these."
    )

    @field_validator("source", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class Failures(Section):
    """Which kinds of failure does a dialogue show, and where? (BotChat, appendix C) By rules, and by judges."""

    of: OfDialogues = OfDialogues()
    judges: list[Name] | None = Field(
        None,
        description="Judges that are asked; null: those of `judges` that can be, which embedded ones, trained encoders "
        "and published answers cannot; []: none. Rules, which cost nothing, look in any case.",
    )
    kinds: list[Name] = Field(
        list(FAILURES),
        min_length=1,
        description="Kinds that judges are asked about, all in one question: these, and criteria of your own.",
    )
    length_share: Annotated[Number, Field(gt=0, lt=1)] = Field(
        0.99,
        description="Of rules: an utterance is too long if it has more words than this share of people's utterances.",
    )
    people: list[Name] | None = Field(
        None, description="Of rules: corpora whose utterances are people's; null: the one that seeds come from."
    )
    temperature: Temperature = Field(0.0, description="Sampling temperature of the judge.")
    max_tokens: TokenCount = Field(512, description="Longest answer of the judge in its tokens.")
    ask_again: bool = Field(False, description="Ask once more, in other words, where an answer could not be read.")
    answers: Literal["free", "structured"] = Field(
        "free", description="free: text that is read as it is; structured: JSON that the engine holds the judge to."
    )


def unfit_failures(config: Config) -> Iterator[Mistake]:
    """Yields what is wrong with how failures are looked for."""
    failures, field = config.protocols.failures, f"protocols.{PROTOCOL}"
    if failures is None:
        return
    known = [*FAILURES, *config.criteria]
    for kind in failures.kinds:
        if kind in SHIPPED:
            words = f"'{kind}' is one of the papers' criteria, which is good where it is there; {nearest(kind, known)}"
            yield Mistake(f"{field}.kinds", words)
        elif kind not in known:
            words = f"'{kind}' is no kind of failure; {nearest(kind, known)}"
            yield Mistake(f"{field}.kinds", words, (f"criteria.{kind}",))
        elif kind in config.criteria and config.criteria[kind].level == "turn":
            words = f"'{kind}' is about responses, and whole dialogues are looked at; give it level: dialogue"
            yield Mistake(f"{field}.kinds", words, (f"criteria.{kind}",))
    for source in failures.of.source:
        sources = ["selfchat", *config.transcripts]
        if source not in sources:
            words = f"'{source}' is no source of systems' dialogues; {nearest(source, sources)}"
            yield Mistake(f"{field}.of.source", words, (f"transcripts.{source}",))
        elif source == "selfchat" and not config.talks():
            words = "no chatbots are named; name them under chatbots, or give a name under transcripts"
            yield Mistake(f"{field}.of.source", words, ("chatbots",))
    for corpus in failures.people or ():
        if corpus not in config.corpora:
            words = f"'{corpus}' is no corpus; {nearest(corpus, config.corpora)}"
            yield Mistake(f"{field}.people", words, (f"corpora.{corpus}",))
    if BY_RULE in {*config.models, *config.ensembles}:
        words = f"'{BY_RULE}' names what rules say in the tables of {PROTOCOL}; give the model another name"
        yield Mistake(f"models.{BY_RULE}", words, (field,))
