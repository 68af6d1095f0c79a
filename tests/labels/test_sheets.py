"""Who labels what: even over systems, in an order and with sides of one's own, and nothing tells whose it is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from judged_dialogues import shipped_question
from labelled_dialogues import SYSTEMS, dialogue, dialogues, drawn_protocol, items_table, protocol_settings, sheet_for

from dialeval.criteria import SHIPPED, YES_NO, Criterion, Level, Scale, Words, labelled
from dialeval.labels.reading import read_labels
from dialeval.labels.sheets import Drawn, assigned, blank_csv, other_order, questions_of
from dialeval.labels.simulated import fill_in
from dialeval.protocols.questions import Question

DRAWN = [Drawn(f"{stratum}{place}", stratum, place) for stratum in SYSTEMS for place in range(1, 13)]


@pytest.mark.parametrize(("n_annotators", "each"), [(1, None), (3, None), (3, 2), (4, 1), (5, 3)])
def test_each_is_labelled_by_as_many_and_all_get_as_much_of_each_system(n_annotators: int, each: int | None) -> None:
    names = [f"annotator-{number}" for number in range(n_annotators)]
    found = assigned(DRAWN, names, each)
    times = Counter(one.key for some in found.values() for one in some)
    assert set(times.values()) == {each or n_annotators}
    for system in SYSTEMS:
        counts = [sum(one.stratum == system for one in some) for some in found.values()]
        assert max(counts) - min(counts) <= min(each or 1, 2)
    assert all(len({one.key for one in some}) == len(some) for some in found.values())


def test_more_of_a_draw_leaves_to_everyone_what_they_had() -> None:
    names = ["ann", "bob", "eve"]
    few = assigned([one for one in DRAWN if one.place <= 5], names, 2)
    more = assigned(DRAWN, names, 2)
    assert all(set(few[name]) < set(more[name]) for name in names)


def test_orders_and_sides_are_ones_own_and_names_appear_nowhere(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    asked = drawn_protocol(tmp_path, protocol_settings("better", form="pair"), items, 30)
    sheets = [sheet_for(asked, name) for name in ("ann", "bob")]
    assert sheet_for(asked, "ann") == sheets[0]
    keys = [[unit.key for unit in sheet.units] for sheet in sheets]
    base = [[key if key in asked.units else _other(key, asked.units) for key in some] for some in keys]
    assert set(base[0]) == set(base[1])
    assert base[0] != base[1]
    for sheet in sheets:
        swapped = sum(unit.key not in asked.units for unit in sheet.units)
        assert 5 <= swapped <= 25  # of 30 with probability one half, less than one in 5,000 outside
    plain = protocol_settings("plain", form="pair")
    named = drawn_protocol(tmp_path, plain, items, 3)
    text = blank_csv(sheet_for(named, "ann"))
    without_texts = "\n".join(",".join(row[:7]) for row in csv.reader(io.StringIO(text, newline="")))
    assert not any(system in without_texts for system in SYSTEMS)


def _other(key: str, units: Any) -> str:
    return next(one for one in units if other_order(one) == key)


def test_a_sheet_as_a_table(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues(("kiosk",)))
    asked = drawn_protocol(tmp_path, protocol_settings("quality", ["coherence", "relevance"], form="scale"), items, 2)
    levels: tuple[Level, ...] = ("dialogue", "turn")
    for level, criterion in zip(levels, ("coherence", "relevance"), strict=True):
        sheet = sheet_for(asked, "ann", level)
        text = blank_csv(sheet)
        assert text.startswith("\ufeffprotocol,annotator,draw,key,criterion,question,options,")
        rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
        assert [row["key"] for row in rows] == [unit.key for unit in sheet.units]
        assert {(row["criterion"], row["label"], row["draw"]) for row in rows} == {(criterion, "", sheet.draw)}
        marked = [line[:2] == "> " for line in rows[0][level].split("\n")]
        assert marked == ([False, True, False, True] if level == "dialogue" else [False, False, False, True])
        assert rows[0]["options"] == "1 (very poor); 2; 3; 4; 5 (excellent)"


def test_texts_of_a_sheet_are_no_formulas_and_come_back_with_negative_labels(tmp_path: Path) -> None:
    """Filled in as Excel would, by hand, and by the simulated annotators."""
    mood = Criterion("mood", "dialogue", Words({"dialogue": "=mood?"}), Scale(-3, 3))
    labels = tmp_path / "labels"
    labels.mkdir()
    items = items_table(tmp_path / "items.parquet", dialogues(("kiosk",)))
    asked = drawn_protocol(labels, protocol_settings("quality", ["mood"], [mood], form="scale"), items, 3)
    text = blank_csv(sheet_for(asked, "=ann"))
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert {(row["annotator"], row["options"][:2]) for row in rows} == {("'=ann", "'-")}
    path = tmp_path / "quality-ann.csv"
    path.write_text(text, encoding="utf-8")
    assert fill_in(path, labels / "quality-ann.csv") == 3
    read = read_labels([labels / "quality-ann.csv"], {"quality": asked}, ["=ann"])
    assert {row["annotator"] for row in read.rows} == {"=ann"}
    assert all(-3 <= row["value"] <= 3 for row in read.rows)
    for escape in ("'", ""):  # an edited cell loses its apostrophe
        head = ",".join(rows[0])
        cells = [{**row, "label": "-3", "comment": "=1", "annotator": f"{escape}=ann"} for row in rows]
        with (labels / "quality-ann.csv").open("w", encoding="utf-8", newline="") as file:
            file.write(f"{head}\n")
            csv.DictWriter(file, list(rows[0])).writerows(cells)
        again = read_labels([labels / "quality-ann.csv"], {"quality": asked}, ["=ann"])
        assert {(row["annotator"], row["value"], row["comment"]) for row in again.rows} == {("=ann", -3.0, "=1")}


def test_a_sheet_with_a_null_character_in_a_dialogue_is_read_back(tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.mkdir()
    said = [dialogue("kiosk", case, more="\0 end") for case in range(12)]
    items = items_table(tmp_path / "items.parquet", said)
    asked = drawn_protocol(labels, protocol_settings("quality", ["coherence"], form="scale"), items, 12)
    path = tmp_path / "quality-ann.csv"
    path.write_text(blank_csv(sheet_for(asked, "ann")), encoding="utf-8", newline="")
    assert r"\x00 end" in path.read_text(encoding="utf-8")
    n = fill_in(path, labels / "quality-ann.csv")
    assert len(read_labels([labels / "quality-ann.csv"], {"quality": asked}, ["ann"]).rows) == n


def test_keys_are_never_taken_for_numbers(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues(cases=40))
    asked = drawn_protocol(tmp_path, protocol_settings("better", form="pair"), items, 30)
    for key in [*asked.units, *map(other_order, asked.units), *asked.ledger.draws().values()]:
        with pytest.raises(ValueError):
            float(key)
        assert key[0].isalpha()


RUDE = Criterion("rude", "dialogue", Words({"dialogue": "Is it polite?"}, {"dialogue": "manners"}), YES_NO)
FIT = Criterion(
    "fit", None, Words(meaning={"dialogue": "it fits"}, rubric={"poor": "does not", "good": "does"}),
    labelled(["poor", "good"]),
    translations={"de": Words(meaning={"dialogue": "es passt"}, labels=("schlecht", "gut"))},
)  # fmt: skip
LONG = Criterion("long", None, Words(), Scale(0, 100))
KIND = Criterion("kind", "dialogue", Words({"dialogue": "Is it meant well?"}), Scale(0, 100))


@pytest.mark.parametrize(
    ("form", "criterion", "language", "text", "options", "ends"),
    [
        ("scale", RUDE, "en", "Is it polite?", ["Yes", "No"], (None, None)),
        ("probability", RUDE, "en", "Is it polite?", ["Yes", "No"], (None, None)),
        ("scale", FIT, "en", "Fit. It fits.", ["poor", "good"], (1, 2)),
        ("scale", FIT, "de", "Fit. Es passt.", ["schlecht", "gut"], (1, 2)),
        ("scale", LONG, "en", "Long.", [], (0, 100)),
        ("scale", KIND, "en", "Kind. Is it meant well?", [], (0, 100)),
        ("pair", RUDE, "en", "Which of the two is better in one respect, rude, and in no other? Manners.",
         ["A", "B", "Tie"], (None, None)),
        ("locate", RUDE, "en", "Is it polite? If so, say where it first does.", ["Yes", "No"], (None, None)),
        ("pair", None, "en", "Which of the two dialogues is better?", ["A", "B", "Tie"], (None, None)),
        ("locate", None, "en", "Did an AI write any of these utterances? If so, say in which it first shows.",
         ["Yes", "No"], (None, None)),
    ],
)  # fmt: skip
def test_the_questions_for_annotators(
    form: str, criterion: Criterion | None, language: str, text: str, options: list[str], ends: tuple[Any, Any]
) -> None:
    question = protocol_settings("mine", form=form).question()
    (asked,) = questions_of(question, [criterion] if criterion else [], "dialogue", language)
    assert asked.text == text
    assert [one.label for one in asked.options] == options
    assert (asked.low, asked.high) == ends
    assert asked.criterion == (criterion.name if criterion else "")


def test_the_labels_question_of_a_criterion_is_shown_and_its_answers_stay() -> None:
    question = protocol_settings("felt", ["coherence", "overall"], form="scale").question()
    criteria = [SHIPPED["coherence"], SHIPPED["overall"]]
    before = questions_of(question, criteria, "dialogue", "en")
    after = questions_of(question, criteria, "dialogue", "en", {"coherence": "Does it hang together?"})
    assert [one.text for one in after] == ["Does it hang together?", before[1].text]
    assert [one.options for one in after] == [one.options for one in before]
    (alone,) = questions_of(question, criteria[:1], "dialogue", "en", "Does it?")
    assert (alone.criterion, alone.text) == ("coherence", "Does it?")


def test_own_words_take_the_place_of_ours_and_options_say_what_they_mean() -> None:
    question = protocol_settings("mine", form="pair", options={"First": "left", "Second": "right"}).question()
    (asked,) = questions_of(question, [], "dialogue", "en", "Which would you rather read?")
    assert asked.text == "Which would you rather read?"
    assert [(one.label, one.meaning) for one in asked.options] == [
        ("First", "the first dialogue is better"), ("Second", "the second dialogue is better")
    ]  # fmt: skip
    arena: Question = shipped_question("arena")
    (turing,) = questions_of(arena, [], "dialogue", "en")
    assert turing.text.startswith("An AI may have taken part")
    assert all(one.meaning for one in turing.options)
