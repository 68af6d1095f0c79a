"""The readers of rated items by name, and the public rated sets as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from dialeval.config.metaeval import RatedReader
from dialeval.corpora.rated_sources import RatedReading
from dialeval.corpora.readers import RATED_FORMATS, rated_source_files, read_rated
from dialeval.criteria import DIMENSIONS
from dialeval.errors import UserError

TURN_SETS = {
    "turn_level_texts/fed-turn": (375, 124),
    "turn_level_texts/persona-usr": (300, 59),
    "turn_level_texts/dailydialog-zhao": (900, 98),
    "turn_level_texts/conture-turn": (1066, 119),
    "turn_level_texts_268be7c/convai2-grade": (600, 258),
    "turn_level_texts_268be7c/dailydialog-grade": (300, 149),
    "turn_level_texts_268be7c/dstc10-persona_clean": (4829, 500),
}
"""Items, and groups that share a context or a dialogue."""

LANGUAGES = ["en", "zh", "es", "de", "fr", "ja", "ko", "hi", "ar", "ru"]


def read(real_data: Path, reader: str, path: str, **more: list[str]) -> RatedReading:
    file = real_data / path
    if not file.is_file():
        pytest.skip(f"the public file {path} is not in {real_data}")
    return read_rated(reader, file.stem.removesuffix("_text"), file, **more)


def test_an_unknown_reader_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a reader of rated items; did you mean 'xdial'"):
        read_rated("xdail", "c", tmp_path)


def test_every_reader_can_be_named_and_is_described() -> None:
    described = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert set(get_args(RatedReader)) == {*RATED_FORMATS, "severity_levels"}
    assert [reader for reader in RATED_FORMATS if f"`{reader}`" not in described] == []


@pytest.mark.parametrize("reader", RATED_FORMATS)
def test_files_are_named_even_before_they_are_there(tmp_path: Path, reader: str) -> None:
    assert rated_source_files(reader, tmp_path / "x_text.txt") == [tmp_path / "x_text.txt"]
    with pytest.raises(UserError, match="x_text"):
        read_rated(reader, "c", tmp_path / "x_text.txt")


@pytest.mark.parametrize(("name", "counts"), TURN_SETS.items())
def test_turn_sets(real_data: Path, name: str, counts: tuple[int, int]) -> None:
    reading = read(real_data, "comp_turn", f"comp-analysis/{name}_text.txt")
    assert (len(reading.items), len({item.cluster for item in reading.items})) == counts
    by_dimension = Counter(rating.dimension for rating in reading.ratings)
    assert set(by_dimension.values()) == {counts[0]}
    assert set(by_dimension) == ({"overall"} if "268be7c" in name else set(DIMENSIONS["turn"]))


def test_the_clusters_of_fed_turn_are_the_dialogues_of_fed_dial(real_data: Path) -> None:
    """Two of the 125 dialogues begin with the same context, so that they are one cluster."""
    turns = read(real_data, "comp_turn", "comp-analysis/turn_level_texts/fed-turn_text.txt").items
    dialogues = read(real_data, "comp_dialogue", "comp-analysis/dialog_level_texts/fed-dial_text.txt").items
    assert len(dialogues) == 125
    by_cluster: dict[str, set[str]] = {}
    for turn in turns:
        length = len(turn.context)
        found = {d.item_id for d in dialogues if d.utterances[:length] == turn.context}
        by_cluster.setdefault(turn.cluster, set()).update(found)
    assert sorted(map(len, by_cluster.values())) == [1] * 123 + [2]
    assert len(set.union(*by_cluster.values())) == 125


def test_fed_dial_keeps_every_rater(real_data: Path) -> None:
    reading = read(real_data, "comp_dialogue", "comp-analysis/dialog_level_texts/fed-dial_text.txt")
    people = [r for r in reading.ratings if r.rater_kind == "human"]
    assert len({r.dimension for r in people}) == 11
    singles = Counter(r.dimension for r in people if r.round is not None)
    assert singles["overall"] == 625
    assert singles["flexible"] == 624
    means = Counter(r.dimension for r in people if r.round is None)
    assert means["error recovery"] == 124
    assert {r.scale_max for r in people if r.dimension == "consistent"} == {1.0}
    assert {(r.scale_min, r.scale_max) for r in people if r.dimension == "overall"} == {(0.0, 4.0)}


@pytest.mark.parametrize(
    ("name", "rated", "all_items"),
    [("conture-dial", 119, 119), ("ieval-dial", 500, 1920), ("persona-see", 500, 3316)],
)
def test_dialogue_sets(real_data: Path, name: str, rated: int, all_items: int) -> None:
    reading = read(real_data, "comp_dialogue", f"comp-analysis/dialog_level_texts/{name}_text.txt")
    assert len(reading.items) == rated
    assert sum(reading.skipped.values()) == all_items - rated
    assert {r.dimension for r in reading.ratings} == set(DIMENSIONS["dialogue"])
    assert Counter(r.round for r in reading.ratings) == dict.fromkeys((0, 1, 2, 3, 4, None), 5 * rated)
    assert {speaker for item in reading.items for speaker in item.speakers} == {"human", "chatbot"}


@pytest.mark.parametrize(
    ("name", "of_comp_analysis", "dimension"),
    [
        ("turn/fed-turn", "turn_level_texts/fed-turn", "overall"),
        ("turn/persona-usr", "turn_level_texts/persona-usr", "relevance"),
        ("turn/dailydialog-zhao", "turn_level_texts/dailydialog-zhao", "overall"),
        ("turn/conture-turn", "turn_level_texts/conture-turn", "overall"),
        ("turn/convai2-grade", "turn_level_texts_268be7c/convai2-grade", "overall"),
        ("turn/dailydialog-grade", "turn_level_texts_268be7c/dailydialog-grade", "overall"),
        ("dial/fed-dial", "dialog_level_texts/fed-dial", "overall"),
    ],
)
def test_xdial_has_the_items_ratings_and_clusters_of_comp_analysis(
    real_data: Path, name: str, of_comp_analysis: str, dimension: str
) -> None:
    ten = read(real_data, "xdial", f"xdial-eval/data/{name}.csv")
    reader = "comp_dialogue" if "dial/" in name else "comp_turn"
    one = read(real_data, reader, f"comp-analysis/{of_comp_analysis}_text.txt")
    assert list(dict.fromkeys(item.language for item in ten.items)) == LANGUAGES
    assert len(ten.items) == 10 * len(one.items)
    assert not ten.skipped

    english = [item for item in ten.items if item.language == "en"]
    assert [item.utterances for item in english] == [item.utterances for item in one.items]
    assert [item.speakers for item in english] == [item.speakers for item in one.items]
    row = {item.item_id: number for number, item in enumerate(one.items)}
    first_row: dict[str, int] = {}
    expected = [first_row.setdefault(item.cluster, number) for number, item in enumerate(one.items)]
    assert [int(item.cluster[-6:]) for item in english] == expected

    means = [r for r in one.ratings if (r.dimension, r.rater_kind, r.round) == (dimension, "human", None)]
    assert {r.dimension for r in ten.ratings} == {dimension}
    values = {int(r.item_id[-6:]): (r.value, r.scale_min, r.scale_max) for r in ten.ratings}
    assert values == {row[r.item_id]: (pytest.approx(r.value, abs=1e-12), r.scale_min, r.scale_max) for r in means}


def test_the_oddities_of_xdial_are_counted(real_data: Path) -> None:
    notes = read(real_data, "xdial", "xdial-eval/data/turn/conture-turn.csv").notes
    same = {
        name: notes[f"{name} texts whose last utterance is still in English"]
        for name in ("german", "spanish", "chinese")
    }
    assert same == {"german": 22, "spanish": 21, "chinese": 14}
    notes = read(real_data, "xdial", "xdial-eval/data/dial/fed-dial.csv").notes
    assert notes["arabic texts with another number of utterances than the original"] == 1


def test_languages_are_selected(real_data: Path) -> None:
    reading = read(real_data, "xdial", "xdial-eval/data/turn/persona-usr.csv", languages=["ja", "en"])
    assert Counter(item.language for item in reading.items) == {"ja": 300, "en": 300}
    assert len(reading.ratings) == 300
