"""Words on a terminal: letters that it lacks are written in another way, and characters that control it are escaped."""

from __future__ import annotations

import codecs
import io
from contextlib import suppress
from typing import TextIO

from dialeval.errors import visible

_PLAIN = {"–": "-", "—": "-", "−": "-", "×": "x", "…": "...", "≥": ">=", "≤": "<=", "’": "'", "“": '"', "”": '"'}
_NAME = "dialeval.plain"


def bear_all_letters(stream: TextIO) -> None:
    """Has a stream write every letter in some way: 0.1–0.2 as 0.1-0.2, since 0.1\\u20130.2 reads as other numbers.

    Args:
        stream: standard output or error; one that is no file of text is left as it is.
    """
    if isinstance(stream, io.TextIOWrapper):
        codecs.register_error(_NAME, _plain)
        with suppress(OSError):  # a pipe that was put in a file's place: it stays as it is, which is no reason to fail
            stream.reconfigure(errors=_NAME)


def show_controls(stream: TextIO) -> None:
    """Has a stream write control and bidirectional characters out, which names and answers of others may have.

    A carriage return at an end of what is written stays: so does a progress bar take its line back.

    Args:
        stream: standard output or error; one that is no file of text is left as it is.
    """
    if not isinstance(stream, io.TextIOWrapper) or "write" in vars(stream):
        return
    write = stream.write

    def shown(text: str) -> int:
        start, end = len(text) - len(text.lstrip("\r")), len(text.rstrip("\r"))
        write(text[:start] + visible(text[start:end]) + text[max(start, end) :])
        return len(text)

    stream.write = shown  # type: ignore[method-assign]


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in letters), error.end
