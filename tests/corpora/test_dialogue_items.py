"""Dialogues as items to be scored, and a draw that does not depend on what else is there."""

from __future__ import annotations

from typing import Any

from dialeval.corpora.dialogue_items import chosen, items_of_dialogues
from dialeval.tables import to_table


def rows(name: str, n: int, speakers: str = "AB") -> list[dict[str, Any]]:
    about = {"corpus": "mine", "dialogue_id": name, "language": "en"}
    return [about | {"turn": t, "speaker": speakers[t % len(speakers)], "text": f"{name} {t}"} for t in range(n)]


def test_each_dialogue_gives_itself_and_a_response_of_its_second_speaker() -> None:
    items = list(items_of_dialogues(to_table("utterances", rows("one", 5) + rows("two", 2))))
    assert [item.level for item in items] == ["dialogue", "turn", "dialogue", "turn"]
    whole, turn = items[:2]
    assert whole.speakers == ("human", "chatbot", "human", "chatbot", "human")
    assert turn.speakers[-1] == "chatbot"
    assert turn.utterances == whole.utterances[: len(turn.utterances)]
    assert turn.cluster == whole.cluster == "one"
    assert len({item.item_id for item in items}) == 4


def test_a_monologue_has_no_response() -> None:
    items = list(items_of_dialogues(to_table("utterances", rows("alone", 3, "A"))))
    assert [item.level for item in items] == ["dialogue"]


def test_the_draw_is_by_id_and_within_each_group() -> None:
    table = to_table("utterances", [row for number in range(20) for row in rows(f"d{number}", 4)])
    items = list(items_of_dialogues(table))
    drawn = chosen(items, 5, random_seed=1)
    assert sum(item.level == "turn" for item in drawn) == sum(item.level == "dialogue" for item in drawn) == 5
    assert [item for item in chosen(reversed(items), 5, 1) if item in drawn] == list(reversed(drawn))
    fewer = [item for item in items if item not in drawn or item in drawn[:4]]
    assert set(chosen(fewer, 5, 1)) >= set(drawn[:4])
    assert chosen(items, None, 1) == items
    assert chosen(items, 5, random_seed=2) != drawn
