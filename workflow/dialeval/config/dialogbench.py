"""DialogBench: sources of items, and the models that write, filter and answer them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from dialeval.config.models import EmbeddedModel, Model, OpenAIModel, PublishedModel, able_to, serves
from dialeval.config.section import (
    Count,
    Mistake,
    Name,
    Number,
    Penalties,
    Repeats,
    Section,
    Share,
    Temperature,
    TokenCount,
)
from dialeval.errors import nearest

if TYPE_CHECKING:
    from dialeval.config.configuration import Config


class Experts(Section):
    """Human experts who answer items (DialogBench 4)."""

    answers: Path | None = Field(
        None,
        description=(
            "CSV file of answers, such as the filled-in sheet, relative to data_dir or absolute. Its columns are "
            "item, answer and, with several experts, expert. null: the run only writes the sheet."
        ),
    )
    per_task: Count = Field(50, description="Number of items per source, language and task on the sheet.")
    at_least: Count | None = Field(
        None, description="Number of experts who must answer an item correctly; null: more than half."
    )
    simulated: list[Name] = Field([], description="Simulated experts; every table marks them.")


TASKS = ("SF", "IC", "KRG", "CRG", "DI", "MRG", "PRG", "RC", "ED", "NLI", "DS", "OD")
"""The tasks' abbreviations."""
BY_RULE = ("MRG", "DI")
"""The tasks whose items can be made by rule, without a writer."""
DOMAINS = (
    "Gourmet Cooking", "Travel", "Household Chores", "Film", "Neighborhood", "Workplace", "Music", "Shopping", "Games",
    "Sports", "History", "Philosophy", "Sociology", "Psychology", "Economics", "Geography", "Physics", "Biology",
    "Computer Science", "Medicine",
)  # fmt: skip
Language = Literal["en", "zh"]


class PublishedItems(Section):
    """Test items in DialogBench's published format, with a JSON object per line."""

    path: Path = Field(description="File, or folder of .json and .jsonl files, relative to data_dir or absolute.")
    language: Language = Field("en", description="Language of the items.")
    task: str | None = Field(None, description="Task of items without a task; null: the file's name.")

    @field_validator("task")
    @classmethod
    def _is_a_task(cls, value: str | None) -> str | None:
        if value is not None:
            check_tasks([value])
        return value


