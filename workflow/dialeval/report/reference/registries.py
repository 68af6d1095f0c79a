"""Four pages from registries: commands and targets; formats, data sets and statuses; tables; items of the papers.

Commands come from their parsers, targets from the docstrings of their rules.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pyarrow as pa

from dialeval.corpora import author_files, rating_scales
from dialeval.corpora.download import SOURCES
from dialeval.corpora.rated_sources import Scale
from dialeval.corpora.readers import RATED_FORMATS
from dialeval.corpora.transcripts.readers import FORMATS
from dialeval.criteria import DIMENSIONS
from dialeval.dialogbench.tasks import TASKS, Task
from dialeval.engines.openai_api.retries import FAILURES, PASSING, REMEDIES
from dialeval.labels.spreadsheets import COLUMN_WORDS
from dialeval.papers.registry import NEEDS, PAPERS, Item, Paper
from dialeval.paths import PROJECT
from dialeval.perturbations import dialogue_strategies, turn_strategies
from dialeval.report.reference.printed_values import n_stored, read_record
from dialeval.tables.catalogue import TABLES
from dialeval.tables.dialogues import STATUSES
from dialeval.tables.measures import DIFFERENCES
from dialeval.tables.schema import COMMON, COMPARED, Table
from dialeval.translation import checks

FORMATS_PAGE = PROJECT / "docs" / "formats.md"
FORMATS_HEAD = """# Formats, data sets and statuses

