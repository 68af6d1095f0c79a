"""Several sets together: no dialogue is learned from that another set keeps for later."""

from __future__ import annotations

from typing import Any

from dialeval.training.parts import parts_of_sets


def _row(example: str, dialogue: str, part: str, corpus: str = "bundled") -> dict[str, Any]:
    return {"example_id": example, "corpus": corpus, "dialogue_id": dialogue, "part": part}


def test_a_dialogue_is_on_one_side_in_all_sets() -> None:
    turns = [
        _row("t1", "a", "train"), _row("t2", "b", "train"), _row("t3", "c", "train"),
        _row("t4", "d", "development"), _row("t5", "e", "held_back"), _row("t6", "f", "development"),
    ]  # fmt: skip
    dialogues = [
        _row("d1", "a", "train"), _row("d2", "b", "development"), _row("d3", "c", "held_back"),
        _row("d4", "d", "train"), _row("d5", "f", "held_back"), _row("d6", "c", "train", corpus="another"),
    ]  # fmt: skip
    parts = {name: [row["example_id"] for row in rows] for name, rows in parts_of_sets([turns, dialogues]).items()}
    assert parts == {"train": ["t1", "d1", "d6"], "development": ["t4", "d2"], "held_back": ["t5", "d3", "d5"]}
