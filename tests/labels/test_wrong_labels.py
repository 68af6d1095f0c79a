"""Everything that can be wrong with files of labels is told at once, each with its file, row and remedy."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labelled_dialogues import (
    dialogue,
    dialogues,
    drawn_protocol,
    export_of,
    items_table,
    protocol_settings,
    save,
    sheet_for,
)

from dialeval.errors import UserError
from dialeval.labels.labelled_protocol import LabelledProtocol
from dialeval.labels.ledger import Ledger
from dialeval.labels.reading import read_labels
from dialeval.labels.sheets import blank_csv, is_same_text
from dialeval.labels.spreadsheets import label_files, ledger_files, passed_over
from dialeval.tables.files import escaped_cell, unescaped_cell

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 36 dialogues of three systems."""
    return items_table(tmp_path_factory.mktemp("items") / "items.parquet", dialogues())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of labels."""
    path = tmp_path / "labels"
    path.mkdir()
    return path


@pytest.fixture
def quality(items: Path, folder: Path) -> LabelledProtocol:
    """A protocol of two criteria under which some dialogues are drawn."""
    return drawn_protocol(folder, protocol_settings("quality", ["coherence", "overall"], form="scale"), items)


@pytest.fixture
def free(items: Path, folder: Path) -> dict[str, LabelledProtocol]:
    """Protocols under which nothing is drawn."""
    message_of = [
        protocol_settings("quality", ["coherence", "overall"], form="scale"),
        protocol_settings("better", form="pair"),
        protocol_settings("human_like", form="locate"),
    ]
    found = {one.name: drawn_protocol(folder / "elsewhere", one, items) for one in message_of}
    return {name: LabelledProtocol(one.question, one.frame, Ledger(folder / "none.csv")) for name, one in found.items()}


def message_of(files: list[Path], protocols: dict[str, LabelledProtocol], **more: Any) -> str:
    with pytest.raises(UserError) as error:
        read_labels(files, protocols, **more)
    return str(error.value)


@contextmanager
def passed_if_named(name: str) -> Iterator[None]:
    """Pass over an error in words that names a file, and over no other."""
    try:
        yield
    except UserError as error:
        if name not in str(error):
            raise


def answer(number: int, **change: Any) -> Change:
    return lambda export: export["labels"][number].update(change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda export: export.update(format="other"), "a.json is neither an export of a labelling page"),
        (lambda export: export.update(version=2), "a.json has version 2, and this version of DialEval reads 1"),
        (lambda export: export.pop("annotator"), "a.json: the field 'annotator' is missing"),
        (lambda export: export.update(annotator="a\nb"), "has a line break or control character"),
        (
            lambda export: export.update(draw="d123"),
            "a.json belongs to another sample, d123; draw-quality.csv has d",
        ),
        (lambda export: export.update(protocol="qualiti"), "'qualiti' is not a protocol with labels; did you"),
        (lambda export: export["labels"].append("x"), "a.json, row 25: 'x' is not an answer"),
        (answer(0, key="t0"), "a.json, row 1: key 't0' is not in draw-quality.csv"),
        (answer(1, criterion="coherense"), "a.json, row 2: 'coherense' is no criterion of protocol quality; did you"),
        (
            answer(1, criterion=""),
            "a.json, row 2: the label has no criterion, and protocol quality has the criteria coherence",
        ),
        (answer(2, label="7"), "a.json, row 3: 7 is outside the scale of coherence, 1 to 5"),
        (answer(2, label="good"), "a.json, row 3: 'good' is not a number; write one from 1 to 5"),
        (
            answer(2, label="04. Mai"),
            "a.json, row 3: '04. Mai' is not a number; write one from 1 to 5, or leave it empty; spreadsheet programs",
        ),
        (answer(2, label=True), "a.json, row 3: 'label' is True, neither text nor number"),
        (answer(2, round=-1), "a.json, row 3: 'round' is -1"),
        (
            lambda export: export["labels"].append(export["labels"][0]),
            "a.json, row 25: 'ann' already labelled item '10/kiosk' of support in a.json, row 1",
        ),
    ],
)
def test_what_is_wrong_with_an_export(change: Change, words: str, quality: LabelledProtocol, folder: Path) -> None:
    export = export_of(sheet_for(quality, "ann"), lambda *_: "3")
    change(export)
    message = message_of([save(folder / "a.json", export)], {"quality": quality})
    assert words in message
    assert message.startswith("the labels have a mistake; the files are unchanged:\n  a.json")
    assert message.count("\n") == 1


HEAD = "annotator,protocol,item_id,criterion,label"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "x.csv is empty; save it again with its labels, or remove it"),
        (b"  \r\n ", "x.csv is empty"),
        (b"a,b\n1,2\n", "x.csv, row 1: it has no column of labels, such as annotator, label and item_id"),
        (
            b"annotator,item_id\nann,1/kiosk\n",
            "row 1: the column label (or value, outcome, winner, or one for each criterion) is missing",
        ),
        (b"label,item_id\n3,1/kiosk\n", "x.csv, row 1: the column annotator is missing"),
        (b"annotator,label\nann,3\n", "the column key, item_id, or system and case_id is missing"),
        (b"annotator,label,value,item_id\nann,3,4,1/kiosk\n", "it has the columns label and value; keep one"),
        (b"annotator,label,Label,item_id\nann,3,4,1/kiosk\n", "the column 'label' occurs more than once"),
        (f"{HEAD}\nann,quality,99/kiosk,overall,3\n".encode(), "row 2: protocol quality has no item_id '99/kiosk'"),
        (f"{HEAD}\n,quality,1/kiosk,overall,3\n".encode(), "x.csv, row 2: no annotator; write the annotator's name"),
        (
            f"{HEAD}\nann,,1/kiosk,,3\n".encode(),
            "x.csv: the protocol of the labels is not known; add a column 'protocol'",
        ),
        (f"{HEAD}\nann,quality,1/kiosk,overall,nan\n".encode(), "row 2: 'nan' is not a number"),
        (f"{HEAD}\nann,quality,1/kiosk,overall,0.9\n".encode(), "row 2: 0.9 is outside the scale of overall, 1 to 5"),
        (
            f"{HEAD}\nann,quality,1/kiosk,overall,3\nann,quality,1/kiosk,overall,3\n".encode(),
            "x.csv, row 3: 'ann' already labelled item '1/kiosk' of support in x.csv, row 2; keep one of the "
            "two, or number a second labelling in a column round",
        ),
        (
            f"{HEAD}\nann,quality,1/kiosk,overall,3\nAnn,quality,2/kiosk,overall,3\n".encode(),
            "x.csv: annotator 'Ann' is written 'ann' elsewhere; if they are one person, write the name in one way",
        ),
        (f"{HEAD}\nann,human_like,1/kiosk,,maybe\n".encode(), "row 2: 'maybe' is neither Yes nor No"),
        (
            f"{HEAD},place\nann,human_like,1/kiosk,,Yes,9\n".encode(),
            "place '9' is not an utterance; write a whole number from 1 to 4",
        ),
        (
            f"{HEAD},place\nann,human_like,1/kiosk,,Yes,1\n".encode(),
            "place 1 is not an utterance of the evaluated speaker",
        ),
        (f"{HEAD},place\nann,human_like,1/kiosk,,No,2\n".encode(), "the label is No, but place is 2"),
        (f"{HEAD},round\nann,quality,1/kiosk,overall,3,two\n".encode(), "row 2: round is 'two', not an integer"),
        (f"{HEAD},skipped\nann,quality,1/kiosk,overall,,maybe\n".encode(), "row 2: skipped is 'maybe'; write 1 or"),
        (
            f"{HEAD},probability\nann,quality,1/kiosk,overall,3,0\n".encode(),
            "row 2: probability is '0'; write a number",
        ),
        (f"{HEAD}\nann,quality,1/kiosk,overall,3,,x\n".encode(), "row 2: 7 cells, but 5 columns"),
        (f'{HEAD}\nann,quality,"1/kio"sk,overall,3\n'.encode(), "x.csv, row 2: not readable as CSV"),
        (f"{HEAD}\nann,quality,1/kiosk,overall,\x813\n".encode("latin-1"), "x.csv is neither UTF-8 nor Windows-1252"),
        (f"{HEAD}\nann,quality,1/kiosk,overall,\x003\n".encode(), "x.csv is neither UTF-8 nor Windows-1252"),
        (b"PK\x03\x04 broken", "cannot be read as an xlsx workbook"),
        (
            b"annotator,protocol,case_id,left,right,winner\nann,better,1,kiosk,nobody,kiosk\n",
            "row 2: protocol better has no case_id '1', left 'kiosk', right 'nobody'; it has, for example",
        ),
        (
            b"annotator,protocol,case_id,left,right,winner\nann,better,1,kiosk,mosaic,harbour\n",
            "row 2: 'harbour' is not an answer; choose from: A, B, Tie, kiosk, mosaic, left, right, tie",
        ),
        (
            b"annotator,protocol,case_id,system,label\nann,better,1,kiosk,A\n",
            "the row names no pair; add case_id, left and right (or system and opponent)",
        ),
        (
            b"annotator,protocol,key,label\nann,quality,t1,3\n",
            "x.csv: this file was exported from a labelling page, but the record of the sample none.csv is missing",
        ),
    ],
)
def test_what_is_wrong_with_a_table(
    content: bytes, words: str, free: dict[str, LabelledProtocol], folder: Path
) -> None:
    path = folder / "x.csv"
    path.write_bytes(content)
    message = message_of([path], free)
    assert words in message
    assert message.count("\n") == 1
    assert str(folder) not in message
    assert path.read_bytes() == content


def test_all_faults_are_reported_at_once(free: dict[str, LabelledProtocol], folder: Path) -> None:
    first, second, third = folder / "a.csv", folder / "b.json", folder / "c.xls"
    first.write_text(f"{HEAD}\nann,quality,1/kiosk,overall,9\nann,quality,9/none,overall,3\n")
    second.write_text("{")
    third.write_bytes(b"\xd0\xcf\x11\xe0")
    message = message_of([first, second, third], free)
    assert message.startswith("the labels have 4 mistakes")
    for words in ("a.csv, row 2: 9 is outside the scale", "row 3: protocol quality has no", "b.json: not valid JSON",
                  "c.xls: DialEval does not read this file format; save it as .csv or .xlsx"):  # fmt: skip
        assert words in message


def test_of_very_many_mistakes_the_first_are_reported(free: dict[str, LabelledProtocol], folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text(HEAD + "".join(f"\nann,quality,{number}/none,overall,3" for number in range(100)))
    message = message_of([path], free)
    assert "the labels have 100 mistakes" in message
    assert message.endswith("and 70 more")


def test_two_differing_exports_of_one_page(quality: LabelledProtocol, folder: Path) -> None:
    export = export_of(sheet_for(quality, "ann"), lambda *_: "3")
    first = save(folder / "a.json", export)
    export["labels"][4]["label"] = "4"
    message = message_of([first, save(folder / "b.json", export)], {"quality": quality})
    assert "b.json, row 5: 'ann' already labelled item '4/mosaic' of support in a.json, row 5" in message
    assert message.endswith("in a.json, row 5; keep one of the two files")


def test_other_words_than_when_it_was_drawn(quality: LabelledProtocol, folder: Path, tmp_path: Path) -> None:
    path = save(folder / "a.json", export_of(sheet_for(quality, "ann"), lambda *_: "3"))
    drawn = next(unit for key, unit in quality.units.items() if quality.ledger.entries[key].drawn)
    changed = dialogue(drawn.system, int(drawn.case_id), " A word more.")
    rest = [one for one in dialogues() if one.item_id != changed.item_id]
    items = items_table(tmp_path / "changed.parquet", [changed, *rest])
    now = drawn_protocol(tmp_path / "new", protocol_settings("quality", ["coherence", "overall"], form="scale"), items)
    message = message_of([path], {"quality": LabelledProtocol(now.question, now.frame, quality.ledger)})
    assert f"{drawn.words} was changed after the sample was drawn" in message


def test_what_was_not_drawn_is_no_fair_sample(quality: LabelledProtocol, folder: Path) -> None:
    spared = next(unit for key, unit in quality.units.items() if not quality.ledger.entries[key].drawn)
    path = folder / "a.csv"
    path.write_text(f"annotator,item_id,criterion,label\nann,{spared.item_id},overall,3\n")
    assert f"a.csv, row 2: {spared.words} was not drawn" in message_of([path], {"quality": quality})
    path.write_text(f"annotator,item_id,criterion,label,probability\nann,{spared.item_id},overall,3,0.5\n")
    assert [row["probability"] for row in read_labels([path], {"quality": quality}).rows] == [0.5]


def test_an_annotator_is_spelled_as_in_the_configuration(free: dict[str, LabelledProtocol], folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text(f"{HEAD}\nsim-1,quality,1/kiosk,overall,3\n")
    message = message_of([path], free, annotators=["SIM-1"], simulated=["SIM-1"])
    assert "annotator 'sim-1' is written 'SIM-1' elsewhere" in message


def test_a_label_that_could_be_an_answer_or_a_name(items: Path, folder: Path, tmp_path: Path) -> None:
    named = items_table(tmp_path / "named.parquet", dialogues(("B", "kiosk")))
    asked = drawn_protocol(folder / "elsewhere", protocol_settings("better", form="pair"), named)
    better = {"better": LabelledProtocol(asked.question, asked.frame, Ledger(folder / "none.csv"))}
    path = folder / "a.csv"
    head = "annotator,case_id,left,right"
    path.write_text(f"{head},label\nann,1,B,kiosk,B\n")
    assert "'B' could be an answer or a system's name; rename the column to outcome or winner" in message_of(
        [path], better
    )
    for column, outcome in (("winner", "left"), ("outcome", "right")):
        path.write_text(f"{head},{column}\nann,1,B,kiosk,B\n")
        assert [row["outcome"] for row in read_labels([path], better).rows] == [outcome]


def test_which_files_are_looked_into(folder: Path, quality: LabelledProtocol) -> None:
    for name in ("a.json", "b.CSV", ".hidden.csv", "~$b.xlsx", ".~lock.b.csv#", "README.md", "page.html", "c.xls"):
        (folder / name).write_text("x")
    (folder / "older").mkdir()
    assert [path.name for path in label_files(folder)] == ["a.json", "b.CSV", "c.xls"]
    assert [path.name for path in ledger_files(folder)] == ["draw-quality.csv"]
    assert passed_over(folder) == ["README.md", "older", "page.html"]
    assert label_files(folder / "nowhere") == []
    assert passed_over(folder / "nowhere") == []


@pytest.mark.parametrize("name", ["{a}.csv", "a\nb.json"])
def test_a_name_that_snakemake_cannot_have_is_refused(name: str, folder: Path) -> None:
    (folder / name).write_text("x")
    with pytest.raises(UserError, match="remove braces, line breaks and control characters from their names"):
        label_files(folder)


Rows = list[list[str]]


def rows_of(asked: LabelledProtocol, label: Callable[[int], str] = lambda number: str(1 + number % 5)) -> Rows:
    """Return the header and the rows of ann's sheet, filled in."""
    header, *rows = csv.reader(io.StringIO(blank_csv(sheet_for(asked, "ann")).removeprefix("\ufeff"), newline=""))
    for number, row in enumerate(rows):
        row[header.index("label")] = label(number)
    return [header, *rows]


