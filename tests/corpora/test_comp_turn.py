"""Comp-analysis at turn level, on hand-made files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import comp_turn
from dialeval.errors import UserError

TEXTS = ("K-000000\tIs it far?\tTen minutes.", "K-000001\tIs it far?\t Very.", 'K-000002\tHe said "no\tWhy?\tNone')


def write(folder: Path, dataset: str, rows: tuple[str, ...] = TEXTS, **ratings: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in ratings.items():
        (folder / f"turn_{name}.json").write_text(json.dumps(content, indent=2))
    path = folder / f"{dataset}_text.txt"
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def test_people_and_gpt4_are_told_apart_with_their_scales(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "persona-usr",
        specificity_ratings={"other": [1], "persona-usr": [1.2, 2.25, 4.6]},
        interesting_ratings={"persona-usr": [1.0, 2.6666666666666665, 3.0], "other": [1]},
        understandability_ratings={"persona-usr": [0, 0.3333333333333333, 1]},
    )
    reading = comp_turn.read("mine", path)
    found = {(r.dimension, r.rater_kind, r.rater, r.n_raters, r.scale_min, r.scale_max) for r in reading.ratings}
    assert found == {
        ("specificity", "model", "gpt-4", None, 1.0, 5.0),
        ("interestingness", "human", "people", 3, 1.0, 3.0),
        ("understandability", "human", "people", 3, 0.0, 1.0),
    }
    values = [(r.item_id, r.value, r.round) for r in reading.ratings if r.dimension == "specificity"]
    assert values == [("K-000000", 1.2, None), ("K-000001", 2.25, None), ("K-000002", 4.6, None)]


def test_items_have_speakers_backwards_and_clusters_by_context(tmp_path: Path) -> None:
    reading = comp_turn.read("mine", write(tmp_path, "fed-turn", overall_ratings={"fed-turn": [0, 1.5, 4]}))
    assert [item.utterances for item in reading.items] == [
        ("Is it far?", "Ten minutes."),
        ("Is it far?", "Very."),
        ('He said "no', "Why?", "None"),
    ]
    assert [item.speakers[-1] for item in reading.items] == ["chatbot"] * 3
    assert reading.items[2].speakers == ("chatbot", "human", "chatbot")
    assert [item.cluster for item in reading.items] == ["K-000000", "K-000000", "K-000002"]
    assert {(item.corpus, item.language, item.level) for item in reading.items} == {("mine", "en", "turn")}


def test_the_dialogue_number_in_the_ids_gives_the_clusters(tmp_path: Path) -> None:
    rows = ("C-000000-0001\thi\tr", "C-000000-0003\thi\tr\tu\ts", "C-000001-0001\thi\tr", "C-000001-0003\thi\tr\tu\ts")
    path = write(tmp_path, "conture-turn", rows, overall_ratings={"conture-turn": [0, 1, 2, 2]})
    assert [item.cluster for item in comp_turn.read("m", path).items] == ["C-000000"] * 2 + ["C-000001"] * 2


def test_a_response_may_stand_alone_and_repeated_rows_stay(tmp_path: Path) -> None:
    rows = ("K-000000\tOnly this.", "K-000001\tHi.\tHo.", "K-000002\tHi.\tHo.")
    path = write(tmp_path, "dailydialog-zhao", rows, relevance_ratings={"dailydialog-zhao": [1, 2.75, 5]})
    items = comp_turn.read("m", path).items
    assert items[0].context == ()
    assert items[1].utterances == items[2].utterances
    assert items[1].cluster == items[2].cluster != items[0].cluster


@pytest.mark.parametrize(
    ("dataset", "dimension", "top"),
    [("convai2-grade", "overall", 5.0), ("persona-zhao", "overall", 5.0), ("topical-usr", "relevance", 3.0)],
)
def test_a_single_rating_is_taken_from_the_sibling_folder(
    tmp_path: Path, dataset: str, dimension: str, top: float
) -> None:
    path = write(tmp_path / "turn_level_texts_old", dataset)
    write(tmp_path / "turn_level_texts", "unused", ratings={dataset: [1, 2.2, 3]})
    reading = comp_turn.read("m", path)
    assert {(r.dimension, r.rater_kind, r.scale_max) for r in reading.ratings} == {(dimension, "human", top)}
    assert f"3 ratings whose dimension the files do not name, taken as {dimension}" in reading.summary()


def test_the_single_rating_is_not_read_beside_dimensions(tmp_path: Path) -> None:
    path = write(tmp_path, "fed-turn", relevance_ratings={"fed-turn": [0, 1, 2]}, ratings={"fed-turn": [99, 99, 99]})
    assert {r.dimension for r in comp_turn.read("m", path).ratings} == {"relevance"}
    names = [file.name for file in comp_turn.source_files(path)]
    assert names == ["fed-turn_text.txt", "turn_relevance_ratings.json", "turn_ratings.json"]


@pytest.mark.parametrize(
    ("dataset", "ratings", "words"),
    [
        ("fed-turn", {"relevance_ratings": {"fed-turn": [1, 2]}}, ["2 ratings for 'fed-turn'", "3 rows"]),
        (
            "fed-turn",
            {"relevance_ratings": {"fed-turn": [1, 2.5, 1]}},
            ["turn_relevance_ratings.json", "position 1 (K-000001)", "2.5 is off its scale, 0 to 2"],
        ),
        (
            "conture-turn",
            {"specificity_ratings": {"conture-turn": [1, 5.5, 1]}},
            ["position 1", "5.5 is off its scale, 1 to 5"],
        ),
        ("fed-turn", {"overall_ratings": {"fed-turn": [1, None, 1]}}, ["position 1", "None is no rating"]),
        ("fed-turn", {"overall_ratings": {"fed-turn": 4}}, ["'fed-turn' must be a list"]),
        (
            "fed-turn",
            {"overall_ratings": {"fedturn": [1]}},
            ["'fed-turn' has no ratings in", "did you mean 'fedturn'?"],
        ),
        ("fed-turn", {"overall_ratings": []}, ["one JSON object"]),
        ("fed-turn", {}, ["there are no ratings beside it", "turn_<dimension>_ratings.json"]),
        ("fed-tun", {}, ["scales of the data set 'fed-tun' are not known", "'fed-turn'", "rated_jsonl"]),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, dataset: str, ratings: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        comp_turn.read("m", write(tmp_path, dataset, **ratings))
    for word in words:
        assert word in str(caught.value)


def test_a_repeated_id_and_an_empty_response_are_told_with_their_row(tmp_path: Path) -> None:
    ratings = {"fed-turn": [1, 1]}
    path = write(tmp_path, "fed-turn", ("K-0\ta\tb", "K-0\ta\tc"), overall_ratings=ratings)
    with pytest.raises(UserError, match=r"fed-turn_text\.txt, row 2: the id 'K-0' is used before, at row 1"):
        comp_turn.read("m", path)
    path = write(tmp_path, "fed-turn", ("K-0\ta\tb", "K-1\ta\t "), overall_ratings=ratings)
    with pytest.raises(UserError, match=r"row 2: item 'K-1', utterance 2 is empty"):
        comp_turn.read("m", path)
