"""Anyone's rated items: which are read, and the messages of mistakes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora import rated_files
from dialeval.corpora.rated_sources import RatedReading
from dialeval.errors import UserError

# Anyone's rated items: which are read, and the messages of mistakes.


def turn(item_id: str = "t1", ratings: Any = None, **more: Any) -> dict[str, Any]:
    record = {"item_id": item_id, "context": ["Is it far?"], "response": "No.", "scale": [1, 5]}
    return record | {"ratings": {"overall": 3} if ratings is None else ratings} | more


def dialogue(item_id: str = "d1", ratings: Any = None, **more: Any) -> dict[str, Any]:
    record = {"item_id": item_id, "dialogue": ["Hi.", "Ho.", "Bye."], "scale": [0, 1]}
    return record | {"ratings": {"coherence": 0.5} if ratings is None else ratings} | more


def read(tmp_path: Path, *records: dict[str, Any], languages: list[str] | None = None) -> RatedReading:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return rated_files.read_rated_lines("mine", path, languages)


def test_turns_and_dialogues_are_read(tmp_path: Path) -> None:
    spoken = [{"speaker": "Ann", "text": " Hi. "}, {"speaker": "bot", "text": "Ho."}]
    reading = read(
        tmp_path,
        turn(),
        turn("t2", context=spoken),
        turn("t3", context=[]),
        dialogue(),
        dialogue("d2", dialogue=spoken, language="de"),
    )
    found = [(i.item_id, i.level, i.language, i.speakers, i.utterances) for i in reading.items]
    assert found == [
        ("t1", "turn", "en", ("human", "chatbot"), ("Is it far?", "No.")),
        ("t2", "turn", "en", ("Ann", "bot", "chatbot"), ("Hi.", "Ho.", "No.")),
        ("t3", "turn", "en", ("chatbot",), ("No.",)),
        ("d1", "dialogue", "en", ("A", "B", "A"), ("Hi.", "Ho.", "Bye.")),
        ("d2", "dialogue", "de", ("Ann", "bot"), ("Hi.", "Ho.")),
    ]


def test_every_form_of_a_rating_is_read(tmp_path: Path) -> None:
    ratings = {
        "relevance": 4.5,
        "specificity": [1, None, 2],
        "interestingness": {"value": 0.25, "scale": [0, 1], "n_raters": 7},
        "understandability": {"values": [4, 5], "rater": "experts"},
        "overall": [{"values": [3]}, {"value": 2, "rater_kind": "model", "rater": "gpt-x", "scale": [1, 10]}],
    }
    reading = read(tmp_path, turn(ratings=ratings))
    found = [(r.dimension, r.rater_kind, r.rater, r.round, r.value, r.n_raters, r.scale_max) for r in reading.ratings]
    assert found == [
        ("relevance", "human", "people", None, 4.5, None, 5.0),
        ("specificity", "human", "people", 0, 1.0, 1, 5.0),
        ("specificity", "human", "people", 2, 2.0, 1, 5.0),
        ("specificity", "human", "people", None, 1.5, 2, 5.0),
        ("interestingness", "human", "people", None, 0.25, 7, 1.0),
        ("understandability", "human", "experts", 0, 4.0, 1, 5.0),
        ("understandability", "human", "experts", 1, 5.0, 1, 5.0),
        ("understandability", "human", "experts", None, 4.5, 2, 5.0),
        ("overall", "human", "people", 0, 3.0, 1, 5.0),
        ("overall", "human", "people", None, 3.0, 1, 5.0),
        ("overall", "model", "gpt-x", None, 2.0, None, 10.0),
    ]


def test_an_item_in_two_languages_has_its_ratings_once_and_one_cluster(tmp_path: Path) -> None:
    german = turn(language="de", response="Nein.", context=["Ist es weit?"], ratings={})
    other = turn("t2", response="Yes.", language="en")
    reading = read(tmp_path, german, other, turn(language="en"))
    assert [(item.item_id, item.language, item.cluster) for item in reading.items] == [
        ("t1", "de", "t1"),
        ("t2", "en", "t1"),
        ("t1", "en", "t1"),
    ]
    assert [r.item_id for r in reading.ratings] == ["t1", "t2"]
    only = read(tmp_path, german, other, turn(language="en"), languages=["de"])
    assert [(item.language, item.cluster) for item in only.items] == [("de", "t1")]
    assert [(r.item_id, r.value) for r in only.ratings] == [("t1", 3.0)]
    assert only.skipped == {"lines in other languages": 2}


def test_a_named_cluster_is_taken_for_all_lines_of_its_item(tmp_path: Path) -> None:
    reading = read(tmp_path, turn(cluster="day 1"), turn("t2"), turn(language="de"), dialogue(), dialogue("d2"))
    assert [item.cluster for item in reading.items] == ["day 1", "t2", "day 1", "d1", "d1"]


def test_items_without_a_rating_are_left_out_and_counted(tmp_path: Path) -> None:
    reading = read(tmp_path, turn(), turn("t2", ratings={}), turn("t3", ratings={"overall": [None]}))
    assert [item.item_id for item in reading.items] == ["t1"]
    assert reading.skipped == {"lines without a rating": 2}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (turn(ratings={"relevence": 1}),
         ["level turn has no dimension 'relevence'", "'relevence'", "did you mean 'relevance'?"]),
        (turn(ratings={"coherence": 1}), ["level turn has no dimension 'coherence'"]),
        (dialogue(ratings={"relevance": 1}), ["level dialogue has no dimension 'relevance'"]),
        (turn(scale=None), ["line 1, overall", "the scale is missing", '"scale": [lowest, highest]']),
        (turn(scale=[5, 1]), ["'scale' is [5, 1]; it must be [lowest, highest]"]),
        (turn(scale=[1, 2, 3]), ["[lowest, highest]"]),
        (turn(scale="1-5"), ["[lowest, highest]"]),
        (turn(ratings={"overall": 5.5}), ["line 1, overall", "5.5 is outside its scale, 1 to 5"]),
        (turn(ratings={"overall": [1, 0]}), ["overall, rater 2", "0 is outside its scale"]),
        (turn(ratings={"overall": "four"}), ["'four' is not a rating"]),
        (turn(ratings={"overall": True}), ["True is not a rating"]),
        (turn(ratings={"overall": {}}), ["either 'value' (a mean) or 'values'"]),
        (turn(ratings={"overall": {"value": 1, "values": [1]}}), ["either 'value'"]),
        (turn(ratings={"overall": {"values": 1}}), ["overall: 'values' is 1; it must be a list"]),
        (turn(ratings={"overall": {"mean": 1}}), [" 'mean' is not a field"]),
        (turn(ratings={"overall": {"value": 1, "n_raters": 0}}),
         ["'n_raters' is 0; it must be greater than or equal to 1"]),
        (turn(ratings={"overall": {"values": [1, None], "n_raters": 2}}), ["'n_raters' is 2, but there are 1 values"]),
        (turn(ratings={"overall": {"value": 1, "rater_kind": "robot"}}),
         ["'rater_kind' is 'robot'; it must be 'human', 'model' or 'construction'"]),
        (turn(ratings={"overall": {"value": 1, "rater_kind": "model"}}), ["a model's rating needs its name"]),
        (turn(ratings={"overall": [{"value": 1}, {"value": 2}]}), ["'t1' on overall by people occurs twice"]),
        (turn(ratings=[4]), ["'ratings' is [4]; it must be an object"]),
        (turn(dialogue=["x"]), ["either 'response' (and 'context') or 'dialogue'; both"]),
        ({"item_id": "x", "ratings": {}}, ["either 'response'", "neither"]),
        ({"id": "x", "response": "y"}, ["'item_id' is missing; present: id, response"]),
        (turn(context="Hi."), ["'context' is 'Hi.'; it must be a list"]),
        (turn(context=[{"speaker": "A"}]), ["'context', utterance 1: the field 'text' is missing; present: speaker"]),
        (turn(response=None), ["either 'response'", "there is neither"]),
        (turn(response=" "), ["item 't1', utterance 2 is empty"]),
        (dialogue(dialogue=[]), ["item 'd1' has no utterance"]),
        (turn(""), ["line 1: the item has no id"]),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_file_line_and_remedy(
    tmp_path: Path, record: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, record)
    for word in ("mine.jsonl", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("records", "languages", "words"),
    [
        ([turn(), turn()], None, ["line 2", "'t1' already occurs at line 1"]),
        ([turn(), turn(language="de", ratings={"overall": 4})], None, ["line 2", "differ from those at line 1"]),
        (
            [turn(cluster="a"), turn(language="de", cluster="b")],
            None,
            ["the level or cluster of item 't1' in 'de' differs"],
        ),
        (
            [turn(), turn(language="de")],
            ["fr"],
            ["no item is in fr", "the file has: en, de", "correct the field `languages`"],
        ),
        ([turn(ratings={})], None, ["has no rated items", "1 lines without a rating"]),
        ([], None, ["has no rated items"]),
    ],
)
def test_lines_that_do_not_fit_together_are_reported(
    tmp_path: Path, records: list[dict[str, Any]], languages: list[str] | None, words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, *records, languages=languages)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("line", ["{broken", "[1]", "3"])
def test_a_line_that_is_no_object_is_reported(tmp_path: Path, line: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{json.dumps(turn())}\n\n{line}\n")
    with pytest.raises(UserError, match=r"mine\.jsonl, line 3"):
        rated_files.read_rated_lines("mine", path)


@given(st.lists(st.text().filter(str.strip), min_size=1, max_size=5))
def test_texts_pass_through_unchanged(texts: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        reading = read(Path(folder), dialogue(dialogue=texts))
    assert reading.items[0].utterances == tuple(text.strip() for text in texts)


def test_ratings_on_ones_own_criteria_are_read_where_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(turn(ratings={"empathy": [3, 4], "overall": 2}, scale=[1, 7])) + "\n")
    reading = rated_files.read_rated_lines("mine", path, None, ["empathy"])
    assert {(one.dimension, one.value, one.scale_max) for one in reading.ratings} == {
        ("empathy", 3, 7), ("empathy", 4, 7), ("empathy", 3.5, 7), ("overall", 2, 7),
    }  # fmt: skip
    with pytest.raises(UserError, match=r"no dimension 'empathy'.*name it in metaeval\.corpora\.mine\.dimensions"):
        rated_files.read_rated_lines("mine", path)


# xDial-Eval's CSVs, on hand-made files.

Row = dict[str, str]


def xdial_turn(context: str, response: str, rating: str = "1", **other: tuple[str, str]) -> Row:
    """A row of a turn file: English, German with marked texts unless given, and others."""
    texts = {"english": (context, response), "german": (f"de {context}", f"de {response}")} | other
    row = {}
    for language in sorted(texts):
        row[f"{language}_ctx"], row[f"{language}_res"] = texts[language]
    return row | {"ratings": rating}


def xdial_dialogue(english: str, arabic: str, rating: str = "2") -> Row:
    return {"arabic_dial": arabic, "english_dial": english, "ratings": rating}


def write(tmp_path: Path, name: str, *rows: Row) -> Path:
    path = tmp_path / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_items_have_one_id_and_one_rating_in_all_languages(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", xdial_turn('Hi.\nHo, "you"!', "Well?", "0.2"), xdial_turn("A", "B", "4"))
    reading = rated_files.read_xdial("mine", path)
    assert [(item.language, item.item_id, item.utterances) for item in reading.items] == [
        ("en", "fed-turn-000000", ("Hi.", 'Ho, "you"!', "Well?")),
        ("en", "fed-turn-000001", ("A", "B")),
        ("de", "fed-turn-000000", ("de Hi.", 'Ho, "you"!', "de Well?")),
        ("de", "fed-turn-000001", ("de A", "de B")),
    ]
    assert [item.speakers for item in reading.items[:2]] == [("chatbot", "human", "chatbot"), ("human", "chatbot")]
    found = [(r.corpus, r.item_id, r.dimension, r.rater_kind, r.value, r.scale_max) for r in reading.ratings]
    assert found == [
        ("mine", "fed-turn-000000", "overall", "human", 0.2, 4.0),
        ("mine", "fed-turn-000001", "overall", "human", 4.0, 4.0),
    ]


@pytest.mark.parametrize(
    ("name", "dimension", "scale"),
    [
        ("persona-usr", "relevance", (1.0, 3.0)),
        ("conture-turn", "overall", (0.0, 2.0)),
        ("convai2-grade", "overall", (1.0, 5.0)),
        ("empathetic-grade", "overall", (1.0, 5.0)),
        ("dstc10-topical_clean", "overall", (1.0, 5.0)),
    ],
)
def test_each_data_set_has_its_dimension_and_scale(
    tmp_path: Path, name: str, dimension: str, scale: tuple[float, float]
) -> None:
    (rating,) = rated_files.read_xdial("m", write(tmp_path, name, xdial_turn("a", "b", "1.5"))).ratings
    assert (rating.dimension, (rating.scale_min, rating.scale_max), rating.value) == (dimension, scale, 1.5)


def test_dialogues_begin_with_a_line_feed_that_is_no_utterance(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "fed-dial",
        xdial_dialogue("\nHi.\nHo.\nHe.", "\nx\ny\nz"),
        xdial_dialogue("\nHi.\nHo.", "\nx\ny\nz"),
    )
    reading = rated_files.read_xdial("m", path)
    assert reading.items[0].utterances == ("Hi.", "Ho.", "He.")
    assert reading.items[0].speakers == ("human", "chatbot", "human")
    assert {item.level for item in reading.items} == {"dialogue"}
    assert [item.language for item in reading.items] == ["en", "en", "ar", "ar"]
    assert reading.notes == {"arabic texts with another number of utterances than the original": 1}


def test_only_line_feeds_part_utterances_and_words_stay_words(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", xdial_turn("None\nun\u2028deux\x85trois", "nan", german=("", "NA")))
    english, german = rated_files.read_xdial("m", path).items
    assert english.utterances == ("None", "un\u2028deux\x85trois", "nan")
    assert german.utterances == ("NA",)


def test_languages_are_selected_and_clusters_come_from_the_english(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "persona-usr",
        xdial_turn("a", "b", german=("x", "y")),
        xdial_turn("q", "r"),
        xdial_turn("a", "c", german=("z", "y")),
    )
    reading = rated_files.read_xdial("m", path, ["de"])
    assert [item.cluster for item in reading.items] == [f"persona-usr-{row:06d}" for row in (0, 1, 0)]
    assert {item.language for item in reading.items} == {"de"}
    assert len(reading.ratings) == 3


def test_the_dialogues_of_conture_are_found_again_in_their_windows(tmp_path: Path) -> None:
    rows = (
        xdial_turn("hi", "r1"),
        xdial_turn("hi\nr1\nu2", "r2"),
        xdial_turn("r1\nu2\nr2\nu3", "r3"),
        xdial_turn("hi", "r1"),
    )
    items = rated_files.read_xdial("m", write(tmp_path, "conture-turn", *rows), ["en"]).items
    assert [item.cluster[-1] for item in items] == ["0", "0", "0", "3"]


def test_untranslated_responses_are_kept_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", xdial_turn("a", "b", german=("x", "b")), xdial_turn("c", "d"))
    reading = rated_files.read_xdial("m", path)
    assert len(reading.items) == 4
    assert "1 german texts whose last utterance is still in English" in reading.summary()


def test_an_empty_text_is_left_out_in_its_language_only(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "fed-turn",
        xdial_turn("a", "b", german=("x", " ")),
        xdial_turn("c", "d", german=("x\n\ny", "z")),
    )
    reading = rated_files.read_xdial("m", path)
    assert [(item.language, item.item_id[-1]) for item in reading.items] == [("en", "0"), ("en", "1")]
    assert reading.skipped == {"german texts that are empty": 2}


@pytest.mark.parametrize(
    ("name", "rows", "languages", "words"),
    [
        ("fed-turn", [xdial_turn("a", "b", "x")], None, ["column ratings, row 0", "'x' is not a rating"]),
        ("fed-turn", [xdial_turn("a", "b"), xdial_turn("a", "b", "")], None, ["row 1", "'' is not a rating"]),
        ("fed-turn", [xdial_turn("a", "b", "nan")], None, ["row 0", "nan is not a rating"]),
        ("fed-turn", [xdial_turn("a", "b", "4.5")], None, ["row 0", "4.5 is outside its scale, 0 to 4"]),
        ("fed-turn", [xdial_turn("a", "b")], ["en", "ru"],
         ["has no russian_ctx and russian_res", "remove 'ru' from languages"]),
        ("fed-turn", [xdial_turn("a", "b")], ["english"], ["a language of xDial-Eval"]),
        ("fed-turn", [xdial_turn("a", "b")], [], ["languages is empty", "en, de"]),
        ("fed-turn", [{"english_ctx": "a", "ratings": "1"}], None, ["no columns <language>_ctx", "rename its columns"]),
        ("fed-turn", [{"english_ctx": "a", "english_res": "b"}], None, ["the column 'ratings' is missing"]),
        ("fed-turns", [xdial_turn("a", "b")], None,
         ["scales of the data set 'fed-turns'", "'fed-turn'", "rated_jsonl"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_reported(
    tmp_path: Path, name: str, rows: list[Row], languages: list[str] | None, words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        rated_files.read_xdial("m", write(tmp_path, name, *rows), languages)
    for word in (f"{name}.csv", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("english_ctx,english_res,ratings\na,b,1\nc,d\n", r"line 3: 2 cells, but 3 columns"),
        ('english_ctx,english_res,ratings\n"a"x,b,1\n', r"line 2: not readable as CSV"),
        ("english_ctx,english_res,english_res,ratings\na,b,c,1\n", r"'english_res' occurs more than once"),
        ("english_ctx,english_res,ratings\n", r"has no rows"),
    ],
)
def test_a_broken_file_is_reported_with_its_line(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "fed-turn.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=words):
        rated_files.read_xdial("m", path)