def saved(folder: Path, rows: Rows, delimiter: str = ",", encoding: str = "utf-8-sig") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    (folder / "a.csv").write_bytes(text.getvalue().encode(encoding, "replace"))
    return folder / "a.csv"


def column(rows: Rows, name: str, change: Callable[[list[str]], list[str]]) -> None:
    """Change the cells of one column and no other."""
    place = rows[0].index(name)
    for row, cell in zip(rows[1:], change([row[place] for row in rows[1:]]), strict=True):
        row[place] = cell


def moved_down(rows: Rows) -> None:
    rows.append([""] * len(rows[0]))
    column(rows, "label", lambda cells: ["", *cells[:-1]])


def drop(row: int, cell: int) -> Callable[[Rows], object]:
    return lambda rows: rows[row].pop(cell)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda rows: rows[3].__setitem__(7, rows[3][7] + " More."),
            "a.csv, row 4: the text in column dialogue, 'A: Where is parcel",
        ),
        (
            lambda rows: rows[3].__setitem__(7, ""),
            "a.csv, row 4: the text in column dialogue, '', differs from the text of key",
        ),
        (lambda rows: column(rows, "dialogue", sorted), "differs from the text of key"),
        (
            lambda rows: column(rows, "key", sorted),
            "undo that, or copy the key and text of the row again from the sheet",
        ),
        (lambda rows: column(rows, "key", lambda cells: [*cells[2:], *cells[:2]]), "a.csv, row 2: the text in column"),
        (
            lambda rows: column(rows, "criterion", sorted),
            "criterion 'coherence' is in a row with the question 'Overall",
        ),
        (
            moved_down,
            "a.csv, row 26: the label '4' is in a row without a dialogue; the column label was moved down: move",
        ),
        (
            lambda rows: column(rows, "label", lambda cells: ["", *cells[:-1]]),
            "a.csv, row 2: no label, but the 23 rows after it have one, so the column label may have been moved down",
        ),
        (
            lambda rows: column(rows, "label", lambda cells: ["", *cells[:9], *[""] * 14]),
            "a.csv, row 2: no label, but the 9 rows after it have one",
        ),
        (lambda rows: column(rows, "label", sorted), "a.csv: the 24 labels of 'ann' are sorted, and the dialogues"),
        (
            lambda rows: column(rows, "label", lambda cells: sorted(cells, reverse=True)),
            "a.csv: the 24 labels of 'ann' are sorted, and the dialogues",
        ),
        (lambda rows: column(rows, "draw", lambda cells: ["", *cells[1:]]), "a.csv, row 2: draw is empty; copy it"),
        (lambda rows: column(rows, "draw", lambda cells: [""] * len(cells)), "a.csv, row 25: draw is empty; copy it"),
        (lambda rows: column(rows, "key", lambda cells: ["", *cells[1:]]), "a.csv, row 2: key is empty; copy it from"),
        (drop(3, 5), "a.csv, row 4: 9 cells, but 10 columns; cells of this row are missing"),
        (drop(3, 8), "a.csv, row 4: 9 cells, but 10 columns; cells of this row are missing"),
        (drop(3, 0), "a.csv, row 4"),
        (lambda rows: rows[3].insert(5, "x"), "a.csv, row 4"),
        (lambda rows: rows[3].append("x"), "a.csv, row 4: 11 cells, but 10 columns"),
        (lambda rows: rows[3].__delitem__(slice(4, None)), "a.csv, row 4: 4 cells, but 10 columns; cells of this row"),
        (
            lambda rows: rows.append([*rows[1][:8], "5" if rows[1][8] != "5" else "4", ""]),
            "a.csv, row 26: 'ann' already labelled item '10/kiosk' of support in a.csv, row 2",
        ),
        (lambda rows: rows[0].__setitem__(8, "rating"), "a.csv, row 1: the column label (or value, outcome, winner"),
        (lambda rows: rows[0].__setitem__(3, "id"), "a.csv, row 1: the column key, item_id, or system and case_id"),
        (
            lambda rows: rows[0].__setitem__(1, "name"),
            "a.csv, row 1: the column annotator is missing; its columns: protocol",
        ),
        (
            lambda rows: rows[2].__setitem__(8, "3-Apr"),
            "a.csv, row 3: '3-Apr' is not a number; write one from 1 to 5, or leave it empty; spr",
        ),
        (
            lambda rows: rows[2].__setitem__(8, "03.04.2026"),
            "'03.04.2026' is not a number; write one from 1 to 5, or leave it empty; spread",
        ),
    ],
)
def test_a_sheet_whose_cells_were_moved_or_lost(
    change: Callable[[Rows], object], words: str, quality: LabelledProtocol, folder: Path
) -> None:
    rows = rows_of(quality)
    change(rows)
    path = saved(folder, rows)
    before = path.read_bytes()
    assert words in message_of([path], {"quality": quality})
    assert path.read_bytes() == before


