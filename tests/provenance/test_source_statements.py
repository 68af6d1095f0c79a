"""What sources say is read once, and a kept reading is never believed of another text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dialeval.provenance import source_statements
from dialeval.provenance.source_statements import Source, read_sources

TEXT = "from dialeval.errors import UserError\nLIMIT, names = 3, 'a.csv'\ndef told(of):\n    return LIMIT, of.name\n"


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has read nothing yet, and keeps what it reads beside it."""
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(source_statements, "_READ", {})


def read_anew(path: Path) -> Source:
    source_statements._READ.clear()
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
    assert (function.binds, function.uses) == (("told",), (("LIMIT", ""),))


def test_a_kept_reading_is_the_same_and_spares_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = module(tmp_path)
    first = read_anew(path)
    monkeypatch.setattr(source_statements.ast, "parse", lambda *_, **__: pytest.fail("it was read before"))
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


def digest_of(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.py"
    path.write_text(text)
    (statement,) = read_anew(path).statements
    return statement.digest


@pytest.mark.parametrize(
    ("before", "after", "is_the_same"),
    [
        ("print('a', x)", "print('b', x)", True),
        ("print(f'a {x:.1f}')", "print(f'b {x:.2f}.')", True),
        ("print(f'a {x}')", "print(f'a {y}')", False),
        ("print('a' if x else 'b')", "print('a' if x else 'c')", True),
        ("print('a' if x else 'b')", "print('a' if y else 'b')", False),
        ("print(x.pop('a'))", "print(x.pop('b'))", False),
        ("print('a', file=sys.stderr)", "print('b', file=sys.stderr)", True),
        ("print('a', file=handle)", "print('b', file=handle)", False),
        ("print('a', **more)", "print('b', **more)", False),
        ("raise UserError(f'a {x}')", "raise UserError(told(y))", True),
        ("raise UserError('a')", "raise OtherError('a')", False),
        ("if x: raise UserError('a')", "if y: raise UserError('a')", False),
        ("raise ValueError('a')", "raise ValueError('b')", False),
        ("handle.write('a')", "handle.write('b')", False),
        ("sys.exit('a')", "sys.exit('b')", True),
        ("sys.exit(one())", "sys.exit(two())", False),
        ("parser.add_argument('--a', help='a')", "parser.add_argument('--a', help='b')", True),
        ("parser.add_argument('--a', help='a')", "parser.add_argument('--b', help='a')", False),
    ],
)
def test_terminal_messages_change_no_fingerprint(tmp_path: Path, before: str, after: str, is_the_same: bool) -> None:
    assert (digest_of(tmp_path, before) == digest_of(tmp_path, after)) is is_the_same


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("def f(rate):\n    return rate(1)", set()),
        ("def f(x=rate):\n    rate = x\n    return rate", {"rate"}),
        ("def f() -> rate:\n    return rate", {"rate"}),
        ("def f():\n    global rate\n    rate = 1", {"rate"}),
        ("def f():\n    return [rate for rate in rate]", {"rate"}),
        ("def f():\n    return rate, [rate for rate in ()]", {"rate"}),
        ("def f():\n    def g():\n        rate = 1\n    return rate", {"rate"}),
        ("def f():\n    rate = 1\n    return lambda: rate", set()),
        ("def f():\n    for rate in (): pass\n    with x as y: return rate, y", {"x"}),
        ("class A:\n    rate = 1\n    def f(self):\n        return rate", {"rate"}),
    ],
)
def test_a_functions_own_names_are_none_of_the_modules(text: str, uses: set[str], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text)
    (statement,) = read_sources(tmp_path)[tmp_path / "a.py"].statements
    assert {name for name, _ in statement.uses} == uses
