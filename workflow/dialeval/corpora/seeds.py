"""ChatSEEDs: the first two utterances of a human dialogue (BotChat 3.1), which two people said to each other."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from dialeval.corpora.speakers import are_two_in_turn, speakers_of
from dialeval.errors import UserError
from dialeval.schemas.botchat import SEED_LENGTHS, SEEDS
from dialeval.tables import to_table

SEED_LENGTH = 2


def seed_table(utterances: pa.Table, *, arena_min_utterances: int, limit: int | None) -> pa.Table:
    """Returns the table `seeds`, one row per human dialogue of the seeds' corpus, in its order.

    A dialogue whose first two utterances are one person's gives no seed (`not_seeds` names these): a chatbot that goes
    on with it plays two speakers in turn. Where more than two people speak, or one twice in a row, later on, the
    dialogue is a seed but does not serve GTEval, whose other side is always two in turn.

    Args:
        utterances: the table `utterances` of that corpus.
        arena_min_utterances: human utterances that a seed needs to serve Arena and GTEval.
        limit: keep only the first so many.

    Raises:
        UserError: no dialogue gives a seed.
    """
    texts, speakers = dialogues_of(utterances), speakers_of(utterances)
    without_seed = set(not_seeds(utterances))
    if len(without_seed) == len(texts):
        corpus = next(iter(utterances["corpus"].to_pylist()), "")
        raise UserError(
            f"corpora.{corpus}: none of {len(texts)} dialogues gives a ChatSEED: its first two utterances must be two "
            "speakers', one after the other; check the field `speaker` of the dialogues"
        )
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
            "for_gteval": len(dialogue) >= arena_min_utterances and are_two_in_turn(speakers[dialogue_id]),
        }
        for dialogue_id, dialogue in texts.items()
        if dialogue_id not in without_seed
    ]
    return to_table(SEEDS, rows[:limit])


def not_seeds(utterances: pa.Table) -> list[str]:
    """Returns the ids of the dialogues whose first two utterances are not two speakers'."""
    return [
        dialogue_id
        for dialogue_id, speakers in speakers_of(utterances).items()
        if not are_two_in_turn(speakers[:SEED_LENGTH])
    ]


def dialogues_of(utterances: pa.Table) -> dict[str, tuple[str, ...]]:
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
    return to_table(SEED_LENGTHS, [{"n_utterances": n, "n_dialogues": counts[n]} for n in sorted(counts)])
