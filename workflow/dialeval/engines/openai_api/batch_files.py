"""The files of batches: their lines, waiting requests, submitted files, and the ledger of batches.

The ledger is a file of JSON lines beside the answers, one per writer of the store; a job also reads those of writers
that have ended. It records the events of each batch, each fsynced before the next step begins:

    planned    our mark, which the batch carries at the endpoint, and the keys of its requests
    uploaded   its file is at the endpoint
    created    the endpoint has accepted it, under this name
    closed     its answers are in the store, or the endpoint has not accepted it

Of a batch that was uploaded and neither created nor closed, the mark tells whether the endpoint accepted it.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from dialeval.config.endpoints import OpenAIModel
from dialeval.engines.openai_api.retries import Fault, Redactor, read_or_fault, status_fault
from dialeval.engines.openai_api.token_counts import billed_for, largest_bill
from dialeval.engines.openai_api.wire_format import chat_body, choice_body, read_chat, read_choice
from dialeval.engines.requests import AnswerFailure, Kind, Message, Request, Response, Sampling
from dialeval.engines.spending.account import Reserved
from dialeval.engines.spending.prices import NO_TOKENS, Billed, Bound
from dialeval.paths import open_no_link

PLACE = "/v1/chat/completions"
"""Where a batch's requests go, whatever the endpoint's own address."""
UNANSWERED = {"batch_expired": "expired", "batch_cancelled": "cancelled"}


def goes_in_a_batch(model: OpenAIModel, request: Request) -> bool:
    """Return whether a batch can hold a request; one with half a surrogate pair would spoil the file."""
    try:
        "".join(message.content for message in request.messages).encode()
    except UnicodeEncodeError:
        return False
    return request.kind == "chat" or (request.kind == "choice" and model.label_logprobs == "top_logprobs")


def request_body(model: OpenAIModel, request: Request) -> dict[str, Any]:
    """Return the body of a request in a batch."""
    return chat_body(model, request) if request.kind == "chat" else choice_body(model, request)


def request_line(key: str, body: Mapping[str, Any]) -> bytes:
    """Return the line of a batch file for a request."""
    line = {"custom_id": key, "method": "POST", "url": PLACE, "body": body}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_lines(
    content: bytes,
    requests: Mapping[str, RequestFields],
    bounds: Mapping[str, Bound],
    redactor: Redactor,
    reasoning_end: str | None = None,
) -> Iterator[tuple[str, Response | AnswerFailure, Billed]]:
    """Yield key, outcome and bill of each line of a batch's output or errors that has a known key.

    Args:
        requests: the requests of the batch, by key.
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
        if isinstance(key, str) and key in requests:
            outcome = _outcome(entry, _reader(requests[key], reasoning_end), redactor)
            yield key, outcome, _billed(entry, outcome, bounds.get(key, Bound(0, 0)))


def _outcome(
    entry: Mapping[str, Any], read: Callable[[dict[str, Any]], Response], redactor: Redactor
) -> Response | AnswerFailure:
    error, response = entry.get("error"), entry.get("response")
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code in UNANSWERED:
        return AnswerFailure(UNANSWERED[code], f"the batch was {UNANSWERED[code]} before the response to this request")
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
    return Fault("malformed", "the batch's line for this request does not have OpenAI's format")


def _reader(request: RequestFields, reasoning_end: str | None) -> Callable[[dict[str, Any]], Response]:
    if request.kind == "chat":
        return partial(read_chat, reasoning_end=reasoning_end)
    return partial(read_choice, labels=request.labels)


def _billed(entry: Mapping[str, Any], outcome: Response | AnswerFailure, bound: Bound) -> Billed:
    """Return the billed tokens of a line; a batch that ends early is billed for its answers."""
    response = entry.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if isinstance(response, dict) and response.get("status_code") == 200 and isinstance(body, dict):
        return billed_for(body, bound)
    if isinstance(outcome, Fault):
        return billed_for(outcome, bound)
    return (
        NO_TOKENS if isinstance(outcome, AnswerFailure) and outcome.kind in UNANSWERED.values() else largest_bill(bound)
    )


# Waiting requests on the disk, so that a long table is not held in memory.


class RequestSpool:
    """Keeps requests by key in an unnamed temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def put(self, key: str, request: Request) -> None:
        """Keep a request."""
        content = json.dumps(asdict(request)).encode()
        self._file.seek(self._end)
        self._file.write(content)
        self._places[key] = self._end, len(content)
        self._end += len(content)

    def get(self, key: str) -> Request:
        """Return a request that was put here."""
        start, length = self._places[key]
        self._file.seek(start)
        fields = json.loads(self._file.read(length))
        sampling = fields["sampling"] | {"stop": tuple(fields["sampling"]["stop"])}
        return Request(
            **fields
            | {
                "messages": tuple(Message(*message) for message in fields["messages"]),
                "sampling": Sampling(**sampling),
                "labels": tuple(fields["labels"]),
                "subject": tuple(map(tuple, fields["subject"])),
            }
        )


# The file of one batch, filled up to the limits of a batch.

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
"""OpenAI's limits of one batch."""


