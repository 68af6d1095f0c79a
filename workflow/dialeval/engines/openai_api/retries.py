"""Retries of requests: waits after failures (status 429 among them), faults with remedies, and masked secrets.

Codes and messages are those of OpenAI, Azure, vLLM, Ollama, Groq, Mistral, Google, Anthropic and LiteLLM.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from dialeval.engines.rate_limits import LONGEST_PAUSE
from dialeval.engines.requests import AnswerFailure, valid_unicode

Read = TypeVar("Read")
Answer = TypeVar("Answer")
LONGEST_MESSAGE = 400
PASSING = frozenset({"rate_limit", "server", "connection", "timeout", "malformed"})
"""Kinds of failure after which a request is retried; all others are final for this run."""
FAILURES = {
    "rate_limit": "status 429",
    "server": "status 5xx, 409 or 425. Status 501 and 505 are not retried",
    "connection": "the connection cannot be opened, or is lost",
    "timeout": "no response within `timeout_seconds`",
    "malformed": "the response is no valid JSON, for example a login page. A response of more than 64 MB is also "
    "malformed, but not retried",
    "authentication": "wrong key, or no permission",
    "quota": "no credit",
    "not_found": "unknown model or address",
    "parameter": "the endpoint does not support a field; the error names the setting",
    "unsupported": "the endpoint does not return probabilities of answer options",
    "context_length": "the prompt exceeds the model's window",
    "bad_request": "the endpoint refuses the request",
    "refusal": "the endpoint's content filter refuses the request",
    "empty": "the response has no text",
    "impossible": "the response has an impossible number, such as a log-probability of 1000",
    "cancelled": "the batch was cancelled; the next job submits the request again",
}
"""Causes of failed requests by kind, for the documentation."""

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


REFUSALS_PER_TRY = 20
"""Multiple of `max_tries` for refusals with status 429."""

_SPREAD = 0.1
"""Share of a Retry-After by which retries of requests that were refused together are spread."""


@dataclass(frozen=True)
class RetryPolicy:
    """Limits of the retries of a request.

    Waits double from `first_wait` to `longest_wait` seconds and are drawn from their upper half, so that requests that
    failed together are spread. An endpoint's Retry-After replaces them.

    Attributes:
        max_tries: attempts with errors, timeouts or cut connections; REFUSALS_PER_TRY times as many with status 429.
        max_total_seconds: longest time from the first failure to a retry.
    """

    max_tries: int = 8
    max_total_seconds: float = 1800.0
    first_wait: float = 0.5
    longest_wait: float = 60.0


async def with_retries(
    policy: RetryPolicy,
    attempt: Callable[[], Awaitable[Answer]],
    rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Answer:
    """Return the result of an attempt, retried while its fault may pass.

    Args:
        attempt: sends the request once; raises Fault if it fails.

    Raises:
        Fault: the last one, if it is final or the policy allows no further attempt.
    """
    failures = refusals = 0
    failed_at = 0.0
    while True:
        try:
            return await attempt()
        except Fault as fault:
            now = asyncio.get_running_loop().time()
            failed_at = failed_at if failures + refusals else now
            refused = fault.kind == "rate_limit"
            refusals, failures = refusals + refused, failures + (not refused)
            too_often = failures >= policy.max_tries or refusals >= policy.max_tries * REFUSALS_PER_TRY
            seconds = _wait(policy, fault, failures + refusals)
            if not fault.passing or too_often or now - failed_at + seconds > policy.max_total_seconds:
                raise
        await rest(seconds)


def _wait(policy: RetryPolicy, fault: Fault, tries: int) -> float:
    if fault.retry_after is not None:
        # refused requests wait different times, or all would be refused again
        longest = LONGEST_PAUSE if fault.too_many else policy.longest_wait
        return min(fault.retry_after, longest) * random.uniform(1.0, 1 + _SPREAD)
    longest = min(policy.longest_wait, policy.first_wait * 2.0 ** min(tries - 1, 30))
    return random.uniform(longest / 2, longest)


class Fault(AnswerFailure):
    """A failed attempt; it holds no request, no header and no exception of the client.

    Attributes:
        billed: the part that may have been billed nevertheless.
        passing: whether a retry may succeed.
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
    """Return the fault of an answer with an error status.

    Args:
        body: the decoded JSON, or else the text.
        url: the address of the request, for the message of a 404.
    """
    error = _error_part(body)
    code = f"{message_text(error.get('code'))} {message_text(error.get('type'))} {_inner_code(error)}".lower()
    message = message_text(error.get("message")).strip()
    kind = _kind(status, code, message)
    hint = ""
    if 300 <= status < 400:
        hint = " (the endpoint redirects; correct base_url)"
    if kind == "bad_request" and _ROLE_WORDS.search(message):
        hint = " (this model's template does not accept these roles; set system_message: merge)"
    elif kind not in ("context_length", "refusal", "quota"):
        field_remedy = remedy(status, message_text(error.get("param")), message)
        if field_remedy is not None:
            kind, hint = "parameter", f" ({field_remedy})"
    at = f" at {url}" if url and kind == "not_found" else ""
    words = f"status {status}{at}" + (f": {message}" if message else "")
    return Fault(
        kind,
        short(redactor.mask(words)) + hint,
        too_many=kind == "rate_limit" or status in (503, 529),
        retry_after=retry_after(headers),
        final=status in (501, 505),
        billed=_billed(status, kind),
    )


