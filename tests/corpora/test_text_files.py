"""The border where files come in: what no table can hold is refused with its file, its line and what to do."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.corpora import text_files
from dialeval.corpora.text_files import (
    DEEPEST_NESTING,
    is_western,
    listed,
    number_in,
    parse_json,
    read_csv,
    read_json_lines,
    read_lines,
    read_text,
)
from dialeval.errors import UserError

GOOD = '{"a": "fine"}\n'


def write(folder: Path, content: bytes | str) -> Path:
    path = folder / "mine.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"a": "half \\ud83d"}', ["\\ud83d at character", "write the whole character"]),
        ('{"\\udc00": 1}', ["half of a character"]),
        ('{"a": "\\\\\\ud800"}', ["half of a character"]),
        ('{"a": ' + "9" * 5000 + "}", ["a whole number of 5000 digits", "in double quotes"]),
        ('{"a": -' + "1" * 30 + "}", ["a whole number of 30 digits"]),
        ("[" * 100_000, ["nested deeper than 32 levels", "check the brackets"]),
        ('{"a":' * 100_000, ["nested deeper than 32 levels"]),
        ("[" * 40 + "]" * 40, ["nested deeper than 32 levels"]),
        ('{"a": 1, "b": 2, "a": 3}', ["'a' occurs twice in one object", "remove one"]),
        ('{"a": }', ["not valid JSON", "character 7", "correct it there"]),
        ("12", ["each line must be one JSON object, not int"]),
    ],
)
def test_a_line_that_no_table_can_hold_is_reported(tmp_path: Path, line: str, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        list(read_json_lines(write(tmp_path, GOOD + "\n" + line + "\n" + GOOD)))
    for word in ("mine.jsonl, line 3: ", *words):
        assert word in str(caught.value)


def test_whole_characters_backslashes_and_shallow_lists_pass() -> None:
    text = '["\\ud83d\\ude00", "\\\\ud800", ' + ",".join(["[[]]"] * 100) + ", 123456789012345678]"
    value = parse_json(text, "here")
    assert value[:2] == ["😀", "\\ud800"]
    assert value[-1] == 123456789012345678
    assert parse_json("[" * DEEPEST_NESTING + "]" * DEEPEST_NESTING, "here")


def test_the_line_of_a_value_that_has_several_is_reported() -> None:
    with pytest.raises(UserError, match=r"here: not valid JSON \(Expecting value at line 3, character 3\)"):
        parse_json('{\n "a": [\n  ?]\n}', "here")
    with pytest.raises(UserError, match=r"here: .ud800 at line 2, character 8 is half"):
        parse_json('{\n "a": "\\ud800"\n}', "here")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD.encode("utf-16")[:-1], "line 1: not UTF-16 .* save the file as UTF-8"),
        (GOOD.encode("utf-16-le"), "line 1: a NUL character"),
        (GOOD.encode() + b"{\x00}", "line 2: a NUL character"),
        (GOOD.encode() + b"\xed\xa0\x80", "line 2: not UTF-8"),
        (b"PK\x03\x04 and more", "this is a zip archive or a workbook, .* unpack it"),
        (b"\xfd7zXZ\x00 and more", "compressed by xz, which is not supported"),
        (b"PAR1 and more", "this is Parquet"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-9], "cannot be read: .*UTF-8"),
    ],
)
def test_what_is_no_text_is_reported(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        read_text(write(tmp_path, content))
    assert "UTF-8" in str(caught.value)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lambda text: text.decode().encode("utf-16")])
def test_packed_text_and_utf16_are_read(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = write(tmp_path, pack((GOOD + '{"a": "é"}\n').encode()))
    assert [line.record["a"] for line in read_json_lines(path)] == ["fine", "é"]
    assert read_text(path) == GOOD + '{"a": "é"}\n'


def test_a_folder_in_place_of_a_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read_text(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('a,b\n"x,1\n', "line 2: not readable as CSV"),
        ("a,b\n1," + "x" * 10_000_001, "line 2: not readable as CSV .field larger"),
    ],
)
def test_text_that_is_no_csv_is_reported(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(read_csv(write(tmp_path, content)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_what_others_write_is_read_as_it_was(value: Any, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only), "here") == value


def test_numbers_in_cells_are_those_that_people_write() -> None:
    assert [number_in(cell) for cell in ("1", " -2.5", ".5", "1.", "+3e-2")] == [1, -2.5, 0.5, 1, 0.03]
    assert [number_in(cell) for cell in ("", "1_0", "٣", "0x1", "inf", "1,5", "one", "9" * 400 + "x")] == [None] * 8


def test_long_lists_of_names_are_cut() -> None:
    assert listed([]) == "none"
    assert listed(["a", "b" * 100]) == "a, " + "b" * 40
    assert listed(range(25)).endswith("18, 19, ...")


@pytest.mark.parametrize(
    ("text", "encoding", "western"),
    [
        ("id,said\n1,Grüße aus Köln\n", "cp1252", True),
        ("id,said\n1,déjà créée – « l’été…\u00a0»\n", "cp1252", True),
        ("id,said\n1,Grüße\n", "utf-8", False),
        ("id,said\n1,fine\n", "ascii", False),
        ("id,said\n1,Grüße\n", "utf-16", False),
        ("id,said\n1,привет, как дела\n", "cp1251", False),
        ("id,said\n1,你好吗\n" * 9, "gbk", False),
        ("id,said\n1,今日は\n" * 9, "shift-jis", False),
        ("id,said\n1,καλημέρα\n", "cp1253", False),
        ("id,said\n1,C'est un café", "cp1252", True),
        ("id,said\n1,A 3 m³ tank, 1º, ¿qué tal?\n", "cp1252", True),
        ("id,said\n1,C'est un café", "utf-8", False),
        ("id,said\n1,mogę działać tak\n", "cp1250", False),
        ("id,said\n1,iyi akşamlar, nasılsın\n", "cp1254", False),
        ("id,said\n1,München schön\n", "mac-roman", False),
        ("id,said\n1,你好嗎\n", "big5", False),
        ("id,said\n1,トマト\n", "shift-jis", False),
    ],
)
def test_what_a_western_spreadsheet_saved_is_known(tmp_path: Path, text: str, encoding: str, western: bool) -> None:
    assert is_western(write(tmp_path, text.encode(encoding))) is western
    assert not is_western(tmp_path / "absent.csv")


PIECES = [b"a", b"\n", b"\r\n", b"\r", b"\xc3\xa9", b"\xff", b"\x00", b"\xef\xbb\xbf", b"\xf0\x9f"]


@given(st.lists(st.sampled_from(PIECES)))
def test_a_file_by_lines_is_what_it_is_as_a_whole(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = write(tmp_path_factory.getbasetemp(), b"".join(pieces))
    whole = _outcome(lambda: read_text(path))
    assert _outcome(lambda: "".join(read_lines(path))) == whole
    assert _outcome(lambda: "".join(read_lines(path, newline=""))) == whole


def _outcome(read: Callable[[], str]) -> str:
    try:
        return read()
    except UserError as error:
        return f"refused: {error}"


@pytest.mark.parametrize(
    "read_all", [read_text, lambda path: list(read_lines(path)), lambda path: list(read_csv(path))]
)
def test_a_packed_file_that_was_made_to_fill_a_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_all: Callable[[Path], Any]
) -> None:
    monkeypatch.setattr(text_files, "UNPACKED", 1 << 20)
    path = write(tmp_path, gzip.compress(b"0" * (1 << 23)))
    with pytest.raises(UserError, match="cannot be read: it unpacks to more than 200 times its size"):
        read_all(path)
    assert not is_western(path)
    assert read_text(write(tmp_path, gzip.compress(b"0" * (1 << 19)))) == "0" * (1 << 19)
