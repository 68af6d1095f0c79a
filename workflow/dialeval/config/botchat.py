"""BotChat: self-chat, its three protocols, and ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from dialeval.config.adaptive import Adaptive
from dialeval.config.penalties import Penalties
from dialeval.config.section import (
    Count,
    Length,
    Name,
    Number,
    Repeats,
    Resamples,
    Section,
    Temperature,
    TokenCount,
    Whole,
)


class Scenarios(Section):
    """Whom a simulated user plays: a table of situations, one dialogue of every chatbot each."""

    path: Path = Field(
        description="CSV file or JSON Lines, relative to data_dir or absolute: scenario_id, opening, persona, goal."
    )
    limit: Count | None = Field(None, description="Use only the first so many, for a trial run.")


class Selfchat(Section):
    """How a chatbot talks: to itself (BotChat 3.1, 4.1), or with a partner that plays the user."""

    n_utterances: Annotated[Whole, Field(ge=3, le=1_000)] = Field(
        16, description="Length N of a dialogue, the seed's two included."
    )
    temperature: Temperature = Field(0.0, description="Sampling temperature; the paper's is 0.")
    max_tokens: TokenCount = Field(1024, description="Longest utterance in the model's tokens.")
    partner: Name | None = Field(
        None, description="Model that plays the user for every chatbot; null: each chatbot says both sides."
    )
    scenarios: Scenarios | None = Field(
        None, description="Whom the partner plays, in place of the seeds; null: nobody in particular, on the seeds."
    )
    end: str = Field(
        "[END]", min_length=1, max_length=80, description="What the partner writes when the talk is over for it."
    )


class _JudgingProtocol(Penalties):
    temperature: Temperature = Field(0.0, description="Sampling temperature of the judge.")
    max_tokens: TokenCount = Field(512, description="Longest answer of the judge in its tokens.")
    ask_again: bool = Field(False, description="Ask once more, in other words, where a verdict could not be read.")


class UniEval(_JudgingProtocol):
    """Is one dialogue human? (BotChat 3.2)"""

    n_utterances: list[Length] = Field(
        [4, 8, 12, 16], min_length=1, description="Lengths N at which pass rates are given."
    )


class Arena(_JudgingProtocol):
    """Which of two models' dialogues is the machine's? (BotChat 3.3)"""

    n_utterances: list[Annotated[Whole, Field(ge=3, le=1_000)]] = Field(
        [8, 16], min_length=1, description="Lengths N that dialogues are cut to."
    )
    adaptive: Adaptive | None = Field(
        None, description="Ask about each pair until it is settled; null: ask about all of them everything."
    )


class GTEval(_JudgingProtocol):
    """Can the judge tell a dialogue from the human one? (BotChat 3.4)"""


class Elo(Section):
    """Bootstrap Elo (BotChat, appendix A)."""

    k: Annotated[Number, Field(gt=0)] = Field(32.0, description="Largest change of a rating in one comparison.")
    scale: Annotated[Number, Field(gt=0)] = Field(400.0, description="Rating difference of odds 10 to 1.")
    initial: Number = Field(1000.0, description="Rating that every model begins with.")
    shuffles: Resamples = Field(1000, description="Orders of the comparisons whose median is the rating.")
    repeats: Repeats = Field(10, description="Independent bootstraps whose mean is reported; `elo_sd` takes five.")
    resamples: Resamples = Field(1000, description="Resamples of the seeds behind every interval.")


class Battles(Section):
    """A table of battles to rate on its own: who met whom, and who won."""

    path: Path = Field(
        description="CSV, .xlsx, JSON or Parquet, relative to data_dir or absolute (see docs/battles.md)."
    )
    left: str | None = Field(
        None, min_length=1, description="Column with the name of the one shown first; null: left, or else model_a."
    )
    right: str | None = Field(
        None, min_length=1, description="Column with the name of the one shown second; null: right, or else model_b."
    )
    winner: str | None = Field(
        None, min_length=1, description="Column that says left, right or tie; null: winner, or else label."
    )
    outcomes: dict[str, Literal["left", "right", "tie", "skip"]] = Field(
        {}, description="What other words in that column mean, such as {A: left, B: right, C: tie, error: skip}."
    )
    cluster: str | None = Field(
        None,
        min_length=1,
        description="Column whose equal values are resampled together, such as prompt; null: each row by itself.",
    )

    @field_validator("outcomes", mode="before")
    @classmethod
    def _words_as_written(cls, value: Any) -> Any:
        """Takes numbers for the words that a table has in their place."""
        if not isinstance(value, dict):
            return value
        return {f"{word:g}" if type(word) in (int, float) else word: meant for word, meant in value.items()}

    def columns(self) -> dict[str, Any]:
        """Returns the names of the columns by what they hold, and what the words for winners mean."""
        return self.model_dump(exclude={"path"})
