"""Says how good the translations of a corpus are: back-translations, judges, people and further metrics (Table 2)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dialeval.errors import UserError
from dialeval.languages import language_place
from dialeval.schemas.shared import RESPONSES
from dialeval.schemas.translation import TRANSLATION_QUALITY, TRANSLATION_SAMPLE
from dialeval.tables import read_tables, to_table, write_for_people
from dialeval.translation.quality.adequacy import read_adequacy, request_name
from dialeval.translation.quality.back import read_back
from dialeval.translation.quality.measures import Scores, back_rows, key_of, score_rows, sentence_scores
from dialeval.translation.quality.outside import COMET_MODELS
from dialeval.translation.quality.score_files import read_translation_scores

PEOPLE = "people"
ADEQUACY = 1.0, 5.0
"""Ends of the scale of adequacy, of judges and of people."""


class File(BaseModel, defer_build=True):
    """A file of ratings or scores: of people, or of a metric by its name."""

    metric: str
    path: Path


class Settings(BaseModel, defer_build=True):
    """By corpus the language of its sources, the model that translated back, who judged, and the files.

    `measured` are, by metric, the files of scores that a run has computed.
    """

    sources: dict[str, str]
    back: dict[str, str | None]
    judges: list[str]
    files: list[File]
    measured: dict[str, list[Path]] = {}
    confidence: float = 0.95


def stage(
    settings: Settings,
    drawn: list[Path],
    back: list[Path],
    adequacy: list[Path],
    quality: Path,
) -> None:
    """Writes the table `translation/quality`.

    `adequacy` are the responses of judges, each under a folder of its name: `<judge>/<protocol>/<shard>`.
    """
    sample = read_tables(drawn, TRANSLATION_SAMPLE).to_pylist()
    if not sample:
        raise UserError("no utterance was translated so that it can be used; look at translation/corpora")
    rows = chain(_of_back(settings, sample, _responses(back)), _of_scores(settings, sample, adequacy))
    order = sorted(rows, key=lambda row: (row["corpus"], language_place(row["language"]), row["metric"]))
    table = to_table(TRANSLATION_QUALITY, order)
    write_for_people(quality, quality.with_suffix(".csv"), TRANSLATION_QUALITY, table)


def _of_back(
    settings: Settings, sample: list[dict[str, Any]], responses: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for by in sorted({name for name in settings.back.values() if name}):
        theirs = [row for row in sample if settings.back.get(row["corpus"]) == by]
        said = {key_of(row): read_back(row, responses, settings.sources[row["corpus"]]) for row in theirs}
        known = {key: text for key, text in said.items() if text is not None}
        rows += back_rows(theirs, known, by, settings.confidence)
        rows += score_rows(theirs, sentence_scores(theirs, known, by), settings.confidence)
    return rows


def _of_scores(settings: Settings, sample: list[dict[str, Any]], adequacy: list[Path]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for judge in settings.judges:
        responses = _responses([path for path in adequacy if path.parts[-3] == judge])
        said = {key_of(row): read_adequacy(responses.get(request_name(row))) for row in sample}
        values = {key: value for key, value in said.items() if value is not None}
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


def _responses(paths: list[Path]) -> dict[str, dict[str, Any]]:
    columns = ["request_id", "status", "text", "finish_reason"]
    return {row["request_id"]: row for row in read_tables(paths, RESPONSES, columns).to_pylist()}
