"""The objects of a JSON file, and their fields as pydantic records.

The objects stand one on each line (JSON Lines), in a list, in a list that is a field of one object, by their ids in one
object, alone in the file over several lines, as the rows of a Parquet or Arrow file or of a data set's folder (Hugging
Face), or as those of a table that holds a list in a cell.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from dialeval.corpora.spreadsheets import is_workbook, rows_of
from dialeval.corpora.text_files import (
    JsonLine,
    is_western,
    listed,
    parse_json,
    read_json,
    read_json_lines,
    read_lines,
    read_text,
)
from dialeval.errors import UserError, nearest

_PARQUET, _ARROW, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_SAVED = ("dataset_dict.json", "state.json")
_SHARDS = "*-[0-9]*-of-[0-9]*.parquet"
_DEEPEST_LIST = 4
"""Objects around a list of dialogues, such as those of Doc2Dial by domain and document."""
_LINE_ENDS = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


class RecordFields(NamedTuple):
    """The fields that distinguish a reader's objects from others.

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
        """Return tests on the fields of an object, the surer one first."""
        return (
            lambda names: any(name in names for name in self.holding),
            lambda names: bool(names) and any(map({*names}.issuperset, self.together)),
        )


def records_of(path: Path, wanted: RecordFields, *, western: bool = False) -> Iterator[JsonLine]:
    """Yield the objects of a file, each with its number and place.

    Args:
        wanted: how they are known; a list of them in a field of an object that is none is read in its place.

    Raises:
        UserError: as in `read_json_lines`; an entry of a list is no object; or the Parquet file cannot be read.
    """
    for line in objects_of(path, wanted, western=western):
        paths = _paths_within(line.record, wanted)
        if not paths and _is_by_id(line.record, wanted):
            for number, (name, record) in enumerate(line.record.items(), start=1):
                yield JsonLine(number, f"{line.where}, '{name:.40}'", {"dialogue_id": name, **record})
        elif not paths:
            yield line
        for within in paths:
            inner: Any = line.record
            for name in within:
                inner = inner[name]
            yield from _listed(inner, f"{line.where}, '{'.'.join(within):.40}'", wanted)


def is_columnar(path: Path) -> bool:
    """Return whether a file is a Parquet or Arrow file, by its first bytes, or a folder is a data set."""
    if path.is_dir():
        return is_data_set(path)
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_ARROW))
    except OSError:
        return False  # reading it will say what is wrong
    return beginning.startswith((_PARQUET, _ARROW)) or (path.suffix == ".arrow" and beginning.startswith(_ARROW_STREAM))


def is_data_set(path: Path) -> bool:
    """Return whether a folder is a data set as `datasets` saves it, or as the Hugging Face Hub has it in Parquet."""
    return any((path / name).is_file() for name in _SAVED) or bool(_shards(path))


