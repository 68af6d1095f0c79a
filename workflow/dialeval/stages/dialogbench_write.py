"""Has test items written, round by round, and checks them by rule (DialogBench 3.3 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from dialeval.config.models import Model
from dialeval.config.running import Answering
from dialeval.corpora.seeds import dialogues_of
from dialeval.dialogbench import embedded_writer, writing
from dialeval.dialogbench.briefs import BASIC, WITHOUT_STYLES, Brief, plan_basic, plan_briefs
from dialeval.dialogbench.checking import Rules
from dialeval.dialogbench.embedded_engines import RuleWriter
from dialeval.dialogbench.rounds import Attempt, write_in_rounds
from dialeval.engines.opening import open_engine
from dialeval.engines.request import Dialogue, Engine, Sampling
from dialeval.prompts.rendering import Templates
from dialeval.schemas.dialogbench import WRITTEN_ITEMS
from dialeval.schemas.shared import UTTERANCES
from dialeval.stages.asking import Asked, asking
from dialeval.tables import TableWriter, read_table
from dialeval.text.counting import counted


class Settings(BaseModel, defer_build=True):
    """Who writes what, by which procedures; without a model items are made by rule."""

    name: str | None
    model: Model | None
    answering: Answering
    tasks: list[str]
    domains: list[str]
    per_cell: int
    languages: list[str]
    procedures: list[str]
    max_rounds: int
    temperature: float
    max_tokens: int
    presence_penalty: float
    frequency_penalty: float
    min_turns: int
    max_length_ratio: float
    max_question_share: float
    duplicate_similarity: float
    random_seed: int


def stage(
    settings: Settings,
    dialogues: list[Path],
    store: Path,
    written: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Writes the table `written_items`, a row for each answer of the writer, and a record of the usage."""
    engine = _writer(settings, dialogues, store)
    name = settings.name or embedded_writer.ORIGIN
    n_wanted = len(settings.tasks) * len(settings.domains) * settings.per_cell
    n_wanted *= len(settings.languages) * len(settings.procedures)
    with asking(
        engine,
        store,
        name=name,
        protocol=writing.PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=n_wanted,
    ) as writer:
        unparsed = import_module("dialeval.stages.unparsed")
        writer.answering.early_stop.parsing = unparsed.of_written(settings.answering)
        attempts = writer.run(_write(settings, writer, name, templates))
    with TableWriter(written, WRITTEN_ITEMS) as table:
        table.write_all(one.to_row() for one in attempts)
    writer.write_usage(usage)
    n_accepted = sum(one.outcome.accepted for one in attempts)
    print(f"{n_accepted} of {n_wanted} items written and accepted, in {counted(len(attempts), 'answer')}")


def _writer(settings: Settings, dialogues: list[Path], store: Path) -> Engine:
    if settings.model is not None:
        return open_engine(settings.model, [], store, writing.PROTOCOL)
    by_language: dict[str, list[Dialogue]] = {}
    for table in (read_table(path, UTTERANCES) for path in dialogues):
        language_of = dict(zip(table["dialogue_id"].to_pylist(), table["language"].to_pylist(), strict=True))
        for dialogue_id, dialogue in dialogues_of(table).items():
            by_language.setdefault(language_of[dialogue_id], []).append(dialogue)
    return RuleWriter(by_language)


async def _write(settings: Settings, writer: Asked, name: str, templates: Templates) -> list[Attempt]:
    parts = []
    for procedure in settings.procedures:
        briefs = chain.from_iterable(_briefs(settings, procedure, language) for language in settings.languages)
        parts.append(
            await write_in_rounds(
                writer.ask,
                list(briefs),
                templates,
                Sampling(
                    temperature=settings.temperature,
                    max_tokens=settings.max_tokens,
                    presence_penalty=settings.presence_penalty,
                    frequency_penalty=settings.frequency_penalty,
                ),
                origin=name,
                rules=Rules(
                    min_turns=settings.min_turns,
                    max_length_ratio=settings.max_length_ratio,
                    max_question_share=settings.max_question_share,
                ),
                # what the basic prompt makes a writer repeat belongs to the bias that it is asked for
                duplicate_similarity=None if procedure == BASIC else settings.duplicate_similarity,
                max_rounds=settings.max_rounds,
            )
        )
    return [attempt for part in parts for attempt in part]


def _briefs(settings: Settings, procedure: str, language: str) -> Iterator[Brief]:
    """Returns what is asked for by a procedure: as many items of each task by one as by another."""
    seed = settings.random_seed
    if procedure == BASIC:
        per_task = len(settings.domains) * settings.per_cell
        return plan_basic(settings.tasks, per_task=per_task, language=language, random_seed=seed)
    return plan_briefs(
        settings.tasks,
        settings.domains,
        per_cell=settings.per_cell,
        language=language,
        styles=procedure != WITHOUT_STYLES,
        random_seed=seed,
    )
