"""What the rules say of dialogues, as judgements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judged_dialogues import items_of

from dialeval.corpora.items import Item
from dialeval.corpora.judged_places import judged_places
from dialeval.failures.by_rule import Rules, judgements
from dialeval.tables import HUMAN

RULES = Rules({"en": 6}, 0.99)
SEED = ("As an AI language model, I greet you from here to there.", "Hello you.")


def said(item: Item, rules: Rules = RULES) -> dict[str, tuple[str, list[int] | None]]:
    rows: list[dict[str, Any]] = list(judgements("failures", [item], rules))
    assert {row["judge"] for row in rows} <= {"rules"}
    assert {row["status"] for row in rows} <= {"ok"}
    assert all(row["place"] == (row["places"][0] if row.get("places") else None) for row in rows if "place" in row)
    return {row["criterion"]: (row["choice"], row.get("places")) for row in rows}


def bot(*more: str, corpus: str = "selfchat") -> Item:
    return items_of({"bot": {"s": (*SEED, *more)}}, corpus=corpus)[0]


def test_each_kind_is_found_where_it_is_and_a_seed_is_nobodys() -> None:
    assert said(bot("Fine.", "I'm an AI, you know.", "one two three four five six seven", "I'm an AI, you know.")) == {
        "self_identification": ("Yes", [4, 6]),
        "excessive_length": ("Yes", [5]),
        "repetitive_phrasing": ("Yes", [6]),
        "good_case": ("No", None),
    }
    assert said(bot("Fine.", "And you?")) == {
        "self_identification": ("No", []),
        "excessive_length": ("No", []),
        "repetitive_phrasing": ("No", []),
        "good_case": ("Yes", None),
    }


def test_transcripts_begin_with_nobody_elses_words_and_a_user_is_not_judged() -> None:
    item = bot("Fine.", "And you?", corpus="support")
    assert said(item)["self_identification"] == ("Yes", [1])
    assert said(replace(item, judged="B")) == said(bot("Fine.", "And you?"))


def test_a_language_without_people_or_phrases_is_not_judged_by_them_and_no_case_is_called_good() -> None:
    german = replace(bot("eins zwei drei vier fünf sechs sieben", "Ich bin eine KI."), language="de")
    assert list(said(german)) == ["self_identification", "repetitive_phrasing"]
    assert list(said(replace(german, language="xx"))) == ["repetitive_phrasing"]


def test_who_said_nothing_is_not_judged() -> None:
    assert said(bot()) == {}
    assert said(replace(bot("Fine."), judged="C")) == {}


def test_people_are_judged_from_the_same_place_on() -> None:
    human, machine = items_of({name: {"s": (*SEED, "Fine.", "So am I.")} for name in (HUMAN, "bot")})
    assert judged_places(human, 2) == judged_places(machine, 2) == (3, 4)
    assert said(human) == said(machine)


def test_reasons_name_the_measure() -> None:
    rows = judgements("failures", [bot("Fine, as an AI.", "one two three four five six seven")], RULES)
    reasons = {row["criterion"]: row["reason"] for row in rows}
    assert reasons["excessive_length"] == "7 words; 0.99 of people's utterances have at most 6"
    assert reasons["self_identification"] == "'as an ai'"
    assert reasons["repetitive_phrasing"] == ""
