"""What a terminal without some letters shows in their place."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from dialeval.processes.terminal_letters import bear_all_letters


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
