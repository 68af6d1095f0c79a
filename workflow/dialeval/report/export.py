"""Tables of a finished run for Python and other programs: pandas, CSV, and a data set of Hugging Face."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from dialeval import __version__
from dialeval.errors import UserError, nearest
from dialeval.provenance import read_provenance
from dialeval.provenance.records import FOLDER as RECORDS
from dialeval.report.terminal_summary import FILE as SUMMARY
from dialeval.report.terminal_summary import read_summary
from dialeval.tables import HUMAN, files
from dialeval.tables.catalogue import table_named
from dialeval.tables.dialogues import GENERATED, JUDGEMENTS, SEEDS
from dialeval.tables.files import differences_from, read_name, read_table
from dialeval.tables.measures import FOLDER as MEASURES
from dialeval.tables.metaeval import ITEMS
from dialeval.tables.schema import COMMON, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Run:
    """A finished run: its tables as pandas data frames, its figures and its summary.

    `run["arena/ratings"]` is a table; a pattern such as `run["judgements/*"]` concatenates the matching tables, which
    must have the same columns. `run.cases("quality")` has every judgement of a protocol with its dialogue. In a
    notebook, a run shows its summary.

    Attributes:
        results: results folder of the run.
    """

    results: Path

    @property
    def tables(self) -> dict[str, str]:
        """Return the title of each table by its name: first the published ones, then those between stages."""
        return {table.name: table.kind.title or table.kind.row for table in found_tables(self.results)}

    @property
    def figures(self) -> dict[str, Path]:
        """Return the SVG file of each figure by its name."""
        folder = self.results / "figures"
        return {str(path.relative_to(folder).with_suffix("")): path for path in sorted(folder.rglob("*.svg"))}

    @property
    def summary(self) -> str:
        """Return the run's summary, in Markdown.

        Raises:
            UserError: the run is not finished.
        """
        return read_summary(self.results)

    def columns(self, name: str) -> dict[str, str]:
        """Return the description of each column of a table.

        Raises:
            UserError: the run has no such table.
        """
        return {column: words for column, _, words in column_words(self._chosen(name)[0].kind)}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return a table as a data frame; columns of values by name hold dictionaries.

        Raises:
            UserError: the run has no such table, or a pattern fits tables with other columns.
        """
        chosen = self._chosen(name)
        schemas = {table.kind.row: table.name for table in chosen}
        if len(schemas) > 1:
            first, second, *_ = schemas.values()
            raise UserError(f"'{name}' fits {first} and {second}, which have different columns; name one of them")
        return _frame_of(chosen)

    def cases(self, protocol: str) -> pd.DataFrame:
        """Return every judgement under a protocol with the dialogues behind it.

        Columns are those of `judgements`, and `left_dialogue` and `right_dialogue`: the utterances that the judge saw,
        a line for each; empty for rated items of which the run keeps no dialogue.

        Raises:
            UserError: the run has no judgements under this protocol.
        """
        tables = found_tables(self.results)
        judged = [table for table in tables if table.kind is JUDGEMENTS]
        chosen = [table for table in judged if table.path.stem == protocol]
        if not chosen:
            hint = nearest(protocol, {table.path.stem for table in judged})
            raise UserError(f"{self.results} has no judgements under a protocol '{protocol}'; {hint}")
        frame, texts = _frame_of(chosen), _Texts(tables)
        rows = frame[["left", "right", "corpus", "item_id", "case_id", "n_utterances"]].itertuples(index=False)
        dialogues = [texts.of(*row) for row in rows]
        frame["left_dialogue"] = [left for left, _ in dialogues]
        frame["right_dialogue"] = [right for _, right in dialogues]
        return frame

    def _chosen(self, name: str) -> list[Found]:
        return chosen_tables(found_tables(self.results), [name])

    def _repr_markdown_(self) -> str:
        return self.summary if (self.results / SUMMARY).is_file() else repr(self)