This page is generated from the readers, scales, perturbations and statuses in the code.
"""


MESSAGES = {
    "there is no such field": "Correct the key of the configuration. The message names the most similar key.",
    "this field has a new name": "Rename the key as the message says.",
    "this field is needed and missing": "Add the key.",
    "has no effect": "Remove the setting, or add the setting that it depends on.",
    "does not exist; correct the path": "Correct the path or `data_dir`, or run the target `download`.",
    "responses could be parsed": "Read the response in the message. Change the judge, the prompt or `max_tokens`.",
    "another run (process": "Wait for the other run, or set another `results_dir`.",
    "was drawn with sampling_design": "Restore `labels.sampling_design`, or set `labels.path` to another folder.",
    "has no chat template": "Set `chat_template` of the model.",
    "No space left": "Free disk space and run the same command again.",
    "the job was killed (signal 9)": "The job ran out of memory. Lower `--cores`, or request more memory on a cluster.",
}
"""Parts of frequent error messages -> remedy."""


_DIMENSIONS = {name for names in DIMENSIONS.values() for name in names}


def formats_text() -> str:
    """Return the page: a table for each registry."""
    return "\n".join(
        [
            FORMATS_HEAD,
            _table("Transcripts", "See [Transcripts](transcripts.md).", ("`reader`", "content"), FORMATS.items()),
            _table(
                "Rated corpora",
                "See [Rated corpora](rated-corpora.md).",
                ("`reader`", "data and files"),
                ((name, one.about) for name, one in RATED_FORMATS.items()),
            ),
            _table(
                "Human ratings in comp-analysis and xDial-Eval",
                "The rows `fed-dial` and `conture-dial` are about xDial-Eval. In comp-analysis, the ratings of "
                "dialogues, and of responses on other dimensions, are GPT-4's, from 1 to 5 (`rater_kind` is `model`). "
                "`fed-dial` also has human ratings, on the dimensions of `fed_dialogue` (next table).",
                ("data set", "dimensions and scales"),
                _comp_analysis(),
            ),
            _table(
                "Human ratings in the authors' files",
                "If the file has another name for a dimension, this name is in parentheses.",
                ("`reader`", "dimensions and scales"),
                _author_files(),
            ),
            _table("Public corpora", "Target `download`.", ("name", "repository", "licence as stated"), _public()),
            _table(
                "Perturbations",
                "See [Robustness](robustness.md). A judge detects a perturbation if the score falls by more than the "
                "threshold.",
                ("perturbation", "level", "criterion and threshold", "rule"),
                _strategies(),
            ),
            _table(
                "Labels",
                "See [Labels](labels.md#label-files). DialEval ignores other columns, except columns named after "
                "criteria, columns of its own sheets and pages, and Mechanical Turk's `AssignmentStatus`.",
                ("column", "content"),
                COLUMN_WORDS.items(),
            ),
            _table(
                "DialogBench's tasks",
                "See [DialogBench](dialogbench.md).",
                ("task", "name", "dimension", "shown with the dialogue", "options"),
                map(_task, TASKS),
            ),
            _table(
                "Statuses of responses",
                "These statuses are in the table [judgements](tables.md#judgements). The table "
                "[responses](tables.md#responses) describes its own statuses.",
                ("status", "meaning"),
                STATUSES.items(),
            ),
            _table(
                "Failures of endpoints",
                "DialEval retries requests after failures with a dagger (†).",
                ("kind", "cause"),
                ((f"{kind}{' †' * (kind in PASSING)}", words) for kind, words in FAILURES.items()),
            ),
            _table(
                "Refused parameters",
                "If an endpoint refuses a parameter, the error names the setting. Some endpoints ignore unsupported "
                "parameters without an error.",
                ("parameter", "remedy"),
                REMEDIES.items(),
            ),
            _table("Statuses of translations", "", ("status", "meaning"), checks.STATUSES.items()),
            _table(
                "Error messages",
                "Most messages name the place, the value and the remedy. The table has parts of frequent messages.",
                ("the message contains", "what to do"),
                MESSAGES.items(),
            ),
        ]
    )


def _table(title: str, about: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    head = f"## {title}\n\n{about}\n\n" if about else f"## {title}\n\n"
    lines = [f"| `{name}` | {' | '.join(cells)} |" for name, *cells in rows]
    return "\n".join([f"{head}| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines, ""])


def _scales(scales: Iterable[tuple[str, Scale]]) -> str:
    return ", ".join(f"{dimension} {scale.low:g}-{scale.high:g}" for dimension, scale in scales)


def _comp_analysis() -> Iterator[tuple[str, str]]:
    """Yield the data sets of comp-analysis and xDial-Eval with the dimensions of human ratings in their files."""
    for name, scales in rating_scales.RATED_BY_PEOPLE.items():
        yield name, _scales((dimension, scale) for dimension, scale in scales.items() if dimension in _DIMENSIONS)


def _author_files() -> Iterator[tuple[str, str]]:
    for reader, layout in author_files.FORMATS.items():
        if layout:
            names = (
                (ours if ours == theirs.casefold() else f"{ours} ({theirs})", scale)
                for theirs, (ours, scale) in layout.dimensions.items()
            )
            yield reader, _scales(names)


def _public() -> Iterator[tuple[str, str, str]]:
    with SOURCES.open(encoding="utf-8", newline="") as lines:
        found = {row["name"]: (row["repository"], row["licence"]) for row in csv.DictReader(lines)}
    yield from ((name, *cells) for name, cells in found.items())


def _strategies() -> Iterator[tuple[str, str, str, str]]:
    for strategy in (*turn_strategies.STRATEGIES, *dialogue_strategies.STRATEGIES):
        targets = ", ".join(f"{target.dimension} {target.theta}" for target in strategy.targets)
        yield strategy.name, strategy.level, targets, inspect.cleandoc(strategy.apply.__doc__ or "").split("\n")[0]


def _task(task: Task) -> tuple[str, ...]:
    shown = ", ".join([*["a question"] * task.asks, *(f"`{name}`" for name in task.shown)])
    values = ", ".join(value.en for value in task.values)
    return task.abbreviation, task.name, task.dimension, shown, f"{task.n_options}{f' of: {values}' * bool(values)}"


# Commands of `dialeval`, and targets of `snakemake`.

COMMANDS_PAGE = PROJECT / "docs" / "command.md"
RULES = PROJECT / "rules"
COMMANDS_HEAD = """# Commands and targets

