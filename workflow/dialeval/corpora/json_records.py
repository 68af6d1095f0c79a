"""The objects of a JSON file of others, and the fields of each.

They stand one on each line (JSON Lines), in a list, in a list that is a field of one object, alone in the file over
several lines, as the rows of a Parquet file, or as those of a table that holds a list in a cell.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dialeval.corpora.spreadsheets import is_workbook, rows_of
from dialeval.corpora.text_files import JsonLine, is_western, listed, parse_json, read_json_lines, read_lines, read_text
from dialeval.errors import UserError

# The objects of a file that somebody else's program wrote, however it put them together.

_PARQUET = b"PAR1"
_LINE_ENDS = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


class Wanted(NamedTuple):
    """How an object that is wanted is known.

    Attributes:
        holding: fields of which it has one.
        bare: the field that a list stands for where it is given without an object around it; empty where none is.
        parts: fields of which the entries of such a list have one.
        together: sets of fields of which it has one whole, where neither it nor a list in it has one of `holding`.
    """

    holding: Collection[str]
    bare: str = ""
    parts: Collection[str] = ()
    together: Collection[frozenset[str]] = ()

    def tests(self) -> tuple[Callable[[Collection[str]], bool], ...]:
        """Returns what tells from its fields whether an object is wanted, the surer test first."""
        return (
            lambda names: any(name in names for name in self.holding),
            lambda names: any(some <= {*names} for some in self.together),
        )


def records_of(path: Path, wanted: Wanted) -> Iterator[JsonLine]:
    """Yields the objects of a file, each with its number and place.

    Args:
        path: the file.
        wanted: how they are known; a list of them in a field of an object that is none is read in its place.

    Raises:
        UserError: as of `read_json_lines`; an entry of a list is no object; or the Parquet file cannot be read.
    """
    for line in _objects(path, wanted):
        inner = _list_within(line.record, wanted)
        if inner is None:
            yield line
        else:
            yield from _listed(line.record[inner], f"{line.where}, '{inner:.40}'", wanted)


def is_parquet(path: Path) -> bool:
    """Returns whether a file is a Parquet file, by its first bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except OSError:
        return False  # reading it will say what is wrong


def is_table(path: Path) -> bool:
    """Returns whether a file is a table of text or a workbook, by its first character or its name.

    Raises:
        UserError: as of `read_lines`.
    """
    if is_workbook(path):
        return True
    return not is_parquet(path) and _first_line(path, western=is_western(path))[:1] not in ("{", "[", "")


def _objects(path: Path, wanted: Wanted) -> Iterator[JsonLine]:
    if is_parquet(path):
        return _rows(path)
    if is_table(path):
        return _rows_with_lists(path, wanted)
    first = _first_line(path)
    if first.startswith("["):
        values = parse_json(read_text(path), str(path))
        first_fields = _fields_of_first(values)
        alone = (
            wanted.bare
            and any(name in first_fields for name in wanted.parts)
            and not any(test(first_fields) for test in wanted.tests())
        )
        return _listed([values] if alone else values, str(path), wanted)
    if first.startswith("{") and not first.endswith(("}", "},")):  # an object that goes on in the next line
        return _listed([parse_json(read_text(path), str(path))], str(path), wanted)
    return read_json_lines(path)


def _first_line(path: Path, *, western: bool = False) -> str:
    return next((line.strip() for line in read_lines(path, western=western) if line.strip()), "")


def _listed(values: list[Any], place: str, wanted: Wanted) -> Iterator[JsonLine]:
    for number, value in enumerate(values, start=1):
        where = f"{place}, record {number}"
        record = {wanted.bare: value} if wanted.bare and isinstance(value, list) else value
        if not isinstance(record, dict):
            raise UserError(f"{where}: an entry of the list must be an object, not {type(record).__name__}")
        yield JsonLine(number, where, record)


def _list_within(record: dict[str, Any], wanted: Wanted) -> str | None:
    """Returns the field with a list of what is wanted; None in what is wanted itself, whatever else it holds."""
    for test in wanted.tests():
        lists = [name for name, value in record.items() if test(_fields_of_first(value))]
        if test(record.keys() - {*lists}):
            return None
        if lists:
            return lists[0]
    return None


