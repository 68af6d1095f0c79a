"""Where human dialogues come from, and which of them give the ChatSEEDs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.section import Count, Name, Section, Whole


class Corpus(Section):
    """Where dialogues come from."""

    reader: Literal["bundled", "botchat_workbook", "mutual_folder", "jsonl", "auto"] = Field(
        description="bundled (ours), botchat_workbook (xlsx), mutual_folder (text files), jsonl (your own, see docs), "
        "auto (any format that transcripts are read in, by its looks)."
    )
    path: Path | None = Field(None, description="File or folder, relative to data_dir or absolute; not for bundled.")
    language: str = Field("en", min_length=2, description="Language, where the source does not say it itself.")

    @model_validator(mode="after")
    def _path_fits_reader(self) -> Self:
        if (self.path is None) != (self.reader == "bundled"):
            raise ValueError(
                "the bundled corpus takes no path" if self.path else f"reader '{self.reader}' needs a path to read from"
            )
        return self


class Seeds(Section):
    """Which human dialogues give the ChatSEEDs."""

    corpus: Name = Field(description="The corpus whose first two utterances are the seeds.")
    arena_min_utterances: Annotated[Whole, Field(ge=2)] = Field(
        4, description="Human utterances that a seed needs to serve Arena and GTEval."
    )
    limit: Count | None = Field(None, description="Use only the first so many seeds, for a trial run.")
