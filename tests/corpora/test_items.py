"""Dialogues as items to be scored, and a draw that does not depend on what else is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora.items import Item, chosen, items_of_dialogues, not_between_two, turns_of
from dialeval.tables.dialogues import UTTERANCES
from dialeval.tables.files import to_table

# Dialogues as items to be scored, and a draw that does not depend on what else is there.


def rows(name: str, n: int, speakers: str = "AB") -> list[dict[str, Any]]:
    about = {"corpus": "mine", "dialogue_id": name, "language": "en"}
    return [about | {"turn": t, "speaker": speakers[t % len(speakers)], "text": f"{name} {t}"} for t in range(n)]


def test_each_dialogue_gives_itself_and_a_response_of_its_second_speaker() -> None:
    items = list(items_of_dialogues(to_table(UTTERANCES, rows("one", 5) + rows("two", 2))))
    assert [item.level for item in items] == ["dialogue", "turn", "dialogue", "turn"]
    whole, turn = items[:2]
    assert whole.speakers == ("human", "chatbot", "human", "chatbot", "human")
    assert turn.speakers[-1] == "chatbot"
    assert turn.utterances == whole.utterances[: len(turn.utterances)]
    assert turn.cluster == whole.cluster == "one"
    assert len({item.item_id for item in items}) == 4


def test_only_dialogues_between_two_are_taken_and_the_others_are_named() -> None:
    table = to_table(UTTERANCES, rows("alone", 3, "A") + rows("two", 4) + rows("three", 6, "ABC"))
    assert {item.cluster for item in items_of_dialogues(table)} == {"two"}
    assert not_between_two(table) == ["alone", "three"]


def test_who_speaks_twice_in_a_row_is_shown_to() -> None:
    whole, turn = items_of_dialogues(to_table(UTTERANCES, rows("one", 6, "ABB")))
    assert whole.speakers == ("human", "chatbot", "chatbot", "human", "chatbot", "chatbot")
    assert turn.speakers == whole.speakers[: len(turn.speakers)]


def test_the_draw_is_by_id_and_within_each_group() -> None:
    table = to_table(UTTERANCES, [row for number in range(20) for row in rows(f"d{number}", 4)])
    items = list(items_of_dialogues(table))
    drawn = chosen(items, 5, random_seed=1)
    assert sum(item.level == "turn" for item in drawn) == sum(item.level == "dialogue" for item in drawn) == 5
    assert [item for item in chosen(reversed(items), 5, 1) if item in drawn] == list(reversed(drawn))
    fewer = [item for item in items if item not in drawn or item in drawn[:4]]
    assert set(chosen(fewer, 5, 1)) >= set(drawn[:4])
    assert chosen(items, None, 1) == items
    assert chosen(items, 5, random_seed=2) != drawn


# Utterances of dialogues as items: whose, which, and in which context.

SAID = ("a", "b", "c", "d", "e")
TALK = Item(
    "selfchat", "s1/bot", "en", "dialogue", "s1", ("user", "chatbot") * 2 + ("user",), SAID, "bot", "s1", "chatbot"
)


def test_the_judged_sides_last_utterance_in_its_context() -> None:
    (turn,) = turns_of(TALK, "last", n_seed_utterances=1)
    assert (turn.item_id, turn.level, turn.response, turn.context) == ("s1/bot/4", "turn", "d", ("a", "b", "c"))
    assert (turn.system, turn.case_id, turn.cluster, turn.judged) == ("bot", "s1", "s1", "chatbot")


def test_all_of_them_but_not_the_seeds() -> None:
    assert [turn.response for turn in turns_of(TALK, "all", n_seed_utterances=1)] == ["b", "d"]
    assert [turn.response for turn in turns_of(TALK, "all", n_seed_utterances=2)] == ["d"]
    assert not list(turns_of(replace(TALK, level="turn"), "all"))


@given(st.integers(1, 12), st.integers(0, 4))
def test_who_talks_to_itself_is_judged_by_every_utterance(n: int, n_seed_utterances: int) -> None:
    item = Item("selfchat", "s/b", "en", "dialogue", "s", ("A", "B") * 6, tuple("abcdefghijkl"), "b", "s")
    item = replace(item, speakers=item.speakers[:n], utterances=item.utterances[:n])
    turns = list(turns_of(item, "all", n_seed_utterances=n_seed_utterances))
    assert [turn.response for turn in turns] == list("abcdefghijkl"[n_seed_utterances:n])
    assert list(turns_of(item, "last", n_seed_utterances=n_seed_utterances)) == turns[-1:]