def data_set_files(path: Path) -> list[Path]:
    """Return the files with the rows of a data set, split by split.

    Raises:
        UserError: one of the folder's own lists is invalid or names a file that is not there.
    """
    splits, state = path / _SAVED[0], path / _SAVED[1]
    if splits.is_file():
        named = read_json(splits)
        names = named.get("splits") if isinstance(named, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) and (path / name).is_dir() for name in names):
            raise UserError(f"{splits}: 'splits' must list folders beside it; save the data set again (save_to_disk)")
        return [file for name in names for file in data_set_files(path / name)]
    if state.is_file():
        named = read_json(state)
        parts = named.get("_data_files") if isinstance(named, dict) else None
        files = [part.get("filename") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        found = [path / name for name in files if isinstance(name, str) and (path / name).is_file()]
        if not files or len(found) < len(files):
            raise UserError(f"{state}: '_data_files' must list files beside it; save the data set again (save_to_disk)")
        return found
    return _shards(path)


def _shards(path: Path) -> list[Path]:
    return sorted([*path.glob(_SHARDS), *path.glob(f"data/{_SHARDS}")])


def is_table(path: Path) -> bool:
    """Return whether a file is a table of text or a workbook, by its first character or its name."""
    if is_workbook(path):
        return True
    return not is_columnar(path) and _first_line(path, western=is_western(path))[:1] not in ("{", "[", "")


def refuse_table(path: Path, reader: str, remedy: str) -> None:
    """Refuse a table where a reader of rated items needs objects.

    Raises:
        UserError: the file is a table; with its beginning and the remedy.
    """
    if is_table(path):
        beginning = "" if is_workbook(path) else _first_line(path, western=is_western(path))
        begins = f"the file begins with {beginning!r:.60}" if beginning else "this is a table"
        raise UserError(f"{path}: reader {reader} needs JSON objects, and {begins}; {remedy}")


def objects_of(path: Path, wanted: RecordFields, *, western: bool = False) -> Iterator[JsonLine]:
    """Return the objects of a file, before lists nested in them are expanded."""
    if is_columnar(path):
        return _rows(path)
    if is_table(path):
        return _rows_with_lists(path, wanted)
    first = _first_line(path, western=western)
    if first.startswith("["):
        values = parse_json(read_text(path, western=western), str(path))
        first_fields = _fields_of_first(values)
        alone = (
            wanted.bare
            and any(name in first_fields for name in wanted.parts)
            and not any(test(first_fields) for test in wanted.tests())
        )
        return _listed([values] if alone else values, str(path), wanted)
    if first.startswith("{") and not first.endswith(("}", "},")):  # an object that goes on in the next line
        return _listed([parse_json(read_text(path, western=western), str(path))], str(path), wanted)
    return read_json_lines(path, western=western)


def _rows(path: Path) -> Iterator[JsonLine]:
    number = 0
    for file in data_set_files(path) if path.is_dir() else [path]:
        before = number
        for record in _columnar(file):
            number += 1
            yield JsonLine(number, f"{file}, row {number - before}", record)


def _columnar(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa  # takes a while, which files of text need not wait
    import pyarrow.parquet as pq

    number = 0
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_ARROW))
        if beginning.startswith(_PARQUET):
            batches = pq.ParquetFile(path).iter_batches(batch_size=1024)
        elif beginning.startswith(_ARROW):
            opened = pa.ipc.open_file(path)
            batches = (opened.get_batch(n) for n in range(opened.num_record_batches))
        else:
            batches = pa.ipc.open_stream(path)
        for batch in batches:
            batch.validate(full=True)  # offsets in a corrupt file lead outside of memory
            for record in batch.to_pylist():
                number += 1
                yield record
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        reason = f"not readable as Parquet or Arrow ({error!s:.200})"
        raise UserError(f"{path}, after row {number}: {reason}; write the file again") from error


_OF_ROWS = frozenset(
    {"model", "model_name", "model_id", "system", "generator", "id", "dialogue_id", "conversation_id", "session_id",
     "case_id", "prompt_id", "question_id", "language", "turn"}
)  # fmt: skip
"""What a row tells beside its dialogue."""


def usual_names(header: Iterable[str], wanted: RecordFields) -> list[str]:
    """Return the names of a table's columns, in small letters where only so they are known: `Model` as `model`."""
    known = _OF_ROWS.union(wanted.holding, *wanted.together)
    names = [name.strip() for name in header]
    small = ["_".join(name.casefold().split()) for name in names]
    return [
        other if other in known and name not in known and small.count(other) == 1 else name
        for name, other in zip(names, small, strict=True)
    ]


def _rows_with_lists(path: Path, wanted: RecordFields) -> Iterator[JsonLine]:
    """Yield the rows of a table with lists in cells, as JSON or as Python shows them."""
    rows = rows_of(path)
    _, header = next(rows, (1, []))
    names = usual_names(header, wanted)
    together = {name for fields in wanted.together for name in fields} - {*wanted.holding}
    for line, cells in rows:
        where = f"{path}, line {line}"
        if len(cells) != len(names):
            raise UserError(
                f"{where}: {len(cells)} cells, but the header has {len(names)}; check the quotes in this row"
            )
        record: dict[str, Any] = {
            name: cell for name, cell in zip(names, cells, strict=True) if cell.strip() or name in together
        }
        for name in {*wanted.holding} & {*record}:
            record[name] = _list_in(record[name], f"{where}, column '{name}'")
        for name in together & {*record}:
            with suppress(UserError):  # a text may begin with a bracket, too
                record[name] = _list_in(record[name], where) if record[name].startswith("[") else record[name]
        yield JsonLine(line, where, record)