`dialeval` prepares folders, checks configurations and reads results. `snakemake` [runs](running.md) the evaluation.
This page is generated from the commands' parsers and from the rules.
"""
EXAMPLES = {
    "init": (
        "export MY_KEY=...",
        "dialeval init study --base-url https://models.example.org/v1 --api-key-env MY_KEY "
        "--chatbot able=maker/able --chatbot swift=maker/swift --judge clerk=maker/clerk",
        "dialeval init support --dialogues support.jsonl --judge gpt=gpt-4o-2024-11-20",
    ),
    "check": ("dialeval check", "dialeval check --ask"),
    "summary": ("dialeval summary",),
    "compare": ("dialeval compare results results-2",),
    "tables": (
        "dialeval tables",
        "dialeval tables arena/ratings --columns",
        "dialeval tables arena/ratings --csv ratings.csv",
    ),
    "export": (
        "dialeval export hub 'arena/*' 'judgements/*' --to my-dataset",
        "dialeval export mlflow",
        "dialeval export label-studio --to tasks",
    ),
}
TARGETS = """## Targets of `snakemake`

`snakemake --cores 8` makes everything in the configuration. A target makes one part. Put the target before
`--configfile` and `--config`.

| command | result |
|---|---|
"""
ARGUMENTS = {
    "check": "--profile profiles/slurm",
    "compare": "--cores 1 --config run_a=results run_b=results-2",
    "annotation_pages": "--cores 2 --configfile configs/labels.yaml",
}
"""What is typed behind a target that needs more than a number of cores."""
_RULE = re.compile(r"^(?:use rule \w+ as (\w+) with|rule (\w+)):\n((?:    .*\n|\n)+)", re.MULTILINE)
_DOCSTRING = re.compile(r'^    """(.*?)"""', re.MULTILINE | re.DOTALL)
_NO_OUTPUT = "    output:\n        [],\n"


def commands_text() -> str:
    """Return the page: a section for each command of `dialeval`, and a table of targets."""
    main = import_module("dialeval.cli.main")  # commands lie above reports: the page describes them and uses nothing
    sections = [_section(name, main.add_options) for name in main.COMMANDS]
    rows = [f"| `snakemake {name} {ARGUMENTS.get(name, '--cores 2')}` | {words} |\n" for name, words in targets()]
    return "\n".join([COMMANDS_HEAD, *sections, TARGETS + "".join(rows)])


def targets() -> Iterator[tuple[str, str]]:
    """Yield every target that a person types, with its rule's docstring."""
    for path in sorted(RULES.glob("*.smk")):
        for copy, name, body in _RULE.findall(path.read_text(encoding="utf-8")):
            words = _DOCSTRING.search(body)
            has_output = _NO_OUTPUT not in body if copy else "    output:" in body
            if words and not has_output and name not in ("all", "stage"):
                yield copy or name, words[1]


def _section(name: str, add_options: Callable[[str, argparse.ArgumentParser], None]) -> str:
    parser = argparse.ArgumentParser()
    add_options(name, parser)
    about = " ".join(text for text in (parser.description, parser.epilog) if text)
    rows = "".join(
        f"| `{' '.join([*action.option_strings, _value(action)]).strip()}` "
        f"| {(action.help or '').replace('%%', '%')} |\n"
        for action in parser._actions
        if action.dest != "help"
    )
    lines = "\n".join(EXAMPLES[name])
    return f"## `dialeval {name}`\n\n{about}\n\n```bash\n{lines}\n```\n\n| argument | meaning |\n|---|---|\n{rows}"


def _value(action: argparse.Action) -> str:
    return "" if action.nargs == 0 else str(action.metavar)


# The page on all tables: its head is written by hand.

