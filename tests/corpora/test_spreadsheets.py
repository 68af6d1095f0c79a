"""Workbooks that are broken, bottomless or far wider than they look."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from file_mutations import packed

from dialeval.corpora import spreadsheets
from dialeval.corpora.spreadsheets import sheet_rows
from dialeval.errors import UserError

SHEET = "xl/worksheets/sheet1.xml"


def parts_of(tmp_path: Path) -> dict[str, bytes]:
    book = openpyxl.Workbook()
    for row in (["index", "text"], ["MT-1", "Hi."]):
        book.active.append(row)
    book.save(tmp_path / "good.xlsx")
    with ZipFile(tmp_path / "good.xlsx") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rows_of(tmp_path: Path, parts: dict[str, bytes]) -> list[tuple[int, list[object]]]:
    (tmp_path / "mine.xlsx").write_bytes(packed(parts))
    return list(sheet_rows(tmp_path / "mine.xlsx"))


def changed(parts: dict[str, bytes], old: bytes, new: bytes) -> dict[str, bytes]:
    assert old in parts[SHEET]
    return parts | {SHEET: parts[SHEET].replace(old, new)}


def test_rows_are_read_whatever_size_the_sheet_says_it_has(tmp_path: Path) -> None:
    good = [(1, ["index", "text"]), (2, ["MT-1", "Hi."])]
    parts = parts_of(tmp_path)
    assert rows_of(tmp_path, parts) == good
    assert rows_of(tmp_path, changed(parts, b'ref="A1:B2"', b'ref="A1"')) == good
    assert rows_of(tmp_path, changed(parts, b'ref="A1:B2"', b'ref="A1:XFD1048576"')) == good


def test_a_row_beyond_all_rows_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheets, "MOST_ROWS", 1 << 10)
    parts = changed(parts_of(tmp_path), b'<row r="2"', b'<row r="999999999"')
    assert rows_of(tmp_path, parts) == [(1, ["index", "text"])]


def test_a_cell_far_out_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"mine\.xlsx, row 2: a cell in column 18278"):
        rows_of(tmp_path, changed(parts_of(tmp_path), b'r="B2"', b'r="ZZZ2"'))


@pytest.mark.parametrize("missing", [SHEET, "xl/workbook.xml", "[Content_Types].xml", "xl/_rels/workbook.xml.rels"])
def test_a_workbook_without_one_of_its_parts_is_reported(tmp_path: Path, missing: str) -> None:
    parts = parts_of(tmp_path)
    del parts[missing]
    with pytest.raises(UserError, match=r"mine\.xlsx .*save it again as \.xlsx"):
        rows_of(tmp_path, parts)


def test_a_workbook_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheets, "MOST_BYTES", 5 << 20)
    path = tmp_path / "mine.xlsx"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive, archive.open(SHEET, "w") as sheet:
        for _ in range(6):
            sheet.write(b" " * (1 << 20))
    with pytest.raises(UserError, match=r"mine\.xlsx unpacks to 6 MiB, more than 5"):
        list(sheet_rows(path))


def test_what_is_no_workbook_is_reported(tmp_path: Path) -> None:
    (tmp_path / "mine.xlsx").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(UserError, match=r"mine\.xlsx cannot be read as an xlsx workbook"):
        list(sheet_rows(tmp_path / "mine.xlsx"))
    with pytest.raises(UserError, match="none.xlsx cannot be read"):
        list(sheet_rows(tmp_path / "none.xlsx"))
