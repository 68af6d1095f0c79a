"""Tiny encoders and metrics of theirs at their random start, made on the spot. Needs torch and transformers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialeval.engines.encoder.metric import Metric
from dialeval.engines.encoder.tiny_encoder import build_tiny_encoder

CRITERIA = ("coherence", "engagingness", "informativeness")


def tiny_encoder(folder: Path, **options: Any) -> Path:
    """Return a folder with a tiny encoder."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    build_tiny_encoder(folder, **options)
    return folder


def tiny_metric(folder: Path, encoder: Path, *, seed: int = 0, spread: float = 1.0, **fields: Any) -> Path:
    """Make a folder with a metric whose heads, and adapters, are drawn, so that dialogues get different scores."""
    import torch
    import transformers

    from dialeval.engines.encoder.engine import save_network
    from dialeval.engines.encoder.network import ExpertNetwork

    metric = Metric(**{"level": "dialogue", "criteria": CRITERIA, "experts": CRITERIA, "max_tokens": 64} | fields)
    torch.manual_seed(seed)
    body = transformers.AutoModel.from_pretrained(encoder, dtype=torch.float32)
    network = ExpertNetwork(body, len(metric.experts), adapter_size=metric.adapter_size)
    for name, weight in network.named_parameters():
        if not name.startswith("body."):
            torch.nn.init.normal_(weight, std=spread / weight.shape[-1] ** 0.5)
    folder.mkdir()
    save_network(folder, network, transformers.AutoTokenizer.from_pretrained(encoder), metric)
    return folder


def dialogues_of_many_lengths(number: int = 40) -> list[tuple[str, ...]]:
    """Return bundled dialogues cut to different lengths, odd texts among them."""
    from dialeval.corpora.dialogues import bundled_dialogues

    whole: Sequence[Any] = bundled_dialogues("en").dialogues[:number]
    cut = [tuple(part.text for part in one.utterances[: 1 + place % 7]) for place, one in enumerate(whole)]
    return [*cut, ("",), ("a\tb </s> <pad>", "你好 \ud800 ́"), ("word " * 500, "and a reply")]


def score_rows(folder: Path, rows: Sequence[Any]) -> list[float]:
    """Return what the engine of a metric says of rows of a training set."""
    import asyncio
    import math

    from dialeval.config import EncoderModel
    from dialeval.engines.answering import open_engine
    from dialeval.engines.requests import Message, Request, Response

    engine: Any = open_engine(EncoderModel(engine="encoder", weights=folder, gpus=0, batch_tokens=700), [])

    async def ask() -> dict[str, Response]:
        requests = (
            (
                row["example_id"],
                Request(
                    row["example_id"], "yes_no", "choice", (Message("user", "?"),), labels=("Yes", "No"),
                    subject=(tuple(row["utterances"]), (row["level"], row["criterion"]), tuple(row["speakers"])),
                ),
            )
            for row in rows
        )  # fmt: skip
        found = {key: outcome async for key, outcome in engine.answer_all(requests, None)}
        await engine.close()
        return found

    found = asyncio.run(ask())
    return [math.exp((found[row["example_id"]].label_logprobs or {})["Yes"]) for row in rows]
