"""What every rated source must obey."""

from __future__ import annotations

from dataclasses import fields

import pytest

from dialeval.corpora.items import Item, Rating, item_rows, speakers_before_response, speakers_in_turn
from dialeval.corpora.rated_sources import (
    RatedReading,
    Scale,
    check,
    check_joined,
    only,
    rating_rows,
    rating_value,
    repeated_ratings,
)
from dialeval.errors import UserError

# What every rated source must obey.


def item(item_id: str = "i1", texts: tuple[str, ...] = ("Hi.", "Ho."), language: str = "en", **more: str) -> Item:
    speakers = speakers_before_response(len(texts))
    cluster = more.get("cluster", "c1")
    return Item("mine", item_id, language, "turn", cluster, speakers, texts)


def rating(item_id: str = "i1", value: float = 3.0, **more: int) -> Rating:
    return Rating("mine", item_id, "overall", "human", "people", more.get("round"), value, 1, 1.0, 5.0)


def reading(items: list[Item], ratings: list[Rating]) -> RatedReading:
    result = RatedReading("some.file")
    for number, one in enumerate(items):
        result.add(one, f"row {number}")
    result.ratings += ratings
    return result


def test_a_sound_reading_passes_and_says_what_it_holds() -> None:
    found = reading([item(), item(language="de"), item("i2")], [rating(), rating("i2", 2.5), rating(round=0)])
    found.skipped["lines without a rating"] += 2
    found.notes["texts that are odd"] += 1
    assert check(found) is found
    line = found.summary()
    for words in ("3 items in 2 languages (en, de)", "3 ratings", "3 of them by people"):
        assert words in line
    assert "2 records left out (2 lines without a rating)" in line
    assert "1 texts that are odd" in line


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (item(), ["row 1", "'i1' already occurs at row 0"]),
        (item(""), ["row 1", "no id"]),
        (item("i2", ()), ["row 1", "'i2' has no utterance"]),
        (item("i2", ("Hi.", " ")), ["row 1", "'i2', utterance 2 is empty"]),
    ],
)
def test_an_item_that_cannot_be_scored_is_reported_with_its_place(second: Item, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        reading([item(), second], [])
    for word in ("some.file", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("items", "ratings", "words"),
    [
        ([], [rating()], "has no rated items"),
        ([item()], [], "no item with a rating"),
        ([item()], [rating("i2")], "'i2' on overall by people belongs to an item that is missing"),
        ([item()], [rating(), rating(value=4.0)], "occurs twice"),
        ([item()], [rating(value=5.1)], "5.1 is outside its scale, 1 to 5"),
        ([item(), item(language="de", cluster="c2")], [rating()], "in 'de' differs from that in the previous language"),
    ],
)
def test_what_no_later_stage_could_use_is_refused(items: list[Item], ratings: list[Rating], words: str) -> None:
    with pytest.raises(UserError, match=words):
        check(reading(items, ratings))


def test_fractions_stay_fractions() -> None:
    assert rating_value(2.25, Scale(1, 5), "here") == 2.25
    assert rating_value(5, Scale(1, 5), "here") == 5.0


def test_a_text_may_hold_the_number() -> None:
    assert [rating_value(text, Scale(-1, 5), "here") for text in ("4", " 2.50 ", "-1")] == [4.0, 2.5, -1.0]


@pytest.mark.parametrize("value", [None, True, "three", "", "nan", "6", float("nan"), float("inf"), 0.999, 5.001])
def test_what_is_no_rating_on_the_scale_is_refused(value: object) -> None:
    with pytest.raises(UserError, match=r"^here: .*1 to 5"):
        rating_value(value, Scale(1, 5), "here")


def test_raters_are_kept_singly_beside_their_mean() -> None:
    ratings = repeated_ratings(("mine", "i1", "overall"), ("human", "people"), [4.0, None, 1.0], Scale(0, 4))
    assert [(r.round, r.value, r.n_raters) for r in ratings] == [(0, 4.0, 1), (2, 1.0, 1), (None, 2.5, 2)]
    assert {(r.scale_min, r.scale_max) for r in ratings} == {(0, 4)}
    assert repeated_ratings(("mine", "i1", "overall"), ("human", "people"), [None], Scale(0, 4)) == []


def test_speakers_alternate_back_from_the_response_or_on_from_the_beginning() -> None:
    assert speakers_before_response(4) == ("human", "chatbot", "human", "chatbot")
    assert speakers_before_response(3) == ("chatbot", "human", "chatbot")
    assert speakers_before_response(1) == ("chatbot",)
    assert speakers_in_turn(3) == ("human", "chatbot", "human")


def test_a_source_in_english_is_not_taken_for_another_language() -> None:
    only("en", None, "f")
    only("en", ["de", "en"], "f")
    with pytest.raises(UserError, match=r"f is in English only, and languages is de, fr"):
        only("en", ["de", "fr"], "f")


def test_rows_have_exactly_the_fields() -> None:
    (row,) = item_rows([item()])
    assert list(row) == [field.name for field in fields(Item)]
    assert row["speakers"] == ["human", "chatbot"]
    assert row["utterances"] == ["Hi.", "Ho."]
    (row,) = rating_rows([rating()])
    assert Rating(**row) == rating()


@pytest.mark.parametrize(
    ("asks", "words"),
    [
        (
            {"overall": "relevence"},
            "ratings on 'relevence', which some.file does not have; choose from its ratings: overall",
        ),
        (
            {"coherence": "overall"},
            "some.file has responses, and 'coherence' is not a criterion of this level; choose from",
        ),
    ],
)
def test_incomparable_items_are_refused_before_any_request(asks: dict[str, str], words: str) -> None:
    found = reading([item()], [rating()])
    check_joined(found, {"relevance": "overall", "zest": "overall"}, "metaeval.corpora.mine.criterion_map")
    with pytest.raises(UserError, match="metaeval.corpora.mine.criterion_map: ") as caught:
        check_joined(found, asks, "metaeval.corpora.mine.criterion_map")
    assert words in str(caught.value)
