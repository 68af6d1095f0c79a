"""Planned requests, their answers joined with them, and rows of judgements."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialeval.engines.requests import Message, Request, Sampling
from dialeval.errors import UserError
from dialeval.tables.dialogues import NOT_SENT, REQUESTS, RESPONSES, Status
from dialeval.tables.files import TableWriter, iterate_rows
from dialeval.text import counted

if TYPE_CHECKING:
    from dialeval.corpora.items import Item


@dataclass(frozen=True, slots=True)
class Planned:
    """A request and the ids of its subject: dialogues on a ChatSEED, or an item of a corpus.

    Attributes:
        case_id: the case of the dialogues: their ChatSEED, or another one.
        left: the model whose dialogue is shown (first).
        right: the model whose dialogue is shown second, in pairwise protocols.
        n_utterances: the length that dialogues were cut to, or have.
        corpus, language, item_id: the item that is scored or answered.
        part: the part of the item that the request is about: a dimension, an option, an order of the options.
    """

    request: Request
    case_id: str | None = None
    left: str | None = None
    right: str | None = None
    n_utterances: int | None = None
    corpus: str | None = None
    language: str | None = None
    item_id: str | None = None
    part: str | None = None

    def to_row(self) -> dict[str, Any]:
        """Return the request as a row of the table `requests`."""
        request = self.request
        sampling = asdict(request.sampling)
        sampling["sampler_seed"] = sampling.pop("seed")
        return {
            "request_id": request.request_id,
            "protocol": request.protocol,
            "kind": request.kind,
            "messages": [message._asdict() for message in request.messages],
            "labels": request.labels,
            "answer_schema": request.answer_schema,
            "continuation": request.continuation,
            **sampling,
            "repeat": request.repeat,
            "subject": request.subject,
            "case_id": self.case_id,
            "left": self.left,
            "right": self.right,
            "n_utterances": self.n_utterances,
            "corpus": self.corpus,
            "language": self.language,
            "item_id": self.item_id,
            "part": self.part,
        }


def planned_about(item: Item, request: Request, part: str | None = None) -> Planned:
    """Return a request about a dialogue as a whole, with the ids of the dialogue."""
    return Planned(
        request,
        case_id=item.case_id or None,
        left=item.system,
        n_utterances=len(item.utterances),
        corpus=item.corpus,
        language=item.language,
        item_id=item.item_id,
        part=part,
    )


def request_from_row(row: Mapping[str, Any]) -> Request:
    """Return the request that `Planned.to_row` wrote."""
    return Request(
        request_id=row["request_id"],
        protocol=row["protocol"],
        kind=row["kind"],
        messages=tuple(Message(message["role"], message["content"]) for message in row["messages"]),
        sampling=Sampling(
            temperature=row["temperature"],
            top_p=row["top_p"],
            max_tokens=row["max_tokens"],
            seed=row["sampler_seed"],
            stop=tuple(row["stop"]),
            presence_penalty=row["presence_penalty"],
            frequency_penalty=row["frequency_penalty"],
        ),
        labels=tuple(row["labels"]),
        answer_schema=row["answer_schema"],
        continuation=row["continuation"],
        subject=tuple(tuple(dialogue) for dialogue in row["subject"]),
        repeat=row["repeat"],
    )


def write_requests(path: Path, planned: Iterable[Planned]) -> None:
    """Write the table `requests`, row by row, and print their number."""
    with TableWriter(path, REQUESTS) as table:
        table.write_all(one.to_row() for one in planned)
    print(f"{counted(table.rows, 'request')} planned")


def in_shard(name: str, shard: int, shards: int) -> bool:
    """Return whether the request or seed of a name belongs to a shard (1-based); independent of other names."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % shards == shard - 1


# Rows of the table `judgements`

JUDGEMENT_ABOUT = (
    "protocol",
    "request_id",
    "corpus",
    "language",
    "item_id",
    "case_id",
    "left",
    "right",
    "n_utterances",
    "repeat",
)
"""Columns that a judgement takes over from its request."""


def judgement(planned: Mapping[str, Any], status: Status, **verdict: Any) -> dict[str, Any]:
    """Return a row of the table `judgements` without the judge.

    Args:
        planned: row of `requests`; a missing column is empty.
        status: whether the answer could be parsed.
        verdict: `choice`, `outcome`, `value`, `reason` and so on.
    """
    columns = {name: planned.get(name) for name in JUDGEMENT_ABOUT}
    return {**columns, "repeat": planned.get("repeat") or 0, "reason": "", "status": status, **verdict}


# Requests joined with their responses

ABOUT = (*JUDGEMENT_ABOUT, "part", "labels")
ANSWER = ("request_id", "status", "text", "finish_reason")
CHOICE_ANSWER = ("request_id", "status", "finish_reason", "label_logprobs", "label_mass")


def answered(
    requests: Path,
    responses: Sequence[Path],
    columns: Sequence[str] = ABOUT,
    answer: Sequence[str] = ANSWER,
    again: Sequence[Path] = (),
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each row of `requests` (the ids of its subject) with its row of `responses`, if it was sent.

    Args:
        responses: tables of responses, one per shard; each keeps the order of the requests.
        columns: columns of `requests` to read; `request_id` among them.
        answer: columns of `responses` to read; `request_id` and `status` among them.
        again: tables of responses to retries, which replace the first responses.

    Raises:
        UserError: a request has no row in any of the responses.
    """
    streams = [iterate_rows(path, RESPONSES, answer) for path in responses]
    second = {row["request_id"]: row for path in again for row in iterate_rows(path, RESPONSES, answer)}
    heads = [next(stream, None) for stream in streams]
    for row in iterate_rows(requests, REQUESTS, columns):
        for place, head in enumerate(heads):
            if head is not None and head["request_id"] == row["request_id"]:
                heads[place] = next(streams[place], None)
                newer = second.get(row["request_id"] + "/again")
                if head["status"] != NOT_SENT:
                    yield row, newer if newer and newer["status"] == "ok" else head
                break
        else:
            names = ", ".join(str(path) for path in responses)
            raise UserError(
                f"{names}: no row for request '{row['request_id']}' of {requests}; delete both files and run the "
                f"same command again"
            )


def with_statuses_printed(rows: Iterable[dict[str, Any]], whose: str) -> Iterator[dict[str, Any]]:
    """Yield rows, and then print how many have each `status`; `whose` names their judge."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["status"]] += 1
        yield row
    if set(counts) - {"ok"}:
        listed = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        print(f"responses of {whose}: {listed}", flush=True)
