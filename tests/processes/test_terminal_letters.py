"""What a terminal shows in place of letters that it lacks, and of characters that would control it."""

from __future__ import annotations

import io
import logging
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialeval.engines.request import AnswerFailure
from dialeval.errors import UserError, visible
from dialeval.processes.terminal_letters import bear_all_letters, show_controls

HOSTILE = "a\x1b[2Jb\x07c\x00\x9b\x7f\x85\u202ed\u2066\u2069\u200f\u061c\u2028\ufeff\r\ud800e"
SHOWN = (
    r"a\x1b[2Jb\x07c\x00\x9b\x7f\x85\u202ed\u2066\u2069\u200f\u061c\u2028\ufeff\r\ud800e"
)  # fmt: skip


BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", "0.1-0.2 -3 \\u6570 \\xe4 \\U0001f600"),
        ("latin-1", "0.1-0.2 -3 \\u6570 ä \\U0001f600"),
        ("utf-8", "0.1–0.2 −3 数 ä 😀"),
    ],
)
def test_an_interval_stays_an_interval(encoding: str, shown: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    bear_all_letters(stream)
    print("0.1–0.2 −3 数 ä 😀", file=stream, end="", flush=True)
    assert stream.buffer.getvalue().decode(encoding) == shown  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [UserError, lambda message: AnswerFailure("server", message)])
def test_an_error_shows_what_controls_a_terminal_and_keeps_its_lines(error: Callable[[str], Exception]) -> None:
    message = str(error(f"two mistakes:\n\tfirst {HOSTILE}\n\tsecond"))
    assert message == f"two mistakes:\n\tfirst {SHOWN}\n\tsecond"
    assert str(error(message)) == message


@given(st.text())
def test_what_is_shown_is_shown_once_and_has_nothing_unseen_in_it(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not {unicodedata.category(mark) for mark in shown if mark not in "\t\n"} & {"Cc", "Zl", "Zp", "Cs"}
    assert not {mark for mark in shown if unicodedata.bidirectional(mark) in BIDIRECTIONAL}


@pytest.mark.parametrize(
    "text", ["héllo – 数 😀", "می\u200cخواهم", "👩\u200d🔧", "שלום", "tab\there", "two\nlines", "\xa0"]
)
def test_letters_of_all_scripts_stay(text: str) -> None:
    assert visible(text) == text


def test_a_stream_shows_them_whoever_writes() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", newline="")
    for _ in range(2):
        show_controls(stream)
    print(HOSTILE, "\x1b[0m", file=stream)
    stream.writelines(["\rprogress 10%", "\r", "\u202e\n"])
    logging.StreamHandler(stream).emit(logging.LogRecord("x", logging.INFO, "x", 1, "\x1b]0;title\x07", None, None))
    stream.flush()
    written = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert written == f"{SHOWN} \\x1b[0m\n\rprogress 10%\r\\u202e\n\\x1b]0;title\\x07\n"
    assert stream.write("\x1b") == 1
    show_controls(io.StringIO())


def test_what_is_no_file_of_text_is_left_as_it_is() -> None:
    bear_all_letters(io.StringIO())


def test_a_pipe_in_the_place_of_a_file_is_left_as_it_is(tmp_path: Path) -> None:
    read, write = os.pipe()
    with (tmp_path / "file").open("a", encoding="ascii") as stream:
        stream.write("what stood here before")
        stream.flush()
        os.dup2(write, stream.fileno())
        bear_all_letters(stream)
        print("0.1-0.2", file=stream, flush=True)
    assert os.read(read, 100) == b"0.1-0.2\n"
    os.close(read)
    os.close(write)
