"""A planned request: what to ask, and which dialogues the answer will be about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from dialeval.corpora.seeds import dialogues_of
from dialeval.corpora.speakers import speakers_of
from dialeval.engines.request import Dialogue, Message, Request, Sampling

DialoguesByModel = Mapping[str, Mapping[str, Dialogue]]
"""Model name -> seed_id -> utterances. Human dialogues stand under HUMAN."""


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
        sampling=Sampling(row["temperature"], row["top_p"], row["max_tokens"], row["sampler_seed"], tuple(row["stop"])),
        labels=tuple(row["labels"]),
        answer_schema=row["answer_schema"],
        continuation=row["continuation"],
        subject=tuple(tuple(dialogue) for dialogue in row["subject"]),
        repeat=row["repeat"],
    )


def generated_dialogues(generated: pa.Table) -> dict[str, dict[str, Dialogue]]:
    """Returns the dialogues of a table `generated`, by chatbot and seed_id, in the table's order."""
    dialogues: dict[str, dict[str, list[str]]] = {}
    columns = generated.select(["chatbot", "seed_id", "text"]).to_pydict()
    for chatbot, seed_id, text in zip(columns["chatbot"], columns["seed_id"], columns["text"], strict=True):
        dialogues.setdefault(chatbot, {}).setdefault(seed_id, []).append(text)
    return {bot: {seed_id: tuple(texts) for seed_id, texts in by_seed.items()} for bot, by_seed in dialogues.items()}


def human_dialogues(utterances: pa.Table, seeds: pa.Table) -> dict[str, Dialogue]:
    """Returns the human dialogues that the seeds were taken from, by seed_id; none of scenarios."""
    dialogues = dialogues_of(utterances)
    return {seed_id: dialogues[seed_id] for seed_id in seeds["seed_id"].to_pylist() if seed_id in dialogues}


def human_speakers(utterances: pa.Table, seeds: pa.Table) -> dict[str, tuple[str, ...]]:
    """Returns who says each utterance of the human dialogues that the seeds were taken from, by seed_id."""
    speakers = speakers_of(utterances)
    return {seed_id: speakers[seed_id] for seed_id in seeds["seed_id"].to_pylist() if seed_id in speakers}


def arena_seeds(seeds: pa.Table) -> list[str]:
    """Returns the seed_ids that serve Arena."""
    return _serving(seeds, "for_arena")


def gteval_seeds(seeds: pa.Table) -> list[str]:
    """Returns the seed_ids that serve GTEval."""
    return _serving(seeds, "for_gteval")


def _serving(seeds: pa.Table, purpose: str) -> list[str]:
    return [row["seed_id"] for row in seeds.select(["seed_id", purpose]).to_pylist() if row[purpose]]


def in_shard(name: str, shard: int, shards: int) -> bool:
    """Returns whether a request or seed of this name belongs to a shard (1-based), whatever else there is."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % shards == shard - 1
