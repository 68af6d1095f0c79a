"""The lines of a batch: requests as they are handed over, and answers as they come back."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from dialeval.config.openai_model import OpenAIModel
from dialeval.engines.openai_api.answers import read_chat, read_choice
from dialeval.engines.openai_api.batches.ledger import Asked
from dialeval.engines.openai_api.billing import billed_for, most_of
from dialeval.engines.openai_api.bodies import chat_body, choice_body
from dialeval.engines.openai_api.faults import Fault, read_or_fault, status_fault
from dialeval.engines.openai_api.redaction import Redactor
from dialeval.engines.request import AnswerFailure, Request, Response
from dialeval.engines.spending.bills import NOTHING, Billed, Bound

PLACE = "/v1/chat/completions"
"""Where a batch's requests go, whatever the endpoint's own address."""
UNANSWERED = {"batch_expired": "expired", "batch_cancelled": "cancelled"}


def goes_in_a_batch(model: OpenAIModel, request: Request) -> bool:
    """Returns whether a request is a single one to a place that batches can ask.

    One with half a surrogate pair would spoil the file for all others.
    """
    try:
        "".join(message.content for message in request.messages).encode()
    except UnicodeEncodeError:
        return False
    return request.kind == "chat" or (request.kind == "choice" and model.label_logprobs == "top_logprobs")


def request_body(model: OpenAIModel, request: Request) -> dict[str, Any]:
    """Returns the body by which a request is handed over."""
    return chat_body(model, request) if request.kind == "chat" else choice_body(model, request)


def request_line(key: str, body: Mapping[str, Any]) -> bytes:
    """Returns the line by which a request is handed over.

    Args:
        key: the request's key.
        body: its body.
    """
    line = {"custom_id": key, "method": "POST", "url": PLACE, "body": body}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_lines(
    content: bytes,
    asked: Mapping[str, Asked],
    bounds: Mapping[str, Bound],
    redactor: Redactor,
    reasoning_end: str | None = None,
) -> Iterator[tuple[str, Response | AnswerFailure, Billed]]:
    """Yields key, outcome and bill of each line of a batch's output or errors, but of lines that say nothing of a key.

    Args:
        content: the file.
        asked: what the batch was asked, by key.
        bounds: what each request may take at most, as far as it is known.
        redactor: takes secrets out of error messages.
        reasoning_end: as for `answers.read_chat`.
    """
    for line in io.BytesIO(content):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        key = entry.get("custom_id") if isinstance(entry, dict) else None
        if isinstance(key, str) and key in asked:
            outcome = _outcome(entry, _reader(asked[key], reasoning_end), redactor)
            yield key, outcome, _billed(entry, outcome, bounds.get(key, Bound(0, 0)))


def _outcome(
    entry: Mapping[str, Any], read: Callable[[dict[str, Any]], Response], redactor: Redactor
) -> Response | AnswerFailure:
    error, response = entry.get("error"), entry.get("response")
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code in UNANSWERED:
        return AnswerFailure(UNANSWERED[code], f"the batch was {UNANSWERED[code]} before this request was answered")
    status = response.get("status_code") if isinstance(response, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(status, int) and status != 200:
        return status_fault(status, body, {}, redactor)
    if status == 200 and isinstance(body, dict):
        try:
            return read_or_fault(read, body)
        except AnswerFailure as failure:
            return failure
    if isinstance(error, dict):
        return status_fault(500, entry, {}, redactor)
    return Fault("malformed", "the batch's line for this request is not as OpenAI documents it")


def _reader(asked: Asked, reasoning_end: str | None) -> Callable[[dict[str, Any]], Response]:
    if asked.kind == "chat":
        return partial(read_chat, reasoning_end=reasoning_end)
    return partial(read_choice, labels=asked.labels)


def _billed(entry: Mapping[str, Any], outcome: Response | AnswerFailure, bound: Bound) -> Billed:
    """Returns what is billed for a line; a batch that ends early is billed for what was answered till then."""
    response = entry.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(response, dict) and response.get("status_code") == 200 and isinstance(body, dict):
        return billed_for(body, bound)
    if isinstance(outcome, Fault):
        return billed_for(outcome, bound)
    return NOTHING if isinstance(outcome, AnswerFailure) and outcome.kind in UNANSWERED.values() else most_of(bound)
