"""Files and batches as OpenAI's, for the endpoint on loopback: a script that keeps them in memory."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback_endpoint import Call, Reply, completion, refusal

Line = dict[str, Any]
PAGE = 3
"""Batches in one page of their list, few so that tests turn pages."""


def answered(line: Line) -> Line:
    """Return the output line of a request that is answered."""
    text = line["body"]["messages"][-1]["content"]
    return {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": completion(f"reply to {text}")}}


def in_error(line: Line, status: int, message: str, **more: Any) -> Line:
    """Return the output line of a request that met an error."""
    response = {"status_code": status, "body": refusal(message, **more)}
    return {"custom_id": line["custom_id"], "response": response}


@dataclass
class TakenBatch:
    """A batch as the endpoint has it."""

    name: str
    mark: str
    lines: list[Line]
    polls: int = 0
    description: dict[str, Any] = field(default_factory=dict)


class BatchService:
    """A script for `LoopbackEndpoint`.

    Args:
        end: describes how a batch ends: its state, its output lines and its error lines (objects or bytes).
        polls: a batch has ended when it was asked after so often.
        before: may answer in place of this, and does not change anything then.
        after: may answer in place of this once everything is done.
    """

    def __init__(
        self,
        end: Callable[[TakenBatch], tuple[str, list[Line | bytes], list[Line | bytes]]] | None = None,
        *,
        polls: int = 2,
        before: Callable[[Call], Reply | None] = lambda _: None,
        after: Callable[[Call], Reply | None] = lambda _: None,
    ) -> None:
        self.end = end or (lambda batch: ("completed", [answered(line) for line in batch.lines], []))
        self.polls, self.before, self.after = polls, before, after
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, TakenBatch] = {}
        self.ordinary: Counter[str] = Counter()

    @property
    def handed_over(self) -> Counter[str]:
        """How often each request was in a batch, by its last message."""
        lines = (line for batch in self.batches.values() for line in batch.lines)
        return Counter(line["body"]["messages"][-1]["content"] for line in lines)

    def __call__(self, call: Call) -> Reply:
        return self.before(call) or (lambda reply: self.after(call) or reply)(self._route(call))

    def _route(self, call: Call) -> Reply:
        parts = urlsplit(call.path)
        place = parts.path.removeprefix("/v1/").split("/")
        match call.method, place:
            case "POST", ["chat", "completions"]:
                self.ordinary[call.text] += 1
                return Reply(completion(f"reply to {call.text}"))
            case "POST", ["files"]:
                return self._take_file(call)
            case "POST", ["batches"]:
                return self._begin(call)
            case "GET", ["batches"]:
                return self._list(parse_qs(parts.query))
            case "GET", ["batches", name] if name in self.batches:
                return Reply(self._look(self.batches[name]))
            case "GET", ["files", name, "content"] if name in self.files:
                return Reply(self.files[name])
        return Reply(refusal("no such thing"), 404)

    def _take_file(self, call: Call) -> Reply:
        boundary = call.headers["content-type"].partition("boundary=")[2].encode()
        content, purpose = b"", b""
        for part in call.raw.split(b"--" + boundary)[1:-1]:
            head, _, body = part.partition(b"\r\n\r\n")
            if b'name="file"' in head:
                content = body.removesuffix(b"\r\n")
            elif b'name="purpose"' in head:
                purpose = body.strip()
        assert purpose == b"batch"
        return Reply({"id": self._keep(content), "object": "file", "bytes": len(content)})

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _begin(self, call: Call) -> Reply:
        body = call.body
        assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        names = [line["custom_id"] for line in lines]
        assert len(set(names)) == len(names)
        batch = TakenBatch(f"batch_{len(self.batches)}", body["metadata"]["dialeval"], lines)
        batch.description = {
            "id": batch.name, "object": "batch", "created_at": int(time.time()), "metadata": body["metadata"],
            "status": "validating", "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }  # fmt: skip
        self.batches[batch.name] = batch
        return Reply(batch.description)

    def _list(self, query: dict[str, list[str]]) -> Reply:
        newest_first = [batch.description for batch in reversed(self.batches.values())]
        names = [description["id"] for description in newest_first]
        start = names.index(query["after"][0]) + 1 if "after" in query else 0
        page = newest_first[start : start + PAGE]
        return Reply({"object": "list", "data": page, "has_more": start + PAGE < len(names)})

    def _look(self, batch: TakenBatch) -> dict[str, Any]:
        batch.polls += 1
        description = batch.description
        if batch.polls < self.polls:
            description["status"] = "in_progress"
        elif description["status"] in ("validating", "in_progress"):
            state, output, errors = self.end(batch)
            description["status"] = state
            description["request_counts"] |= {"completed": len(output), "failed": len(errors)}
            for field_name, lines in (("output_file_id", output), ("error_file_id", errors)):
                if lines:
                    content = b"".join(
                        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
                    )
                    description[field_name] = self._keep(content)
        return description