def _frame_of(tables: Sequence[Found]) -> pd.DataFrame:
    """Return tables of one kind as one data frame."""
    parts = [files.read_table(table.path, table.kind).replace_schema_metadata() for table in tables]
    frame: pd.DataFrame = pa.concat_tables(parts).to_pandas(maps_as_pydicts="strict")
    return frame


class _Texts:
    """Dialogues of a run as text: items by id, and dialogues of systems by case."""

    def __init__(self, tables: Sequence[Found]) -> None:
        self._items: dict[tuple[str, str], list[str]] = {}
        self._cases: dict[tuple[str, str], list[str] | None] = {}
        chats: dict[tuple[str, str], list[str]] = {}
        for table in tables:
            if table.kind is ITEMS:
                for row in files.iterate_rows(table.path, ITEMS):
                    lines = [f"{who}: {text}" for who, text in zip(row["speakers"], row["utterances"], strict=True)]
                    self._items[row["corpus"], row["item_id"]] = lines
                    self._add(row["system"], row["case_id"], lines)
            elif table.kind is GENERATED:
                for row in files.iterate_rows(table.path, GENERATED):
                    chats.setdefault((row["chatbot"], row["seed_id"]), []).append(row["text"])
            elif table.kind is SEEDS:
                for row in files.iterate_rows(table.path, SEEDS):
                    chats[HUMAN, row["seed_id"]] = row["utterances"]
        for (system, case), texts in chats.items():
            self._add(system, case, [f"{'AB'[turn % 2]}: {text}" for turn, text in enumerate(texts)])

    def _add(self, system: str, case: str, lines: list[str]) -> None:
        """Add a dialogue; of several of a system on a case, the judgement does not say which it is of."""
        key = (system, case)
        self._cases[key] = None if key in self._cases else lines

    def of(
        self, left: object, right: object, corpus: object, item_id: object, case: object, n: float
    ) -> tuple[str | None, str | None]:
        """Return the dialogues that a judgement is about, up to their first n utterances; None for an unknown one."""
        if isinstance(right, str):
            found = [self._cases.get((str(system), str(case))) for system in (left, right)]
        else:
            item = self._items.get((str(corpus), str(item_id)))
            found = [item or self._cases.get((str(left), str(case))), None]
        first, second = [lines and "\n".join(lines if n != n else lines[: int(n)]) for lines in found]
        return first or None, second or None


def load(results: str | os.PathLike[str] = "results") -> Run:
    """Return the finished run whose results are in a folder.

    Args:
        results: results folder of the run.

    Raises:
        UserError: the folder has no table of a run.
    """
    run = Run(Path(results))
    found_tables(run.results)
    return run


# The tables in a results folder, and whether another version of DialEval made them.

PUBLISHED = "tables"
"""Folder of the tables for readers; the other folders pass data between stages."""
BETWEEN = "stages"
FEW = 12


@dataclass(frozen=True)
class Found:
    """A table of a run.

    Attributes:
        name: its path without suffix, below the published tables or else below the results; where both have one of that
            path, the latter's begins with `stages/`.
        path: its Parquet file.
        kind: what it is.
        rows: how many there are.
        is_published: whether it is meant for readers, and does not only pass between stages.
    """

    name: str
    path: Path
    kind: Table
    rows: int
    is_published: bool


def found_tables(results: Path) -> list[Found]:
    """Return the tables of a run, those for readers first.

    Args:
        results: results folder of the run.

    Raises:
        UserError: if there is none.
    """
    published = list(_below(results / PUBLISHED, is_published=True))
    taken = {table.name for table in published}
    between = [
        replace(table, name=f"{BETWEEN}/{table.name}") if table.name in taken else table
        for table in _below(results, is_published=False)
    ]
    tables = published + between
    if not tables:
        raise UserError(
            f"{results} has no tables of a run; name the run's results folder (`results_dir` in the configuration), "
            f"or run snakemake first"
        )
    return tables


