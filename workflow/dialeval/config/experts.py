"""One's own experts, who answer test items as the paper's people did."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from dialeval.config.section import Count, Name, Section


class Experts(Section):
    """People who answer test items: the human row beside the models (DialogBench 4)."""

    answers: Path | None = Field(
        None,
        description="CSV of what they answered, relative to data_dir or absolute: item, answer, and expert where there "
        "are several; the sheet that is drawn, filled in, is one. null: the sheet alone is drawn.",
    )
    per_task: Count = Field(
        50, description="Items of each source, language and task on the sheet; the paper's people had 50."
    )
    at_least: Count | None = Field(
        None, description="How many must answer an item rightly for it to count as right; null: more than half of them."
    )
    simulated: list[Name] = Field(
        [], description="Experts who are a simulation and no people: every table calls them so."
    )