TABLES_PAGE = PROJECT / "docs" / "tables.md"
_REFERENCE = "## Reference\n"
TABLES_HEAD = """
This part is generated from the constants in `workflow/dialeval/tables/` (`python -m dialeval.report.reference`).

- If the description of a table has a path in parentheses, the file has this path below `results/`. Other tables are in
  `results/tables/`, as Parquet and CSV. `measures/` stands for the name of the protocol.
- A column with a question mark may be empty. A column without a type is text.
- Descriptions that many tables share are in the two tables below. Descriptions that the tables of a part share are at
  the beginning of the part. Other descriptions are below their table.
"""
TABLE_PARTS = (
    ("Between the stages", ""),
    ("Measures of a protocol", "measures/"),
    ("Labels", "labels/"),
    ("BotChat", "botchat/"),
    ("Battles", "battles/"),
    ("Meta-evaluation", "metaeval/"),
    ("Training", "training/"),
    ("Translation", "translation/"),
    ("Robustness", "robustness/"),
    ("DialogBench", "dialogbench/"),
    ("Two runs compared", "comparison/"),
)
_TYPES = {"string": "text", "int32": "integer", "int64": "integer", "double": "number", "bool": "yes or no"}


def tables_text() -> str:
    """Return `docs/tables.md`: the part written by hand, and the reference."""
    by_hand = TABLES_PAGE.read_text(encoding="utf-8").split(_REFERENCE)[0]
    parts = [by_hand + _REFERENCE + TABLES_HEAD]
    parts += [_described("in many tables", COMMON), "", _described("in tables of differences", COMPARED)]
    for title, prefix in TABLE_PARTS:
        tables = [table for table in TABLES.values() if table.name.removesuffix(table.file) == prefix]
        shared = _shared(tables) if prefix else {}
        parts.append(f"\n### {title}")
        parts += ["", _described("in several tables of this part", shared)] if shared else []
        parts += [_about_table(table, shared) for table in tables]
    return "\n".join(parts) + "\n"


def _shared(tables: Iterable[Table]) -> dict[str, str]:
    """Return the descriptions of columns that at least three tables have in common."""
    counts = Counter(row for table in tables for row in _own_rows(table).items())
    return dict(row for row, count in counts.items() if count >= 3)


def _own_rows(table: Table) -> dict[str, str]:
    """Return the descriptions of a table's columns, without those that all tables of differences share."""
    common = COMPARED if "opponent_value" in table.schema.names else {}
    rows = {name: table.columns[name] for name in table.schema.names if name in table.columns}
    return {name: words for name, words in rows.items() if common.get(name) != words}


def _about_table(table: Table, shared: Mapping[str, str]) -> str:
    fields = ", ".join(_field(field) for field in table.schema)
    if table.schema is DIFFERENCES.schema and table is not DIFFERENCES:
        fields = f"those of `{DIFFERENCES.name}`"
    lines = [f"\n#### `{table.name}`", f"One row per {table.row}. {table.caption}".strip(), f"\nColumns: {fields}."]
    rows = {name: words for name, words in _own_rows(table).items() if shared.get(name) != words}
    return "\n".join([*lines, "", _described("column", rows)] if rows else lines)


def _described(head: str, rows: Mapping[str, str]) -> str:
    return "\n".join([f"| {head} | meaning |\n|---|---|", *(f"| `{name}` | {words} |" for name, words in rows.items())])


def _field(field: pa.Field) -> str:
    kind = str(field.type)
    words = _TYPES.get(kind, "texts by name" if kind.startswith("map<string, string") else "")
    words = words or ("numbers by name" if kind.startswith("map") else "list")
    return f"`{field.name}`{'' if words == 'text' else f' {words}'}{'?' if field.nullable else ''}"


# Items of the papers: where each table and figure is, and which printed values can be recomputed.

