"""Requests joined with their responses, by request_id, without holding either table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.tables import iterate_rows

ABOUT = ("request_id", "protocol", "seed_id", "left", "right", "n_utterances")
ANSWER = ("request_id", "status", "text", "finish_reason")


def answered(requests: Path, responses: Sequence[Path]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields each row of `requests` (the ids of its subject) with its row of `responses`.

    Args:
        requests: the table of requests.
        responses: tables of responses, one per shard; each keeps the order of the requests.

    Raises:
        UserError: a request has no row in any of the responses.
    """
    streams = [iterate_rows(path, "responses", ANSWER) for path in responses]
    heads = [next(stream, None) for stream in streams]
    for row in iterate_rows(requests, "requests", ABOUT):
        for place, head in enumerate(heads):
            if head is not None and head["request_id"] == row["request_id"]:
                heads[place] = next(streams[place], None)
                yield row, head
                break
        else:
            names = ", ".join(str(path) for path in responses)
            raise UserError(f"{names}: no row for request '{row['request_id']}' of {requests}; delete them, run again")