def read_or_fault(read: Callable[[dict[str, Any]], Read], payload: dict[str, Any]) -> Read | Fault:
    """Return the endpoint's JSON as `read` reads it, or a fault if a retry may succeed.

    Raises:
        AnswerFailure: `read` raises a final one: the answer is valid and useless.
    """
    try:
        return read(payload)
    except AnswerFailure as failure:
        if failure.kind not in PASSING:
            raise
        return Fault(failure.kind, str(failure))
    except RecursionError:
        return Fault("malformed", "the response's JSON is nested too deeply")


def short(text: str) -> str:
    """Return a message on one line of limited length."""
    line = " ".join(valid_unicode(text).split())
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 3] + "..."


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait, given in milliseconds, seconds or as a date; or None."""
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
    return max(0.0, moment - (time.time() if now is None else now))  # by the endpoint's own clock, if known


def message_text(value: object) -> str:
    """Return a value of an endpoint's JSON as text; endlessly nested lists give an empty text."""
    try:
        return str(value or "")
    except RecursionError:
        return ""


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
    return message_text(inner.get("code")) if isinstance(inner, dict) else ""


def _kind(status: int, code: str, message: str) -> str:
    if status == 402 or (status in (403, 429) and any(word in code for word in _QUOTA_CODES)):
        return "quota"
    if status in (400, 403, 422) and (any(word in code for word in _CONTENT_CODES) or _CONTENT_WORDS.search(message)):
        return "refusal"
    if status in (400, 413, 422) and ("context_length" in code or _CONTEXT_WORDS.search(message)):
        return "context_length"
    fixed = {401: "authentication", 403: "authentication", 404: "not_found", 405: "not_found", 408: "timeout"}
    fixed |= {407: "authentication", 410: "not_found", 429: "rate_limit"}
    if status in fixed:
        return fixed[status]
    return "server" if status >= 500 or status in (409, 425) else "bad_request"


def _billed(status: int, kind: str) -> Billing:
    """Return the part of an answer with an error status that may be billed.

    An endpoint that refuses a request (4xx) has written no answer, but may bill the prompt (Azure does).
    An error of a server (5xx) may come after the work was done; 501, 505 and 529 (overloaded) come before.
    """
    if kind == "refusal":
        return "prompt"
    turned_away = status < 500 and status not in (408, 499)
    return "nothing" if turned_away or status in (501, 505, 529) else "everything"


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


# Refused parameters, and the setting that is the remedy.

STATUSES = frozenset({400, 403, 404, 422, 500, 501})
"""Statuses with which endpoints refuse a parameter; proxies use 500."""
_REFUSED = re.compile(
    r"unsupported|n[o']t support|unrecogni[sz]ed|unknown (?:name|field|parameter|argument)|unexpected|not permitted"
    r"|extra_forbidden|n[o']t allowed|not available|cannot both|deprecated|invalid value|must be|less than or equal"
    r"|too (?:large|high)|greater than|cannot find field|only the default",
    re.IGNORECASE,
)
_TOO_MANY = re.compile(
    r"less than or equal|too (?:large|high)|greater than|at most|must be (?:between|in|<)", re.IGNORECASE
)
REMEDIES = {
    "temperature": "set send_temperature: false",
    "top_p": "set send_temperature: false, which leaves out top_p as well",
    "seed": "set send_seed: false",
    "presence_penalty": "set presence_penalty: 0 under the protocol (or dialogbench)",
    "frequency_penalty": "set frequency_penalty: 0 under the protocol (or dialogbench)",
    "max_tokens": "set max_tokens_field: max_completion_tokens",
    "max_completion_tokens": "set max_tokens_field: max_tokens",
    "logprobs": "set label_logprobs: none and use protocols that parse text, such as rating or scale",
    "top_logprobs": "set label_logprobs: none and use protocols that parse text, such as rating or scale",
    "logprob_token_ids": "only vLLM servers support this parameter; set label_logprobs: top_logprobs",
    "return_tokens_as_token_ids": "only vLLM servers support this parameter; set label_logprobs: top_logprobs",
    "prompt_logprobs": "only vLLM servers support this parameter; set prompt_logprobs: false",
    "response_format": "the model supports no response schema; set answers: free under the protocol",
    "json_schema": "the model supports no response schema; set answers: free under the protocol",
    "reasoning_effort": "correct reasoning_effort, or leave it out",
}
"""Remedy by refused parameter."""
REMEDIES_OF_SIZE = {
    "max_tokens": "lower max_tokens of the protocol (or of selfchat, dialogbench)",
    "max_completion_tokens": "lower max_tokens of the protocol (or of selfchat, dialogbench)",
    "logprobs": "lower top_logprobs, or start a vLLM server with --max-logprobs 20",
    "top_logprobs": "lower top_logprobs, or start a vLLM server with --max-logprobs 20",
}
"""Remedy by parameter whose value is too large."""
_NAMES = re.compile(rf"(?<![\w.-])({'|'.join(sorted(REMEDIES, key=len, reverse=True))})(?![\w-])")
_SAMPLE_LOGPROBS = re.compile(r"requested (?:sample|prompt) logprobs", re.IGNORECASE)


