"""Stages that translate dialogues and measure the quality of translations."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.corpora.dialogues import left_out
from dialeval.corpora.items import item_rows
from dialeval.errors import UserError
from dialeval.languages import language_place
from dialeval.prompts.rendering import Templates
from dialeval.protocols.planned_requests import write_requests
from dialeval.tables.dialogues import RESPONSES, UTTERANCES
from dialeval.tables.files import TableWriter, read_table, read_tables, to_table, write_for_people, write_table
from dialeval.tables.metaeval import ITEMS
from dialeval.tables.training import (
    BACK_TRANSLATIONS,
    TRANSLATED_CORPORA,
    TRANSLATED_UTTERANCES,
    TRANSLATION_QUALITY,
    TRANSLATION_SAMPLE,
)
from dialeval.text import counted
from dialeval.translation.checks import STATUSES, USABLE
from dialeval.translation.external_scores import COMET_MODELS
from dialeval.translation.quality import (
    Scores,
    back_rows,
    key_of,
    plan_back,
    read_adequacy,
    read_back,
    read_translation_scores,
    request_name,
    sample,
    score_rows,
    sentence_scores,
)
from dialeval.translation.quality import (
    plan_adequacy as adequacy_plan_adequacy,
)
from dialeval.translation.requests import TranslationSettings, join, plan, utterance_rows


class SampleTranslationSettings(BaseModel, defer_build=True):
    """How many are drawn."""

    sample: int
    random_seed: int


def sample_translation(settings: SampleTranslationSettings, utterances: Path, drawn: Path, csv: Path) -> None:
    """Write the table `translation_sample` of drawn utterances, as CSV too, to which people can add ratings."""
    rows = read_table(utterances, TRANSLATED_UTTERANCES).to_pylist()
    table = to_table(TRANSLATION_SAMPLE, sample(rows, settings.sample, settings.random_seed))
    write_for_people(drawn, csv, TRANSLATION_SAMPLE, table)


class PlanTranslationSettings(TranslationSettings):
    """What is translated, and how long a translation may be."""

    max_tokens: int


def plan_translation(settings: PlanTranslationSettings, table: Path, requests: Path, templates: Templates) -> None:
    """Write the table `requests`: the translation of each utterance of a corpus in its context."""
    planned = plan(
        settings.talks(table),
        templates,
        corpus=settings.corpus,
        source=settings.source,
        target=settings.target,
        context=settings.context,
        max_tokens=settings.max_tokens,
    )
    write_requests(requests, planned)


class JoinTranslationSettings(TranslationSettings):
    """The translated corpus and language, and the model."""

    translated_by: str


def join_translation(
    settings: JoinTranslationSettings,
    table: Path,
    responses: list[Path],
    translated: Path,
    utterances: Path,
    counts: Path,
) -> None:
    """Write a corpus in another language, as a table of the source's kind, its utterances, and counts of their status.

    Raises:
        UserError: no dialogue is translated completely.
    """
    joined = join(
        settings.talks(table),
        _by_request(responses),
        corpus=settings.corpus,
        source=settings.source,
        target=settings.target,
        context=settings.context,
        translated_by=settings.translated_by,
    )
    by_status = Counter(row["status"] for row in joined.utterances)
    statuses = ", ".join(f"{n} {status} ({STATUSES[status]})" for status, n in by_status.most_common())
    print(f"{settings.corpus} in {settings.target}: {counted(len(joined.talks), 'dialogue')}; utterances: {statuses}")
    if joined.left_out:
        print(left_out("dialogues", joined.left_out, "an utterance has no usable translation"))
    write_table(utterances, TRANSLATED_UTTERANCES, to_table(TRANSLATED_UTTERANCES, joined.utterances))
    rows_of_counts = [
        {
            "corpus": settings.corpus,
            "language": settings.target,
            "translated_by": settings.translated_by,
            "status": status,
            "n": n,
            "share": n / by_status.total(),
            "n_dialogues": len(joined.talks) + len(joined.left_out),
            "n_left_out": len(joined.left_out),
        }
        for status, n in sorted(by_status.items())
    ]
    write_table(counts, TRANSLATED_CORPORA, to_table(TRANSLATED_CORPORA, rows_of_counts))
    if not joined.talks:
        bad = next(row for row in joined.utterances if row["status"] not in USABLE)
        raise UserError(
            f"no dialogue of '{settings.corpus}' could be translated into '{settings.target}' by '"
            f"{settings.translated_by}': {statuses}; for example {bad['source']!r:.200}, which became "
            f"{bad['text']!r:.200}; use a model that knows the language, or another prompt (prompts.directory, "
            "translate.j2)"
        )
    if settings.kind == "items":
        with TableWriter(translated, ITEMS) as items:
            items.write_all(item_rows(talk.item for talk in joined.talks if talk.item))
    else:
        with TableWriter(translated, UTTERANCES) as dialogues:
            dialogues.write_all(utterance_rows(joined.talks, settings.corpus, settings.target))


class PlanBackTranslationSettings(BaseModel, defer_build=True):
    """The language that it goes back to, and how long a translation may be."""

    source: str
    max_tokens: int


def plan_back_translation(
    settings: PlanBackTranslationSettings, drawn: Path, requests: Path, templates: Templates
) -> None:
    """Write the table `requests`: the translation back of a sample of translations."""
    rows = read_table(drawn, TRANSLATION_SAMPLE).to_pylist()
    planned = plan_back(rows, templates, source=settings.source, max_tokens=settings.max_tokens)
    write_requests(requests, planned)


class ListBackTranslationsSettings(BaseModel, defer_build=True):
    """The language of the back-translation, and the model."""

    source: str
    by: str


def list_back_translations(
    settings: ListBackTranslationsSettings, drawn: Path, responses: list[Path], back: Path, csv: Path
) -> None:
    """Write the table `back_translations`, without utterances that have no back-translation."""
    answers = _by_request(responses)
    rows = []
    for row in read_table(drawn, TRANSLATION_SAMPLE).to_pylist():
        if text := read_back(row, answers, settings.source):
            names = ("corpus", "language", "utterance_id", "source")
            rows.append({name: row[name] for name in names} | {"translated_back_by": settings.by, "back": text})
    write_for_people(back, csv, BACK_TRANSLATIONS, to_table(BACK_TRANSLATIONS, rows))


class PlanAdequacySettings(BaseModel, defer_build=True):
    """The language that was translated from."""

    source: str


def plan_adequacy(settings: PlanAdequacySettings, drawn: Path, requests: Path, templates: Templates) -> None:
    """Write the table `requests`: how adequate each translation of a sample is."""
    rows = read_table(drawn, TRANSLATION_SAMPLE).to_pylist()
    write_requests(requests, adequacy_plan_adequacy(rows, templates, source=settings.source))


PEOPLE = "people"
ADEQUACY = 1.0, 5.0
"""Lowest and highest rating of adequacy, of judges and of people."""


class File(BaseModel, defer_build=True):
    """A file of ratings or scores: of people, or of a metric by its name."""

    metric: str
    path: Path


class TranslationQualitySettings(BaseModel, defer_build=True):
    """Languages of the sources by corpus, the back-translator, the judges, and the files.

    `measured` are, by metric, the files of scores that a run has computed.
    """

    sources: dict[str, str]
    back: dict[str, str | None]
    judges: list[str]
    files: list[File]
    measured: dict[str, list[Path]] = {}
    confidence: float = 0.95


def translation_quality(
    settings: TranslationQualitySettings,
    drawn: list[Path],
    back: list[Path],
    adequacy: list[Path],
    quality: Path,
) -> None:
    """Write the table `translation/quality`: back-translation, judges, people and further metrics (Table 2).

    `adequacy` are the responses of judges, each under a folder of its name: `<judge>/<protocol>/<shard>`.
    """
    sample = read_tables(drawn, TRANSLATION_SAMPLE).to_pylist()
    if not sample:
        raise UserError(
            "no utterance has a usable translation; see results/tables/translation/corpora.csv, then use another "
            "translator"
        )
    rows = chain(_of_back(settings, sample, _by_request(back)), _of_scores(settings, sample, adequacy))
    order = sorted(rows, key=lambda row: (row["corpus"], language_place(row["language"]), row["metric"]))
    table = to_table(TRANSLATION_QUALITY, order)
    write_for_people(quality, quality.with_suffix(".csv"), TRANSLATION_QUALITY, table)


def _of_back(
    settings: TranslationQualitySettings, sample: list[dict[str, Any]], responses: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for by in sorted({name for name in settings.back.values() if name}):
        theirs = [row for row in sample if settings.back.get(row["corpus"]) == by]
        backs = {key_of(row): read_back(row, responses, settings.sources[row["corpus"]]) for row in theirs}
        known = {key: text for key, text in backs.items() if text is not None}
        rows += back_rows(theirs, known, by, settings.confidence)
        rows += score_rows(theirs, sentence_scores(theirs, known, by), settings.confidence)
    return rows


def _of_scores(
    settings: TranslationQualitySettings, sample: list[dict[str, Any]], adequacy: list[Path]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for judge in settings.judges:
        responses = _by_request([path for path in adequacy if path.parts[-3] == judge])
        ratings = {key_of(row): read_adequacy(responses.get(request_name(row))) for row in sample}
        values = {key: value for key, value in ratings.items() if value is not None}
        theirs = [row for row in sample if request_name(row) in responses]
        rows += score_rows(theirs, Scores("adequacy", judge, values, ADEQUACY), settings.confidence)
    known = {key_of(row): row["source"] for row in sample}
    for file in settings.files:
        of_people = file.metric == PEOPLE
        column, scale = ("rating", ADEQUACY) if of_people else (file.metric, None)
        values = read_translation_scores(file.path, column, known, *(scale or (None, None)))
        rows += score_rows(sample, Scores(file.metric, file.path.name, values, scale), settings.confidence)
    for metric, paths in settings.measured.items():
        values = {}
        for path in paths:
            values |= read_translation_scores(path, metric, known)
        by = COMET_MODELS.get(metric, "bert_score")
        rows += score_rows(sample, Scores(metric, by, values), settings.confidence)
    return rows


def _by_request(paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Return the rows of tables `responses` by request."""
    columns = ["request_id", "status", "text", "finish_reason"]
    return {row["request_id"]: row for row in read_tables(paths, RESPONSES, columns).to_pylist()}


def tabulate_translation(counts: list[Path], corpora: Path) -> None:
    """Write the table `translation/corpora`: utterances of all translated corpora by status."""
    table = read_tables(counts, TRANSLATED_CORPORA)
    write_for_people(corpora, corpora.with_suffix(".csv"), TRANSLATED_CORPORA, table)
