"""DialogBench: where items come from, who writes, filters and answers them."""

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
    """People who answer test items: the human row beside the models (DialogBench 4)."""

    answers: Path | None = Field(
        None,
        description="CSV of what they answered, relative to data_dir or absolute: item, answer, and expert where there "
        "are several; the sheet that is drawn, filled in, is one. null: the sheet alone is drawn.",
    )
    per_task: Count = Field(
        50, description="Items of each source, language and task on the sheet; the paper's experts had 50."
    )
    at_least: Count | None = Field(
        None, description="How many must answer an item rightly for it to count as right; null: more than half of them."
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
    """Test items in DialogBench's published format: one JSON object per line."""

    path: Path = Field(description="File, or folder of .json and .jsonl files, relative to data_dir or absolute.")
    language: Language = Field("en", description="Language of the items.")
    task: str | None = Field(
        None, description="Task of items that name none; null: the file's name, as the published files have it."
    )

    @field_validator("task")
    @classmethod
    def _is_a_task(cls, value: str | None) -> str | None:
        if value is not None:
            check_tasks([value])
        return value


class WrittenItems(Penalties):
    """Test items that a model writes, or that are made by rule (DialogBench 3.3 and 3.4)."""

    writer: Name | None = Field(
        None, description="Model that writes; null: items of MRG and DI are made by rule from the dialogues of corpus."
    )
    filter: Name | None = Field(None, description="Model that judges whether items are sound; null: no filter.")
    corpus: Name = Field("bundled", description="Without a writer: the corpus, under corpora, that items are made of.")
    tasks: list[str] | None = Field(None, min_length=1, description="Tasks to write for; null: all that can be.")
    domains: list[str] | None = Field(None, min_length=1, description="Domains to write about; null: all twenty.")
    per_cell: Repeats = Field(1, description="Items for each pair of task and domain.")
    languages: list[Language] = Field(["en"], min_length=1, description="Languages to write in: en, zh.")
    ablations: list[Literal["styles", "filter", "domains"]] = Field(
        [],
        description="The paper's ablations: styles (all items once more, written without personalities), filter (with "
        "the items that the filter refused), both examined; domains (as many items by the paper's basic prompt, which "
        "gives neither domain nor personalities; only the classifier looks at them: Figures 5a and 6).",
    )
    max_rounds: Repeats = Field(3, description="Most requests for an item, until one passes the rules.")
    temperature: Temperature = Field(1.0, description="Sampling temperature of the writer.")
    max_tokens: TokenCount = Field(4096, description="Longest answer of the writer in its tokens.")
    min_turns: Count = Field(
        4,
        description="Fewest turns of an accepted item. The prompt requests ten; shorter items are counted. The "
        "paper's items have 6 to 9 on average. 10 accepts no shorter item, and sends more requests.",
    )
    max_length_ratio: Annotated[Number, Field(ge=1)] = Field(
        2.5, description="How many times longer than the shortest option the longest may be."
    )
    max_question_share: Share = Field(1.0, description="Largest share of utterances that ask something.")
    duplicate_similarity: Annotated[Number, Field(gt=0, le=1)] = Field(
        0.7, description="Share of common runs of three words from which on two dialogues of a task count as one."
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
            raise ValueError("items made by rule have no personalities, so ablations cannot leave out styles")
        if "domains" in self.ablations and self.writer is None:
            raise ValueError("items made by rule are given no domain to write about, so ablations cannot leave it out")
        if "domains" in self.ablations and self.temperature == 0:
            raise ValueError(
                "at temperature 0 the basic prompt, which is the same for many items, gives the same item again and "
                "again; raise temperature, or remove domains from ablations"
            )
        if "filter" in self.ablations and self.filter is None:
            raise ValueError("without a filter, ablations cannot leave it out; name a model as filter")
        return self

    @property
    def chosen_tasks(self) -> list[str]:
        """Returns the tasks that items are wanted for."""
        return self.tasks or list(BY_RULE if self.writer is None else TASKS)


class Examine(Section):
    """Which models answer the items, by how they answer."""

    letter: list[Name] = Field([], description="Chat models that write the letter of an option.")
    choice: list[Name] = Field([], description="Chat models whose probabilities of the letters are read.")
    perplexity: list[Name] = Field([], description="Base models that score the text of every option.")

    def by_method(self) -> dict[str, list[str]]:
        """Returns the models of each method that has any."""
        return {name: models for name, models in dict(self).items() if models}


class DialogBench(Penalties):
    """Multiple-choice questions on dialogues: twelve tasks (DialogBench)."""

    bundled: list[Language] = Field([], description="Languages of our own items to take: en (48 items), zh (12).")
    published: dict[Name, PublishedItems] = Field({}, description="Items in the published format, by a name of yours.")
    written: WrittenItems | None = Field(None, description="Items to be written; see below. null: none.")
    limit: Count | None = Field(
        None, description="Use only the first so many items of each source, task and language, for a trial run."
    )
    examine: Examine = Field(Examine(), description="Models to examine; see below.")
    circular: bool = Field(
        False, description="Whether letter and choice ask every rotation of the options, against preferred places."
    )
    presentation: Literal["history", "text"] = Field(
        "history", description="How chat models see a dialogue: as their own with the user, or written out."
    )
    max_tokens: TokenCount = Field(
        256, description="Longest answer of an examined model in its tokens; the paper's is 256."
    )
    classifier: Name | None = Field(
        None, description="Model that classifies style and domain of written dialogues (Figures 5 and 6); null: none."
    )
    experts: Experts | None = Field(None, description="People who answer items, as the human row; null: the paper's.")
    confidence: Annotated[Number, Field(gt=0, lt=1)] = Field(0.95, description="Confidence of the intervals.")

    @field_validator("published")
    @classmethod
    def _names_are_free(cls, value: dict[str, PublishedItems]) -> dict[str, PublishedItems]:
        for name in ("bundled", "written", "paper"):
            if name in value:
                raise ValueError(f"'{name}' names other items in every table; choose another name")
        return value

    @model_validator(mode="after")
    def _has_items(self) -> Self:
        if not self.bundled and not self.published and self.written is None:
            raise ValueError(
                "there are no items; name languages under bundled, such as [en], files under published, or let items "
                "be written"
            )
        if self.classifier and (self.written is None or self.written.writer is None):
            raise ValueError("a classifier describes what a writer wrote; name a model as written.writer")
        if self.written and "domains" in self.written.ablations and self.classifier is None:
            raise ValueError(
                "of the ablation domains only the classifier looks at what was written; name a model as classifier, "
                "or remove domains from written.ablations"
            )
        return self

    def models(self) -> dict[str, list[str]]:
        """Returns the models that have a part, by the field that names them."""
        written = self.written
        return {
            "dialogbench.written.writer": [written.writer] if written and written.writer else [],
            "dialogbench.written.filter": [written.filter] if written and written.filter else [],
            "dialogbench.classifier": [self.classifier] if self.classifier else [],
            **{f"dialogbench.examine.{method}": list(names) for method, names in dict(self.examine).items()},
        }

    def corpora(self) -> list[str]:
        """Returns the corpora whose dialogues items are made of."""
        return [self.written.corpus] if self.written and self.written.writer is None else []


def check_tasks(names: list[str]) -> None:
    """Raises ValueError for a name that is no task's."""
    for name in names:
        if name not in TASKS:
            raise ValueError(f"'{name}' is not a task of DialogBench; {nearest(name, TASKS)}")


def unfit_models(config: Config) -> Iterator[Mistake]:
    """Yields models that cannot do their part."""
    for field, names in config.dialogbench.models().items() if config.dialogbench else ():
        for name in names:
            reason = _unfit(field, name, config.models[name]) if name in config.models else None
            if reason is not None:
                yield Mistake(field, reason, (f"models.{name}",))


def parts_in_items(section: DialogBench, models: Mapping[str, Model]) -> dict[str, str]:
    """Returns which examined models had a part in the written items, and which: `wrote`, `filtered`, or both.

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
            f"'{name}' is behind an endpoint that scores no given text; examine it by letter, or, if it is a vLLM "
            f"server, set models.{name}.prompt_logprobs"
        )
    if isinstance(model, OpenAIModel) and field.endswith(".choice") and model.label_logprobs == "none":
        return f"models.{name}.label_logprobs is none, so no probabilities can be read; examine it by letter"
    return None


def _unfit_embedded(field: str, name: str, model: EmbeddedModel) -> str | None:
    if field == "dialogbench.written.writer":
        return (
            f"'{name}' is an embedded model, which writes no items; leave the field out, and items of "
            f"{' and '.join(BY_RULE)} are made by rule"
        )
    if field == "dialogbench.classifier":
        return f"'{name}' is an embedded model, which tells neither style nor domain; name another"
    if not serves(model.method, "multiple_choice"):
        return (
            f"'{name}' is an embedded model of method '{model.method}', which cannot choose between options; "
            f"methods that can: {', '.join(able_to('multiple_choice'))}"
        )
    return None