def remedy(status: int, parameter: str, message: str) -> str | None:
    """Return the remedy for a refused parameter, or None if none of ours was refused.

    Args:
        parameter: the parameter that the endpoint's error names, or an empty text.
    """
    if status not in STATUSES or not (_REFUSED.search(message) or (parameter in REMEDIES and status != 500)):
        return None
    named = _NAMES.search(message)
    name = parameter if parameter in REMEDIES else named.group(1) if named else ""
    if name not in REMEDIES:
        return None
    if name in REMEDIES_OF_SIZE and (_TOO_MANY.search(message) or _SAMPLE_LOGPROBS.search(message)):
        return REMEDIES_OF_SIZE[name]
    return REMEDIES[name]


# Masking secrets: an endpoint's message may repeat its key.

MASK = "[secret]"
SHORTEST_SECRET = 8
"""Shorter values, such as `EMPTY` of local servers, are placeholders and not masked."""
LONGEST_TEXT = 16_384
"""Letters of an error text that are masked and shown."""
_WINDOW = 12
_CREDENTIALS = re.compile(
    r"(?i)\b(?:bearer|basic)\s+(?=\S*[\d=*])[\w.~+/=*-]{8,}|\b(?:sk|gsk|pk|rk|hf|xai|nvapi)[-_][\w*-]{6,}|\bAIza[\w-]{10,}"
)


class Redactor:
    """Masks secrets in texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms = sorted({form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)})
        self._windows: dict[int, set[str]] = {}
        for form in self._forms:
            size = min(_WINDOW, len(form))
            pieces = {form[start : start + size] for start in range(len(form) - size + 1)}
            self._windows.setdefault(size, set()).update(pieces)

    def __repr__(self) -> str:
        return "Redactor(...)"

    def mask(self, text: str) -> str:
        """Return an error text, cut to LONGEST_TEXT letters, without secrets: also parts, quoted or in base64."""
        if len(text) > LONGEST_TEXT:
            return self.mask(text[:LONGEST_TEXT])[: -_WINDOW - len(MASK)] + "..."  # a secret may be cut at the end
        spans = [found.span() for found in _CREDENTIALS.finditer(text)]
        for size, windows in self._windows.items():
            spans += [
                (start, start + size) for start in range(len(text) - size + 1) if text[start : start + size] in windows
            ]
        pieces: list[str] = []
        end = 0
        for first, last in sorted(spans):
            if first > end or not pieces:
                pieces += [text[end:first], MASK]
            end = max(end, last)
        return "".join(pieces) + text[end:]

    def mask_answer(self, text: str) -> str:
        """Return a model's answer without these secrets."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text


class MaskedRecords(logging.Filter):
    """Masks secrets in the log records of the HTTP libraries, which log headers at level DEBUG."""

    LOGGERS = (
        "openai._base_client", "openai._response", "openai._legacy_response", "httpx2", "httpcore2.connection",
        "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy", "httpcore2.socks",
    )  # fmt: skip

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def install(self) -> None:
        """Add the filter to the loggers."""
        for name in self.LOGGERS:
            logging.getLogger(name).addFilter(self)

    def remove(self) -> None:
        """End the masking."""
        for name in self.LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask a record, which is kept."""
        record.msg, record.args = self._redactor.mask(record.getMessage()), None
        return True


def _forms(secret: str) -> set[str]:
    """Return the forms of a secret in texts: plain, escaped, hexadecimal, and inside base64."""
    data = secret.encode()
    forms = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], data.hex()}
    for shift in range(3):  # of a base64 text only the letters that depend on nothing but the secret
        first, last = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(b"\0" * shift + data + b"\0" * 3).decode()[first:last])
    return forms