def chosen_tables(tables: Sequence[Found], names: Sequence[str]) -> list[Found]:
    """Return the tables of some names, or of patterns such as `judgements/*`.

    Raises:
        UserError: no table has a name, or fits a pattern.
    """
    chosen: dict[str, Found] = {}
    for name in names:
        fitting = [table for table in tables if fnmatchcase(table.name, name)]
        if not fitting:
            hint = nearest(name, [table.name for table in tables])
            is_long = hint.startswith("known") and len(tables) > FEW
            raise UserError(f"the run has no table '{name}'; {'dialeval tables lists them' if is_long else hint}")
        chosen |= {table.name: table for table in fitting}
    return list(chosen.values())


def outdated_files(results: Path, is_known: Callable[[Path], bool]) -> dict[Path, str]:
    """Return the files below the results that another version of DialEval made, with how each differs from this one's.

    These are tables with other columns, and in a folder without any record of a job (`provenance`) all files that
    nothing is known of: a version before there were records has made them.

    Args:
        results: the folder of the results, which need not be there.
        is_known: returns whether Snakemake knows how a file was made.
    """
    found, is_ours = {}, False
    files = list(_files(results))
    for path in files:
        if path.suffix != ".parquet":
            continue
        with suppress(OSError, ValueError):  # pyarrow's error of what is no table is a ValueError
            if name := read_name(path):
                is_ours = True
                kind = _kind_of(path, name)
                differences = differences_from(path, kind) if kind else ["this version has no such table"]
                if differences:
                    found[path] = "; ".join(differences)
    if is_ours and not (results / RECORDS).exists():
        found |= {path: "no record of its job" for path in files if path not in found and not is_known(path)}
    return found


def _files(results: Path) -> Iterator[Path]:
    """Yield the files below the results, without hidden folders and links."""
    for folder, folders, names in os.walk(results):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (Path(folder, name) for name in sorted(names) if not name.startswith("."))
        yield from (path for path in paths if not path.is_symlink())


def _kind_of(path: Path, name: str) -> Table | None:
    """Return the description of a table; the protocol of a measure is its folder's name."""
    return table_named(name.replace(MEASURES, path.parent.name, 1) if name.startswith(f"{MEASURES}/") else name)


def column_words(kind: Table) -> Iterator[tuple[str, str, str]]:
    """Yield the columns of a table: name, type with a question mark if it may be empty, and description."""
    for field in kind.schema:
        words = kind.columns.get(field.name) or COMMON.get(field.name, "")
        yield field.name, f"{_type(field.type)}{'?' if field.nullable else ''}", words


def _type(kind: pa.DataType) -> str:
    for fits, words in (
        (pa.types.is_string, "text"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_boolean, "yes or no"),
        (pa.types.is_map, "values by name"),
    ):
        if fits(kind):
            return words
    return "list"


def _below(folder: Path, is_published: bool) -> Iterator[Found]:
    for path in sorted(folder.rglob("*.parquet")):
        below = path.relative_to(folder)
        if any(part.startswith(".") for part in below.parts) or (not is_published and below.parts[0] == PUBLISHED):
            continue
        try:
            name = read_name(path)
            kind = _kind_of(path, name)
            if kind is not None:  # another's file
                yield Found(str(below.with_suffix("")), path, kind, pq.read_metadata(path).num_rows, is_published)
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(
                f"{path} cannot be read as a Parquet table: {error}; delete it and run the same command again"
            ) from error


# A table as CSV. Lists and values by name stand in their cells as JSON.


def write_csv(table: Found, path: Path) -> None:
    """Write a table of a run as CSV.

    Args:
        table: the table.
        path: the file; it is replaced.

    Raises:
        UserError: the table cannot be read, or the file not be written.
    """
    content = files.read_table(table.path, table.kind).replace_schema_metadata()
    for place, field in enumerate(content.schema):
        if pa.types.is_nested(field.type):
            cells = [_as_json(value, pa.types.is_map(field.type)) for value in content[place].to_pylist()]
            content = content.set_column(place, field.name, pa.array(cells, pa.string()))
    files.write_csv(path, content)


