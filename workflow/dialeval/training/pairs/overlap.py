"""Which dialogues of a training set are judged later: they are known by their text, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dialeval.errors import UserError
from dialeval.schemas.training import JUDGED_TEXTS, TRAINING_OVERLAP
from dialeval.tables import iterate_rows
from dialeval.training.pairs.shared_text import judged_passages
from dialeval.training.pairs.surroundings import Known

SHOWN = 5
"""Of the dialogues that are judged, how many a message names."""

Texts = tuple[str, str, Sequence[str]]
"""Corpus and id of what is judged, and its utterances."""


def judged_rows(judged: Iterable[Texts]) -> list[dict[str, Any]]:
    """Returns the rows of the table `judged_texts`: each passage once, by its number, with the first that holds it."""
    found: dict[int, tuple[str, str]] = {}
    for corpus, item_id, utterances in judged:
        for passage in judged_passages(utterances):
            found.setdefault(passage, (corpus, item_id))
    return [{"passage": one, "corpus": found[one][0], "item_id": found[one][1]} for one in sorted(found)]


def overlap_rows(training: str, known: Sequence[Known], judged: Path) -> Iterator[dict[str, Any]]:
    """Yields the rows of the table `training_overlap`: dialogues that are judged, and all that share text with them.

    Args:
        training: name of the training set.
        known: its dialogues with their clusters.
        judged: table `judged_texts`.
    """
    item_of = {row["passage"]: (row["corpus"], row["item_id"]) for row in iterate_rows(judged, JUDGED_TEXTS)}
    matches: dict[str, tuple[str, str]] = {}
    own: list[tuple[str, str] | None] = []
    for dialogue, placed in known:
        held = sorted(judged_passages(dialogue.utterances) & item_of.keys())
        own.append(item_of[held[0]] if held else None)
        if held:
            matches.setdefault(placed.cluster, item_of[held[0]])
    for (dialogue, placed), match in zip(known, own, strict=True):
        if placed.cluster in matches:
            corpus, item_id = match or matches[placed.cluster]
            yield {
                "training": training,
                "domain": dialogue.domain,
                "language": dialogue.language,
                "corpus": dialogue.corpus,
                "dialogue_id": dialogue.dialogue_id,
                "cluster": placed.cluster,
                "item_corpus": corpus,
                "item_id": item_id,
            }


def refuse_overlap(training: str, rows: Sequence[dict[str, Any]], n_dialogues: int) -> None:
    """Ends a run in which judges would learn from what they judge.

    Raises:
        UserError: their number, some of them, and what to do.
    """
    if not rows:
        return
    shown = "; ".join(
        f"'{row['dialogue_id']}' of {row['corpus']} is in item '{row['item_id']}' of {row['item_corpus']}"
        for row in rows[:SHOWN]
    )
    more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    raise UserError(
        f"training.{training}: {len(rows)} of {n_dialogues} dialogues that judges would learn from are judged later, "
        f"or hold text of such: {shown}{more}; write `overlap: leave_out` under training.{training} to learn from the "
        "others alone, or learn from other corpora"
    )


def left_out_dialogues(overlaps: Iterable[Path]) -> frozenset[str]:
    """Returns the names of the dialogues that tables `training_overlap` name."""
    rows = (row for path in overlaps for row in iterate_rows(path, TRAINING_OVERLAP, ["corpus", "dialogue_id"]))
    return frozenset(f"{row['corpus']}/{row['dialogue_id']}" for row in rows)
