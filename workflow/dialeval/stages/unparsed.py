"""Parsing of single responses during a stage, so that it can stop early.

Stages that ask load this module when they run and do not import it: no answer depends on how it is parsed, so that a
better parser makes no model calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialeval.config.running import Answering
from dialeval.criteria import Criterion
from dialeval.dialogbench.examination import read_letter
from dialeval.dialogbench.items import RecordProblem, TestItem
from dialeval.dialogbench.written_items import find_record
from dialeval.engines.answering import response_row
from dialeval.engines.early_stop import Parsing
from dialeval.engines.requests import Request, Response
from dialeval.prompts.rendering import Templates
from dialeval.protocols import forms
from dialeval.protocols.item_prompts import QuestionSettings
from dialeval.protocols.verdicts import status_of, text_to_read, was_cut
from dialeval.translation.checks import USABLE, read_translation
from dialeval.translation.quality import read_adequacy

Row = Mapping[str, Any]
_ROWS_KEPT = 1000
"""Rows of requests that are under way, or of a table's beginning, that are kept."""


class PlannedRows:
    """The rows of pending requests, until a response could be parsed."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def noted(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield rows of `requests` as they are, and keep them for a while."""
        for row in rows:
            if len(self._rows) < _ROWS_KEPT:
                self._rows[row["request_id"]] = row
            yield row

    def get(self, request: Request) -> Row | None:
        """Return the row of a request or of its retry; None if it is not kept."""
        return self._rows.get(request.request_id.removesuffix(forms.SUFFIX))

    def drop(self, request: Request) -> None:
        """Forget the row of a request."""
        self._rows.pop(request.request_id.removesuffix(forms.SUFFIX), None)


def of_question(
    settings: QuestionSettings,
    own: Iterable[Criterion],
    answering: Answering,
    rows: PlannedRows,
    *,
    retries_unparsed: bool = False,
) -> Parsing | None:
    """Return how answers under a protocol are parsed; None if they may all be unparsed.

    Args:
        settings: the protocol.
        own: the user's own criteria that it may ask about.
        answering: how many answers may be unparsed.
        rows: rows of the requests.
        retries_unparsed: whether unparsed answers are requested again; then the second answer counts.
    """
    question = replace(settings.question(), own=tuple(own))

    def status(request: Request, response: Response) -> str:
        row = rows.get(request)
        if row is None:
            return ""
        found = [one["status"] for one in forms.parse(question, row, _row(request, response))]
        if not retries_unparsed or "unparsed" not in found or request.request_id.endswith(forms.SUFFIX):
            rows.drop(request)
        return "ok" if "ok" in found else found[0]

    def again(request: Request, response: Response) -> Request | None:
        row = rows.get(request)
        if row is None or request.request_id.endswith(forms.SUFFIX):
            return None
        pairs = [(row, _row(request, response))]
        return next((one.request for one in forms.plan_retries(question, pairs, _templates())), None)

    return _parsing(answering, status, again if retries_unparsed else None)


def of_request(answering: Answering) -> Parsing | None:
    """Return the parser of answers that need no protocol: of test items and translations."""
    return _parsing(answering, _status_by_request)


def of_written(answering: Answering) -> Parsing | None:
    """Return the parser of a writer's responses with test items."""
    return _parsing(answering, _status_of_written)


def of_items(
    protocol: str, items: Iterable[TestItem], read: Callable[[str, TestItem, Row], Row], answering: Answering
) -> Parsing | None:
    """Return how answers about written items are parsed.

    Args:
        protocol: name of their protocol, the first part of a request's id; the item's is the last.
        items: the items.
        read: makes a row with a status of a judge's name, an item and a row of `responses`.
        answering: how many answers may be unparsed.
    """
    by_request = {f"{protocol}/{item.language}/{item.item_id}": item for item in items}

    def status(request: Request, response: Response) -> str:
        return str(read("", by_request[request.request_id], _row(request, response))["status"])

    return _parsing(answering, status)


def _parsing(
    answering: Answering,
    status: Callable[[Request, Response], str],
    retry: Callable[[Request, Response], Request | None] | None = None,
) -> Parsing | None:
    return Parsing(status, answering.max_unparsed, retry) if answering.max_unparsed is not None else None


def _templates() -> Templates:
    """Return the prompts of the run, which the environment names."""
    prompt_set, _, folder = os.environ.get("DIALEVAL_PROMPTS", "").partition(":")
    return Templates(Path(folder) if folder else None, "papers" if prompt_set == "papers" else "ours")


def _row(request: Request, response: Response) -> dict[str, Any]:
    return response_row(request, "", response)


def _status_of_written(request: Request, response: Response) -> str:
    try:
        find_record(text_to_read(_row(request, response)))
    except RecordProblem as problem:
        status = status_of("ok", response.finish_reason, readable=False)
        return "refused" if status == "unparsed" and problem.reason == "refused" else status
    return "ok"


def _status_by_request(request: Request, response: Response) -> str:
    row = _row(request, response)
    match request.protocol, request.kind:
        case "multiple_choice", "chat":
            letter = read_letter(text_to_read(row), request.subject[1], cut=was_cut(row))
            return status_of("ok", response.finish_reason, readable=letter is not None)
        case "multiple_choice", "choice":
            seen = bool(response.label_logprobs)
            return status_of("ok", response.finish_reason, readable=seen, mass=response.label_mass)
        case "adequacy", _:
            return status_of("ok", response.finish_reason, readable=read_adequacy(row) is not None)
        case "translate", _:
            (text,), (source, target) = request.subject
            found = read_translation(text, response.text, target, response.finish_reason, source).status
            return "ok" if found in USABLE else {"cut": "truncated", "refused": "refused"}.get(found, "unparsed")
    return "ok"
