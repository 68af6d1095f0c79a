"""Labels of another question or scale than is set now are refused, from pages and from sheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from labelled_dialogues import asked_about, dialogues, drawn_protocol, export_of, items_table, save, sheet_for

from dialeval.criteria import YES_NO, Criterion, Scale, Words
from dialeval.errors import UserError
from dialeval.labels.given_scales import scales_fault
from dialeval.labels.labelled_protocol import AskedProtocol
from dialeval.labels.ledger import Ledger
from dialeval.labels.reading import read_labels
from dialeval.labels.sheets import blank_csv, options_text, questions_of
from dialeval.labels.units import Sheet


def warm(low: float, high: float) -> Criterion:
    return Criterion("warm", scale=Scale(low, high))


@pytest.mark.parametrize(
    ("options", "is_now"),
    [
        ("1 (very poor); 2; 3; 4; 5 (excellent)", True),
        ("1; 2; 3; 4; 5", True),
        ("1 (cold; 2 of 9); 2 (so (so)); 3; 4; 5 (warm; 6)", True),
        ("a number from 1 to 5", True),
        ("1 (very poor); 2; 3; 4; 5; 6; 7 (excellent)", False),
        ("1 (a); 2 (b); 3 (c); 4 (d); 5 (e); 6 (f)", False),
        ("0; 1; 2; 3; 4; 5", False),
        ("1; 2; 3; 4", False),
        ("1; 2; 3; 4; 50", False),
        ("a number from 1 to 50", False),
        ("1-5", True),
        ("from 1 (cold) to 7 (warm)", True),
    ],
)
def test_answers_are_those_of_the_scale_unless_they_are_rewritten(options: str, is_now: bool) -> None:
    assert (scales_fault(options, warm(1, 5)) == "") is is_now


@pytest.mark.parametrize(
    ("options", "is_now"),
    [
        ("a number from -0.5 to 2000000", True),  # a page's spelling
        ("a number from -0.5 to 2e+06", True),  # a sheet's
        ("a number from -0.5 to 200000", False),
    ],
)
def test_the_ends_of_a_scale_may_be_spelt_in_two_ways(options: str, is_now: bool) -> None:
    assert (scales_fault(options, warm(-0.5, 2e6)) == "") is is_now


@pytest.mark.parametrize(("before", "now"), [((1, 7), (1, 10)), ((1, 5), (1, 100)), ((0, 100), (0, 5))])
def test_labels_on_a_scale_that_has_changed_are_refused(
    tmp_path: Path, before: tuple[float, float], now: tuple[float, float]
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())

    def protocol(ends: tuple[float, float]) -> AskedProtocol:
        return drawn_protocol(tmp_path, asked_about("felt", ["warm"], [warm(*ends)], form="scale"), items)

    labelled = protocol(before)
    sheet = sheet_for(labelled, "ann")
    table = tmp_path / "felt-ann.csv"
    header, *rows = blank_csv(sheet).split("\r\nfelt,")
    filled = [row[: row.rindex(",,")] + ",3," for row in rows]
    table.write_text("\r\nfelt,".join([header, *filled]) + "\r\n", encoding="utf-8")
    options = "; ".join(option.label for option in sheet.questions[0].options)
    options = options or f"a number from {before[0]:g} to {before[1]:g}"
    export = save(tmp_path / "felt.json", export_of(sheet, lambda *_: "3", options=options))
    for path in (table, export):
        assert {row["value"] for row in read_labels([path], {"felt": labelled}).rows} == {3.0}
        with pytest.raises(UserError, match=f"{path.name}: it was labelled on another scale of warm") as caught:
            read_labels([path], {"felt": protocol(now)})
        assert str(caught.value).count("another scale") == 1


def test_what_another_tool_calls_options_tells_no_scale(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    asked = drawn_protocol(tmp_path, asked_about("felt", ["warm"], [warm(1, 5)], form="scale"), items)
    free = AskedProtocol(asked.question, asked.frame, Ledger(tmp_path / "none.csv"))
    table = tmp_path / "felt.csv"
    table.write_text("annotator,item_id,criterion,label,options\nann,1/kiosk,warm,3,low|high\n", encoding="utf-8")
    assert [row["value"] for row in read_labels([table], {"felt": free}).rows] == [3.0]


def filled(folder: Path, sheet: Sheet, label: str) -> Path:
    """Returns a sheet that an annotator filled in with one answer everywhere."""
    text = io.StringIO(blank_csv(sheet).removeprefix("\ufeff"), newline="")
    rows = [row | {"label": label} for row in csv.DictReader(text)]
    path = folder / f"{sheet.protocol}-ann.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


def exported(folder: Path, sheet: Sheet, label: str) -> Path:
    """Returns what a page exports on which an annotator gave one answer everywhere."""
    told = export_of(sheet, lambda *_: label)
    asked = {one.criterion: one for one in sheet.questions}
    for record in told["labels"]:
        question = asked[record["criterion"]]
        record |= {"question": question.text, "rubric": options_text(question)}
    return save(folder / f"{sheet.protocol}-ann.json", told)


KIND = Criterion("kind", words=Words({"dialogue": "Is it kind?"}, {"dialogue": "how kind it is"}), scale=Scale(1, 5))
CHANGES = {
    "meaning": (KIND, replace(KIND, words=Words({}, {"dialogue": "how friendly it is"})), "scale", "3"),
    "rubric": (
        replace(KIND, words=replace(KIND.words, rubric={"1": "rude", "5": "kind"})),
        replace(KIND, words=replace(KIND.words, rubric={"1": "curt", "5": "kind"})),
        "scale",
        "3",
    ),
    "question": (
        replace(KIND, scale=YES_NO),
        replace(KIND, scale=YES_NO, words=Words({"dialogue": "Is it warm?"})),
        "probability",
        "Yes",
    ),
    "pair": (KIND, replace(KIND, words=Words({}, {"dialogue": "how friendly it is"})), "pair", "A"),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
@pytest.mark.parametrize("given", [filled, exported])
def test_labels_of_a_question_that_has_changed_are_refused_with_both_wordings(
    tmp_path: Path, change: str, given: Callable[[Path, Sheet, str], Path]
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    before, after, form, label = CHANGES[change]

    def protocol(criterion: Criterion) -> AskedProtocol:
        return drawn_protocol(tmp_path, asked_about("felt", ["kind"], [criterion], form=form), items)

    labelled = protocol(before)
    sheet = sheet_for(labelled, "ann")
    path = given(tmp_path, sheet, label)
    assert read_labels([path], {"felt": labelled}).rows
    with pytest.raises(UserError) as caught:
        read_labels([path], {"felt": protocol(after)})
    message = str(caught.value)
    assert message.count("take these labels away and label anew") == 1  # a whole file's fault is told once
    assert "set the question back under criteria.kind" in message
    now = sheet_for(protocol(after), "ann").questions[0]
    told = (sheet.questions[0].text, now.text) if change != "rubric" else ("rude", "curt")
    for words in (path.name, *told):
        assert words in message


def test_a_question_of_labels_questions_that_changed_is_noticed_and_no_question_is_taken_as_it_is(
    tmp_path: Path,
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    asked = drawn_protocol(tmp_path, asked_about("better", form="pair"), items)
    path = exported(tmp_path, sheet_for(asked, "ann"), "A")
    ours = "Which of the two dialogues is better?"
    for instead, is_same in (("", True), (f"  {ours.upper()}\n", True), ("Which one helps more?", False)):
        one = replace(asked, instead=instead)
        if is_same:
            assert read_labels([path], {"better": one}).rows
        else:
            with pytest.raises(
                UserError, match=r"better-ann.json: .*is better\?', and now 'Which one helps more\?' is asked"
            ):
                read_labels([path], {"better": one})
    (tmp_path / "old.json").write_text(json.dumps(export_of(sheet_for(asked, "ann"), lambda *_: "A")), encoding="utf-8")
    assert read_labels([tmp_path / "old.json"], {"better": replace(asked, instead="Which one helps more?")}).rows


def test_words_of_another_language_are_no_other_question(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    german = Words({}, {"dialogue": "wie freundlich er ist"})
    both = replace(KIND, translations={"de": german})
    asked = drawn_protocol(tmp_path, asked_about("felt", ["kind"], [both], form="scale"), items)
    sheet = sheet_for(asked, "ann")
    in_german = questions_of(asked.question, [both], "dialogue", "de")
    assert in_german[0].text != sheet.questions[0].text
    path = filled(tmp_path, replace(sheet, questions=in_german), "3")
    assert read_labels([path], {"felt": asked}).rows
