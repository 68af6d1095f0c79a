"""ChatSEEDs: the first two utterances of a human dialogue (BotChat 3.1)."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from dialeval.engines.request import Dialogue
from dialeval.errors import UserError
from dialeval.tables import to_table

SEED_LENGTH = 2


def seed_table(utterances: pa.Table, *, arena_min_utterances: int, limit: int | None) -> pa.Table:
    """Returns the table `seeds`, one row per human dialogue of the seeds' corpus, in its order.

    Args:
        utterances: the table `utterances` of that corpus.
        arena_min_utterances: human utterances that a seed needs to serve Arena and GTEval.
        limit: keep only the first so many.
    """
    texts = dialogues_of(utterances)
    about: dict[str, dict[str, str]] = {}
    for row in utterances.select(["dialogue_id", "corpus", "language"]).to_pylist():
        about.setdefault(row["dialogue_id"], row)
    rows = [
        {
            "seed_id": dialogue_id,
            "corpus": about[dialogue_id]["corpus"],
            "language": about[dialogue_id]["language"],
            "utterances": list(dialogue[:SEED_LENGTH]),
            "n_human": len(dialogue),
            "for_arena": len(dialogue) >= arena_min_utterances,
        }
        for dialogue_id, dialogue in texts.items()
    ]
    return to_table("seeds", rows[:limit])


def dialogues_of(utterances: pa.Table) -> dict[str, Dialogue]:
    """Returns the texts of each dialogue of a table `utterances`, by dialogue_id, in the table's order."""
    texts: dict[str, list[str]] = {}
    columns = utterances.select(["dialogue_id", "turn", "text"]).to_pydict()
    for dialogue_id, turn, text in zip(columns["dialogue_id"], columns["turn"], columns["text"], strict=True):
        dialogue = texts.setdefault(dialogue_id, [])
        if turn != len(dialogue):
            raise UserError(f"dialogue '{dialogue_id}': turn {turn} follows turn {len(dialogue) - 1}; rows are missing")
        dialogue.append(text)
    return {dialogue_id: tuple(dialogue) for dialogue_id, dialogue in texts.items()}


def length_distribution(seeds: pa.Table) -> pa.Table:
    """Returns the table `botchat/seeds`: human dialogues by number of utterances (Figure 2)."""
    counts = Counter(seeds["n_human"].to_pylist())
    return to_table("botchat/seeds", [{"n_utterances": n, "n_dialogues": counts[n]} for n in sorted(counts)])