def _list_in(cell: str, where: str) -> Any:
    """Return the list in a cell, written as JSON or by Python or NumPy; a text of several lines unchanged."""
    try:
        return parse_json(cell, where)
    except UserError as fault:
        if "\n" in cell.strip() and not cell.lstrip().startswith(("[", "{")):
            return cell
        try:
            as_json = json.dumps(ast.literal_eval(_with_commas(cell)))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
            raise UserError(f"{fault}, or write the list as JSON") from None
    return parse_json(as_json, where)  # nothing passes that JSON would not let pass


def _with_commas(cell: str) -> str:
    """Return a list with commas between its entries, which NumPy leaves out: Python would take two texts for one."""
    parts: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(cell).readline):
        if token.type in _LINE_ENDS:
            continue
        begins = token.type == tokenize.STRING or token.string in ("[", "{")
        parts += [","] * (begins and bool(parts) and parts[-1][-1:] in ("'", '"', "]", "}"))
        parts.append(token.string)
    return " ".join(parts).strip()


def _first_line(path: Path, *, western: bool = False) -> str:
    return next((line.strip() for line in read_lines(path, western=western) if line.strip()), "")


def _fields_of_first(value: Any) -> Collection[str]:
    """Return the fields of the first object of a list; none if the entries are no objects."""
    return value[0].keys() if isinstance(value, list) and value and isinstance(value[0], dict) else ()


def _listed(values: list[Any], place: str, wanted: RecordFields) -> Iterator[JsonLine]:
    for number, value in enumerate(values, start=1):
        where = f"{place}, record {number}"
        record = {wanted.bare: value} if wanted.bare and isinstance(value, list) else value
        if not isinstance(record, dict):
            raise UserError(f"{where}: an entry of the list must be an object, not {type(record).__name__}")
        yield JsonLine(number, where, record)


def _paths_within(record: dict[str, Any], wanted: RecordFields) -> list[list[str]]:
    """Return the fields that lead to each list of the wanted objects; none in a wanted object itself."""
    for test in wanted.tests():
        lists = [name for name, value in record.items() if test(_fields_of_first(value))]
        if test(record.keys() - {*lists}):
            return []
        if lists:
            return [[name] for name in lists]
        if found := list(_nested_lists(record, test, _DEEPEST_LIST)):
            return found
    return []


def _nested_lists(
    record: Mapping[str, Any], test: Callable[[Collection[str]], bool], levels: int
) -> Iterator[list[str]]:
    """Yield the fields that lead through objects to lists whose first object passes a test."""
    for name, value in record.items():
        if test(_fields_of_first(value)):
            yield [name]
        elif isinstance(value, dict) and levels > 1:
            yield from ([name, *inner] for inner in _nested_lists(value, test, levels - 1))


def _is_by_id(record: dict[str, Any], wanted: RecordFields) -> bool:
    """Return whether an object has dialogues by their ids, as Topical-Chat and MultiWOZ 2.1 do."""
    first = next(iter(record.values()), None)
    if not wanted.bare or not isinstance(first, dict) or any(test(record) for test in wanted.tests()):
        return False
    return all(isinstance(value, dict) for value in record.values()) and any(test(first) for test in wanted.tests())


# Records: the fields that a reader needs of an object. A value of another type is refused, never converted.

Text = Annotated[str, AfterValidator(str.strip)]
"""A text, without blanks around it."""

_NEEDED = {
    "string_type": "a text, in double quotes",
    "list_type": "a list",
    "dict_type": "an object",
    "int_type": "a whole number",
    "too_short": "a list with an entry",
}
"""What is needed, by pydantic's type of the error."""
_ENTRIES = {"turns": "turn", "responses": "response"} | dict.fromkeys(
    ("context", "dialog", "dialogue", "utterances"), "utterance"
)
"""What the entries of a list are called in messages, by the list's field."""


class Record(BaseModel):
    """The fields that a reader needs of an object; it ignores others."""

    model_config = ConfigDict(strict=True, frozen=True, defer_build=True)


_Form = TypeVar("_Form", bound=Record)


def _name(value: object) -> str:
    if isinstance(value, float) and value.is_integer():  # as pandas writes a column that has gaps
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise PydanticCustomError("name", "a text or a whole number")
    return value.strip()


