"""ChatSEEDs are the first two utterances."""

from __future__ import annotations

import pytest

from dialeval.corpora.seeds import dialogues_of, length_distribution, not_seeds, seed_table
from dialeval.errors import UserError
from dialeval.schemas.shared import UTTERANCES
from dialeval.tables import to_table


def utterances(**lengths: int) -> list[dict[str, object]]:
    return [
        {"corpus": "c", "dialogue_id": name, "turn": t, "speaker": "AB"[t % 2], "text": f"{name}{t}", "language": "en"}
        for name, length in lengths.items()
        for t in range(length)
    ]


def test_seeds_keep_order_and_know_whom_they_serve() -> None:
    table = seed_table(to_table(UTTERANCES, utterances(b=3, a=5, c=4)), arena_min_utterances=4, limit=None)
    assert table.select(["seed_id", "utterances", "n_human", "for_arena"]).to_pylist() == [
        {"seed_id": "b", "utterances": ["b0", "b1"], "n_human": 3, "for_arena": False},
        {"seed_id": "a", "utterances": ["a0", "a1"], "n_human": 5, "for_arena": True},
        {"seed_id": "c", "utterances": ["c0", "c1"], "n_human": 4, "for_arena": True},
    ]
    assert length_distribution(table).to_pydict() == {"n_utterances": [3, 4, 5], "n_dialogues": [1, 1, 1]}


def test_a_limit_keeps_the_first() -> None:
    table = seed_table(to_table(UTTERANCES, utterances(b=3, a=5)), arena_min_utterances=4, limit=1)
    assert table["seed_id"].to_pylist() == ["b"]


def test_a_seed_is_said_by_two_and_gteval_needs_two_in_turn_to_the_end() -> None:
    rows = [
        {"corpus": "c", "dialogue_id": name, "turn": t, "speaker": s, "text": f"{name}{t}", "language": "en"}
        for name, speakers in {"turns": "ABAB", "twice": "AABB", "three": "ABCA", "later": "ABBA"}.items()
        for t, s in enumerate(speakers)
    ]
    table = to_table(UTTERANCES, rows)
    seeds = seed_table(table, arena_min_utterances=4, limit=None).to_pylist()
    assert [(row["seed_id"], row["for_arena"], row["for_gteval"]) for row in seeds] == [
        ("turns", True, True),
        ("three", True, False),
        ("later", True, False),
    ]
    assert not_seeds(table) == ["twice"]
    with pytest.raises(UserError, match="none of 1 dialogues gives a ChatSEED"):
        seed_table(table.filter([row["dialogue_id"] == "twice" for row in rows]), arena_min_utterances=4, limit=None)


def test_missing_turns_are_told() -> None:
    rows = utterances(a=4)
    del rows[2]
    with pytest.raises(UserError, match="'a': turn 3 follows turn 1"):
        dialogues_of(to_table(UTTERANCES, rows))
