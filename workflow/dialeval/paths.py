"""Where files lie that belong to no run: the workflow's own, and the user's cache."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dialeval.errors import UserError

# Where the workflow's own files lie: in a wheel beside the library, else in the project around it.

_SHIPPED = Path(__file__).parent / "shipped"
IS_INSTALLED = _SHIPPED.is_dir()
"""Whether the library came as a wheel, without the project around it."""
PROJECT = _SHIPPED if IS_INSTALLED else Path(__file__).parents[2]
"""The folder of Snakefile, rules, profiles, environments, configurations and docs."""
SNAKEFILE = PROJECT / "Snakefile"
"""What a Snakefile elsewhere includes."""


def check_name(project: Path) -> None:
    """Checks that Snakemake can read what lies in the folder of the workflow.

    Args:
        project: the folder of the workflow that runs.

    Raises:
        UserError: its name has braces.
    """
    if {"{", "}"}.intersection(str(project)):
        raise UserError(
            f"the workflow lies in {project}, whose braces Snakemake takes for a wildcard; rename or move that folder"
        )


def check_can_be_installed(project: Path) -> None:
    """Checks that environments of jobs can be made, into which the project is installed from its folder.

    Args:
        project: the folder of the workflow that runs.

    Raises:
        UserError: it is that of a wheel, from which nothing can be installed.
    """
    if not (project / "pyproject.toml").is_file():
        raise UserError(
            "--sdm conda installs the project from its folder into environments of the jobs, and this dialeval was "
            "installed without that folder; install what the jobs need beside it (the extras vllm, train) and leave "
            "--sdm out, or run from a clone of the project: --snakefile DialEval/Snakefile"
        )


# Where this library keeps what is worth keeping between runs, whichever folder they are in.


def cache_folder() -> Path:
    """Returns this library's cache folder; below the temporary files where there is no home, as in some containers."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "dialeval"
    try:
        return Path.home() / ".cache" / "dialeval"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "dialeval"
