"""What pages export and what any table says comes out as labels, with the probability that each had."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from labelled_dialogues import dialogues, drawn_protocol, export_of, items_table, protocol_settings, save, sheet_for

from dialeval.criteria import YES_NO, Criterion, Scale, Words
from dialeval.errors import UserError
from dialeval.labels.draw import inclusion_probabilities
from dialeval.labels.labelled_protocol import LabelledProtocol
from dialeval.labels.ledger import Ledger
from dialeval.labels.reading import Reading, check_ledger_exists, read_labels, scales_fault
from dialeval.labels.sheets import blank_csv, options_text, questions_of
from dialeval.labels.units import Sheet
from dialeval.tables.files import to_table
from dialeval.tables.labels import LABELS

Protocols = Mapping[str, LabelledProtocol]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of labels."""
    path = tmp_path / "labels"
    path.mkdir()
    return path


@pytest.fixture
def protocols(tmp_path: Path, folder: Path) -> dict[str, LabelledProtocol]:
    """Three protocols about 36 dialogues of three systems, of which some are drawn."""
    items = items_table(tmp_path / "items.parquet", dialogues())
    content = [
        (protocol_settings("human_like", form="locate"), 4),
        (protocol_settings("quality", ["coherence", "overall"], form="scale"), 4),
        (protocol_settings("better", form="pair"), 9),
    ]
    return {one.name: drawn_protocol(folder, one, items, n) for one, n in content}


def filled(sheet: Sheet, label: str, place: str = "") -> list[list[str]]:
    """Return the rows of a sheet's CSV file with one label throughout."""
    header, *rows = list(csv.reader(io.StringIO(blank_csv(sheet).removeprefix("\ufeff"), newline="")))
    for row in rows:
        row[header.index("label")] = label
        if place:
            row[header.index("place")] = place
    return [header, *rows]