def shuffled_columns(rows: Rows) -> None:
    for row in rows:
        row.reverse()


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: column(rows, "dialogue", lambda cells: [cell.replace("\n", "\r\n") for cell in cells]),
        lambda rows: column(rows, "dialogue", lambda cells: [f"  {' '.join(cell.split())}\xa0" for cell in cells]),
        lambda rows: column(rows, "label", lambda cells: [f"{cell}.0 " for cell in cells]),
        lambda rows: column(rows, "label", lambda cells: [f"{cell},0" for cell in cells]),
        lambda rows: column(rows, "comment", lambda cells: ["=1+1", *cells[1:]]),
        lambda rows: rows.__setitem__(slice(1, None), sorted(rows[1:], key=lambda row: row[3])),
        lambda rows: rows.__setitem__(slice(1, None), sorted(rows[1:], key=lambda row: row[8])),
        lambda rows: rows.__delitem__(slice(4, 6)),
        shuffled_columns,
        lambda rows: rows.extend([[], [""] * 10, ["", "", ""]]),
        lambda rows: [row.extend(["", ""]) for row in rows],
    ],
)
@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8-sig"), (";", "cp1252"), ("\t", "utf-16")])
def test_what_spreadsheet_programs_change_is_read(
    change: Callable[[Rows], object], delimiter: str, encoding: str, quality: LabelledProtocol, folder: Path
) -> None:
    rows = rows_of(quality)
    expected = {(row[3], row[4]): float(row[8]) for row in rows[1:]}
    change(rows)
    reading = read_labels([saved(folder, rows, delimiter, encoding)], {"quality": quality})
    keys = {unit.item_id: key for key, unit in quality.units.items()}
    found = {(keys[row["item_id"]], row["criterion"]): row["value"] for row in reading.rows}
    assert len(found) in (len(expected), len(expected) - 2)
    assert found.items() <= expected.items()


