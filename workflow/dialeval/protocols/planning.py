"""A planned request: what to ask, and which dialogues the answer will be about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialeval.engines.request import Message, Request, Sampling
from dialeval.schemas.shared import REQUESTS
from dialeval.tables import TableWriter
from dialeval.text.counting import counted


@dataclass(frozen=True, slots=True)
class Planned:
    """A request and the ids of its subject: dialogues on a ChatSEED, or an item of a corpus.

    Attributes:
        case_id: what the dialogues have in common: their ChatSEED, or another case.
        left: the model whose dialogue is shown (first).
        right: the model whose dialogue is shown second, in pairwise protocols.
        n_utterances: the length that dialogues were cut to, or have.
        corpus, language, item_id: the item that is scored or answered.
        part: what of the item is asked for: a dimension, an option, an order of the options.
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
        """Returns the request as a row of the table `requests`."""
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


def request_from_row(row: Mapping[str, Any]) -> Request:
    """Returns the request that `Planned.to_row` wrote."""
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
    """Writes the table `requests`, row by row, and says how many there are."""
    with TableWriter(path, REQUESTS) as table:
        table.write_all(one.to_row() for one in planned)
    print(f"{counted(table.rows, 'request')} planned")


def in_shard(name: str, shard: int, shards: int) -> bool:
    """Returns whether a request or seed of this name belongs to a shard (1-based), whatever else there is."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % shards == shard - 1
