"""Stages that write, filter, ask and parse the DialogBench items."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from dialeval.config.models import EmbeddedModel, Model
from dialeval.config.running import Answering
from dialeval.corpora.dialogues import dialogues_of
from dialeval.dialogbench import embedded_writer, writing
from dialeval.dialogbench.briefs import BASIC, WITHOUT_DOMAIN, WITHOUT_STYLES, Brief, plan_briefs
from dialeval.dialogbench.embedded_writer import FilterByChoice, RuleWriter
from dialeval.dialogbench.examination import Method, Presentation, parse_all, plan, shuffled
from dialeval.dialogbench.experts import draw, sheet, write_sheet
from dialeval.dialogbench.items import TestItem, read_bundled, read_items
from dialeval.dialogbench.items import read as read_published_items
from dialeval.dialogbench.writing import Attempt, items_of
from dialeval.dialogbench.written_items import Rules
from dialeval.engines.answering import open_engine
from dialeval.engines.requests import Dialogue, Engine, Sampling
from dialeval.paths import replacing
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planned_requests import answered, with_statuses_printed
from dialeval.stages.answering import AnsweringModel, answering_model
from dialeval.tables.dialogbench import ITEM_DESCRIPTIONS, TEST_ANSWERS, TEST_ITEMS, WRITTEN_ITEMS
from dialeval.tables.dialogues import REQUESTS, UTTERANCES
from dialeval.tables.files import TableWriter, iterate_rows, read_table, to_table, write_table
from dialeval.text import counted

Found = tuple[str, str, TestItem]
"""Source, variant, and an item."""


class Published(BaseModel, defer_build=True):
    """Items in the published format."""

    path: Path
    language: str
    task: str | None


class DialogbenchReadSettings(BaseModel, defer_build=True):
    """Sources of items; `variants` are those of written items, `limit` applies to each source and task."""

    bundled: list[str]
    published: dict[str, Published]
    variants: list[str]
    limit: int | None
    random_seed: int


def dialogbench_read(settings: DialogbenchReadSettings, written: list[Path], items: Path) -> None:
    """Write the table `test_items` of all sources; the place of each right option is drawn at random."""
    counts: Counter[str] = Counter()

    def rows() -> Iterator[dict[str, Any]]:
        for source, variant, item in _limited(_every(settings, written), settings.limit):
            counts[source] += 1
            named = replace(item, item_id=f"{source}/{item.item_id}")
            yield {"source": source, "variant": variant, **shuffled(named, settings.random_seed).to_row()}

    with TableWriter(items, TEST_ITEMS) as table:
        table.write_all(rows())
    print("test items: " + (", ".join(f"{n} {source}" for source, n in counts.items()) or "none"))


def _every(settings: DialogbenchReadSettings, written: list[Path]) -> Iterator[Found]:
    for language in settings.bundled:
        for item in read_bundled(language).items:
            yield "bundled", "full", replace(item, item_id=f"{language}/{item.item_id}")
    for name, published in settings.published.items():
        reading = read_published_items(published.path, published.language, task=published.task)
        print(reading.summary())
        for item in reading.items:
            yield name, "full", item
    for path in written:
        attempts = (Attempt.from_row(row) for row in iterate_rows(path, WRITTEN_ITEMS))
        for variant, item in writing.written_of(attempts, settings.variants):
            yield "written", variant, item


def _limited(found: Iterable[Found], limit: int | None) -> Iterator[Found]:
    counts: Counter[tuple[str, ...]] = Counter()
    for source, variant, item in found:
        group = (source, variant, item.language, item.task)
        counts[group] += 1
        if limit is None or counts[group] <= limit:
            yield source, variant, item


class JudgeSettings(BaseModel, defer_build=True):
    """The judge of written items."""

    name: str
    model: Model
    answering: Answering


def dialogbench_classify(
    settings: JudgeSettings,
    written: Path,
    store: Path,
    descriptions: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Write the table `item_descriptions`: a judge's style and domain of each accepted item (Figures 5 and 6)."""
    attempts = [Attempt.from_row(row) for row in iterate_rows(written, WRITTEN_ITEMS)]
    with answering_model(
        open_engine(settings.model, [], store, writing.CLASSIFY_PROTOCOL),
        store,
        name=settings.name,
        protocol=writing.CLASSIFY_PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=sum(one.outcome.accepted for one in attempts),
    ) as judge:
        unparsed = import_module("dialeval.stages.unparsed")
        judge.answering.early_stop.parsing = unparsed.of_items(
            writing.CLASSIFY_PROTOCOL,
            items_of(attempts),
            writing.parse_classification,
            settings.answering,
        )
        rows = judge.run(writing.classify_attempts(judge.ask, attempts, templates, judge=settings.name))
    write_table(descriptions, ITEM_DESCRIPTIONS, to_table(ITEM_DESCRIPTIONS, rows))
    judge.write_usage(usage)