class WrittenItems(Penalties):
    """Items that a model writes, or that rules make (DialogBench 3.3 and 3.4)."""

    writer: Name | None = Field(
        None, description="Model that writes items; null: rules make items of MRG and DI from the dialogues of corpus."
    )
    filter: Name | None = Field(None, description="Model that judges whether items are correct; null: no filter.")
    corpus: Name = Field(
        "bundled", description="Without a writer: the corpus, under corpora, from which rules make items."
    )
    tasks: list[str] | None = Field(None, min_length=1, description="Tasks; null: all.")
    domains: list[str] | None = Field(None, min_length=1, description="Domains; null: all twenty.")
    per_cell: Repeats = Field(1, description="Number of items per task and domain.")
    languages: list[Language] = Field(["en"], min_length=1, description="Languages: en, zh.")
    ablations: list[Literal["styles", "filter", "domains"]] = Field(
        [],
        description=(
            "The paper's ablations. styles: items without personalities. filter: items that the filter rejected are "
            "included. domains: items with the paper's basic prompt (Figures 5a and 6)."
        ),
    )
    max_rounds: Repeats = Field(3, description="Maximum number of requests for an item that breaks a rule.")
    temperature: Temperature = Field(1.0, description="Sampling temperature of the writer.")
    max_tokens: TokenCount = Field(4096, description="Maximum length of a response in the writer's tokens.")
    min_turns: Count = Field(
        4,
        description="Minimum number of turns of an accepted item. The prompt requests ten.",
    )
    max_length_ratio: Annotated[Number, Field(ge=1)] = Field(
        2.5, description="Maximum length of the longest option divided by that of the shortest."
    )
    max_question_share: Share = Field(1.0, description="Maximum share of utterances with a question.")
    duplicate_similarity: Annotated[Number, Field(gt=0, le=1)] = Field(
        0.7, description="Jaccard similarity of word trigrams that makes two dialogues of a task duplicates."
    )

    @field_validator("tasks")
    @classmethod
    def _are_tasks(cls, value: list[str] | None) -> list[str] | None:
        check_tasks(value or [])
        return value

    @field_validator("domains")
    @classmethod
    def _are_domains(cls, value: list[str] | None) -> list[str] | None:
        for name in value or []:
            if name not in DOMAINS:
                raise ValueError(f"'{name}' is not a domain of DialogBench; {nearest(name, DOMAINS)}")
        return value

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        for task in (self.tasks or []) if self.writer is None else []:
            if task not in BY_RULE:
                raise ValueError(
                    f"items of '{task}' cannot be made by rule, only those of {' and '.join(BY_RULE)}; name a model as "
                    "writer, or leave the task out"
                )
        if "styles" in self.ablations and self.writer is None:
            raise ValueError(
                "items made by rule have no personalities, so ablations cannot leave out styles; set writer to a "
                "model, or remove styles from ablations"
            )
        if "domains" in self.ablations and self.writer is None:
            raise ValueError(
                "items made by rule have no given domain, so ablations cannot leave out domains; set writer to a "
                "model, or remove domains from ablations"
            )
        if "domains" in self.ablations and self.temperature == 0:
            raise ValueError(
                "at temperature 0 the basic prompt, which is the same for many items, repeats the same item; raise "
                "temperature, or remove domains from ablations"
            )
        if "filter" in self.ablations and self.filter is None:
            raise ValueError(
                "the ablation filter needs a filter; set filter to a model, or remove filter from ablations"
            )
        return self

    @property
    def chosen_tasks(self) -> list[str]:
        """Return the tasks of the written items."""
        return self.tasks or list(BY_RULE if self.writer is None else TASKS)


class Examine(Section):
    """Models that answer the items, by method."""

    letter: list[Name] = Field([], description="Chat models that answer with the letter of an option.")
    choice: list[Name] = Field([], description="Chat models that choose the option with the most probable letter.")
    perplexity: list[Name] = Field([], description="Base models that choose the option with the highest likelihood.")

    def by_method(self) -> dict[str, list[str]]:
        """Return the models of each method that has any."""
        return {name: models for name, models in dict(self).items() if models}


class DialogBench(Penalties):
    """Multiple-choice questions on dialogues: twelve tasks (DialogBench)."""

    bundled: list[Language] = Field([], description="Languages of the bundled items: en (48 items), zh (12).")
    published: dict[Name, PublishedItems] = Field({}, description="Items in the published format, by name.")
    written: WrittenItems | None = Field(None, description="Items to write; null: none.")
    limit: Count | None = Field(
        None, description="Maximum number of items per source, task and language, for a trial run."
    )
    examine: Examine = Field(Examine(), description="Models to examine.")
    circular: bool = Field(
        False,
        description="Whether methods letter and choice use every rotation of the options, against position bias.",
    )
    presentation: Literal["history", "text"] = Field(
        "history",
        description=(
            "Presentation of dialogues to chat models: history (as their own chat with the user) or text (in "
            "one message)."
        ),
    )
    max_tokens: TokenCount = Field(256, description="Maximum length of a response in the model's tokens.")
    classifier: Name | None = Field(
        None, description="Model that classifies style and domain of written dialogues (Figures 5 and 6); null: none."
    )
    experts: Experts | None = Field(
        None, description="Human experts who answer items; null: tables show only the paper's human accuracies."
    )
    confidence: Annotated[Number, Field(gt=0, lt=1)] = Field(0.95, description="Confidence of the intervals.")

    @field_validator("published")
    @classmethod
    def _names_are_free(cls, value: dict[str, PublishedItems]) -> dict[str, PublishedItems]:
        for name in ("bundled", "written", "paper"):
            if name in value:
                raise ValueError(f"'{name}' is the name of other items in the tables; choose another name")
        return value

    @model_validator(mode="after")
    def _has_items(self) -> Self:
        if not self.bundled and not self.published and self.written is None:
            raise ValueError(
                "there are no items; name languages under bundled, such as [en], files under published, or set "
                "`written`"
            )
        if self.classifier and (self.written is None or self.written.writer is None):
            raise ValueError("a classifier needs items by a writer; set written.writer to a model")
        if self.written and "domains" in self.written.ablations and self.classifier is None:
            raise ValueError(
                "the ablation domains needs a classifier; set classifier to a model, or remove domains from "
                "written.ablations"
            )
        return self

    def models(self) -> dict[str, list[str]]:
        """Return the models that have a part, by the field that names them."""
        written = self.written
        return {
            "dialogbench.written.writer": [written.writer] if written and written.writer else [],
            "dialogbench.written.filter": [written.filter] if written and written.filter else [],
            "dialogbench.classifier": [self.classifier] if self.classifier else [],
            **{f"dialogbench.examine.{method}": list(names) for method, names in dict(self.examine).items()},
        }

    def corpora(self) -> list[str]:
        """Return the corpora whose dialogues items are made of."""
        return [self.written.corpus] if self.written and self.written.writer is None else []


