"""Reads text, JSON, JSON Lines and CSV, packed or not; errors name the place.

Readers take files through these functions alone. What passes can be written to a table: it is Unicode without halves of
characters, numbers fit into 64 bits, and nothing is nested deeper than any format here. What does not pass is refused
with the file, the line and what to do. Text is UTF-8, or UTF-16 that says so at its beginning, and may be packed.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.errors import UserError

DEEPEST_NESTING = 32
"""Lists and objects within each other; the formats read here need six."""
_TOO_DEEP = f"lists and objects are nested deeper than {DEEPEST_NESTING} levels; check the brackets"

_LONGEST_INTEGER = 18
"""Digits, so that every number fits into 64 bits."""
_LISTED = 20
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|nan", re.IGNORECASE)
_LONGEST_MARK = 4
WESTERN = "cp1252"
_FOREIGN = re.compile(
    r"[^\x00-\x7f](?:[^\x00-\x7f]{4}|(?<=[^\W\d_a-zA-Z])[^\W\d_a-zA-Z]{2}"
    r"|(?<=[a-z][À-ÖØ-ÞŠŒŽ])|(?<=[a-z][³¹])(?=[a-z])|(?<=[ðþýŸƒ¦]))"
)
"""What other encodings look like in Windows-1252, such as those of a Mac, of Poland, of Turkey, and of Taiwan.

Icelandic is refused with them, as it writes what Turkish looks like.
"""
_LONGEST_CELL = 10_000_000
_PIECE = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive or a workbook, not text in UTF-8; unpack it, or save the sheet as CSV in UTF-8",
    b"PAR1": "Parquet, which this reader does not support; save the table as JSON Lines or CSV in UTF-8",
    b"\xfd7zX": "compressed by xz, which is not supported; unpack it to text in UTF-8",
    b"\x28\xb5\x2f\xfd": "compressed by zstd, which is not supported; unpack it to text in UTF-8",
}
_BROKEN = (OSError, ValueError, EOFError, zlib.error)
"""What a file that cannot be read, or a corrupt packed one, ends in."""
# an escaped backslash and a pair of halves come first, so that what follows them is not taken for a half
_HALF_CHARACTER = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class JsonLine(NamedTuple):
    """One line of a JSON Lines file: its number, the file and the number for messages, and its object."""

    number: int
    where: str
    record: dict[str, Any]


def read_text(path: Path, *, western: bool = False) -> str:
    """Read a text file; a byte order mark is allowed.

    Raises:
        UserError: the file cannot be read, is in another encoding, or holds NUL characters; the message gives the line.
    """
    try:
        with unpacked(path) as file:
            content = file.read()
    except _BROKEN as error:
        reason = getattr(error, "strerror", None) or f"{error}; unpack the file to text in UTF-8"
        raise UserError(f"{path} cannot be read: {reason}") from error
    _refuse_binary(path, content)
    encoding = WESTERN if western else _encoding(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        fault = f"not {encoding.removesuffix('-sig').upper()} (byte 0x{content[error.start]:02x})"
        raise UserError(f"{path}, line {line}: {fault}; save the file as UTF-8") from None
    place = text.find("\0")
    if place >= 0:
        raise UserError(
            f"{path}, line {text.count(chr(10), 0, place) + 1}: a NUL character; the file is not a text or is in "
            f"UTF-16: save it as UTF-8"
        )
    return text


def read_lines(path: Path, newline: str = "\n", *, western: bool = False) -> Iterator[str]:
    """Yield the lines of a text file with their ends, holding only a piece in memory.

    Args:
        newline: what ends a line; "" for all that Python takes for a line end, as `csv` needs it.

    Raises:
        UserError: as in `read_text`, when the reading comes to the place.
    """
    try:
        with unpacked(path) as file:
            beginning = file.peek(_LONGEST_MARK)
            _refuse_binary(path, beginning)
            encoding = WESTERN if western else _encoding(beginning)
            for line in io.TextIOWrapper(file, encoding=encoding, newline=newline):
                if "\0" in line:
                    break
                yield line
            else:
                return
    except _BROKEN:
        pass
    read_text(path)  # says what is wrong, and where
    raise UserError(f"{path} changed while it was read; run the same command again")


def is_western(path: Path) -> bool:
    """Return whether a text that is not UTF-8 is in Windows-1252 by its looks, as spreadsheet programs save "CSV".

    Nearly every text would pass for it, did letters with accents not stand alone in western languages.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with unpacked(path) as file:
            while piece := file.read(_PIECE):
                decoder.decode(piece)
        decoder.decode(b"", final=True)
        return False
    except UnicodeDecodeError:
        pass
    except _BROKEN:
        return False  # reading it will say what is wrong
    try:
        with unpacked(path) as file:
            return not any("\0" in line or _FOREIGN.search(line) for line in io.TextIOWrapper(file, encoding=WESTERN))
    except _BROKEN:
        return False