@pytest.mark.parametrize("change", [{"comment": "cannot tell"}, {"skipped": "1"}])
def test_the_first_dialogue_may_be_left_out(change: dict[str, str], quality: LabelledProtocol, folder: Path) -> None:
    rows = rows_of(quality)
    rows[1][8] = ""
    header = [*rows[0], "skipped"]
    for row in rows[1:]:
        row.append("")
    for name, cell in change.items():
        rows[1][header.index(name)] = cell
    reading = read_labels([saved(folder, [header, *rows[1:]])], {"quality": quality})
    assert len([row for row in reading.rows if not row["skipped"]]) == 23


def test_a_sheet_without_its_dialogues_is_read_with_a_word(quality: LabelledProtocol, folder: Path) -> None:
    rows = [[*row[:7], *row[8:]] for row in rows_of(quality)]
    reading = read_labels([saved(folder, rows)], {"quality": quality})
    assert len(reading.rows) == 24
    assert reading.notes == [
        "a.csv: no column has the dialogues, so DialEval cannot detect a key that was moved to another row"
    ]


def test_a_row_that_is_there_twice_counts_once(quality: LabelledProtocol, folder: Path) -> None:
    rows = rows_of(quality)
    rows.append(rows[1])
    reading = read_labels([saved(folder, rows)], {"quality": quality})
    assert len(reading.rows) == 24
    assert "a.csv: 1 answers occur twice there, and count once" in reading.notes


