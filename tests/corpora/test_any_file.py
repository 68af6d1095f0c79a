"""Whatever is wrong with a file, a reader gives tables that can be written or says what is wrong and in which file."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from file_formats import FORMATS, Format
from file_mutations import mutated

from dialeval.errors import UserError

QUICK = 60
SLOW = 5300
"""Files of each format; more than twenty formats make more than a hundred thousand."""
LONGEST_S = 60


@pytest.mark.parametrize("name", FORMATS)
def test_a_good_file_is_read_and_a_damaged_one_is_read_or_refused(tmp_path: Path, name: str) -> None:
    FORMATS[name].write(tmp_path)
    FORMATS[name].read(tmp_path)
    refused = sum(read_damaged(FORMATS[name], tmp_path, f"{name}/{number}") for number in range(QUICK))
    assert 0 < refused < QUICK


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_thousands_of_damaged_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    FORMATS[name].write(tmp_path)
    refused = sum(read_damaged(FORMATS[name], tmp_path, f"{name}/{number}") for number in range(QUICK, QUICK + SLOW))
    assert 0 < refused < SLOW


def read_damaged(form: Format, folder: Path, seed: str) -> bool:
    """Damages one file of a format and reads it all; returns whether it was refused."""
    drawn = random.Random(seed)
    damaged = drawn.choice(list(form.files))
    (folder / damaged).write_bytes(mutated(drawn, form.files[damaged], form.kind(damaged)))
    if drawn.random() < 0.01:
        (folder / damaged).unlink()
    try:
        with ending_after(LONGEST_S):
            form.read(folder)
    except UserError as error:
        words = str(error)
        assert any(Path(name).name in words for name in form.files) or str(folder) in words or "corpora." in words, (
            f"{seed}: {words}"
        )
        assert len(words) < 2000, f"{seed}: {len(words)} characters"
        (folder / damaged).write_bytes(form.files[damaged])
        return True
    except BaseException as error:
        raise AssertionError(f"{seed}: {damaged} ended in {type(error).__name__}; it is kept in {folder}") from error
    (folder / damaged).write_bytes(form.files[damaged])
    return False


@contextmanager
def ending_after(seconds: int) -> Iterator[None]:
    """End what hangs."""

    def end(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
