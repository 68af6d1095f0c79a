"""The page on formats, data sets, perturbations and statuses, from the registries that the code reads."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Iterable, Iterator

from dialeval.corpora import author_files, rating_scales
from dialeval.corpora.download import SOURCES
from dialeval.corpora.rated_sources import Scale
from dialeval.corpora.readers import RATED_FORMATS
from dialeval.corpora.transcripts.readers import FORMATS
from dialeval.dialogbench.tasks import TASKS, Task
from dialeval.engines.openai_api.retries import FAILURES, PASSING, REMEDIES
from dialeval.labels.spreadsheets import COLUMN_WORDS
from dialeval.paths import PROJECT
from dialeval.perturbations import dialogue_strategies, turn_strategies
from dialeval.tables.dialogues import STATUSES
from dialeval.translation import checks

DOCS = PROJECT / "docs" / "formats.md"
HEAD = """# Formats, data sets and statuses

This page is generated from the readers, scales, strategies and statuses in the code.
"""


def docs_text() -> str:
    """Return the page: a table for each registry."""
    return "\n".join(
        [
            HEAD,
            _table("Transcripts", "See [Transcripts](transcripts.md).", ("`reader`", "content"), FORMATS.items()),
            _table(
                "Rated corpora",
                "See [Rated corpora](rated-corpora.md).",
                ("`reader`", "data and files"),
                RATED_FORMATS.items(),
            ),
            _table(
                "Human ratings in comp-analysis and xDial-Eval",
                "GPT-4 rated the other dimensions from 1 to 5; they have `rater_kind` `model`. Of `persona-see`, "
                "`ieval-dial`, `heval-dial` and `reliable-dial` it rated all.",
                ("data set", "dimensions and scales"),
                ((name, _scales(scales.items())) for name, scales in rating_scales.RATED_BY_PEOPLE.items()),
            ),
            _table(
                "Human ratings in the authors' files",
                "Each dimension has its name in the file in parentheses, if it differs.",
                ("`reader`", "dimensions and scales"),
                _author_files(),
            ),
            _table("Public corpora", "Target `download`.", ("name", "repository", "licence as stated"), _public()),
            _table(
                "Perturbations",
                "See [Robustness](robustness.md). Detected is a fall of the score by more than the threshold.",
                ("strategy", "level", "criterion and threshold", "rule"),
                _strategies(),
            ),
            _table(
                "Labels",
                "See [Labels](labels.md#label-files). Other columns are ignored.",
                ("column", "content"),
                COLUMN_WORDS.items(),
            ),
            _table(
                "DialogBench's tasks",
                "See [DialogBench](dialogbench.md).",
                ("task", "name", "dimension", "shown with the dialogue", "options"),
                map(_task, TASKS),
            ),
            _table("Statuses of responses", "", ("status", "meaning"), STATUSES.items()),
            _table(
                "Failures of endpoints",
                "DialEval retries the kinds with a dagger.",
                ("kind", "cause"),
                ((f"{kind}{' †' * (kind in PASSING)}", words) for kind, words in FAILURES.items()),
            ),
            _table(
                "Refused parameters",
                "If an endpoint refuses a parameter, the error names the setting. Some endpoints ignore it silently.",
                ("parameter", "remedy"),
                REMEDIES.items(),
            ),
            _table("Statuses of translations", "", ("status", "meaning"), checks.STATUSES.items()),
        ]
    )


def _table(title: str, about: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    head = f"## {title}\n\n{about}\n\n" if about else f"## {title}\n\n"
    lines = [f"| `{name}` | {' | '.join(cells)} |" for name, *cells in rows]
    return "\n".join([f"{head}| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines, ""])


def _scales(scales: Iterable[tuple[str, Scale]]) -> str:
    return ", ".join(f"{dimension} {scale.low:g}-{scale.high:g}" for dimension, scale in scales)


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
