"""What can go wrong at an endpoint: of which kind it is, whether it may pass, how long the endpoint asks to wait."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeVar

from dialeval.engines.answer_values import whole_text
from dialeval.engines.openai_api import parameters
from dialeval.engines.openai_api.redaction import Redactor
from dialeval.engines.request import AnswerFailure

Read = TypeVar("Read")
LONGEST_MESSAGE = 400
PASSING = frozenset({"rate_limit", "server", "connection", "timeout", "malformed"})
"""Kinds of failure that may pass: the request is tried again. All others are final for this run."""

_QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance")
_CONTENT_CODES = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation_blocked")
_CONTENT_WORDS = re.compile(r"content (?:management )?policy|content filter|moderation|flagged", re.IGNORECASE)
_ROLE_WORDS = re.compile(r"system role|role ['`\"]?system|roles must alternate", re.IGNORECASE)
_CONTEXT_WORDS = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:model )?length|max_model_len|prompt is too long|too many (?:input )?"
    r"tokens|input is too long|longer than the (?:maximum|model)",
    re.IGNORECASE,
)


Billing = Literal["nothing", "prompt", "everything"]


class Fault(AnswerFailure):
    """A failed try. It holds plain words only: no request, no header, no exception of the client.

    Attributes:
        billed: what may have been billed for the try nevertheless.
        passing: whether another try may succeed.
        too_many: whether the endpoint refused the request as one too many.
        retry_after: seconds that the endpoint asks to wait, or None.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        too_many: bool = False,
        retry_after: float | None = None,
        final: bool = False,
        billed: Billing = "everything",
    ) -> None:
        super().__init__(kind, message)
        self.billed = billed
        self.passing = kind in PASSING and not final
        self.too_many = too_many
        self.retry_after = retry_after


def status_fault(status: int, body: object, headers: Mapping[str, str], redactor: Redactor, url: str = "") -> Fault:
    """Returns the fault of an answer with an error status.

    Args:
        status: the HTTP status.
        body: the decoded JSON, or the text if it was none.
        headers: the answer's headers.
        redactor: takes secrets out of what the endpoint says.
        url: the address that was asked, which is named where nothing was found there.
    """
    error = _error_part(body)
    code = f"{plain_words(error.get('code'))} {plain_words(error.get('type'))} {_inner_code(error)}".lower()
    said = plain_words(error.get("message")).strip()
    kind = _kind(status, code, said)
    remedy = ""
    if 300 <= status < 400:
        remedy = " (the endpoint sends us elsewhere; correct base_url)"
    if kind == "bad_request" and _ROLE_WORDS.search(said):
        remedy = " (this model's template wants other roles; set system_message: merge)"
    elif kind not in ("context_length", "refusal", "quota"):
        mended_by = parameters.remedy(status, plain_words(error.get("param")), said)
        if mended_by is not None:
            kind, remedy = "parameter", f" ({mended_by})"
    at = f" at {url}" if url and kind == "not_found" else ""
    words = f"status {status}{at}" + (f": {said}" if said else "")
    return Fault(
        kind,
        short(redactor.mask(words)) + remedy,
        too_many=kind == "rate_limit" or status in (503, 529),
        retry_after=retry_after(headers),
        final=status in (501, 505),
        billed=_billed(status, kind),
    )


def read_or_fault(read: Callable[[dict[str, Any]], Read], payload: dict[str, Any]) -> Read | Fault:
    """Returns what `read` makes of an endpoint's JSON, or a fault where another try may give something better.

    Args:
        read: raises AnswerFailure if there is nothing to read.
        payload: the JSON.

    Raises:
        AnswerFailure: the endpoint has answered as it should, and the answer is of no use.
    """
    try:
        return read(payload)
    except AnswerFailure as failure:
        if failure.kind not in PASSING:
            raise
        return Fault(failure.kind, str(failure))
    except RecursionError:
        return Fault("malformed", "the answer's JSON is nested too deeply")


def short(text: str) -> str:
    """Returns a message on one line of limited length."""
    line = " ".join(whole_text(text).split())
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 3] + "..."


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds that an endpoint asks to wait: in milliseconds, seconds, or until a date; None if not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    moment, now = _date(value), _date(headers.get("date"))
    if moment is None:
        return None
    return max(0.0, moment - (time.time() if now is None else now))  # by the endpoint's own clock if it shows it


def _billed(status: int, kind: str) -> Billing:
    """Returns what may be billed for an answer with an error status.

    Whoever turns a request away (4xx) has written nothing, but may have read it to find it improper (Azure bills that).
    An error of a server (5xx) may come after the work was done; 501, 505 and 529 (overloaded) come before.
    """
    if kind == "refusal":
        return "prompt"
    turned_away = status < 500 and status not in (408, 499)
    return "nothing" if turned_away or status in (501, 505, 529) else "everything"


def _kind(status: int, code: str, said: str) -> str:
    if status == 402 or (status in (403, 429) and any(word in code for word in _QUOTA_CODES)):
        return "quota"
    if status in (400, 403, 422) and (any(word in code for word in _CONTENT_CODES) or _CONTENT_WORDS.search(said)):
        return "refusal"
    if status in (400, 413, 422) and ("context_length" in code or _CONTEXT_WORDS.search(said)):
        return "context_length"
    fixed = {401: "authentication", 403: "authentication", 404: "not_found", 405: "not_found", 408: "timeout"}
    fixed |= {407: "authentication", 410: "not_found", 429: "rate_limit"}
    if status in fixed:
        return fixed[status]
    return "server" if status >= 500 or status in (409, 425) else "bad_request"


def _error_part(body: object) -> dict[str, Any]:
    if isinstance(body, list) and body:  # Google's endpoints wrap the error in a list
        body = body[0]
    if not isinstance(body, dict):
        return {"message": "" if body is None else body}
    error = body.get("error", body)
    if not isinstance(error, dict):
        return {"message": error}
    return error if error.get("message") or "detail" not in error else {**error, "message": error["detail"]}


def _inner_code(error: dict[str, Any]) -> str:
    inner = error.get("innererror") or error.get("inner_error")
    return plain_words(inner.get("code")) if isinstance(inner, dict) else ""


def plain_words(value: object) -> str:
    """Returns what an endpoint says; lists within lists without end say nothing."""
    try:
        return str(value or "")
    except RecursionError:
        return ""


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError, OverflowError):  # the last: a year or a zone beyond any calendar
        return None
