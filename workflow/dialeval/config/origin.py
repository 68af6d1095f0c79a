"""Where the configuration of a run comes from: a file, or another workflow that uses this one as a module."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialeval.config.reading import read_config_file
from dialeval.errors import UserError

DEFAULT = Path("config.yaml")
"""The configuration of a run that names none."""
PLACES = (DEFAULT, Path("config") / DEFAULT)
"""Where it is looked for in the folder of a run: Snakemake's catalogue of workflows has a folder for it."""


def configuration_file(here: Path, project: Path) -> tuple[Path, str]:
    """Returns the configuration file of a run that names none, and what is to be told of it, if anything.

    A run in another folder has the one of that folder, or else that of the project.

    Args:
        here: the folder that the run works in.
        project: the folder of the Snakefile.

    Raises:
        UserError: there is none at either place.
    """
    for place in PLACES:
        if (here / place).exists():
            return place, ""
    ours = project / DEFAULT
    if ours.exists():
        words = f"{here} has no {DEFAULT}, so that this run follows the project's own, {ours}"
        return ours, f"note: {words}; a copy of it, or --configfile, is yours to change"
    raise UserError(f"there is no {DEFAULT} in {here}, nor in {project}; name a configuration with --configfile")


def shown(path: Path) -> str:
    """Returns a path as short as it is told."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def from_results(files: Sequence[str | Path], results: Path) -> str:
    """Returns configuration files as records of jobs name them: by their place as seen from the folder of the results.

    Folders that different projects share tell their files apart so, and a project can be moved with its results.

    Args:
        files: paths from here.
        results: the folder of the results.
    """
    folder = results.expanduser().resolve()
    return ", ".join(os.path.relpath(Path(file).resolve(), folder) for file in files)


def check_files(files: Sequence[Path]) -> None:
    """Checks that configuration files can be read as they are meant.

    Raises:
        UserError: the files, with lines and remedies.
    """
    mistakes = []
    for path in files:
        try:
            read_config_file(Path(path))
        except UserError as error:
            mistakes.append(str(error))
    if mistakes:
        raise UserError("\n".join(mistakes))


def check_module(config: Mapping[str, Any], moved: str | None) -> None:
    """Checks what another workflow says where it uses this one as a module.

    Args:
        config: what its `module` statement gives as `config`.
        moved: the folder that it puts before all paths by `prefix`; "" where it replaces parts of them; None where it
            does neither.

    Raises:
        UserError: it gives no configuration, or moves paths, which jobs that are told of folders would not follow.
    """
    if not config:
        raise UserError(
            "the module statement gives no configuration; add `config:` with what a config.yaml of this project says, "
            'for example config["dialeval"]'
        )
    if moved is not None:
        folder = moved.rstrip("/") or "FOLDER"
        raise UserError(
            "the module statement has `prefix` or `replace_prefix`, which moves the files of rules and not the folders "
            f"that jobs are told of; take it out, and say `results_dir: {folder}/results` and "
            f"`store_dir: {folder}/store` in the configuration that it gives"
        )