Name = Annotated[str, BeforeValidator(_name)]
"""The id or name of something: a text, or a whole number as its digits (7.0 is 7)."""


class Utterance(Record):
    """One utterance of a dialogue."""

    speaker: Name
    text: Text


def parsed(form: type[_Form], value: object, where: str, remedy: Callable[[object], str] = lambda value: "") -> _Form:
    """Return an object as a record.

    Args:
        remedy: returns the end of the message about an object.

    Raises:
        UserError: a field is missing or of another type; the message begins with `where` and names field and value.
    """
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise UserError(_fault(error.errors(include_url=False)[0], form, where) + remedy(value)) from None


def _fault(error: ErrorDetails, form: type[Record], place: str) -> str:
    field = ""
    *outer, last = error["loc"] or ("",)
    for part in outer if isinstance(last, str) else (*outer, last):
        place += f", '{part:.60}'" if isinstance(part, str) else f", {_ENTRIES.get(field, 'entry')} {part + 1}"
        field = part if isinstance(part, str) else ""
    subject = f"{place}: '{last:.60}'" if last and isinstance(last, str) else place
    value, kind = error["input"], error["type"]
    if kind == "missing":
        return f"{place}: the field '{last}' is missing; present: {listed(value)}"
    if kind == "extra_forbidden":
        return f"{place}: '{last:.60}' is not a field; {nearest(f'{last:.60}', form.model_fields)}"
    if kind == "model_type":
        inner = next(one for one in _records_below(Record) if one.__name__ == error["ctx"]["class_name"])
        *fields, final = [f"'{name}'" for name, field in inner.model_fields.items() if field.is_required()]
        needed = f"{', '.join(fields)} and {final}" if fields else final
        return f"{subject} is {_shown(value)}; it must be an object with {needed}"
    needed = _NEEDED.get(kind) or error["msg"].removeprefix("Input should be ")
    return f"{subject} is {_shown(value)}; it must be {needed}"


def _records_below(form: type[Record]) -> Iterator[type[Record]]:
    for one in form.__subclasses__():
        yield one
        yield from _records_below(one)


def _shown(value: object) -> str:
    """Return a value as JSON has it, cut short."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else f"{value!r:.60}"


# Single fields of objects whose form the reader finds out field by field.


def required(record: Mapping[str, Any], name: str, where: str) -> Any:
    """Return a field that must be there.

    Raises:
        UserError: it is not; the message begins with `where` and lists the fields that are.
    """
    if name not in record:
        raise UserError(f"{where}: the field '{name}' is missing; present: {listed(record)}")
    return record[name]


def name_of(value: Any, field: str, where: str) -> str:
    """Return the name in a field, as `Name` has it.

    Raises:
        UserError: it is neither a text nor a whole number, such as null, a fraction or a list.
    """
    try:
        return _name(value)
    except PydanticCustomError as error:
        raise UserError(f"{where}: '{field}' is {_shown(value)}; it must be {error}") from None


def text_of(value: Any, field: str, where: str) -> str:
    """Return a text, without blanks around it.

    Raises:
        UserError: it is something else.
    """
    if not isinstance(value, str):
        raise UserError(f"{where}: '{field}' is {_shown(value)}; it must be {_NEEDED['string_type']}")
    return value.strip()


def value_at(value: Any, path: str) -> Any:
    """Return the value at a dotted path, such as `meta.bot` or `choices.0.text`; None if there is none.

    A field whose own name has dots comes before fields within each other.
    """
    if isinstance(value, list):
        head, _, rest = path.partition(".")
        inner = value[int(head)] if head.isdecimal() and len(head) < 7 and int(head) < len(value) else None
        return inner if inner is None or not rest else value_at(inner, rest)
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    parts = path.split(".")
    for n in range(len(parts) - 1, 0, -1):
        if (head := ".".join(parts[:n])) in value:
            return value_at(value[head], ".".join(parts[n:]))
    return None


def optional_text(record: Mapping[str, Any], name: str, where: str) -> str:
    """Return a text that may be left out or null; then it is empty.

    Raises:
        UserError: it is there and no text.
    """
    return "" if record.get(name) is None else text_of(record[name], name, where)
