"""Requests joined with their responses, by request_id, without holding either table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.forms import judgement
from dialeval.schemas.shared import NOT_ASKED, REQUESTS, RESPONSES
from dialeval.tables import iterate_rows

ABOUT = (*judgement.ABOUT, "part", "labels")
ANSWER = ("request_id", "status", "text", "finish_reason")
CHOICE_ANSWER = ("request_id", "status", "finish_reason", "label_logprobs", "label_mass")


def answered(
    requests: Path,
    responses: Sequence[Path],
    about: Sequence[str] = ABOUT,
    answer: Sequence[str] = ANSWER,
    again: Sequence[Path] = (),
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields each row of `requests` (the ids of its subject) with its row of `responses`, if the judge was asked.

    Args:
        requests: the table of requests.
        responses: tables of responses, one per shard; each keeps the order of the requests.
        about: columns of `requests` to read; `request_id` among them.
        answer: columns of `responses` to read; `request_id` and `status` among them.
        again: tables of responses to requests that were asked again; one that is there takes the place of the first.

    Raises:
        UserError: a request has no row in any of the responses.
    """
    streams = [iterate_rows(path, RESPONSES, answer) for path in responses]
    second = {row["request_id"]: row for path in again for row in iterate_rows(path, RESPONSES, answer)}
    heads = [next(stream, None) for stream in streams]
    for row in iterate_rows(requests, REQUESTS, about):
        for place, head in enumerate(heads):
            if head is not None and head["request_id"] == row["request_id"]:
                heads[place] = next(streams[place], None)
                newer = second.get(row["request_id"] + "/again")
                if head["status"] != NOT_ASKED:
                    yield row, newer if newer and newer["status"] == "ok" else head
                break
        else:
            names = ", ".join(str(path) for path in responses)
            raise UserError(f"{names}: no row for request '{row['request_id']}' of {requests}; delete them, run again")
