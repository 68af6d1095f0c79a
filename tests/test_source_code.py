"""What sources say is read once, and a kept reading is never believed of another text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dialeval import source_code
from dialeval.source_code import Source, read_sources

TEXT = "from dialeval.errors import UserError\nLIMIT, names = 3, 'a.csv'\ndef told(of):\n    return LIMIT, of.name\n"


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has read nothing yet, and keeps what it reads beside it."""
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(source_code, "_READ", {})


def read_anew(path: Path) -> Source:
    source_code._READ.clear()
    return read_sources(path.parent)[path]


def module(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(TEXT)
    return path


def test_what_a_source_says(tmp_path: Path) -> None:
    source = read_anew(module(tmp_path))
    assert source.imports == (("UserError", "dialeval.errors", "UserError", 0),)
    constants, function = source.statements
    assert (constants.binds, constants.files) == (("LIMIT", "names"), ("a.csv",))
    assert (function.binds, function.uses) == (("told",), (("LIMIT", ""), ("of", "name")))


def test_a_kept_reading_is_the_same_and_spares_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = module(tmp_path)
    first = read_anew(path)
    monkeypatch.setattr(source_code.ast, "parse", lambda *_, **__: pytest.fail("it was read before"))
    assert read_anew(path) == first


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"reader": "another", "sources": {}}'])
def test_a_damaged_or_foreign_reading_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    path = module(tmp_path)
    first = read_anew(path)
    (kept,) = (tmp_path / "__pycache__").glob("*.json")
    kept.write_bytes(damage)
    assert read_anew(path) == first


def test_another_text_is_another_reading(tmp_path: Path) -> None:
    path = module(tmp_path)
    first = read_anew(path)
    path.write_text("# a comment\n" + TEXT.replace("def told(of):", 'def told(of):\n    "A docstring."'))
    assert read_anew(path) == first
    path.write_text(TEXT.replace("3", "4"))
    assert read_anew(path).statements[0].digest != first.statements[0].digest


def test_a_folder_that_cannot_be_written_is_read_all_the_same(tmp_path: Path) -> None:
    path = module(tmp_path)
    (tmp_path / "__pycache__").write_text("a file where the folder would be")
    assert read_anew(path).statements
