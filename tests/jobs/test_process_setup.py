"""PyArrow loads pandas for nobody who has no use for it, and knows series where somebody has."""

from __future__ import annotations

import ast
import gc
import io
import json
import logging
import os
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dialeval
from dialeval.config.configuration import Config
from dialeval.config.models import ENGINES
from dialeval.engines.requests import AnswerFailure
from dialeval.errors import UserError, visible
from dialeval.jobs.process_setup import (
    SELDOM,
    VARIABLE,
    announce,
    escape_control_characters,
    freeze_loaded_objects,
    replace_unencodable,
    with_run_settings,
)
from dialeval.stages import answering, selfchat

BEGIN = "import sys, pyarrow as pa\nfrom dialeval.jobs.process_setup import skip_pandas\n"


def says(code: str) -> list[str]:
    """The words that a process of its own prints."""
    return subprocess.run(
        [sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=True
    ).stdout.split()  # fmt: skip


@pytest.mark.parametrize(("begin", "loaded"), [("", "True"), ("skip_pandas()", "False")])
def test_tables_are_made_and_read_without_pandas(begin: str, loaded: str) -> None:
    """Should PyArrow load no pandas by itself one day, the first case fails, and the module can go."""
    code = (
        f"{begin}\ntable = pa.table({{'a': pa.array([1.0, None])}})\ntable.to_pylist()\nprint('pandas' in sys.modules)"
    )
    assert says(code) == [loaded]


def test_a_frame_has_its_series_known() -> None:
    """A NaN of a series is a null, and that of a list is none: taking one for the other would change numbers."""
    code = (
        "skip_pandas()\nframe = pa.table({'a': [1.0, None]}).to_pandas()\n"
        "print(pa.array(frame['a']).null_count, pa.array(list(frame['a'])).null_count)"
    )
    assert says(code) == ["1", "0"]


def test_a_loaded_pandas_stays_loaded() -> None:
    code = "import pandas\nskip_pandas()\nprint(pa.array(pandas.Series([1.0, None])).null_count)"
    assert says(code) == ["1"]


def test_pandas_is_found_afterwards() -> None:
    assert says("skip_pandas()\nimport pandas\nprint(pandas.Series([1, 2]).sum())") == ["3"]


def test_stages_with_frames_load_pandas_at_their_start() -> None:
    """A module that loads it later, in a function, would hand over series that PyArrow does not know any more."""
    sources = [path.read_text() for path in Path(dialeval.__file__).parent.rglob("*.py")]
    functions = [
        node
        for text in sources
        if "import pandas" in text or "from pandas" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    loaded = [
        ast.unparse(node)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [one for one in loaded if one.split()[1].split(".")[0] == "pandas"] == []
    assert len(functions) > 100


# A job looks for garbage seldom, and finds it.


class Knot:
    """Holds itself, so that only a search finds out that nobody else does; counts those that are there."""

    there = 0

    def __init__(self) -> None:
        self.held = self
        Knot.there += 1

    def __del__(self) -> None:
        Knot.there -= 1


@pytest.fixture
def kept() -> Iterator[None]:
    before = gc.get_threshold()
    gc.collect()
    freeze_loaded_objects()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.usefixtures("kept")
def test_what_hundreds_of_requests_hold_is_not_looked_through() -> None:
    looked = gc.get_stats()[0]["collections"]
    held = [[number] for number in range(256 * 50)]
    assert gc.get_stats()[0]["collections"] == looked
    assert len(held) == 12_800


@pytest.mark.usefixtures("kept")
def test_garbage_does_not_grow_without_end() -> None:
    most = 0
    for _ in range(4 * SELDOM):
        Knot()
        most = max(most, Knot.there)
    assert most <= 1.1 * SELDOM


# What a terminal shows in place of letters that it lacks, and of characters that would control it.

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
    replace_unencodable(stream)
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


def test_a_stream_escapes_them_for_every_writer() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", newline="")
    for _ in range(2):
        escape_control_characters(stream)
    print(HOSTILE, "\x1b[0m", file=stream)
    stream.writelines(["\rprogress 10%", "\r", "\u202e\n"])
    logging.StreamHandler(stream).emit(logging.LogRecord("x", logging.INFO, "x", 1, "\x1b]0;title\x07", None, None))
    stream.flush()
    written = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert written == f"{SHOWN} \\x1b[0m\n\rprogress 10%\r\\u202e\n\\x1b]0;title\\x07\n"
    assert stream.write("\x1b") == 1
    escape_control_characters(io.StringIO())


def test_what_is_no_file_of_text_is_left_as_it_is() -> None:
    replace_unencodable(io.StringIO())


def test_a_pipe_in_the_place_of_a_file_is_left_as_it_is(tmp_path: Path) -> None:
    read, write = os.pipe()
    with (tmp_path / "file").open("a", encoding="ascii") as stream:
        stream.write("what stood here before")
        stream.flush()
        os.dup2(write, stream.fileno())
        replace_unencodable(stream)
        print("0.1-0.2", file=stream, flush=True)
    assert os.read(read, 100) == b"0.1-0.2\n"
    os.close(read)
    os.close(write)


# A line is written with its end, in one piece.

PROGRAM = """
import sys
from dialeval.jobs.process_setup import write_complete_lines
write_complete_lines()
for stream in (sys.stdout, sys.stderr):
    print("what one job says", 1, file=stream, flush=True)
    print("and what it says next", file=stream)
sys.stdout.write("no end")
"""


def test_a_line_and_its_end_are_one_piece() -> None:
    """A socket of packets keeps what is written at once apart from what is written next."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        subprocess.run(
            [sys.executable, "-u", "-c", PROGRAM],
            stdout=theirs, stderr=theirs, env={**os.environ, "PYTHONUNBUFFERED": "1"}, check=True, timeout=60,
        )  # fmt: skip
        theirs.shutdown(socket.SHUT_WR)
        pieces = list(iter(lambda: ours.recv(1000), b""))
    lines = [b"what one job says 1\n", b"and what it says next\n"]
    assert pieces == [*lines, *lines, b"no end"]


def test_without_the_call_they_are_two_pieces() -> None:
    """What the call is for: should Python mend it, the call may go."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        subprocess.run([sys.executable, "-u", "-c", "print('words')"], stdout=theirs, check=True, timeout=60)
        theirs.shutdown(socket.SHUT_WR)
        assert list(iter(lambda: ours.recv(1000), b"")) == [b"words", b"\n"]


# What changes no answer reaches a job by its environment, and what a stage is told itself comes first.

ENDPOINT = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}


def environment_of(**models: dict[str, object]) -> dict[str, str]:
    environment: dict[str, str] = {}
    announce(models, {"max_failure_share": 0.25}, environment)
    return environment


def test_a_job_gets_what_the_run_says_of_its_model() -> None:
    settings = {"name": "large", "protocol": "arena", "model": ENDPOINT}
    environment = environment_of(large={"concurrency": 3, "max_tries": 2}, small={"concurrency": 5}, other={})
    assert json.loads(environment[VARIABLE])["models"].keys() == {"large", "small"}
    filled = answering.AnswerSettings.model_validate(
        with_run_settings(settings, answering.AnswerSettings.model_fields, environment)
    )
    assert (filled.model.concurrency, filled.answering.max_failure_share) == (3, 0.25)
    assert filled.model.model_dump()["max_tries"] == 2


def test_a_partner_gets_its_settings_under_its_own_name() -> None:
    settings = {"name": "a", "model": ENDPOINT, "partner": ENDPOINT, "selfchat": {"partner": "b"}}
    environment = environment_of(a={"concurrency": 3}, b={"concurrency": 5})
    filled = with_run_settings(settings, selfchat.SelfchatSettings.model_fields, environment)
    assert (filled["model"]["concurrency"], filled["partner"]["concurrency"]) == (3, 5)


def test_a_stages_own_settings_come_first() -> None:
    settings = {"name": "a", "model": {**ENDPOINT, "concurrency": 7}, "answering": {"max_failure_share": 0.5}}
    filled = with_run_settings(settings, answering.AnswerSettings.model_fields, environment_of(a={"concurrency": 3}))
    assert (filled["model"]["concurrency"], filled["answering"]) == (7, {"max_failure_share": 0.5})


def test_outside_a_run_what_is_left_out_is_as_by_default() -> None:
    settings = {"name": "a", "protocol": "arena", "model": ENDPOINT}
    filled = answering.AnswerSettings.model_validate(
        with_run_settings(settings, answering.AnswerSettings.model_fields, {})
    )
    assert (filled.model.concurrency, filled.answering.max_failure_share) == (64, 0.0)


def test_a_stage_without_requests_has_no_run_settings() -> None:
    settings = {"name": "bundled", "reader": "bundled"}
    assert with_run_settings(settings, ["name", "reader"], environment_of(bundled={"concurrency": 3})) == settings


def test_run_settings_are_fields_of_a_model() -> None:
    for model in ENGINES.values():
        assert model.how_jobs_run <= model.model_fields.keys(), model
    assert "answering" in Config.model_fields
