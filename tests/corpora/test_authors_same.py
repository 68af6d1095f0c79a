"""Data sets put into their authors' own forms give the items and ratings of comp-analysis' copies."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.rated_sources import RatedReading
from dialeval.corpora.rating_scales import FED_TURN, USR
from dialeval.corpora.readers import read_rated

Means = dict[tuple[int, str], tuple[float, float, float]]


def copied(real_data: Path, reader: str, path: str) -> RatedReading:
    file = real_data / "comp-analysis" / path
    if not file.is_file():
        pytest.skip(f"the public file {path} is not in {real_data}")
    return read_rated(reader, file.stem.removesuffix("_text"), file)


def people_of(reading: RatedReading) -> Means:
    """The means of people's ratings, by place of the item and by dimension."""
    place = {item.item_id: number for number, item in enumerate(reading.items)}
    return {
        (place[rating.item_id], rating.dimension): (rating.value, rating.scale_min, rating.scale_max)
        for rating in reading.ratings
        if (rating.rater_kind, rating.round) == ("human", None)
    }


def first_places(reading: RatedReading) -> list[int]:
    """Where the cluster of every item begins."""
    first: dict[str, int] = {}
    return [first.setdefault(item.cluster, number) for number, item in enumerate(reading.items)]


def annotations(reading: RatedReading, names: dict[str, str]) -> list[dict[str, list[float]]]:
    """People's means of every item as lists of one rating, under the names of the authors' file."""
    by_place: dict[int, dict[str, list[float]]] = defaultdict(dict)
    for (place, dimension), (value, *_) in people_of(reading).items():
        by_place[place][names[dimension]] = [value]
    return [by_place[place] for place in range(len(reading.items))]


def write(folder: Path, content: Any) -> Path:
    path = folder / "authors.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def assert_same(ours: RatedReading, theirs: RatedReading) -> None:
    assert [(item.utterances, item.speakers) for item in ours.items] == [
        (item.utterances, item.speakers) for item in theirs.items
    ]
    assert first_places(ours) == first_places(theirs)
    assert people_of(ours) == people_of(theirs)


def tagged(speakers: tuple[str, ...], texts: tuple[str, ...]) -> list[str]:
    tags = {"human": "User", "chatbot": "System"}
    return [f"{tags[speaker]}: {text}" for speaker, text in zip(speakers, texts, strict=True)]


def test_fed(real_data: Path, tmp_path: Path) -> None:
    turns = copied(real_data, "comp_turn", "turn_level_texts/fed-turn_text.txt")
    dialogues = copied(real_data, "comp_dialogue", "dialog_level_texts/fed-dial_text.txt")
    raters = json.loads((real_data / "comp-analysis/dialog_level_texts/fed_human_annotations.json").read_text())
    names = {ours: name for name, (ours, _) in FED_TURN.items()}
    content = []
    for item, rated in zip(turns.items, annotations(turns, names), strict=True):
        *context, response = tagged(item.speakers, item.utterances)
        content.append({"context": "\n".join(context), "response": response, "system": "x", "annotations": rated})
    for item, entry in zip(dialogues.items, raters, strict=True):
        n_lists = entry["annotations"]
        missing = ["N/A (no errors)"] * (5 - len(n_lists["Error recovery"]))
        rated = n_lists | {"Error recovery": n_lists["Error recovery"] + missing}
        said = "\n".join(tagged(item.speakers, item.utterances))
        content.append({"context": said, "system": "x", "annotations": rated})
    path = write(tmp_path, content)
    assert_same(read_rated("fed_turn", "c", path), turns)
    ours = read_rated("fed_dialogue", "c", path)
    assert_same(ours, dialogues)
    assert ours.notes["ratings that are missing or N/A"] == 154


def test_usr(real_data: Path, tmp_path: Path) -> None:
    theirs = copied(real_data, "comp_turn", "turn_level_texts/persona-usr_text.txt")
    names = {ours: name for name, (ours, _) in USR.items()}
    theirs.ratings = [rating for rating in theirs.ratings if rating.rater_kind == "human"]
    rated = iter(annotations(theirs, names))
    content = [
        {
            "context": "\n".join(context) + "\n",
            "fact": "your persona: i have a dog .\n",
            "responses": [{"response": f"{item.response}\n", "model": "x", **next(rated)} for item in items],
        }
        for context, items in groupby(theirs.items, key=lambda item: item.context)
    ]
    assert len(content) < len(theirs.items) / 4
    assert_same(read_rated("usr", "c", write(tmp_path, content)), theirs)