def parse_json(text: str, place: str) -> Any:
    """Read JSON.

    Args:
        text: one value; it may have several lines.

    Raises:
        UserError: it is no JSON, or holds half a character, a name twice in one object, a whole number of more than 18
            digits, or lists and objects nested deeper than `DEEPEST_NESTING`; with the place and the remedy.
    """
    where = f"{place}: not valid JSON"
    try:
        value = json.loads(text, parse_int=_integer, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise UserError(f"{where} ({error.msg} at {_position(text, error.pos)}); correct it there") from None
    except _UnreadableError as error:
        raise UserError(f"{place}: {error}") from None
    except RecursionError:
        raise UserError(f"{place}: {_TOO_DEEP}") from None
    for found in _HALF_CHARACTER.finditer(text):
        if found["half"]:
            raise UserError(
                f"{place}: {found['half']} at {_position(text, found.start())} is half of a character, which cannot "
                f"be stored; write the whole character or remove it"
            )
    if text.count("[") + text.count("{") > DEEPEST_NESTING and is_nested_deeper(value, DEEPEST_NESTING):
        raise UserError(f"{place}: {_TOO_DEEP}")
    return value


def read_json(path: Path) -> Any:
    """Read a file that holds one JSON value."""
    return parse_json(read_text(path), str(path))


def read_json_lines(path: Path, *, western: bool = False) -> Iterator[JsonLine]:
    """Yield the objects of a JSON Lines file; blank lines are passed over.

    Raises:
        UserError: as in `read_text` and `parse_json`, and for a line that holds something else than an object.
    """
    for number, line in enumerate(read_lines(path, western=western), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            record = parse_json(line, where)
            if not isinstance(record, dict):
                raise UserError(f"{where}: each line must be one JSON object, not {type(record).__name__}")
            yield JsonLine(number, where, record)


def read_csv(path: Path, delimiter: str = ",", *, western: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, blank lines too, each with the line that it ends on.

    Args:
        delimiter: what stands between two cells.

    Raises:
        UserError: as in `read_text`, and for text that is no CSV.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(read_lines(path, newline="", western=western), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise UserError(
            f"{path}, line {reader.line_num}: not readable as CSV ({error}); check the quotes and the line breaks"
        ) from None


def read_columns(path: Path, needed: Iterable[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file by column, each with the line that it ends on; rows without a text are passed over.

    Args:
        path: the file; its first row names the columns.
        needed: columns that it must have.

    Raises:
        UserError: as in `read_csv`; a column is missing or there twice, or a row has more or fewer cells than columns.
    """
    rows = read_csv(path)
    header = [name.strip() for name in next((cells for _, cells in rows if any(map(str.strip, cells))), [])]
    for column in (*needed, *header):
        if header.count(column) != 1:
            fault = "occurs more than once" if column in header else "is missing"
            remedy = "rename one of them" if column in header else "add it, or rename a column"
            raise UserError(f"{path}: the column '{column:.60}' {fault}; its columns: {listed(header)}; {remedy}")
    for line, cells in rows:
        if not any(map(str.strip, cells)):
            continue
        if len(cells) != len(header):
            raise UserError(
                f"{path}, line {line}: {len(cells)} cells, but {len(header)} columns; put a cell with a comma, "
                f"quote or line break into double quotes"
            )
        yield line, dict(zip(header, cells, strict=True))


def number_in(cell: str) -> float | None:
    """Return the number that a cell of a table holds, such as `-1.5e3` or `nan`; None if it holds something else."""
    text = cell.strip()
    return None if _NUMBER.fullmatch(text) is None else float(text)


def listed(names: Iterable[object]) -> str:
    """Return names for a message: the first twenty, each cut to forty characters, or `none`."""
    texts = [f"{name!s:.40}" for name in names]
    return ", ".join(texts[:_LISTED] + ["..."] * (len(texts) > _LISTED)) or "none"


def is_nested_deeper(value: Any, levels: int) -> bool:
    """Return whether lists and objects are nested more than `levels` deep."""
    level = [value]
    for _ in range(levels):
        level = [
            part
            for outer in level
            if isinstance(outer, dict | list)
            for part in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(part, dict | list) for part in level)


def _refuse_binary(path: Path, beginning: bytes) -> None:
    for mark, kind in _OTHER_KINDS.items():
        if beginning.startswith(mark):
            raise UserError(f"{path}, line 1: this is {kind}")


def _encoding(beginning: bytes) -> str:
    return "utf-16" if beginning.startswith(_UTF16) else "utf-8-sig"


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > _LONGEST_INTEGER:
        raise _UnreadableError(
            f"a whole number of {len(digits.lstrip('-'))} digits ({digits[:12]}...); the maximum is "
            f"{_LONGEST_INTEGER}: write a longer one as text, in double quotes"
        )
    return int(digits)


class _UnreadableError(Exception):
    """A value that no table can hold."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _UnreadableError(f"the field '{name:.60}' occurs twice in one object; remove one")
            seen.add(name)
    return names


def _position(text: str, place: int) -> str:
    """Return a position in a text for messages, with the line if the text has several."""
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    return f"line {line}, character {column}" if "\n" in text.strip() else f"character {column}"


# Files that may be packed, by gzip or bzip2, opened as what is in them.

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2"}
"""First bytes of packed files, and the modules that unpack them."""
UNPACKED, _TIMES_SMALLER = 1 << 28, 200
"""Bytes that a packed file may unpack to in any case, and how many times its own beyond; text is seldom 50 times."""


def unpacked(path: Path) -> io.BufferedReader:
    """Open a file, unpacked if it is compressed.

    Raises:
        OSError: the file cannot be opened; reading it raises ValueError where it unpacks to more than text can.
    """
    with path.open("rb") as file:
        beginning = file.read(max(map(len, _PACKED)))
    module = next((module for mark, module in _PACKED.items() if beginning.startswith(mark)), None)
    if module is None:
        return path.open("rb")
    return io.BufferedReader(_Packed(import_module(module).open(path), path.stat().st_size), _PIECE)


class _Packed(io.RawIOBase):
    """A packed file, which is read until it is plain that it was made to fill a memory."""

    def __init__(self, file: io.BufferedIOBase, n_bytes: int) -> None:
        self._file = file
        self._left = max(UNPACKED, _TIMES_SMALLER * n_bytes)

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer.

        Raises:
            ValueError: it unpacks to more than any text.
        """
        n = self._file.readinto(buffer)
        self._left -= n
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {_TIMES_SMALLER} times its size, so it is not a text")
        return n

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