class DialogbenchWriteSettings(BaseModel, defer_build=True):
    """Writer, procedures and rules of written items; without a writer, items are made by rule."""

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


def dialogbench_write(
    settings: DialogbenchWriteSettings,
    dialogues: list[Path],
    store: Path,
    written: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Write the table `written_items`: items written round by round and checked by rule (DialogBench 3.3 and 3.4)."""
    engine = _writer(settings, dialogues, store)
    name = settings.name or embedded_writer.ORIGIN
    n_wanted = len(settings.tasks) * len(settings.domains) * settings.per_cell
    n_wanted *= len(settings.languages) * len(settings.procedures)
    with answering_model(
        engine,
        store,
        name=name,
        protocol=writing.WRITE_PROTOCOL,
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


def _writer(settings: DialogbenchWriteSettings, dialogues: list[Path], store: Path) -> Engine:
    if settings.model is not None:
        return open_engine(settings.model, [], store, writing.WRITE_PROTOCOL)
    by_language: dict[str, list[Dialogue]] = {}
    for table in (read_table(path, UTTERANCES) for path in dialogues):
        language_of = dict(zip(table["dialogue_id"].to_pylist(), table["language"].to_pylist(), strict=True))
        for dialogue_id, dialogue in dialogues_of(table).items():
            by_language.setdefault(language_of[dialogue_id], []).append(dialogue)
    return RuleWriter(by_language)


async def _write(
    settings: DialogbenchWriteSettings, writer: AnsweringModel, name: str, templates: Templates
) -> list[Attempt]:
    parts = []
    for procedure in settings.procedures:
        briefs = chain.from_iterable(_briefs(settings, procedure, language) for language in settings.languages)
        parts.append(
            await writing.write_items(
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
                # repetitions that the basic prompt causes are part of the measured bias
                duplicate_similarity=None if procedure == BASIC else settings.duplicate_similarity,
                max_rounds=settings.max_rounds,
            )
        )
    return [attempt for part in parts for attempt in part]


def _briefs(settings: DialogbenchWriteSettings, procedure: str, language: str) -> Iterator[Brief]:
    """Return the planned items of a procedure: equally many of each task for all procedures."""
    is_basic = procedure == BASIC
    return plan_briefs(
        settings.tasks,
        WITHOUT_DOMAIN if is_basic else settings.domains,
        per_cell=settings.per_cell * (len(settings.domains) if is_basic else 1),
        language=language,
        styles=procedure != WITHOUT_STYLES,
        random_seed=settings.random_seed,
    )


def dialogbench_filter(
    settings: JudgeSettings,
    written: Path,
    learned: list[Path],
    store: Path,
    filtered: Path,
    usage: Path,
    templates: Templates,
) -> None:
    """Write the table `written_items` with a judge's verdict on each item (DialogBench 3.4, data filter)."""
    attempts = [Attempt.from_row(row) for row in iterate_rows(written, WRITTEN_ITEMS)]
    n_accepted = sum(one.is_filtered for one in attempts)
    engine = open_engine(settings.model, learned, store, writing.FILTER_PROTOCOL)
    with answering_model(
        FilterByChoice(engine) if isinstance(settings.model, EmbeddedModel) else engine,
        store,
        name=settings.name,
        protocol=writing.FILTER_PROTOCOL,
        max_failure_share=settings.answering.max_failure_share,
        total=n_accepted,
    ) as judge:
        unparsed = import_module("dialeval.stages.unparsed")
        judge.answering.early_stop.parsing = unparsed.of_items(
            writing.FILTER_PROTOCOL, items_of(attempts), writing.parse_filtering, settings.answering
        )
        results = judge.run(writing.filter_attempts(judge.ask, attempts, templates, judge=settings.name))
    with TableWriter(filtered, WRITTEN_ITEMS) as table:
        table.write_all(one.to_row() for one in results)
    judge.write_usage(usage)
    n_correct = sum(one.is_filtered for one in results)
    print(f"{n_correct} of {n_accepted} items judged correct")


class DialogbenchSheetSettings(BaseModel, defer_build=True):
    """How many items of each source, language and task are drawn."""

    per_task: int
    random_seed: int


def dialogbench_sheet(settings: DialogbenchSheetSettings, items: Path, sheet_file: Path, digest: Path) -> None:
    """Draw the items that experts answer; write their sheet, unless it holds answers, and its digest."""
    item_of, origin_of = read_items(items)
    drawn = draw(item_of, origin_of, settings.per_task, settings.random_seed)
    text = sheet(drawn)
    write_sheet(sheet_file, text)
    with replacing(digest) as temporary:
        temporary.write_text(hashlib.sha256(text.encode()).hexdigest() + "\n", encoding="utf-8")
    print(f"{len(drawn)} items to answer are in {sheet_file}")


class Examination(BaseModel, defer_build=True):
    """How models answer by one method."""

    circular: bool
    presentation: Presentation
    max_tokens: int
    presence_penalty: float
    frequency_penalty: float


class DialogbenchPlanSettings(BaseModel, defer_build=True):
    """The examinations by method."""

    examinations: dict[Method, Examination]


def dialogbench_plan(
    settings: DialogbenchPlanSettings, items: Path, requests: list[Path], templates: Templates
) -> None:
    """Write a table `requests`, `dialogbench_<method>.parquet`, for each examination (DialogBench 4)."""
    method_of = {f"dialogbench_{method}": method for method in settings.examinations}
    for path in requests:
        method = method_of[path.stem]
        examination = settings.examinations[method]
        planned = plan(
            (TestItem.from_row(row) for row in iterate_rows(items, TEST_ITEMS)),
            method,
            templates,
            Sampling(
                max_tokens=examination.max_tokens,
                presence_penalty=examination.presence_penalty,
                frequency_penalty=examination.frequency_penalty,
            ),
            circular=examination.circular,
            presentation=examination.presentation,
        )
        with TableWriter(path, REQUESTS) as table:
            table.write_all(one.to_row() for one in planned)
        print(f"{counted(table.rows, 'request')} planned by {method}")


_ANSWER = ("request_id", "status", "text", "finish_reason", "label_logprobs", "label_mass", "logprob", "n_tokens")


def dialogbench_parse(items: Path, requests: list[Path], responses: list[Path], answers: list[Path]) -> None:
    """Write the tables `test_answers`: the option that a model chose of each item.

    Args:
        items: the test items.
        requests: tables `dialogbench_<method>.parquet`.
        responses: tables in folders `<model>/dialogbench_<method>`.
        answers: files `<model>/<method>.parquet` for the tables.
    """
    item_of, origin_of = read_items(items)
    planned = {path.stem: path for path in requests}

    def rows(model: str, method: Method) -> Iterator[dict[str, Any]]:
        protocol = f"dialogbench_{method}"
        given = [path for path in responses if path.parts[-3:-1] == (model, protocol)]
        pairs = answered(planned[protocol], given, ("request_id", "case_id"), _ANSWER)
        for row in parse_all(model, method, item_of, pairs):
            yield {**origin_of[row["item_id"]], **row}

    for path in answers:
        model = path.parent.name
        with TableWriter(path, TEST_ANSWERS) as table:
            table.write_all(with_statuses_printed(rows(model, cast(Method, path.stem)), model))
