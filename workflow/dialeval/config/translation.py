"""Translation of corpora by a model, and how its quality is measured (xDial-Eval, section 3.2, Table 2)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.section import Count, Name, Section, TokenCount, Whole


class TranslationQuality(Section):
    """What is measured of a sample of utterances."""

    sample: Count = Field(100, description="Utterances of each corpus and language, drawn by their ids.")
    back: Name | None = Field(
        None, description="Model that translates back, for BLEU, chrF and BERTScore against the source; null: none."
    )
    judges: list[Name] = Field([], description="Models that say how adequate a translation is, from 1 to 5.")
    metrics: list[Literal["cometkiwi22", "cometkiwi23", "bertscore"]] = Field(
        [], description="Metrics to compute in an environment of their own, with weights from Hugging Face."
    )
    ratings: Path | None = Field(
        None, description="CSV of people's ratings from 1 to 5, in data_dir; see docs/translation.md."
    )
    scores: dict[Name, Path] = Field(
        {}, description="CSV of scores of further metrics, such as cometkiwi22, by the metric's name; in data_dir."
    )

    @model_validator(mode="after")
    def _metrics_have_what_they_need(self) -> Self:
        if "bertscore" in self.metrics and not self.back:
            raise ValueError(
                "metrics: bertscore compares the source with what is translated back; name a model in back"
            )
        if twice := sorted({*self.metrics} & {*self.scores}):
            raise ValueError(f"{', '.join(twice)}: either of metrics, which is computed, or of scores, which is read")
        return self


class Translation(Section):
    """A corpus put into other languages, an utterance at a time."""

    into: list[str] = Field(min_length=1, description="Languages, such as [zh, es].")
    by: Name = Field(description="Model that translates: one that chats, or one of engine nllb.")
    source: str = Field("en", min_length=2, description="Language of the dialogues that are translated.")
    context: Annotated[Whole, Field(ge=0, le=1_000)] = Field(
        4, description="Earlier utterances that a model is shown with each; NLLB is shown none."
    )
    max_tokens: TokenCount = Field(512, description="Longest translation of an utterance in the model's tokens.")
    quality: TranslationQuality | None = None

    def models(self) -> list[str]:
        """Returns the models that translate, translate back, or judge translations."""
        quality = self.quality
        return [self.by, *([quality.back] if quality and quality.back else []), *(quality.judges if quality else [])]

    @model_validator(mode="after")
    def _goes_elsewhere(self) -> Self:
        if self.source in self.into:
            raise ValueError(f"into has the source's own language '{self.source}'; take it out")
        return self