PAPERS_PAGE = PROJECT / "docs" / "papers.md"
PAPERS_HEAD = """# The four papers, item by item

This page lists every table, figure and prompt of the papers, with DialEval's output for it. The report's part "Papers"
lists the items that a run made.

- *Made by* names a configuration and a target. If there is no target, run the configuration without one. Other
  configurations make the same item for their models.
- *Files* are relative to the results folder.
- Tables show a published value beside yours if your model has the name of a model in the paper, or if
  `metaeval.published_as` names the paper's system.
- `python -m dialeval.report.reference.printed_values DATA_DIR` records which printed values can be computed from public
  data.

This page is generated from `workflow/dialeval/papers/` (`python -m dialeval.report.reference`).
"""
REMARKS = {
    "BotChat": (
        "GTEval's 16 values check the formula only: its verdicts were derived from percentages in the authors' "
        "notebook. Lengths, pass rates and Elo ratings need dialogues and verdicts that are no longer public."
    ),
    "DialogBench": "Accuracies cannot be computed, since the items are not public.",
    "comp-analysis": "Other values need scores of judges; only GPT-4's scores of dialogues are public.",
    "xDial-Eval": "Other values need scores of judges, which are not public.",
}
_PRINTED_COLUMNS = ("item", "what", "printed", "ours", "why")


def papers_text() -> str:
    """Return the page: the items of each paper, and which printed values can be computed."""
    needs = "\n".join(f"| {name} | {words} |" for name, words in NEEDS.items())
    parts = [PAPERS_HEAD, f"| needs | meaning |\n|---|---|\n{needs}\n", *map(_about_paper, PAPERS)]
    return "\n".join(parts)


def _about_paper(paper: Paper) -> str:
    cited, made = paper.citation, sum(bool(item.config) for item in paper.items)
    standing = sum(not item.config and not item.why_not for item in paper.items)
    rest = len(paper.items) - made - standing
    not_made = f" Not made: {rest}." if rest else ""
    lines = [
        f"## {paper.name}\n",
        f"[{cited.title}]({cited.address}). The list has {len(paper.items)} items. A run makes {made} of these "
        f"items. Further {standing} items, such as prompts and definitions, are in the linked files.{not_made}\n",
        "| item | content | made by | files | needs | remarks |",
        "|---|---|---|---|---|---|",
        *map(_item_row, paper.items),
        "",
        *_printed_values(paper.name),
        f"To cite it:\n\n```bibtex\n{cited.bibtex}\n```\n",
    ]
    return "\n".join(lines)


def _item_row(item: Item) -> str:
    made_by = f"[{item.config}](../{item.config})" if item.config else ""
    made_by += f": `{item.target}`" if item.target else ""
    files = [f"`{file}`" for file in item.files()]
    files += [f"[{Path(file).name}]({_link(file)})" for file in item.defined_in]
    to_know = " ".join(filter(None, (f"Not made: {item.why_not}." if item.why_not else "", item.remark)))
    cells = (item.number, item.shows, made_by, "<br>".join(files), ", ".join(item.needs), to_know)
    return "| " + " | ".join(cells) + " |"


def _printed_values(paper: str) -> list[str]:
    """Return how many of a paper's printed values can be recomputed, and a table of the others."""
    rows = [row for row in read_record() if row["paper"] == paper]
    counts = {
        source: (len(found), sum(row["equal"] == "yes" for row in found))
        for source in ("data", "rows")
        for found in [[row for row in rows if row["source"] == source]]
    }
    (of_data, equal), (of_rows, equal_rows) = counts["data"], counts["rows"]
    sentences = [f"DialEval stores {n_stored(paper):,} published values of the paper."]
    if of_data:
        sentences.append(
            f"{of_data} printed values can be computed from public data; {equal} ({equal / of_data:.0%}) agree."
        )
    if of_rows:
        sentences.append(f"Of {of_rows} printed averages and sums, {equal_rows} agree with their rows.")
    lines = ["### Published values that were recomputed\n", " ".join([*sentences, REMARKS[paper]]) + "\n"]
    different = [row for row in rows if row["equal"] == "no"]
    if different:
        lines += ["| item | value | published | recomputed | reason |", "|---|---|---|---|---|"]
        lines += [
            "| " + " | ".join(row[column].removesuffix(".0") for column in _PRINTED_COLUMNS) + " |" for row in different
        ]
        lines.append("")
    return lines


def _link(file: str) -> str:
    """Return the link from the page to a file of the project."""
    return Path(os.path.relpath(PROJECT / file, PAPERS_PAGE.parent)).as_posix()