def _as_json(value: object, is_map: bool) -> str | None:
    if value is None:
        return None
    return json.dumps(dict(value) if is_map else value, ensure_ascii=False)  # type: ignore[call-overload]


# Tables of a run as a folder that is a data set of Hugging Face: `README.md` with a header, and Parquet files.

DATA = "data"
LICENCE = """
## Licence

Not set: set a licence in the header before you publish this data set. The texts of dialogues and judges' responses come
from corpora and models with their own licences, which may not allow publication. DialEval's bundled dialogues are CC0.
"""


def write_dataset(tables: Sequence[Found], results: Path, folder: Path) -> None:
    """Write tables as a data set; those of one kind that pass between stages are one subset.

    Args:
        tables: tables of the run; those without rows are left out, since not every reader takes them.
        results: the folder of its results, which says where they come from.
        folder: is made; it must not hold anything.

    Raises:
        UserError: the folder holds something, or cannot be written, or no table has a row.
    """
    tables = [table for table in tables if table.rows]
    if not tables:
        raise UserError("all of these tables are empty; `dialeval tables` lists the number of rows of each table")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; name another folder")
    try:
        for table in tables:
            _copy(table, folder / _file(table))
        (folder / "README.md").write_text(_card(tables, results), encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UserError(f"{folder} cannot be written: {error.strerror or error}; name another folder") from error


def _file(table: Found) -> Path:
    return Path(DATA, f"{table.name}.parquet")


def _copy(table: Found, path: Path) -> None:
    """Copy a table, with values by name as lists of pairs: not every reader of data sets knows the other type."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = read_table(table.path, table.kind)
    for place, field in enumerate(content.schema):
        if pa.types.is_map(field.type):
            pair = pa.struct([("name", field.type.key_type), ("value", field.type.item_type)])
            rows = [
                None if row is None else [{"name": name, "value": value} for name, value in row]
                for row in content[place].to_pylist()
            ]
            content = content.set_column(place, field.name, pa.array(rows, pa.list_(pair)))
    pq.write_table(content.replace_schema_metadata(), path, compression="zstd")


def _card(tables: Sequence[Found], results: Path) -> str:
    """Return the card of the data set: metadata for Hugging Face, and text for readers."""
    subsets: dict[str, list[Found]] = {}
    for table in tables:
        subsets.setdefault(_subset(table), []).append(table)
    header = {
        "pretty_name": "Results of an evaluation of dialogues with DialEval",
        "license": "unknown",
        "tags": ["dialogue", "evaluation"],
        "configs": [
            {"config_name": name, "data_files": [{"split": "train", "path": [str(_file(one)) for one in members]}]}
            for name, members in subsets.items()
        ],
    }
    lines: list[str] = [
        f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n",
        "# Results of an evaluation of dialogues\n",
        f"Written by DialEval {__version__}. Every subset has one split, `train`, as readers expect.\n",
        "| table | rows | one row per | made by | SHA-256 of the run's file |\n|---|---|---|---|---|",
    ]
    for table in tables:
        record = read_provenance(table.path, results)
        made_by = f"{record['stage']}, {record['version']}" if record else "not written down"
        digest = record.get("outputs", {}).get(str(table.path.relative_to(results)), "")
        lines.append(f"| `{table.name}` | {table.rows:,} | {table.kind.row} | {made_by} | {digest[:16]} |")
    for name, members in subsets.items():
        kind = members[0].kind
        lines += [
            f"\n## {name}\n",
            f"{kind.caption}\n" if kind.caption else "",
            "| column | type | meaning |\n|---|---|---|",
        ]
        lines += [
            f"| `{column}` | {type_} | {words.replace('|', '&#124;')} |" for column, type_, words in column_words(kind)
        ]
    return "\n".join(lines) + "\n" + LICENCE


def _subset(table: Found) -> str:
    """Return the name of a table in the data set, without slashes."""
    return (table.name if table.is_published else table.kind.name).replace("/", "-")
