"""`dialeval export`: a run for Hugging Face, MLflow and Weights & Biases, and its tasks for labelling tools."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dialeval import layout
from dialeval.errors import UserError
from dialeval.labels.exports import Project, argilla_files, label_studio_files, projects_of
from dialeval.paths import write_new
from dialeval.report.comparison.runs import open_run, published_numbers
from dialeval.report.export import Run, chosen_tables, found_tables, write_dataset
from dialeval.text import counted

FORMATS = {
    "hub": "Hugging Face data set: a folder with Parquet files and a card (README.md)",
    "mlflow": "MLflow run: every estimate as a metric; tables, figures and report as artifacts",
    "wandb": "Weights & Biases run: every estimate in the summary, and the tables",
    "label-studio": "Label Studio projects of the labelling pages: tasks (JSON) and interface (XML)",
    "argilla": "Argilla data sets of the labelling pages: records and settings (JSON)",
}
NAME = "dialeval"
"""Experiment of MLflow and project of Weights & Biases."""
_NOT_IN_METRICS = re.compile(r"[^A-Za-z0-9_\-. /]+")


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the options of `dialeval export`."""
    parser.epilog = (
        "The format hub exports all final tables, or the named tables; add a licence to the card before you publish "
        "the data set. The formats mlflow and wandb need DialEval's extras of the same names; WANDB_MODE=offline "
        "sends nothing. Before label-studio or "
        "argilla, run the target annotation_pages; put the files that these tools export into the folder of the labels."
    )
    formats = "; ".join(f"{name}: {words}" for name, words in FORMATS.items())
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=formats)
    parser.add_argument("names", nargs="*", metavar="NAME", help="hub: table or pattern, such as 'arena/*'")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), metavar="FOLDER", help="results folder (default: results)"
    )
    parser.add_argument("--all", action="store_true", help="hub: include intermediate tables")
    parser.add_argument(
        "--to",
        metavar="TARGET",
        help=(
            "new folder for files; mlflow: tracking URI (default: MLFLOW_TRACKING_URI); wandb: project "
            f"(default: {NAME})"
        ),
    )


def export(arguments: argparse.Namespace) -> int:
    """Export a run, and print the next step."""
    name: str = arguments.format
    if name != "hub" and (arguments.names or arguments.all):
        raise UserError(
            f"{name} exports the whole run, and '{' '.join(arguments.names) or '--all'}' applies to hub only; remove it"
        )
    if name in ("mlflow", "wandb"):
        print({"mlflow": to_mlflow, "wandb": to_wandb}[name](arguments.results, arguments.to))
        return 0
    if not arguments.to:
        raise UserError(f"{name} writes files; add --to FOLDER")
    folder = Path(arguments.to)
    if name == "hub":
        print(to_dataset(arguments.results, folder, arguments.names, include_all=arguments.all))
    else:
        print(to_labelling_tool(arguments.results, folder, name))
    return 0


def to_dataset(results: Path, folder: Path, names: Sequence[str] = (), *, include_all: bool = False) -> str:
    """Write tables as a data set of Hugging Face, and return the next step.

    Raises:
        UserError: a table does not exist, no table has a row, or the folder is not empty.
    """
    found = found_tables(results)
    if names:
        found = chosen_tables(found, names)
    elif not include_all:
        found = [table for table in found if table.is_published]
    write_dataset(found, results, folder)
    empty = sum(not table.rows for table in found)
    without = f", without {empty} that have no rows" if empty else ""
    return (
        f"{folder}: {counted(len(found), 'table')}{without}\n"
        f"next:\n  name a license in {folder / 'README.md'}\n"
        f"  hf upload --repo-type dataset OWNER/NAME {folder}"
    )


# Labelling tools

_NEXT = {
    "label-studio": "create a project for each .xml file, its labelling interface, and import the .json of its name\n"
    "  export the annotated tasks as JSON into the folder of the labels (labels.path), and run: snakemake",
    "argilla": "create each data set with rg.Settings.from_json and dataset.records.from_json\n"
    "  write dataset.records.to_json into the folder of the labels (labels.path), and run: snakemake",
}