class BatchFile:
    """Lines of requests in an unnamed temporary file, up to a number of lines and bytes."""

    def __init__(self, most_requests: int, most_bytes: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self.size = 0
        self.requests: dict[str, RequestFields] = {}
        self.paid_from: dict[str, Reserved] = {}
        self._most_requests, self._most_bytes = most_requests, most_bytes

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def has_room(self, line: bytes) -> bool:
        """Return whether the file has room for a line; always true for the first line."""
        room = len(self.requests) < self._most_requests and self.size + len(line) <= self._most_bytes
        return room or not self.requests

    def add(self, key: str, request: RequestFields, line: bytes, reserved: Reserved | None) -> None:
        """Add a request with its reservation, if costs are counted."""
        self._file.write(line)
        self.requests[key] = request
        if reserved is not None:
            self.paid_from[key] = reserved
        self.size += len(line)

    def content(self) -> IO[bytes]:
        """Return the file at its start, flushed to the disk."""
        self._file.flush()
        self._file.seek(0)
        return self._file


# The ledger of batches

SUFFIX = "batches"


class RequestFields(NamedTuple):
    """The parts of a request that are needed to read its answer."""

    kind: Kind
    labels: tuple[str, ...]


@dataclass
class Batch:
    """One batch.

    Attributes:
        mark: our own name for it.
        planned: when it was planned, in seconds since 1970.
        requests: its requests by key.
        file: its file at the endpoint; empty if not uploaded.
        name: the endpoint's name for it; empty if not known.
    """

    mark: str
    planned: float
    requests: dict[str, RequestFields] = field(default_factory=dict)
    file: str = ""
    name: str = ""


class BatchLedger:
    """The open batches of one model under one protocol.

    Args:
        path: the ledger of this job's writer.
        left_behind: those of writers that have ended.

    Attributes:
        open: batches that are not closed, by mark.
    """

    def __init__(self, path: Path, left_behind: Sequence[Path] = ()) -> None:
        self.path = path
        self._paths = [path, *left_behind]
        self.open: dict[str, Batch] = {}
        self._keys: dict[str, str] = {}
        self._output: int | None = None

    def __enter__(self) -> Self:
        events = [event for path in sorted(self._paths) if path.exists() for event in _events(path)]
        later = {"planned": 0, "uploaded": 1, "created": 2, "closed": 3}  # a batch may be closed in another's ledger
        for event in sorted(events, key=lambda event: later[event["event"]]):
            self._apply(event)
        return self

    def __exit__(self, *_: object) -> None:
        if self._output is not None:
            os.close(self._output)

    def __contains__(self, key: str) -> bool:
        """Return whether a request is in an open batch."""
        return key in self._keys

    def batch_of(self, key: str) -> Batch:
        """Return the open batch that holds a request."""
        return self.open[self._keys[key]]

    def plan(self, mark: str, requests: Iterable[tuple[str, RequestFields]]) -> Batch:
        """Record a batch before its submission."""
        groups: dict[RequestFields, list[str]] = {}
        for key, request in requests:
            groups.setdefault(request, []).append(key)
        listed = [{"kind": one.kind, "labels": one.labels, "keys": keys} for one, keys in groups.items()]
        self._write({"event": "planned", "mark": mark, "time": round(time.time()), "requests": listed})
        return self.open[mark]

    def uploaded(self, batch: Batch, file: str) -> None:
        """Record that a batch's file was uploaded."""
        self._write({"event": "uploaded", "mark": batch.mark, "file": file})

    def created(self, batch: Batch, name: str) -> None:
        """Record that the endpoint has accepted a batch."""
        self._write({"event": "created", "mark": batch.mark, "name": name})

    def close(self, batch: Batch) -> None:
        """Record that a batch is closed."""
        self._write({"event": "closed", "mark": batch.mark})

    def _write(self, event: dict[str, Any]) -> None:
        line = json.dumps(event, separators=(",", ":")) + "\n"
        if self._output is None:
            self._output = open_no_link(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            size = os.fstat(self._output).st_size
            if size and os.pread(self._output, 1, size - 1) != b"\n":  # the last job was killed while it wrote
                os.ftruncate(self._output, os.pread(self._output, size, 0).rfind(b"\n") + 1)
        rest = line.encode()
        while rest:
            rest = rest[os.write(self._output, rest) :]
        os.fsync(self._output)
        self._apply(json.loads(line))

    def _apply(self, event: dict[str, Any]) -> None:
        mark = event["mark"]
        if event["event"] == "planned":
            batch = self.open[mark] = Batch(mark, event["time"])
            for group in event["requests"]:
                batch.requests |= dict.fromkeys(group["keys"], RequestFields(group["kind"], tuple(group["labels"])))
            self._keys |= dict.fromkeys(batch.requests, mark)
        elif mark in self.open:
            match event["event"]:
                case "uploaded":
                    self.open[mark].file = event["file"]
                case "created":
                    self.open[mark].name = event["name"]
                case "closed":
                    for key in self.open.pop(mark).requests:
                        if self._keys.get(key) == mark:
                            del self._keys[key]


def _events(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):  # cut off by a kill: what it was about had not begun
            return
        try:
            event = json.loads(line)
        except ValueError:
            print(f"note: {path} has a corrupt line; its entry about a batch is lost")
            continue
        if isinstance(event, dict) and event.get("event") in ("planned", "uploaded", "created", "closed"):
            yield event
