"""Transcripts: dialogues of your own systems, to be judged as chatbots' dialogues are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dialeval.config.section import Count, Section

Reader = Literal[
    "auto", "jsonl", "folder", "sharegpt", "messages", "csv", "chatgpt", "rasa", "preferences", "replies", "mt_bench",
    "text",
]  # fmt: skip
NameInFile = Annotated[str, Field(min_length=1, max_length=80)]


class Shown(Section):
    """What judges and readers are shown that stands in transcripts but was not said."""

    system_prompts: bool = Field(False, description="System prompts, marked [system prompt].")
    tool_calls: bool = Field(False, description="What tools were asked and what they gave: [tool call], [tool result].")


class Columns(Section):
    """Columns of a table of turns, where they are not called as they commonly are (see docs/transcripts.md)."""

    dialogue_id: NameInFile | None = Field(None, description="Which dialogue a row is of.")
    system: NameInFile | None = Field(None, description="Whose dialogue it is.")
    case_id: NameInFile | None = Field(None, description="What systems met alike.")
    turn: NameInFile | None = Field(None, description="A number that orders a dialogue's rows.")
    speaker: NameInFile | None = Field(None, description="Who speaks.")
    text: NameInFile | None = Field(None, description="What is said.")
    language: NameInFile | None = Field(None, description="Language of the dialogue.")


class Transcripts(Section):
    """Dialogues of your own systems (see docs/transcripts.md); a protocol names them as its source."""

    path: Path = Field(description="File, or folder with a file for each system; relative to data_dir or absolute.")
    reader: Reader = Field(
        "auto",
        description="auto (by its looks), jsonl (ours), folder (a file for each system), sharegpt (conversations), "
        "messages (OpenAI's), csv (a row for each utterance), chatgpt (its export), rasa (trackers), preferences "
        "(chosen and rejected), replies (each with what came before), mt_bench (its folder), text (see "
        "docs/transcripts.md).",
    )
    system: NameInFile | None = Field(None, description="Whose dialogues they are, where the file does not say it.")
    language: str = Field("en", min_length=2, description="Language, where the file does not say it.")
    judged: NameInFile | None = Field(
        None,
        description="The speaker who is the system and is judged; null: the one called as the system is, or assistant, "
        "gpt, chatbot, bot and the like.",
    )
    cases: Literal["auto", "opening", "none"] = Field(
        "auto",
        description="What systems have in common: auto (case_id, else prompt, else a dialogue_id of several systems), "
        "opening (the same first utterance), none.",
    )
    show: Shown = Shown()
    columns: Columns = Columns()
    limit: Count | None = Field(
        None, description="Only the first so many cases, or dialogues of each system without cases, for a trial run."
    )

    @model_validator(mode="after")
    def _columns_are_of_tables(self) -> Self:
        if self.columns.model_fields_set and self.reader not in ("auto", "csv", "folder"):
            raise ValueError(f"columns are of tables, reader is {self.reader}; take columns out, or set reader: csv")
        return self

    def options(self) -> dict[str, Any]:
        """Returns what is said of the dialogues, without where they lie."""
        return {
            **self.model_dump(exclude={"path", "show", "columns"}),
            "shown": [
                *["system"] * self.show.system_prompts,
                *["tool_call", "tool_result"] * self.show.tool_calls,
            ],
            "columns": self.columns.model_dump(exclude_none=True),
        }