@pytest.mark.parametrize(("dataset", "name"), [("convai2", "convai2"), ("dailydialog", "dailydialog_EVAL")])
def test_grade_has_relevance_where_the_copy_names_no_dimension(
    real_data: Path, tmp_path: Path, dataset: str, name: str
) -> None:
    theirs = copied(real_data, "comp_turn", f"turn_level_texts_268be7c/{dataset}-grade_text.txt")
    people = people_of(theirs)
    content = [
        {
            "ID": place,
            "Dataset": name,
            "DialogModel": "x",
            "Context": "|||".join(item.context),
            "Response": item.response,
            "HumanScores": json.dumps([people[place, "overall"][0]]),
        }
        for place, item in enumerate(theirs.items)
    ]
    ours = read_rated(f"grade_{dataset}", "c", write(tmp_path, content))
    assert {rating.dimension for rating in ours.ratings} == {"relevance"}
    ours.ratings = [
        type(rating)(**{part: getattr(rating, part) for part in rating.__slots__} | {"dimension": "overall"})
        for rating in ours.ratings
    ]
    assert_same(ours, theirs)
    assert [item.item_id[-6:] for item in ours.items] == [item.item_id[-6:] for item in theirs.items]


def test_conture(real_data: Path, tmp_path: Path) -> None:
    turns = copied(real_data, "comp_turn", "turn_level_texts/conture-turn_text.txt")
    dialogues = copied(real_data, "comp_dialogue", "dialog_level_texts/conture-dial_text.txt")
    rated = iter([value for value, *_ in people_of(turns).values()])
    content = []
    for number, item in enumerate(dialogues.items):
        parts = [text.replace("<EMPTY>", "") for text in item.utterances]
        said = zip(parts[::2], parts[1::2], strict=True)
        pairs = [
            {"user": f"User: {user}", "chatbot": f"Chatbot: {chatbot}", "overall impression": next(rated)}
            for user, chatbot in said
        ]
        content.append({"dialog_id": number, "turns": pairs, "dialog_ratings": [{"coherent": 3}]})
    path = write(tmp_path, content)
    ours = read_rated("conture_turn", "c", path)
    assert first_places(ours) == first_places(turns)
    assert people_of(ours) == {key: value for key, value in people_of(turns).items() if key[1] == "overall"}
    assert [item.utterances[-4:] for item in ours.items] == [item.utterances for item in turns.items]
    assert [item.speakers[-4:] for item in ours.items] == [item.speakers for item in turns.items]
    whole = read_rated("conture_dialogue", "c", path)
    assert [item.utterances for item in whole.items] == [item.utterances for item in dialogues.items]
    assert [item.speakers for item in whole.items] == [item.speakers for item in dialogues.items]


def test_zhao(real_data: Path, tmp_path: Path) -> None:
    theirs = copied(real_data, "comp_turn", "turn_level_texts/dailydialog-zhao_text.txt")
    theirs.ratings = [rating for rating in theirs.ratings if rating.rater_kind == "human"]
    rated = iter(annotations(theirs, {"relevance": "relevance", "overall": "overall"}))
    content = {}
    for number, (context, items) in enumerate(groupby(theirs.items, key=lambda item: item.context)):
        said = [["AB"[(len(context) - place) % 2], text] for place, text in enumerate(context)]
        responses = {
            f"m{place}": {
                "uttr": item.response,
                "scores": {"w": {name: values[0] for name, values in next(rated).items()} | {"worker_id": "w"}},
            }
            for place, item in enumerate(items)
        }
        content[f"dialogue {number}"] = {"context": said, "reference": ["A", "x"], "responses": responses}
    assert len(content) < len(theirs.items) / 8
    assert_same(read_rated("zhao", "c", write(tmp_path, content)), theirs)
