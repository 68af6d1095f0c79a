"""Utterances of dialogues as items: whose, which, and in which context."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora.items import Item
from dialeval.corpora.turn_items import turns_of

SAID = ("a", "b", "c", "d", "e")
TALK = Item(
    "selfchat", "s1/bot", "en", "dialogue", "s1", ("user", "chatbot") * 2 + ("user",), SAID, "bot", "s1", "chatbot"
)


def test_the_judged_sides_last_utterance_in_its_context() -> None:
    (turn,) = turns_of(TALK, "last", said_before=1)
    assert (turn.item_id, turn.level, turn.response, turn.context) == ("s1/bot/4", "turn", "d", ("a", "b", "c"))
    assert (turn.system, turn.case_id, turn.cluster, turn.judged) == ("bot", "s1", "s1", "chatbot")


def test_all_of_them_but_not_the_seeds() -> None:
    assert [turn.response for turn in turns_of(TALK, "all", said_before=1)] == ["b", "d"]
    assert [turn.response for turn in turns_of(TALK, "all", said_before=2)] == ["d"]
    assert not list(turns_of(replace(TALK, level="turn"), "all"))


@given(st.integers(1, 12), st.integers(0, 4))
def test_who_talks_to_itself_is_judged_by_every_utterance(n: int, said_before: int) -> None:
    item = Item("selfchat", "s/b", "en", "dialogue", "s", ("A", "B") * 6, tuple("abcdefghijkl"), "b", "s")
    item = replace(item, speakers=item.speakers[:n], utterances=item.utterances[:n])
    turns = list(turns_of(item, "all", said_before=said_before))
    assert [turn.response for turn in turns] == list("abcdefghijkl"[said_before:n])
    assert list(turns_of(item, "last", said_before=said_before)) == turns[-1:]
