"""Stages of adaptive comparisons: a judge compares pairs in rounds until every pair of systems is decided."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from dialeval.config.protocol_settings import EACH_OTHER, Adaptive
from dialeval.engines.answering import open_engine, unsent_row
from dialeval.engines.requests import Engine, Request
from dialeval.engines.store import run_of
from dialeval.measures.adaptive_rounds import COLUMNS, Rounds, schedule
from dialeval.protocols import pair
from dialeval.protocols.item_prompts import QuestionSettings
from dialeval.protocols.planned_requests import request_from_row
from dialeval.protocols.questions import Question
from dialeval.stages.answering import AnsweringModel, AnswerSettings, answering_model
from dialeval.stats.arrays import BoolArray, IntArray
from dialeval.tables.dialogues import REQUESTS, RESPONSES
from dialeval.tables.files import (
    TableWriter,
    chosen_rows,
    iterate_rows,
    read_table,
    read_tables,
    to_table,
    write_for_people,
    write_table,
)
from dialeval.tables.measures import ADAPTIVE_ROUNDS, under


class AnswerAdaptivelySettings(AnswerSettings):
    """The model, the protocol, and its rounds."""

    question: QuestionSettings
    adaptive: Adaptive


def answer_adaptively(
    settings: AnswerAdaptivelySettings,
    requests: Path,
    learned: list[Path],
    store: Path,
    responses: Path,
    usage: Path,
    rounds: Path,
) -> None:
    """Write the tables `responses`, in the order of the requests, and `adaptive_rounds`, and a record of the usage.

    A round asks about the pairs that are still open. A request that no round reached has the status `not_asked`. A run
    that was interrupted repeats the same rounds from stored responses.
    """
    question = settings.question.question()
    engine = open_engine(settings.model, learned, store, settings.protocol)
    plan = schedule(
        read_table(requests, REQUESTS, COLUMNS),
        settings.adaptive.block,
        None if question.protocol.data.opponent == EACH_OTHER else question.protocol.data.opponent,
        _taken(requests, engine),
    )
    settled = Rounds(plan, settings.adaptive)
    unparsed = import_module("dialeval.stages.unparsed")
    planned_rows = unparsed.PlannedRows()
    with answering_model(
        engine,
        store,
        name=settings.name,
        protocol=settings.protocol,
        max_failure_share=settings.answering.max_failure_share,
        total=None,
        folder=settings.folder,
        writer=f"{settings.protocol}-shard-1-of-1" if settings.folder else "shard-1-of-1",
        run=run_of(responses.parent, 1),
    ) as judge:
        judge.answering.early_stop.parsing = unparsed.of_question(
            settings.question, (), settings.answering, planned_rows
        )
        judge.run(_ask_in_rounds(judge, settled, requests, question, planned_rows))

        def rows() -> Iterator[dict[str, Any]]:
            for row, was_requested in zip(iterate_rows(requests, REQUESTS), settled.sent, strict=True):
                request = request_from_row(row)
                yield judge.row(request) | {"dropped": 0} if was_requested else unsent_row(request)

        with TableWriter(responses, RESPONSES) as table:
            table.write_all(rows())
    judged = ({"judge": settings.name, **row} for row in settled.rows)
    write_table(rounds, ADAPTIVE_ROUNDS, to_table(ADAPTIVE_ROUNDS, judged))
    judge.write_usage(usage)
    print(f"{settings.name} was {settled.summary()}")


async def _ask_in_rounds(
    judge: AnsweringModel, rounds: Rounds, requests: Path, question: Question, planned: Any
) -> None:
    """Send round after round; more failures than the full design allows end the job at once.

    Fewer count as a share of all requests once the rounds are over: in a first round a single failure may be a larger
    share than is allowed.
    """
    answering = judge.answering
    allowed = answering.max_failure_share * rounds.plan.usable.sum()
    while len(places := rounds.begin()):
        rows = (row for row, _ in _requests(requests, places, rounds.plan.usable))
        await answering.ask_all(map(request_from_row, planned.noted(rows)))
        if sum(answering.failures.values()) > allowed:
            answering.check_failures()
        for place, (row, request) in zip(places, _requests(requests, places, rounds.plan.usable), strict=True):
            answer = judge.row(request)
            (judgement,) = pair.parse(question, row, answer)
            rounds.hear(int(place), judgement["outcome"], failed=answer["status"] == "missing")
        rounds.end()
        print(rounds.progress(), flush=True)


def _requests(path: Path, places: IntArray, of: BoolArray) -> Iterator[tuple[dict[str, Any], Request]]:
    chosen = np.zeros(len(of), dtype=np.bool_)
    chosen[places] = True
    for row in chosen_rows(path, REQUESTS, chosen):
        yield row, request_from_row(row)


def _taken(requests: Path, engine: Engine) -> BoolArray | None:
    """Return which requests the judge supports; None if it supports all."""
    takes = getattr(engine, "takes", None)
    if takes is None:
        return None
    return np.array([takes(request_from_row(row)) for row in iterate_rows(requests, REQUESTS)], dtype=np.bool_)


class TabulateRoundsSettings(BaseModel, defer_build=True):
    """The protocol, whose name is the name of the table."""

    protocol: str


def tabulate_rounds(settings: TabulateRoundsSettings, rounds: list[Path], table: Path, csv: Path) -> None:
    """Write the table `adaptive_rounds` of a protocol."""
    kind = under(settings.protocol, ADAPTIVE_ROUNDS)
    write_for_people(table, csv, kind, read_tables(rounds, ADAPTIVE_ROUNDS))
