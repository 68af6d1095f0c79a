"""Stages of comparisons in rounds, which settle pairs adaptively."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from dialeval.config.protocol import EACH_OTHER, Adaptive
from dialeval.engines.answering import unasked_row
from dialeval.engines.opening import open_engine
from dialeval.engines.requests import Engine, Request
from dialeval.engines.store import run_of
from dialeval.measures.adaptive_rounds import COLUMNS, Rounds, schedule
from dialeval.protocols import pair
from dialeval.protocols.item_prompts import QuestionSettings
from dialeval.protocols.planning import request_from_row
from dialeval.protocols.questions import Question
from dialeval.stages.answering import AnswerSettings, Asked, asking
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

# Answers requests about pairs in rounds: those of the pairs that are still open, until all are settled.


class AnswerAdaptivelySettings(AnswerSettings):
    """The same, what is asked, and how it is asked in rounds."""

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
    """Writes the table `responses`, in the order of the requests, a record of the usage, and the rounds.

    A request whose turn never came has the status `not_asked`. What the store has is not asked again: a run that was
    interrupted goes through the same rounds and pays for what is missing.
    """
    question = settings.question.question()
    engine = open_engine(settings.model, learned, store, settings.protocol)
    plan = schedule(
        read_table(requests, REQUESTS, COLUMNS),
        settings.adaptive.block,
        None if question.protocol.of.against == EACH_OTHER else question.protocol.of.against,
        _taken(requests, engine),
    )
    asked = Rounds(plan, settings.adaptive)
    unparsed = import_module("dialeval.stages.unparsed")
    planned_rows = unparsed.PlannedRows()
    with asking(
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
        judge.run(_in_rounds(judge, asked, requests, question, planned_rows))

        def rows() -> Iterator[dict[str, Any]]:
            for row, was_asked in zip(iterate_rows(requests, REQUESTS), asked.asked, strict=True):
                request = request_from_row(row)
                yield judge.row(request) | {"dropped": 0} if was_asked else unasked_row(request)

        with TableWriter(responses, RESPONSES) as table:
            table.write_all(rows())
    judged = ({"judge": settings.name, **row} for row in asked.rows)
    write_table(rounds, ADAPTIVE_ROUNDS, to_table(ADAPTIVE_ROUNDS, judged))
    judge.write_usage(usage)
    print(f"{settings.name} was {asked.told()}")


async def _in_rounds(judge: Asked, asked: Rounds, requests: Path, question: Question, planned: Any) -> None:
    """Asks round after round; more failures than the full design may have end the job before anything is decided.

    Fewer decide nothing by themselves, and are held against all that was asked once the rounds are over: in a first
    round a single one may be a larger share than is allowed.
    """
    answering = judge.answering
    allowed = answering.max_failure_share * asked.plan.usable.sum()
    while len(places := asked.begin()):
        rows = (row for row, _ in _requests(requests, places, asked.plan.usable))
        await answering.ask_all(map(request_from_row, planned.noted(rows)))
        if sum(answering.failures.values()) > allowed:
            answering.check_failures()
        for place, (row, request) in zip(places, _requests(requests, places, asked.plan.usable), strict=True):
            answer = judge.row(request)
            outcome = pair.parse(question, "", row, answer)["outcome"]
            asked.hear(int(place), outcome, failed=answer["status"] == "missing")
        asked.end()
        print(asked.progress(), flush=True)


def _requests(path: Path, places: IntArray, of: BoolArray) -> Iterator[tuple[dict[str, Any], Request]]:
    chosen = np.zeros(len(of), dtype=np.bool_)
    chosen[places] = True
    for row in chosen_rows(path, REQUESTS, chosen):
        yield row, request_from_row(row)


def _taken(requests: Path, engine: Engine) -> BoolArray | None:
    """Returns which requests the judge takes; None if it takes whatever it is asked."""
    takes = getattr(engine, "takes", None)
    if takes is None:
        return None
    return np.array([takes(request_from_row(row)) for row in iterate_rows(requests, REQUESTS)], dtype=np.bool_)


# Gathers the rounds in which the judges of a protocol were asked.


class TabulateRoundsSettings(BaseModel, defer_build=True):
    """The protocol, under whose name the table stands."""

    protocol: str


def tabulate_rounds(settings: TabulateRoundsSettings, rounds: list[Path], table: Path, csv: Path) -> None:
    """Writes the table `adaptive_rounds` of a protocol."""
    kind = under(settings.protocol, ADAPTIVE_ROUNDS)
    write_for_people(table, csv, kind, read_tables(rounds, ADAPTIVE_ROUNDS))
