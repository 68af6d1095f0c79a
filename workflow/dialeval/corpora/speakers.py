"""Who speaks in a dialogue, and which dialogues are two speakers in turn, as self-chat and GTEval need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise

import pyarrow as pa

from dialeval.text.counting import noted

_SHOWN = 10


def speakers_of(utterances: pa.Table) -> dict[str, tuple[str, ...]]:
    """Returns who says each utterance, by dialogue_id, of a table `utterances`, in the table's order."""
    speakers: dict[str, list[str]] = {}
    columns = utterances.select(["dialogue_id", "speaker"]).to_pydict()
    for dialogue_id, speaker in zip(columns["dialogue_id"], columns["speaker"], strict=True):
        speakers.setdefault(dialogue_id, []).append(speaker)
    return {dialogue_id: tuple(names) for dialogue_id, names in speakers.items()}


def are_two_in_turn(speakers: Sequence[str]) -> bool:
    """Returns whether two speakers take turns: exactly two, and none who goes on after himself."""
    return len(set(speakers)) == 2 and all(one != other for one, other in pairwise(speakers))


def left_out(what: str, dialogue_ids: Sequence[str], why: str) -> str:
    """Returns a line for the log that says which dialogues were left out, and why."""
    return f"{noted(len(dialogue_ids), what)} left out, {why}: {_names(dialogue_ids)}"


def _names(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - _SHOWN
    return ", ".join(islice(names, _SHOWN)) + (f" and {more} more" if more > 0 else "")
