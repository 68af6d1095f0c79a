"""Tables of a run as a folder that is a data set of Hugging Face: `README.md` with a header, and Parquet files."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from dialeval import __version__
from dialeval.errors import UserError
from dialeval.provenance import read_provenance
from dialeval.results_tables.found import Found, column_words
from dialeval.tables import read_table

DATA = "data"
LICENCE = """
## Licence

None is named here: name yours in the header before you publish this. Texts of dialogues, and what judges said of them,
come from corpora and models with licences of their own, which may not allow it; the dialogues that DialEval brings are
CC0.
"""


def write_dataset(tables: Sequence[Found], results: Path, folder: Path) -> None:
    """Writes tables as a data set; those of one kind that pass between stages are one subset.

    Args:
        tables: tables of the run; those without rows are left out, since not every reader takes them.
        results: the folder of its results, which says where they come from.
        folder: is made; it must not hold anything.

    Raises:
        UserError: the folder holds something, or cannot be written, or no table has a row.
    """
    tables = [table for table in tables if table.rows]
    if not tables:
        raise UserError("none of these tables has a row; dialeval tables says how many each has")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} holds something already, and nothing is overwritten; name another folder")
    try:
        for table in tables:
            _copy(table, folder / _file(table))
        (folder / "README.md").write_text(_card(tables, results), encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UserError(f"{folder} cannot be written: {error.strerror or error}; name another folder") from error


def _file(table: Found) -> Path:
    return Path(DATA, f"{table.name}.parquet")


def _subset(table: Found) -> str:
    """Returns what a table is called in the data set, where names have no slashes."""
    return (table.name if table.is_published else table.kind.name).replace("/", "-")


def _copy(table: Found, path: Path) -> None:
    """Copies a table, with values by name as lists of pairs: not every reader of data sets knows the other type."""
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
    """Returns the page of the data set: what Hugging Face reads, and what people do."""
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
