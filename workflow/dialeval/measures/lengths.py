"""Lengths of utterances in tokens (BotChat 4.1, Table 1 and Figure 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dialeval.corpora.items import human_items
from dialeval.engines.cl100k import Tokenizer
from dialeval.papers.botchat import published_value
from dialeval.tables.dialogues import UTTERANCE_LENGTHS, UTTERANCE_TOKENS
from dialeval.tables.files import HUMAN, to_table


def utterance_tokens(human: pa.Table, seeds: pa.Table, generated: pa.Table, tokenizer: Tokenizer) -> pa.Table:
    """Returns the table `botchat/utterance_tokens`: the length of every utterance.

    Of people all utterances count, as in the paper; of a chatbot those that it wrote, not the seed's.

    Args:
        human: table `utterances` of the seeds' corpus.
        seeds: table `seeds`.
        generated: table `generated` of all chatbots.
        tokenizer: what counts.
    """
    rows: list[dict[str, Any]] = [
        {"model": HUMAN, "seed_id": item.case_id, "turn": turn, "text": text}
        for item in human_items(human, seeds)
        for turn, text in enumerate(item.utterances)
    ]
    rows += _written_by_chatbots(generated)
    counts = tokenizer.count_all([row.pop("text") for row in rows])
    return to_table(
        UTTERANCE_TOKENS,
        [row | {"tokens": count, "tokenizer": tokenizer.name} for row, count in zip(rows, counts, strict=True)],
    )


def _written_by_chatbots(generated: pa.Table) -> Iterator[dict[str, Any]]:
    for row in generated.select(["chatbot", "seed_id", "turn", "origin", "text"]).to_pylist():
        if row["origin"] == "model":
            yield {"model": row["chatbot"], "seed_id": row["seed_id"], "turn": row["turn"], "text": row["text"]}


def length_summary(tokens: pa.Table) -> pa.Table:
    """Returns the table `botchat/utterance_lengths`, one row per model, people first."""
    frame = tokens.to_pandas()
    rows = []
    for model in dict.fromkeys(frame["model"]):
        lengths = frame.loc[frame["model"] == model, "tokens"].to_numpy()
        rows.append(
            {
                "model": model,
                "mean": float(np.mean(lengths)),
                "median": float(np.median(lengths)),
                "p95": float(np.percentile(lengths, 95)),
                "max": int(np.max(lengths)),
                "n": len(lengths),
                "tokenizer": tokens["tokenizer"][0].as_py(),
                "published_mean": published_value(model, "mean_tokens"),
            }
        )
    return to_table(UTTERANCE_LENGTHS, rows)
