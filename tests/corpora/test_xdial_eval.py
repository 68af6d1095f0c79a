"""xDial-Eval's CSVs, on hand-made files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dialeval.corpora import xdial_eval
from dialeval.errors import UserError

Row = dict[str, str]


def turn(context: str, response: str, rating: str = "1", **other: tuple[str, str]) -> Row:
    """A row of a turn file: English, German with marked texts unless given, and others."""
    texts = {"english": (context, response), "german": (f"de {context}", f"de {response}")} | other
    row = {}
    for language in sorted(texts):
        row[f"{language}_ctx"], row[f"{language}_res"] = texts[language]
    return row | {"ratings": rating}


def dialogue(english: str, arabic: str, rating: str = "2") -> Row:
    return {"arabic_dial": arabic, "english_dial": english, "ratings": rating}


def write(tmp_path: Path, name: str, *rows: Row) -> Path:
    path = tmp_path / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_items_have_one_id_and_one_rating_in_all_languages(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", turn('Hi.\nHo, "you"!', "Well?", "0.2"), turn("A", "B", "4"))
    reading = xdial_eval.read("mine", path)
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
    (rating,) = xdial_eval.read("m", write(tmp_path, name, turn("a", "b", "1.5"))).ratings
    assert (rating.dimension, (rating.scale_min, rating.scale_max), rating.value) == (dimension, scale, 1.5)


def test_dialogues_begin_with_a_line_feed_that_is_no_utterance(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-dial", dialogue("\nHi.\nHo.\nHe.", "\nx\ny\nz"), dialogue("\nHi.\nHo.", "\nx\ny\nz"))
    reading = xdial_eval.read("m", path)
    assert reading.items[0].utterances == ("Hi.", "Ho.", "He.")
    assert reading.items[0].speakers == ("human", "chatbot", "human")
    assert {item.level for item in reading.items} == {"dialogue"}
    assert [item.language for item in reading.items] == ["en", "en", "ar", "ar"]
    assert reading.notes == {"arabic texts with another number of utterances than the original": 1}


def test_only_line_feeds_part_utterances_and_words_stay_words(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", turn("None\nun\u2028deux\x85trois", "nan", german=("", "NA")))
    english, german = xdial_eval.read("m", path).items
    assert english.utterances == ("None", "un\u2028deux\x85trois", "nan")
    assert german.utterances == ("NA",)


def test_languages_are_selected_and_clusters_come_from_the_english(tmp_path: Path) -> None:
    path = write(
        tmp_path, "persona-usr", turn("a", "b", german=("x", "y")), turn("q", "r"), turn("a", "c", german=("z", "y"))
    )
    reading = xdial_eval.read("m", path, ["de"])
    assert [item.cluster for item in reading.items] == [f"persona-usr-{row:06d}" for row in (0, 1, 0)]
    assert {item.language for item in reading.items} == {"de"}
    assert len(reading.ratings) == 3


def test_the_dialogues_of_conture_are_found_again_in_their_windows(tmp_path: Path) -> None:
    rows = (turn("hi", "r1"), turn("hi\nr1\nu2", "r2"), turn("r1\nu2\nr2\nu3", "r3"), turn("hi", "r1"))
    items = xdial_eval.read("m", write(tmp_path, "conture-turn", *rows), ["en"]).items
    assert [item.cluster[-1] for item in items] == ["0", "0", "0", "3"]


def test_untranslated_responses_are_kept_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", turn("a", "b", german=("x", "b")), turn("c", "d"))
    reading = xdial_eval.read("m", path)
    assert len(reading.items) == 4
    assert "1 german texts whose last utterance is left in English" in reading.summary()


def test_an_empty_text_is_left_out_in_its_language_only(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", turn("a", "b", german=("x", " ")), turn("c", "d", german=("x\n\ny", "z")))
    reading = xdial_eval.read("m", path)
    assert [(item.language, item.item_id[-1]) for item in reading.items] == [("en", "0"), ("en", "1")]
    assert reading.skipped == {"german texts that are empty": 2}


@pytest.mark.parametrize(
    ("name", "rows", "languages", "words"),
    [
        ("fed-turn", [turn("a", "b", "x")], None, ["column ratings, row 0", "'x' is no rating"]),
        ("fed-turn", [turn("a", "b"), turn("a", "b", "")], None, ["row 1", "'' is no rating"]),
        ("fed-turn", [turn("a", "b", "nan")], None, ["row 0", "nan is no rating"]),
        ("fed-turn", [turn("a", "b", "4.5")], None, ["row 0", "4.5 is off its scale, 0 to 4"]),
        ("fed-turn", [turn("a", "b")], ["en", "ru"], ["has no russian_ctx and russian_res", "leave 'ru' out"]),
        ("fed-turn", [turn("a", "b")], ["english"], ["no language 'english'"]),
        ("fed-turn", [turn("a", "b")], [], ["languages is empty", "en, de"]),
        ("fed-turn", [{"english_ctx": "a", "ratings": "1"}], None, ["neither columns <language>_ctx"]),
        ("fed-turn", [{"english_ctx": "a", "english_res": "b"}], None, ["the column 'ratings' is missing"]),
        ("fed-turns", [turn("a", "b")], None, ["scales of the data set 'fed-turns'", "'fed-turn'", "rated_jsonl"]),
    ],
)
def test_what_does_not_fit_is_told(
    tmp_path: Path, name: str, rows: list[Row], languages: list[str] | None, words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        xdial_eval.read("m", write(tmp_path, name, *rows), languages)
    for word in (f"{name}.csv", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("english_ctx,english_res,ratings\na,b,1\nc,d\n", r"line 3: 2 cells under 3 columns"),
        ('english_ctx,english_res,ratings\n"a"x,b,1\n', r"line 2: not readable as CSV"),
        ("english_ctx,english_res,english_res,ratings\na,b,c,1\n", r"'english_res' is there more than once"),
        ("english_ctx,english_res,ratings\n", r"there are no rows"),
    ],
)
def test_a_broken_file_is_told_with_its_line(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "fed-turn.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=words):
        xdial_eval.read("m", path)