def test_a_blank_sheet_of_another_draw_is_no_mistake(quality: LabelledProtocol, folder: Path) -> None:
    rows = rows_of(quality, lambda number: "")
    for row in rows[1:]:
        row[0:4] = ["gone", "ann", "d0", f"t{row[3][:3]}"]
    assert read_labels([saved(folder, rows)], {"quality": quality}).rows == []


def test_rows_that_excel_leaves_short_have_no_label_yet(quality: LabelledProtocol, folder: Path) -> None:
    """Of rows 17 to 32 together it leaves out what is empty at their ends."""
    rows = rows_of(quality, lambda number: "3" if number < 15 else "")
    for row in rows[16:]:
        del row[8:]
    assert len(read_labels([saved(folder, rows)], {"quality": quality}).rows) == 15
    rows[16].append("")
    assert "a.csv, row 18: 8 cells, but 10 columns" in message_of([saved(folder, rows)], {"quality": quality})


STRANGE = (
    "He said: \"don't\" -- 'no'... Ça va? 😊",
    "=SUM(A1) “ja” – l’été",
    "你好，今天天气很好。",
    "Привет; мир, это тест!",
)


@pytest.mark.parametrize(
    ("encoding", "read_as"),
    [
        ("utf-8", "utf-8"), ("utf-8", "cp1252"), ("cp1252", "cp1252"), ("cp1251", "cp1252"), ("gbk", "gbk"),
        ("mac_roman", "mac_roman"), ("latin-1", "latin-1"), ("ascii", "ascii"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", STRANGE)
def test_a_text_is_the_same_in_whichever_encoding_it_was_saved(text: str, encoding: str, read_as: str) -> None:
    content = text.encode(encoding, "replace")
    letters = (bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in content)  # as Windows reads bytes
    cell = "".join(letters) if read_as == "cp1252" else content.decode(read_as)
    assert is_same_text(cell, text)
    smart = text.replace('"', "”").replace("'", "’").replace("--", "–").replace("...", "…")
    assert is_same_text(f" {smart}\r\n", text)
    assert is_same_text(escaped_cell(text), text)
    others = [one for one in STRANGE if one != text]
    assert not any(is_same_text(other, text) or is_same_text(text + " no", other) for other in others)
    assert not is_same_text(f"{cell} more", text)
    assert not is_same_text("", text)


@given(st.text() | st.text(st.sampled_from("aB'’\"“=-+@?!.\n\r\t –\u2028é好😀\u0301")))
def test_any_text_is_known_again_after_a_spreadsheet_program(text: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow([escaped_cell(text)])
    ((cell,),) = csv.reader(io.StringIO(written.getvalue(), newline=""))
    for one in (
        cell,
        unescaped_cell(cell),
        cell.strip(),
        cell.replace("\r\n", "\n").replace("\n", "\r\n"),
        f"\ufeff{cell}",
    ):
        assert is_same_text(one, text)
    assert not is_same_text(f"{cell}word", text)


def test_question_marks_are_no_pretext_for_other_words() -> None:
    assert not is_same_text("A: 你好吗?", "A: 再见吧?")
    assert not is_same_text("A: Привет?", "A: Пока?")
    assert is_same_text("A: Привет ?", "A: Привет 😊")
    assert is_same_text("A: für ??", "A: für 你好")


def test_of_a_very_long_text_excel_keeps_the_beginning() -> None:
    text = "A: " + "long " * 8000
    assert is_same_text(text[:32_767], text)
    assert not is_same_text(text[:20_000], text)
    assert not is_same_text("B" + text[1:32_767], text)


def test_a_probability_that_was_emptied_is_reported(free: dict[str, LabelledProtocol], folder: Path) -> None:
    path = folder / "a.csv"
    for cells in ("0.5|", "|", "|0.5"):
        first, second = cells.split("|")
        path.write_text(
            f"{HEAD},probability\nann,quality,1/kiosk,overall,3,{first}\nann,quality,2/kiosk,overall,3,{second}\n"
        )
        row = 3 if first else 2
        assert f"a.csv, row {row}: probability is empty, and item '{row - 1}/kiosk' of support was not" in message_of(
            [path], free
        )


def test_a_value_neither_ends_its_line_nor_controls_the_terminal(
    free: dict[str, LabelledProtocol], folder: Path
) -> None:
    path = folder / "a.csv"
    path.write_text(f'{HEAD}\nann,quality,1/kiosk,overall,"5\nerror: \x1b[2J\u202eall"\n', encoding="utf-8")
    message = message_of([path], free)
    assert r"a.csv, row 2: '5\nerror: \x1b[2J\u202eall' is not a number" in message
    assert message.count("\n") == 1


def test_a_row_of_another_tool_with_too_few_cells(free: dict[str, LabelledProtocol], folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text(f"{HEAD},comment\nann,quality,1/kiosk,overall,3\nann,quality,2/kiosk,4,\n")
    assert "a.csv, row 3: 5 cells, but 6 columns" in message_of([path], free)


def test_leading_apostrophes_of_other_tools_stay_and_ours_go(items: Path, folder: Path, tmp_path: Path) -> None:
    named = items_table(tmp_path / "named.parquet", dialogues(("=bot", "'quoted")))
    asked = drawn_protocol(folder / "elsewhere", protocol_settings("quality", ["overall"], form="scale"), named)
    free = {"quality": LabelledProtocol(asked.question, asked.frame, Ledger(folder / "none.csv"))}
    path = folder / "a.csv"
    head = "annotator,system,case_id,label,comment"
    path.write_text(f"{head}\nann,=bot,1,3,'-x\nann,'=bot,2,3,=y\nann,'quoted,3,3,\n")
    rows = read_labels([path], free).rows
    assert [(row["system"], row["comment"]) for row in rows] == [("=bot", "'-x"), ("=bot", "=y"), ("'quoted", "")]
    pairs = drawn_protocol(folder / "elsewhere", protocol_settings("better", form="pair"), named)
    better = {"better": LabelledProtocol(pairs.question, pairs.frame, Ledger(folder / "none.csv"))}
    path.write_text("annotator,case_id,left,right,winner\nann,1,=bot,'quoted,'=bot\nann,2,'=bot,'quoted,'quoted\n")
    assert sorted(row["outcome"] for row in read_labels([path], better).rows) == ["left", "right"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_is_read_or_reported(data: st.DataObject, quality: LabelledProtocol, folder: Path) -> None:
    """A file with a few bytes changed, cut or added anywhere is read, or refused in words that name it."""
    kind = data.draw(st.sampled_from(["json", "csv"]))
    path = save(folder / "a.json", export_of(sheet_for(quality, "ann"), lambda *_: "3"))
    if kind == "csv":
        path = folder / "a.csv"
        path.write_text("annotator;item_id;criterion;label;probability\nann;1/kiosk;overall;3;1\n" * 1)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path.write_bytes(bytes(content))
    with passed_if_named(path.name):
        read_labels([path], {"quality": quality})