def to_labelling_tool(results: Path, folder: Path, tool: str) -> str:
    """Write the tasks of a run's labelling pages for a tool, and return the next step.

    Args:
        results: the results, in which the target `annotation_pages` made pages.
        folder: a new or empty folder.
        tool: `label-studio` or `argilla`.

    Raises:
        UserError: the run has no pages, or the folder is not empty.
    """
    pages = sorted((results / "labels" / "pages").glob("*/*.html"))
    if not pages:
        raise UserError(f"{results} has no labelling pages; run `snakemake --cores 1 annotation_pages` first")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; name another folder")
    files: Callable[[Project], dict[str, str]] = label_studio_files if tool == "label-studio" else argilla_files
    projects = projects_of(pages)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for project in projects:
            for name, text in files(project).items():
                write_new(folder / name, text)
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror or error}; name another folder") from error
    tasks = [f"  {project.name}: {counted(len(project.tasks), 'task')}" for project in projects]
    return "\n".join([f"{folder}:", *tasks, "next:", f"  {_NEXT[tool]}"])


# Trackers of experiments


def estimates_of(results: Path) -> dict[str, float]:
    """Return the run's estimates by name, `TABLE/MEASURE/SCOPE/JUDGE/SYSTEM`; undefined ones are left out.

    Raises:
        UserError: the folder has no results.
    """
    run, found = open_run(results), dict[str, float]()
    for number in published_numbers(run, run):
        parts = (number.table, number.measure, number.scope, number.judge, number.system)
        name = "/".join(_NOT_IN_METRICS.sub("-", part) for part in parts if part and part != "all")
        while name in found:  # names that differ in other characters only
            name += "-"
        value, *_ = number.a
        if value is not None:
            found[name] = value
    return found


def to_mlflow(results: Path, uri: str | None) -> str:
    """Log a run to MLflow, and return the next step.

    Args:
        results: the folder of results.
        uri: tracking URI or folder; None for MLflow's own.

    Raises:
        UserError: MLflow is not installed or refuses the run, or the folder has no results.
    """
    values = estimates_of(results)
    mlflow = _library("mlflow", "mlflow-skinny")
    try:
        if uri:
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder is named on purpose
            mlflow.set_tracking_uri(uri if "://" in uri else Path(uri).absolute().as_uri())
        mlflow.set_experiment(NAME)
        with mlflow.start_run(run_name=results.absolute().parent.name) as run:
            mlflow.log_metrics(values)
            for name in (layout.folder_of(layout.TABLE), "figures", "report"):
                if (results / name).is_dir():
                    mlflow.log_artifacts(str(results / name), name)
            for name in ("configuration.yaml", "summary.md"):
                if (results / name).is_file():
                    mlflow.log_artifact(str(results / name))
        where = mlflow.get_tracking_uri()
    except (mlflow.exceptions.MlflowException, OSError) as error:
        raise UserError(f"MLflow refused the run in {results}: {error}; correct --to, its tracking URI") from error
    return (
        f"{where}: {counted(len(values), 'metric')} in run {run.info.run_id}\n"
        f"next:\n  mlflow ui --backend-store-uri {where}"
    )


def to_wandb(results: Path, project: str | None) -> str:
    """Log a run to Weights & Biases, and return the next step.

    Args:
        results: the folder of results.
        project: name of the project; None for `dialeval`.

    Raises:
        UserError: wandb is not installed or refuses the run, or the folder has no results.
    """
    values = estimates_of(results)
    wandb, run = _library("wandb", "wandb"), Run(results)
    try:
        with wandb.init(project=project or NAME, name=results.absolute().parent.name) as tracked:
            tracked.summary.update(values)
            for table in found_tables(results):
                if table.is_published and table.rows:
                    frame = run[table.name]
                    tracked.log({table.name: wandb.Table(dataframe=frame.map(_as_cell))})
            offline = tracked.offline
            folder = tracked.dir
    except (wandb.errors.Error, OSError) as error:
        raise UserError(
            f"Weights & Biases refused the run in {results}: {error}; run `wandb login`, or set WANDB_MODE=offline"
        ) from error
    following = f"\nnext:\n  wandb sync {Path(folder).parent}" if offline else ""
    return f"{project or NAME}: {counted(len(values), 'estimate')}{following}"


def _as_cell(value: Any) -> Any:
    """Return a cell of a table, lists and values by name as text."""
    return value if value is None or np.isscalar(value) else str(value)


def _library(name: str, package: str) -> Any:
    """Return a library that only an export needs.

    Raises:
        UserError: it is not installed.
    """
    os.environ.setdefault("WANDB_SILENT", "true")
    try:
        return import_module(name)
    except ImportError as error:
        raise UserError(f"{name} is not installed ({error}); run: pip install {package}") from None
