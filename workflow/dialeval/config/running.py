"""What holds for a run as a whole: failures, prompts, token counts."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from dialeval.config.section import Section, Share


class Answering(Section):
    """What happens when a request fails."""

    max_failure_share: Share = Field(
        0.0, description="Share of a job's requests that may fail without failing the job."
    )


class Prompts(Section):
    """Where the prompts come from."""

    directory: Path | None = Field(None, description="A folder with templates that replace ours of the same name.")


class Tokens(Section):
    """How utterance lengths are counted."""

    cl100k_file: Path | None = Field(None, description="tiktoken's cl100k_base vocabulary file, for work offline.")