def _fields_of_first(value: Any) -> Collection[str]:
    """Returns the fields of the first object of a list; none where it is no list of objects."""
    return value[0].keys() if isinstance(value, list) and value and isinstance(value[0], dict) else ()


def _rows(path: Path) -> Iterator[JsonLine]:
    import pyarrow as pa  # takes a while, which files of text need not wait
    import pyarrow.parquet as pq

    number = 0
    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=1024):
            for record in batch.to_pylist():
                number += 1
                yield JsonLine(number, f"{path}, row {number}", record)
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        reason = f"not readable as Parquet ({error!s:.200})"
        raise UserError(f"{path}, after row {number}: {reason}; write it anew") from error


def _rows_with_lists(path: Path, wanted: Wanted) -> Iterator[JsonLine]:
    """Yields the rows of a table; what is wanted is a list in a cell, as JSON or as Python shows it."""
    rows = rows_of(path)
    _, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    for line, cells in rows:
        where = f"{path}, line {line}"
        if len(cells) != len(names):
            raise UserError(f"{where}: {len(cells)} cells where the header has {len(names)}; check the quotes there")
        record: dict[str, Any] = {name: cell for name, cell in zip(names, cells, strict=True) if cell.strip()}
        for name in {*wanted.holding} & {*record}:
            record[name] = _list_in(record[name], f"{where}, column '{name}'")
        yield JsonLine(line, where, record)


def _list_in(cell: str, where: str) -> Any:
    """Returns what a cell holds, as JSON or as Python or NumPy show it.

    Raises:
        UserError: as of `parse_json`.
    """
    try:
        return parse_json(cell, where)
    except UserError as fault:
        try:
            as_json = json.dumps(ast.literal_eval(_with_commas(cell)))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
            raise UserError(f"{fault}, or write the list as JSON") from None
    return parse_json(as_json, where)  # nothing passes that JSON would not let pass


def _with_commas(cell: str) -> str:
    """Returns a list with commas between its entries, which NumPy leaves out: Python would take two texts for one."""
    parts: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(cell).readline):
        if token.type in _LINE_ENDS:
            continue
        begins = token.type == tokenize.STRING or token.string in ("[", "{")
        parts += [","] * (begins and bool(parts) and parts[-1][-1:] in ("'", '"', "]", "}"))
        parts.append(token.string)
    return " ".join(parts).strip()


# The fields of one JSON object of a user's: what is not of its kind is refused, never turned into text.


def required(record: Mapping[str, Any], name: str, where: str) -> Any:
    """Returns a field that must be there.

    Raises:
        UserError: it is not; the message begins with `where` and lists the fields that are.
    """
    if name not in record:
        raise UserError(f"{where}: the field '{name}' is missing; present: {listed(record)}")
    return record[name]


def name_of(value: Any, field: str, where: str) -> str:
    """Returns what names something (an id, a speaker, a model): a text, or a whole number as its digits (7.0 is 7).

    Raises:
        UserError: it is anything else, such as null, a fraction or a list.
    """
    if isinstance(value, float) and value.is_integer():  # as pandas writes a column that has gaps
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise UserError(f"{where}: '{field}' is {_said(value)}; it must be a text or a whole number")
    return value.strip()


def text_of(value: Any, field: str, where: str) -> str:
    """Returns a text, without blanks around it.

    Raises:
        UserError: it is something else.
    """
    if not isinstance(value, str):
        raise UserError(f"{where}: '{field}' is {_said(value)}; it must be a text, in double quotes")
    return value.strip()


def optional_text(record: Mapping[str, Any], name: str, where: str) -> str:
    """Returns a text that may be left out or null; then it is empty.

    Raises:
        UserError: it is there and no text.
    """
    return "" if record.get(name) is None else text_of(record[name], name, where)


def _said(value: Any) -> str:
    """Returns a value as JSON has it, cut short."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else f"{value!r:.60}"
