"""Passages of cases and responses in published corpora: planted ones are found, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from dialeval.corpora.items import Item, contamination_rows
from dialeval.tables.dialogues import CONTAMINATION
from dialeval.tables.files import to_table

WORDS = (
    "amber", "brook", "cedar", "delta", "ember", "flint", "grove", "heath", "inlet", "jetty", "knoll", "larch", "marsh",
    "north", "orbit",
)  # fmt: skip
PUBLISHED = [" ".join(WORDS[(start + step) % 15] for step in range(14)) + f" number {start}." for start in range(15)]
SHORT = "See you there."


def dialogue(number: int, prompt: str, response: str, system: str = "kiosk", **more: Any) -> Item:
    about = {"corpus": "support", "item_id": f"{number}/{system}", "language": "en", "level": "dialogue", "cluster": ""}
    texts = {"speakers": ("user", "bot"), "utterances": (prompt, response), "system": system, "case_id": str(number)}
    return Item(**about | texts | {"judged": "bot"} | more)


def own(number: int) -> str:
    return f"We have never published the text of our customer with the ticket {number * 7919} before, at no time."


def found(items: list[Item], seeds: dict[str, int] | None = None, corpora: Any = None) -> list[dict[str, Any]]:
    corpora = {"books": PUBLISHED, "other": [SHORT]} if corpora is None else corpora
    return to_table(CONTAMINATION, contamination_rows(items, corpora, seeds or {})).to_pylist()


def test_a_system_that_recites_half_of_its_responses_is_found_out_and_one_that_does_not_is_not() -> None:
    items = [
        dialogue(number, own(number), PUBLISHED[number].upper() if number % 2 else own(number), system)
        if system == "parrot"
        else dialogue(number, own(number), own(number + 50), system)
        for system in ("parrot", "kiosk")
        for number in range(10)
    ]
    shares = {(row["part"], row["system"], row["corpus"]): (row["n"], row["n_shared"]) for row in found(items)}
    assert shares == {
        ("case", None, "books"): (10, 0),
        ("case", None, "other"): (10, 0),
        ("response", "parrot", "books"): (10, 5),
        ("response", "parrot", "other"): (10, 0),
        ("response", "kiosk", "books"): (10, 0),
        ("response", "kiosk", "other"): (10, 0),
    }
    (row,) = (row for row in found(items) if row["n_shared"])
    assert row["share"] == 0.5
    assert len(row["example"]) == 50
    assert any(row["example"] in "".join(text.split()).rstrip(".") for text in PUBLISHED)


def test_cases_of_several_systems_count_once_and_a_passage_of_49_letters_is_none() -> None:
    plain = "".join(letter for letter in PUBLISHED[3] if letter.isalnum())
    items = [dialogue(1, PUBLISHED[3], own(1), system) for system in ("kiosk", "harbour")]
    items += [dialogue(2, f"{plain[:49]}?? {own(2)}", own(3)), dialogue(3, f"{plain[:50]}?? {own(2)}", own(3))]
    case = next(row for row in found(items) if row["part"] == "case" and row["corpus"] == "books")
    assert (case["n"], case["n_shared"]) == (3, 2)


def test_short_texts_cannot_be_checked_and_people_and_seeds_are_no_responses() -> None:
    items = [dialogue(1, SHORT, SHORT), dialogue(2, PUBLISHED[0], PUBLISHED[1], "human")]
    for row in found(items):
        assert (row["n"], row["n_too_short"], row["n_shared"], row["share"]) == (0, 1, 0, None)
    chat = dialogue(1, PUBLISHED[0], own(1), corpus="selfchat", judged="", speakers=("A", "B"))
    rows = {row["part"]: row for row in found([chat], {"selfchat": 1}, {"books": PUBLISHED})}
    assert (rows["case"]["n_shared"], rows["response"]["n_shared"]) == (1, 0)


@pytest.mark.parametrize("text", ["这是一段已经出版的对话文本" * 5, "Ein Text mit Umlauten äöü und ß, " * 3])
def test_any_script_is_searched(text: str) -> None:
    rows = found([dialogue(1, own(1), text)], corpora={"books": [f"... {text} ..."]})
    assert [row["n_shared"] for row in rows if row["part"] == "response"] == [1]


def test_without_items_or_corpora_there_are_no_rows() -> None:
    assert found([]) == found([dialogue(1, own(1), own(2))], corpora={}) == []
