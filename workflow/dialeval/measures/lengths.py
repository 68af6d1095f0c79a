"""Lengths: tokens of utterances (BotChat), and words of the dialogues that judges compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from dialeval.corpora.seeds import human_items
from dialeval.engines.cl100k import Tokenizer
from dialeval.papers.botchat import published_value
from dialeval.tables.dialogues import UTTERANCE_LENGTHS, UTTERANCE_TOKENS
from dialeval.tables.files import HUMAN, iterate_rows, to_table
from dialeval.tables.metaeval import ITEMS
from dialeval.text import is_word, surface_tokens

# How long the utterances are (BotChat 4.1, Table 1 and Figure 3).


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


def _written_by_chatbots(generated: pa.Table) -> Iterator[dict[str, Any]]:
    for row in generated.select(["chatbot", "seed_id", "turn", "origin", "text"]).to_pylist():
        if row["origin"] == "model":
            yield {"model": row["chatbot"], "seed_id": row["seed_id"], "turn": row["turn"], "text": row["text"]}


# How long the dialogues are that judges compare: words up to where they were cut.

Words = Mapping[tuple[str, str], Sequence[int]]
"""(system, case_id) -> words of its dialogue up to each utterance."""


def dialogue_words(items: Iterable[Path]) -> dict[tuple[str, str], list[int]]:
    """Returns the words of every system's dialogue up to each utterance, by system and case.

    In scripts without blanks every character counts as a word. A dialogue without any word has one, so that lengths
    have ratios. Where a system has several dialogues on one case, which of them was shown is not known here: it has no
    entry.

    Args:
        items: tables `items`.
    """
    words: dict[tuple[str, str], list[int]] = {}
    several: set[tuple[str, str]] = set()
    for path in items:
        for row in iterate_rows(path, ITEMS, ["system", "case_id", "utterances"]):
            key = (row["system"], row["case_id"])
            if not all(key) or key in several:
                continue
            if key in words:
                several.add(key)
                del words[key]
                continue
            counts = (sum(map(is_word, surface_tokens(text))) for text in row["utterances"])
            words[key] = [max(total, 1) for total in accumulate(counts)]
    return words


def words_shown(judgements: pd.DataFrame, side: Literal["left", "right"], words: Words) -> NDArray[np.float64]:
    """Returns the words of the dialogue that was shown on a side, NaN where they are not known, shape [n]."""
    length = judgements["n_utterances"].fillna(0).to_numpy(dtype=np.int64)
    system, systems = pd.factorize(judgements[side], use_na_sentinel=False)
    case, cases = pd.factorize(judgements["case_id"], use_na_sentinel=False)
    dialogue = (system * max(len(cases), 1) + case) * (length.max(initial=0) + 1) + length
    _, first, place = np.unique(dialogue, return_index=True, return_inverse=True)
    counts = [_up_to(words.get((systems[system[row]], cases[case[row]])), int(length[row])) for row in first]
    return np.array(counts, dtype=np.float64)[place]


def _up_to(counts: Sequence[int] | None, n: int) -> float:
    """Returns the words of the first n utterances, of all for 0."""
    if not counts:
        return float("nan")
    return float(counts[min(n or len(counts), len(counts)) - 1])