def check_tasks(names: list[str]) -> None:
    """Raise ValueError for a name that is no task's."""
    for name in names:
        if name not in TASKS:
            raise ValueError(f"'{name}' is not a task of DialogBench; {nearest(name, TASKS)}")


def unfit_models(config: Config) -> Iterator[Mistake]:
    """Yield models that cannot do their part."""
    for field, names in config.dialogbench.models().items() if config.dialogbench else ():
        for name in names:
            reason = _unfit(field, name, config.models[name]) if name in config.models else None
            if reason is not None:
                yield Mistake(field, reason, (f"models.{name}",))


def parts_in_items(section: DialogBench, models: Mapping[str, Model]) -> dict[str, str]:
    """Return which examined models had a part in the written items, and which: `wrote`, `filtered`, or both.

    A model has it under whatever name it is examined: what counts are its weights, or its name at the endpoint.
    """
    written = section.written
    roles = {"wrote": written.writer, "filtered": written.filter} if written else {}
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for names in section.examine.by_method().values() for name in names):
        for part, other in roles.items():
            if other and _is_the_same(name, other, models):
                found.setdefault(name, []).append(part)
    return {name: " and ".join(parts) for name, parts in found.items()}


def _is_the_same(name: str, other: str, models: Mapping[str, Model]) -> bool:
    one, two = models[name], models[other]
    weights = getattr(one, "model", None)
    return name == other or (
        weights is not None and one.engine == two.engine and weights == getattr(two, "model", None)
    )


def _unfit(field: str, name: str, model: Model) -> str | None:
    if isinstance(model, PublishedModel):
        return f"'{name}' is a published model, which cannot respond to new requests"
    if isinstance(model, EmbeddedModel):
        return _unfit_embedded(field, name, model)
    if isinstance(model, OpenAIModel) and field.endswith(".perplexity") and not model.prompt_logprobs:
        return (
            f"'{name}' is behind an endpoint that cannot score a given text; examine it by letter, or set (for a "
            f"vLLM server) models.{name}.prompt_logprobs"
        )
    if isinstance(model, OpenAIModel) and field.endswith(".choice") and model.label_logprobs == "none":
        return (
            f"models.{name}.label_logprobs is none, so probabilities of answer options are not available; examine it "
            "by letter"
        )
    return None


def _unfit_embedded(field: str, name: str, model: EmbeddedModel) -> str | None:
    if field == "dialogbench.written.writer":
        return (
            f"'{name}' is an embedded model, which writes no items; remove the field, and items of "
            f"{' and '.join(BY_RULE)} are made by rule"
        )
    if field == "dialogbench.classifier":
        return f"'{name}' is an embedded model, which recognizes neither style nor domain; name another model"
    if not serves(model.method, "multiple_choice"):
        return (
            f"'{name}' is an embedded model of method '{model.method}', which cannot choose between options; "
            f"methods that can: {', '.join(able_to('multiple_choice'))}"
        )
    return None