def as_csv(rows: list[list[str]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def table(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def checked(reading: Reading) -> list[dict[str, Any]]:
    """Return the rows, as the table has them."""
    rows: list[dict[str, Any]] = to_table(LABELS, reading.rows).to_pylist()
    return rows


def test_a_pages_scores_come_back(protocols: Protocols, folder: Path) -> None:
    sheet = sheet_for(protocols["quality"], "ann")
    assert len(sheet.units) == 3 * 4
    path = save(folder / "quality-ann.json", export_of(sheet, lambda number, _: str(1 + number % 5)))
    rows = checked(read_labels([path], protocols, ["ann"]))
    assert len(rows) == 12 * 2
    by_key = {unit.key: float(1 + number % 5) for number, unit in enumerate(sheet.units)}
    units = {key: unit.item_id for key, unit in protocols["quality"].units.items()}
    assert {(row["item_id"], row["criterion"]): row["value"] for row in rows} == {
        (units[key], name): value for key, value in by_key.items() for name in ("coherence", "overall")
    }
    assert {(row["scale_min"], row["scale_max"], row["n_utterances"], row["corpus"]) for row in rows} == {
        (1.0, 5.0, 4, "support")
    }
    assert {row["probability"] for row in rows} == {4 / 12}
    assert {(row["file"], row["annotator"], row["simulated"]) for row in rows} == {("quality-ann.json", "ann", False)}


@pytest.mark.parametrize("written", ["4", "4.0", "4,0", "４", "٤", "4 (rather coherent)"])
def test_a_number_may_be_written_in_any_digits_and_with_its_meaning(
    protocols: Protocols, folder: Path, written: str
) -> None:
    path = save(folder / "quality-ann.json", export_of(sheet_for(protocols["quality"], "ann"), lambda *_: written))
    assert {row["value"] for row in read_labels([path], protocols).rows} == {4.0}


def test_a_criterion_of_one_protocol_names_the_protocol(protocols: Protocols, folder: Path) -> None:
    row = checked(
        read_labels([table(folder / "x.csv", "annotator,item_id,criterion,label\nann,1/kiosk,Overall,3\n")], protocols)
    )
    assert [(one["protocol"], one["criterion"], one["value"]) for one in row] == [("quality", "overall", 3.0)]


def test_of_pairs_the_winner_is_known_whichever_stood_first(protocols: Protocols, folder: Path) -> None:
    asked = protocols["better"]
    sheets = [sheet_for(asked, name) for name in ("ann", "bob")]
    firsts = [{unit.dialogues[0][1].text for unit in sheet.units} for sheet in sheets]
    assert firsts[0] != firsts[1]  # each has an order and sides of its own
    # kiosk's dialogue is always the better one
    content = [
        export_of(sheet, lambda number, _, sheet=sheet: "A" if _shows(sheet, number, 0, "kiosk") else
                  "B" if _shows(sheet, number, 1, "kiosk") else "Tie")
        for sheet in sheets
    ]  # fmt: skip
    files = [save(folder / f"better-{one['annotator']}.json", one) for one in content]
    rows = checked(read_labels(files, protocols))
    assert len(rows) == 2 * 9
    for row in rows:
        assert row["system"] < row["opponent"]
        expected = {"kiosk": "left"}.get(row["system"]) or {"kiosk": "right"}.get(row["opponent"], "tie")
        assert row["outcome"] == expected
        assert (row["choice"], row["corpus"], row["item_id"], row["n_utterances"]) == (None, None, None, None)
        assert row["probability"] == 9 / 36
    assert {row["outcome"] for row in rows} == {"left", "right", "tie"}


def _shows(sheet: Sheet, number: int, side: int, system: str) -> bool:
    return sheet.units[number].dialogues[side][1].text.startswith(system)


def test_where_an_ai_shows_comes_back(protocols: Protocols, folder: Path) -> None:
    sheet = sheet_for(protocols["human_like"], "ann")
    content = export_of(sheet, lambda number, _: "Yes" if number % 2 else "No")
    for answer in content["labels"]:
        answer["place"] = 4 if answer["label"] == "Yes" else None
    rows = checked(read_labels([save(folder / "a.json", content)], protocols))
    assert Counter((row["choice"], row["place"]) for row in rows) == {("Yes", 4): 6, ("No", None): 6}
    assert {row["criterion"] for row in rows} == {None}


def test_an_annotator_who_stops_early_has_labelled_a_random_part(protocols: Protocols, folder: Path) -> None:
    sheet = sheet_for(protocols["human_like"], "ann")
    content = export_of(sheet, lambda *_: "No")
    content["labels"] = content["labels"][:7]
    content["labels"][0] |= {"label": None, "skipped": True, "comment": "cut off"}
    rows = checked(read_labels([save(folder / "a.json", content)], protocols))
    assert [row["skipped"] for row in rows] == [True, *[False] * 6]
    assert (rows[0]["choice"], rows[0]["comment"]) == (None, "cut off")
    labelled = Counter(row["system"] for row in rows if not row["skipped"])
    for row in rows:
        if labelled[row["system"]]:
            assert row["probability"] == labelled[row["system"]] / 12
            assert row["stratum"] is not None


def test_under_active_each_label_has_a_probability_of_its_own_times_the_labelled_share(
    tmp_path: Path, folder: Path
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    settings = protocol_settings("quality", ["coherence", "overall"], form="scale")
    asked = drawn_protocol(folder, settings, items, errors=lambda unit: len(unit.item_id) + int(unit.case_id))
    content = export_of(sheet_for(asked, "ann"), lambda *_: "4")
    designed = inclusion_probabilities([asked.ledger.entries[key] for key in asked.units])
    designed_of = {asked.units[key].item_id: probability for key, probability in designed.items()}
    rows = checked(read_labels([save(folder / "a.json", content)], {"quality": asked}))
    assert {row["item_id"]: row["probability"] for row in rows} == {
        row["item_id"]: designed_of[row["item_id"]] for row in rows
    }
    assert len({row["probability"] for row in rows}) > 6

    content["labels"] = [one for one in content["labels"] if one["criterion"] == "coherence"][:7]
    rows = checked(read_labels([save(folder / "a.json", content)], {"quality": asked}))
    labelled = Counter(row["system"] for row in rows)
    for row in rows:
        assert row["probability"] == pytest.approx(designed_of[row["item_id"]] * labelled[row["system"]] / 4)

    more = drawn_protocol(folder, settings, items, n=8, errors=lambda unit: 1.0)  # another judge in between
    rows = checked(read_labels([save(folder / "a.json", content)], {"quality": more}))
    designed = inclusion_probabilities([more.ledger.entries[key] for key in more.units])
    again = {more.units[key].item_id: probability for key, probability in designed.items()}
    for row in rows:
        assert row["probability"] == pytest.approx(again[row["item_id"]] * labelled[row["system"]] / 8)


def test_unlabelled_parts_of_the_draw_are_named(protocols: Protocols, folder: Path) -> None:
    asked = protocols["human_like"]
    sheet = sheet_for(asked, "ann")
    content = export_of(sheet, lambda *_: "No")
    whole = read_labels([save(folder / "human_like-ann.json", content)], protocols)
    assert whole.notes == []
    content["labels"] = [one for one in content["labels"] if asked.units[one["key"]].system != "kiosk"]
    part = read_labels([save(folder / "human_like-ann.json", content)], protocols)
    assert len(part.rows) == 8
    (note,) = part.notes
    assert note.startswith("human_like: no label yet for 12 of 36 dialogues or pairs ('kiosk')")


def test_two_exports_of_one_page_count_once(protocols: Protocols, folder: Path) -> None:
    sheet = sheet_for(protocols["human_like"], "ann")
    content = export_of(sheet, lambda *_: "No")
    first = save(folder / "a (1).json", content)
    early = save(folder / "a.json", {**content, "labels": content["labels"][:5]})
    reading = read_labels([first, early], protocols)
    assert len(reading.rows) == 12
    assert reading.notes == ["a.json: 5 answers occur in another export too, and count once"]
    again = save(folder / "second.json", export_of(sheet, lambda *_: "Yes", round=1))
    assert Counter(row["round"] for row in checked(read_labels([first, again], protocols))) == {0: 12, 1: 12}


@pytest.mark.parametrize(
    ("delimiter", "encoding", "mark"),
    [
        (",", "utf-8-sig", ""),
        (";", "cp1252", ""),
        (";", "utf-8", "sep=;\r\n"),
        ("\t", "utf-16", ""),
        ("\t", "utf-8", ""),
    ],
)
def test_a_sheet_comes_back_however_it_was_saved(
    delimiter: str, encoding: str, mark: str, protocols: Protocols, folder: Path
) -> None:
    rows = filled(sheet_for(protocols["quality"], "ann"), "4,0" if delimiter == ";" else "4")
    rows[0] = [name.capitalize() for name in rows[0]]
    rows[2][rows[0].index("Label")] = ""
    rows[1][rows[0].index("Comment")] = "über"
    rows[3] = rows[3][: rows[0].index("Label") + 1]  # programs leave out empty cells at a row's end
    path = folder / "filled.csv"
    path.write_bytes((mark + as_csv([*rows, [""] * 10], delimiter)).encode(encoding))
    reading = read_labels([path], protocols)
    labels = checked(reading)
    assert len(labels) == 23
    assert {row["value"] for row in labels} == {4.0}
    assert (labels[0]["comment"], labels[0]["row"]) == ("über", 3 if mark else 2)
    assert labels[1]["row"] == labels[0]["row"] + 2
    assert "filled.csv: 1 rows have no label yet" in reading.notes
    assert any("Windows-1252" in note for note in reading.notes) == (encoding == "cp1252")


def test_a_sheet_comes_back_as_a_workbook(protocols: Protocols, folder: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in filled(sheet_for(protocols["human_like"], "ann"), "Yes", "2"):
        sheet.append([float(cell) if cell == "2" else cell for cell in row])
    workbook.save(folder / "filled.xlsx")
    rows = checked(read_labels([folder / "filled.xlsx"], protocols))
    assert {(row["choice"], row["place"]) for row in rows} == {("Yes", 2)}
    assert len(rows) == 12


def test_a_table_of_any_tool_is_known_by_its_ids(tmp_path: Path, folder: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    elsewhere = tmp_path / "nothing drawn"
    content = [
        protocol_settings("quality", ["coherence", "overall"], form="scale"),
        protocol_settings("better", form="pair", data={"n_utterances": [2, 4]}),
        protocol_settings("good", ["overall"], form="probability"),
    ]
    protocols = {one.name: drawn_protocol(elsewhere, one, items, 1) for one in content}
    protocols = {name: LabelledProtocol(one.question, one.frame, type(one.ledger)(folder / "none.csv"))
                 for name, one in protocols.items()}  # fmt: skip
    files = [
        table(
            folder / "scores.csv",
            "annotator,protocol,item_id,criterion,value,round\nann,quality,3/kiosk,Coherence,2.5,0\n"
            "ann,quality,3/kiosk,coherence,3,1\n",
        ),
        table(
            folder / "scores2.csv",
            "annotator,protocol,system,case_id,criterion,label,probability\nbob,quality,kiosk,3,overall,5,0.25\n",
        ),
        table(
            folder / "better-tool.csv",
            "annotator,case_id,left,right,n_utterances,winner\nann,1,mosaic,harbour,2.0,mosaic\nann,1,harbour,kiosk,4,tie\n"
            "ann,2,mosaic,kiosk,2,KIOSK\n",
        ),
        table(
            folder / "better-points.csv",
            "annotator,case_id,system,opponent,n_utterances,outcome\nbob,1,mosaic,harbour,2,1\nbob,3,kiosk,mosaic,4,right\n",
        ),
        table(folder / "good.csv", "annotator,item_id,label\nann,1/kiosk,no\nann,2/kiosk,1\nann,3/kiosk,0.5\n"),
    ]
    rows = checked(read_labels(files, protocols))
    quality = [(row["item_id"], row["criterion"], row["value"], row["round"]) for row in rows[:3]]
    assert quality == [("3/kiosk", "coherence", 2.5, 0), ("3/kiosk", "coherence", 3, 1), ("3/kiosk", "overall", 5, 0)]
    assert [row["probability"] for row in rows[:3]] == [None, None, 0.25]
    won = [(row["case_id"], row["system"], row["opponent"], row["n_utterances"], row["outcome"]) for row in rows[3:8]]
    assert won == [
        ("1", "harbour", "mosaic", 2, "right"),
        ("1", "harbour", "kiosk", 4, "tie"),
        ("2", "kiosk", "mosaic", 2, "left"),
        ("1", "harbour", "mosaic", 2, "right"),
        ("3", "kiosk", "mosaic", 4, "right"),
    ]
    assert [(row["value"], row["choice"], row["scale_max"]) for row in rows[8:]] == [
        (0, "No", 1), (1, "Yes", 1), (0.5, None, 1)
    ]  # fmt: skip


def test_labels_of_what_is_gone_are_left_out_in_words(protocols: Protocols, folder: Path, tmp_path: Path) -> None:
    path = save(folder / "a.json", export_of(sheet_for(protocols["human_like"], "ann"), lambda *_: "No"))
    fewer = items_table(tmp_path / "fewer.parquet", dialogues(("kiosk", "harbour")))
    left = drawn_protocol(folder, protocol_settings("human_like", form="locate"), fewer)
    reading = read_labels([path], {"human_like": left})
    assert {row["system"] for row in reading.rows} == {"kiosk", "harbour"}
    assert {row["probability"] for row in reading.rows} == {4 / 12}
    assert reading.notes == ["4 labels under human_like are left out, since their dialogues no longer exist"]


def test_a_simulated_annotator_is_called_so(protocols: Protocols, folder: Path) -> None:
    files = [
        save(folder / f"{name}.json", export_of(sheet_for(protocols["human_like"], name), lambda *_: "No"))
        for name in ("ann", "simulated-1")
    ]
    rows = checked(read_labels(files, protocols, ["ann", "simulated-1"], ["simulated-1"]))
    assert Counter((row["annotator"], row["simulated"]) for row in rows) == {
        ("ann", False): 12,
        ("simulated-1", True): 12,
    }


# Labels of another question or scale than is set now are refused, from pages and from sheets.


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

    def protocol(ends: tuple[float, float]) -> LabelledProtocol:
        return drawn_protocol(tmp_path, protocol_settings("felt", ["warm"], [warm(*ends)], form="scale"), items)

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
        with pytest.raises(
            UserError, match=f"{path.name}: it was labelled on the scale .* of warm, and the scale is now"
        ) as caught:
            read_labels([path], {"felt": protocol(now)})
        assert str(caught.value).count("it was labelled on the scale") == 1


def test_options_of_another_tool_give_no_scale(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    asked = drawn_protocol(tmp_path, protocol_settings("felt", ["warm"], [warm(1, 5)], form="scale"), items)
    free = LabelledProtocol(asked.question, asked.frame, Ledger(tmp_path / "none.csv"))
    table = tmp_path / "felt.csv"
    table.write_text("annotator,item_id,criterion,label,options\nann,1/kiosk,warm,3,low|high\n", encoding="utf-8")
    assert [row["value"] for row in read_labels([table], {"felt": free}).rows] == [3.0]


def given_scales_filled(folder: Path, sheet: Sheet, label: str) -> Path:
    """Return a sheet that an annotator filled in with one answer everywhere."""
    text = io.StringIO(blank_csv(sheet).removeprefix("\ufeff"), newline="")
    rows = [row | {"label": label} for row in csv.DictReader(text)]
    path = folder / f"{sheet.protocol}-ann.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


def exported(folder: Path, sheet: Sheet, label: str) -> Path:
    """Return what a page exports on which an annotator gave one answer everywhere."""
    content = export_of(sheet, lambda *_: label)
    asked = {one.criterion: one for one in sheet.questions}
    for record in content["labels"]:
        question = asked[record["criterion"]]
        record |= {"question": question.text, "rubric": options_text(question)}
    return save(folder / f"{sheet.protocol}-ann.json", content)


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
@pytest.mark.parametrize("given", [given_scales_filled, exported])
def test_labels_of_a_question_that_has_changed_are_refused_with_both_wordings(
    tmp_path: Path, change: str, given: Callable[[Path, Sheet, str], Path]
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    before, after, form, label = CHANGES[change]

    def protocol(criterion: Criterion) -> LabelledProtocol:
        return drawn_protocol(tmp_path, protocol_settings("felt", ["kind"], [criterion], form=form), items)

    labelled = protocol(before)
    sheet = sheet_for(labelled, "ann")
    path = given(tmp_path, sheet, label)
    assert read_labels([path], {"felt": labelled}).rows
    with pytest.raises(UserError) as caught:
        read_labels([path], {"felt": protocol(after)})
    message = str(caught.value)
    assert message.count("remove these labels and label again") == 1  # a fault of a whole file is reported once
    assert "restore the question under criteria.kind" in message
    now = sheet_for(protocol(after), "ann").questions[0]
    content = (sheet.questions[0].text, now.text) if change != "rubric" else ("rude", "curt")
    for words in (path.name, *content):
        assert words in message


def test_a_question_of_labels_questions_that_changed_is_noticed_and_no_question_is_taken_as_it_is(
    tmp_path: Path,
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    asked = drawn_protocol(tmp_path, protocol_settings("better", form="pair"), items)
    path = exported(tmp_path, sheet_for(asked, "ann"), "A")
    ours = "Which of the two dialogues is better?"
    for instead, is_same in (("", True), (f"  {ours.upper()}\n", True), ("Which one helps more?", False)):
        one = replace(asked, instead=instead)
        if is_same:
            assert read_labels([path], {"better": one}).rows
        else:
            with pytest.raises(
                UserError, match=r"better-ann.json: .*is better\?', and the question is now 'Which one helps more\?'"
            ):
                read_labels([path], {"better": one})
    (tmp_path / "old.json").write_text(json.dumps(export_of(sheet_for(asked, "ann"), lambda *_: "A")), encoding="utf-8")
    assert read_labels([tmp_path / "old.json"], {"better": replace(asked, instead="Which one helps more?")}).rows


def test_words_of_another_language_are_no_other_question(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    german = Words({}, {"dialogue": "wie freundlich er ist"})
    both = replace(KIND, translations={"de": german})
    asked = drawn_protocol(tmp_path, protocol_settings("felt", ["kind"], [both], form="scale"), items)
    sheet = sheet_for(asked, "ann")
    in_german = questions_of(asked.question, [both], "dialogue", "de")
    assert in_german[0].text != sheet.questions[0].text
    path = given_scales_filled(tmp_path, replace(sheet, questions=in_german), "3")
    assert read_labels([path], {"felt": asked}).rows


def test_no_sample_is_drawn_anew_beside_labels_of_a_lost_one(
    folder: Path, protocols: dict[str, LabelledProtocol]
) -> None:
    """The new sample would have the lost one's id, and its labels with wrong probabilities."""
    rows = filled(sheet_for(protocols["quality"], "ann"), "4")
    with (folder / "quality-ann.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    (folder / "notes.csv").write_text("not,labels\n", encoding="utf-8")
    save(folder / "human_like-bob.json", export_of(sheet_for(protocols["human_like"], "bob"), lambda *_: "No"))
    kept = protocols["quality"].ledger
    check_ledger_exists(folder, "quality", kept)
    lost = Ledger(kept.path)
    for name, file in (("quality", "quality-ann.csv"), ("human_like", "human_like-bob.json")):
        with pytest.raises(
            UserError, match=rf"draw-quality.csv is missing, and {file} has labels.*Restore it.*labels.path"
        ):
            check_ledger_exists(folder, name, lost)
    check_ledger_exists(folder, "better", lost)
